// How before-images are counted and joined, for every database alike. A call that keeps twice (a second try, a second file)
// leaves one change: what each file was before the call, and what it is after it.

import type { FileChange, FileImage } from '../describe/before-images.ts'

/** Paths and row headers cost too, so that a flood of empty files is bounded as well. */
const FILE_BYTES = 512

export const changeBytes = (change: FileChange): number =>
  change.files.reduce(
    (bytes, file) => bytes + FILE_BYTES + file.path.length + (file.before?.byteLength ?? 0),
    FILE_BYTES,
  )

/** The later change on top of the earlier one of the same call. */
export function joinChanges(earlier: FileChange, later: FileChange): FileChange {
  const files = new Map<string, FileImage>(earlier.files.map((file) => [file.path, file]))
  for (const file of later.files) {
    const first = files.get(file.path)
    files.set(file.path, first === undefined ? file : { ...first, afterHash: file.afterHash })
  }
  return { ...later, files: [...files.values()] }
}
