// What stands at a path of the host, without following it: what the arguments of a sandbox are decided by.

import { lstatSync, readlinkSync } from 'node:fs'
import { isPlaceholder } from './placeholders.ts'
import type { PathKind } from './sandbox-arguments.ts'

/** Something empty that only holds an absent path for another command counts as absent. Never throws. */
export function pathKind(path: string): PathKind {
  if (isPlaceholder(path)) return 'absent'
  try {
    const found = lstatSync(path)
    if (found.isSymbolicLink()) return { linkTo: readlinkSync(path) }
    return found.isDirectory() ? 'folder' : 'file'
  } catch {
    return 'absent'
  }
}
