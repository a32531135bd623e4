// Before-images for a gate that keeps nothing on disk: the newest changes within a bound of bytes, gone with the process.

import type { BeforeImages, FileChange } from '../describe/before-images.ts'
import type { RecordSubject } from '../observe/store.ts'
import { changeBytes, joinChanges } from './file-changes.ts'

export class MemoryImages implements BeforeImages {
  readonly #bytesMax: number
  readonly #changes = new Map<string, FileChange>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  async keep(change: FileChange): Promise<void> {
    const earlier = this.#changes.get(change.callId)
    const whole = copyOf(earlier === undefined ? change : joinChanges(earlier, change))
    const bytes = changeBytes(whole)
    if (bytes > this.#bytesMax) throw new Error('the change is larger than all that can be kept for undoing')
    if (earlier !== undefined) this.#drop(earlier)
    this.#changes.set(whole.callId, whole)
    this.#bytes += bytes
    for (const oldest of this.#changes.values()) {
      if (this.#bytes <= this.#bytesMax) break
      this.#drop(oldest)
    }
  }

  async find(callId: string): Promise<FileChange | undefined> {
    return this.#changes.get(callId)
  }

  /** All changes of a person; answers how many. */
  erase({ tenant, user }: RecordSubject): number {
    const theirs = [...this.#changes.values()].filter(
      ({ principal }) => principal.tenant === tenant && principal.user === user,
    )
    for (const change of theirs) this.#drop(change)
    return theirs.length
  }

  #drop(change: FileChange): void {
    this.#changes.delete(change.callId)
    this.#bytes -= changeBytes(change)
  }
}

/** The caller's buffers may be used again. */
const copyOf = (change: FileChange): FileChange => ({
  ...change,
  files: change.files.map((file) => ({
    ...file,
    before: file.before === undefined ? undefined : Uint8Array.from(file.before),
  })),
})
