// The names of the files that a write fills before it puts them in place. No tool reaches such a name, for it may hold what
// a rule keeps back under its real one. What a killed process left behind is removed here, and nothing else ever is.

import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import type { HeldDirectory } from './rooted-directory.ts'
import { attempt } from './rooted-failure.ts'

/** Far longer than any write goes on without touching its file, so that what another process still fills is left alone. */
const LEFTOVER_AGE_MS = 15 * 60_000

export const temporaryName = (): string => `.lockgate-${randomBytes(12).toString('hex')}.tmp`

/** Whether any name of a path is one of these, in any letter case. */
export const isTemporary = (path: string): boolean => /(^|[\\/])\.lockgate-[0-9a-f]{24}\.tmp[. ]*($|[\\/:])/i.test(path)

/** Removes the second names that a killed process left to a file it had just put in place; false where none of them is ours. */
export function removeSecondNames(directory: HeldDirectory, file: fs.BigIntStats): boolean {
  const entries = directory.entries()
  if ('kind' in entries) return false
  const same = entries.filter((entry) => {
    if (!isTemporary(entry.name)) return false
    const stat = attempt(() => fs.lstatSync(directory.at(entry.name), { bigint: true }))
    return !('kind' in stat) && stat.ino === file.ino && stat.dev === file.dev
  })
  for (const { name } of same) attempt(() => fs.unlinkSync(directory.at(name)))
  return same.length > 0
}

/** Removes what killed processes left in a directory. What cannot be removed stays: it is out of reach anyway. */
export async function sweepTemporaries(directory: HeldDirectory, nowMs: number): Promise<void> {
  const names = await fs.promises.readdir(directory.at('.')).catch(() => [])
  for (const name of names.filter(isTemporary)) {
    const stat = attempt(() => fs.lstatSync(directory.at(name)))
    if (!('kind' in stat) && stat.isFile() && nowMs - stat.mtimeMs > LEFTOVER_AGE_MS)
      attempt(() => fs.unlinkSync(directory.at(name)))
  }
}
