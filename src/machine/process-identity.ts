// Which process something belongs to, so that what a dead one left is told from what a living one holds: ids are used again,
// and are counted anew in every container. Known on Linux; elsewhere nothing is said, and nothing is cleared up.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The space in which process ids are counted; `0` where it is not known. */
export function processSpace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    return '0'
  }
}

/**
 * When a process started, in ticks since the machine did; undefined where it is not there, or has ended and only waits to be
 * noticed. Its name may hold blanks and brackets.
 */
export function startTicks(pid: string): string | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return state === '' || state === 'Z' || state === 'X' ? undefined : fields[18]
}

/** The names in a folder; none where it cannot be read. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** The text of a small file; empty where it cannot be read. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
