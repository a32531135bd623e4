// Who this process is, so that another one can tell whether it still lives. A process id alone is no proof: it is reused, it
// means something else in another container, and every one is new after a restart of the machine. Hence the host (boot
// and namespaces) and the start of the process. Where the machine does not tell, only the lease counts.

import { readFileSync, readlinkSync } from 'node:fs'

export type OwnerIdentity = { readonly host: string; readonly pid: number; readonly started: string }

export function thisProcess(): OwnerIdentity {
  return { host: hostIdentity(), pid: process.pid, started: processStart(process.pid) ?? '' }
}

/** Milliseconds of this host's monotonic clock: equal for all its processes, and still while the machine sleeps. */
export const uptimeMs = (): number => Number(process.hrtime.bigint() / 1_000_000n)

/** When a process began, in ticks since boot; undefined where there is none, a dead one not yet collected included. */
export function processStart(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  // The second field is the program's name in brackets, which may hold anything.
  const [state, ...fields] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  return state === undefined || state === 'Z' || state === 'X' ? undefined : fields[18]
}

/**
 * Whether a process is surely gone, on a machine that tells no hosts apart. Only where process ids mean the same to everybody
 * who can share the file: not on Linux, where containers have their own.
 */
export function isSurelyGone(pid: number): boolean {
  if (process.platform !== 'darwin' && process.platform !== 'win32') return false
  try {
    return !process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}

function hostIdentity(): string {
  const boot = readText('/proc/sys/kernel/random/boot_id')?.trim()
  const processes = linkTarget('/proc/self/ns/pid')
  if (boot === undefined || processes === undefined) return ''
  return [boot, processes, linkTarget('/proc/self/ns/time') ?? ''].join(' ')
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
