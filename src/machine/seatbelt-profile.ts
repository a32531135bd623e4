// The profile that `sandbox-exec` of macOS takes, as text: the same plan as for bubblewrap, in the other system's words. Paths
// are quoted and nothing of a caller is ever read as a part of the language. What it denies it denies by name; there is no
// empty place as on Linux, so a masked path is there and cannot be read.

import type { SandboxPlan } from './process-plan.ts'

/** Programs, libraries and what every program reads when it starts. */
const SYSTEM = [
  '/usr',
  '/bin',
  '/sbin',
  '/System',
  '/Library/Apple',
  '/private/var/db/dyld',
  '/private/etc/ssl',
  '/opt/homebrew',
  '/dev',
]
const DEVICES = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom', '/dev/tty']

export type SeatbeltRequest = {
  readonly plan: SandboxPlan
  readonly program: string
  /** A folder of this command alone, for its temporary files. */
  readonly temporary: string
}

/** Throws where a path is not absolute or has a control character: such a plan is a mistake of ours. */
export function seatbeltProfile({ plan, program, temporary }: SeatbeltRequest): string {
  const writable = [...plan.writable, temporary]
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-fork)',
    '(allow process-exec)',
    '(allow signal (target same-sandbox))',
    '(allow process-info* (target same-sandbox))',
    '(allow sysctl-read)',
    '(allow file-read-metadata)',
    rule('allow file-read*', [...SYSTEM, program, ...plan.readable, ...writable]),
    `(allow file-write-data file-ioctl ${DEVICES.map((path) => `(literal ${quoted(path)})`).join(' ')})`,
    rule('allow file-write*', writable),
    // A later rule is the stronger one. Inside a writable folder these come after what allows it.
    rule(
      'deny file-write*',
      plan.readable.filter((path) => writable.some((root) => path.startsWith(`${root}/`))),
    ),
    rule('deny file-write*', plan.frozen),
    // Whoever could rename a folder above a frozen path could put another one in its place; above a masked one, read it later.
    ...pins(plan).map((path) => `(deny file-write-unlink (literal ${quoted(path)}))`),
    rule('deny file-read* file-write*', plan.masked),
    plan.network ? '(allow network*)\n(allow mach-lookup (global-name "com.apple.trustd.agent"))' : '(deny network*)',
  ]
    .filter((line) => line !== '')
    .join('\n')
    .concat('\n')
}

function rule(verdict: string, paths: readonly string[]): string {
  if (paths.length === 0) return ''
  return `(${verdict} ${paths.map((path) => `(subpath ${quoted(path.length > 1 ? path.replace(/\/+$/, '') : path)})`).join(' ')})`
}

function pins({ frozen, masked, writable }: SandboxPlan): readonly string[] {
  const pinned = new Set<string>()
  for (const path of [...frozen, ...masked]) {
    for (const root of writable) {
      if (!path.startsWith(`${root}/`)) continue
      const names = path.slice(root.length + 1).split('/')
      for (let count = 1; count < names.length; count++) pinned.add(`${root}/${names.slice(0, count).join('/')}`)
    }
  }
  return [...pinned]
}

function quoted(path: string): string {
  if (!path.startsWith('/') || /[\u0000-\u001f\u007f]/.test(path))
    throw new Error('a path of the plan cannot stand in a profile')
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
