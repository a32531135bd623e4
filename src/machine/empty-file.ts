// An empty file that nobody writes to: it is put over files that a command shall not see. All gates of one user share one,
// which stays; a name that somebody else has taken is not trusted, and the process makes a file of its own.

import { lstatSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let found: string | undefined

/** Its absolute path. Looked at, and made anew where it is gone, each time. */
export function emptyFile(): string {
  const user = process.getuid?.() ?? 0
  for (const path of [found, join(tmpdir(), `lockgate-empty-${user}`)]) {
    if (path === undefined) continue
    make(path)
    if (isEmptyAndOwn(path, user)) {
      found = path
      return path
    }
  }
  found = join(mkdtempSync(join(tmpdir(), 'lockgate-empty-')), 'empty')
  make(found)
  return found
}

function make(path: string): void {
  try {
    writeFileSync(path, '', { mode: 0o444, flag: 'wx' })
  } catch {
    // Something stands there: it is looked at next.
  }
}

function isEmptyAndOwn(path: string, user: number): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat?.isFile() === true && stat.size === 0 && stat.uid === user && (stat.mode & 0o222) === 0
}
