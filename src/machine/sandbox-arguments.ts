// The arguments of bubblewrap for one plan: a pure function of the plan and of what stands on the disk. Everything is new and
// empty in there, and only what is named is shown. It refuses plans that it cannot keep, and never shows the whole disk.

import { basename, dirname, sep } from 'node:path'
import type { SandboxPlan } from './process-plan.ts'

/** What stands at a path, without following it. */
export type PathKind = 'file' | 'folder' | 'absent' | { readonly linkTo: string }

export type SandboxRequest = {
  readonly plan: SandboxPlan
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Shown too where nothing else shows it. */
  readonly program: string
  /** The program is started under this name instead of its own. */
  readonly name?: string
  readonly kindOf: (path: string) => PathKind
  /** An empty file of the host, to be put where a file is hidden. */
  readonly empty: string
}

export type SandboxArguments =
  | {
      readonly kind: 'ok'
      /** All but the command itself. */
      readonly args: readonly string[]
      /** What the command has to be started as. */
      readonly program: string
      /** Absent paths that are held by an empty folder; it stands on the disk too while the command runs. */
      readonly placeholders: readonly string[]
    }
  | { readonly kind: 'refused'; readonly reason: string }

/** Where programs of the system look for programs and libraries. Often links into /usr. */
const SYSTEM = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
/** Says nothing about persons or keys. */
const SYSTEM_FILES = [
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/mime.types',
]
const NETWORK_FILES = [
  '/etc/ssl',
  '/etc/pki',
  '/etc/ca-certificates',
  '/etc/resolv.conf',
  '/etc/hosts',
  '/etc/nsswitch.conf',
  '/etc/services',
]
/** Bytes of the sandbox's own /tmp. */
const TMP_BYTES = 536_870_912
/** bubblewrap itself takes no more. */
const ARGUMENTS_MAX = 8_500
const NAMED = '/run/lockgate'

const FIXED = [
  '--unshare-all',
  '--die-with-parent',
  '--new-session',
  '--clearenv',
  '--cap-drop',
  'ALL',
  '--hostname',
  'sandbox',
]

export function sandboxArguments({ plan, cwd, env, program, name, kindOf, empty }: SandboxRequest): SandboxArguments {
  const unusable = [...plan.readable, ...plan.writable, ...plan.frozen, ...plan.masked, cwd, program].find(
    (path) => !path.startsWith('/') || path.includes('\0'),
  )
  if (unusable !== undefined) return refuse(`\`${unusable}\` is not an absolute path`)
  const mounts = mountsOf(plan, { kindOf, empty })
  if ('reason' in mounts) return refuse(mounts.reason)
  const system = systemArguments(plan.network, kindOf)
  const shown = [...plan.readable, ...plan.writable, '/usr', ...SYSTEM].some((root) => within(root, program))
  const named = name === undefined || name === basename(program) ? undefined : `${NAMED}/${basename(name)}`
  const args = [
    ...FIXED,
    ...(plan.network ? ['--share-net'] : []),
    ...system,
    ...['--proc', '/proc', '--dev', '/dev', '--size', String(TMP_BYTES), '--tmpfs', '/tmp'],
    ...(shown ? [] : ['--ro-bind', program, program]),
    ...mounts.args,
    ...(named === undefined ? [] : ['--symlink', program, named]),
    ...['--remount-ro', '/', '--chdir', cwd],
    ...Object.entries(env).flatMap(([key, value]) => ['--setenv', key, value]),
  ]
  if (args.length > ARGUMENTS_MAX) return refuse('more paths are hidden or frozen than a sandbox takes')
  if (args.some((text) => text.includes('\0'))) return refuse('a value of the environment has a NUL character')
  return { kind: 'ok', args, program: named ?? program, placeholders: mounts.placeholders }
}

const refuse = (reason: string): SandboxArguments => ({ kind: 'refused', reason })

function systemArguments(network: boolean, kindOf: (path: string) => PathKind): readonly string[] {
  const linked = SYSTEM.flatMap((path) => {
    const kind = kindOf(path)
    if (typeof kind === 'object') return ['--symlink', kind.linkTo, path]
    return kind === 'folder' ? ['--ro-bind', path, path] : []
  })
  const files = [...SYSTEM_FILES, ...(network ? NETWORK_FILES : [])].flatMap((path) =>
    kindOf(path) === 'absent' ? [] : ['--ro-bind-try', path, path],
  )
  return ['--ro-bind', '/usr', '/usr', ...linked, ...files]
}

type Mounts = { readonly args: readonly string[]; readonly placeholders: readonly string[] }
type Disk = Pick<SandboxRequest, 'kindOf' | 'empty'>
/** At the same path the later of these lies over the earlier one. */
type Bound = 'writable' | 'pin' | 'readable' | 'frozen'
const RANK: Readonly<Record<Bound, number>> = { writable: 0, pin: 1, readable: 2, frozen: 3 }

function mountsOf(plan: SandboxPlan, disk: Disk): Mounts | { readonly reason: string } {
  const bounds = new Map<string, Bound>()
  const bind = (path: string, bound: Bound): void => {
    const known = bounds.get(path)
    if (known === undefined || RANK[known] < RANK[bound]) bounds.set(path, bound)
  }
  for (const path of plan.writable) bind(path, 'writable')
  for (const path of plan.readable) bind(path, 'readable')
  const placeholders = new Set<string>()
  for (const path of plan.frozen) {
    const frozen = freeze(trimmed(path), plan, disk)
    if (frozen === undefined) continue
    if ('reason' in frozen) return frozen
    for (const pin of frozen.pins) bind(pin, 'pin')
    if (frozen.absent) placeholders.add(frozen.path)
    else bind(frozen.path, 'frozen')
  }
  for (const path of plan.masked.map(trimmed))
    for (const step of stepsAbove(path, plan, disk)) {
      // What is frozen holds all below it; a binding in it could be written to again.
      if (bounds.get(step) === 'frozen') break
      bind(step, 'pin')
    }
  // A path stands before those that lie below it; what is hidden comes last, so that nothing is shown inside of it.
  const shown = [...bounds].sort(([one], [other]) => (one < other ? -1 : 1))
  return {
    args: [
      ...shown.flatMap(([path, bound]) => [
        bound === 'writable' || bound === 'pin' ? '--bind' : '--ro-bind',
        path,
        path,
      ]),
      ...[...placeholders].flatMap(emptyFolderAt),
      ...hidden(plan.masked.map(trimmed), disk),
    ],
    placeholders: [...placeholders],
  }
}

function hidden(masked: readonly string[], { kindOf, empty }: Disk): readonly string[] {
  const args: string[] = []
  const folders = new Set<string>()
  for (const path of [...masked].sort()) {
    if (stepsBelow('/', dirname(path)).some((step) => folders.has(step))) continue
    const kind = kindOf(path)
    if (kind === 'folder') {
      folders.add(path)
      args.push(...emptyFolderAt(path))
    }
    if (kind === 'file') args.push('--ro-bind', empty, path)
  }
  return args
}

/** Nothing that is written there reaches the disk. Cheaper than any binding, of which each one reads the list of all mounts. */
const emptyFolderAt = (path: string): readonly string[] => ['--perms', '0555', '--tmpfs', path]

type Frozen = { readonly path: string; readonly pins: readonly string[]; readonly absent: boolean }

/**
 * Undefined where nothing could be changed at the path anyway. A folder above a frozen path becomes a mount too: else it
 * could be renamed, and another one with other content be put in its place. Of an absent path the first absent name is held,
 * by an empty folder: programs look past one where they would read an empty file.
 */
function freeze(
  path: string,
  { readable, writable }: SandboxPlan,
  { kindOf }: Disk,
): Frozen | { readonly reason: string } | undefined {
  const root = closest([...readable, ...writable], path)
  if (root === undefined || !writable.includes(root) || readable.includes(root)) return undefined
  const pins: string[] = []
  for (const step of stepsBelow(root, path)) {
    const kind = kindOf(step)
    if (typeof kind === 'object')
      return { reason: `\`${step}\` is a symbolic link, which cannot be kept from being replaced` }
    if (kind === 'absent') return { path: step, pins, absent: true }
    // Nothing can come to be below a file, as long as that stays.
    if (step === path || kind === 'file') return { path: step, pins, absent: false }
    pins.push(step)
  }
  return { path, pins, absent: false }
}

/** The folders above a hidden path that a command could rename, and find it under another name once it is hidden no more. */
function stepsAbove(path: string, { readable, writable }: SandboxPlan, { kindOf }: Disk): readonly string[] {
  const root = closest([...readable, ...writable], path)
  if (root === undefined || path === root || readable.includes(root) || kindOf(path) === 'absent') return []
  const steps = stepsBelow(root, path).slice(0, -1)
  const link = steps.findIndex((step) => kindOf(step) !== 'folder')
  return link < 0 ? steps : steps.slice(0, link)
}

/** The paths from just below `root` to `path` itself. */
function stepsBelow(root: string, path: string): readonly string[] {
  const steps: string[] = []
  for (let step = path; step !== root && step !== '/'; step = dirname(step)) steps.unshift(step)
  return steps
}

function closest(roots: readonly string[], path: string): string | undefined {
  return roots.filter((root) => within(root, path)).sort((one, other) => other.length - one.length)[0]
}

const within = (root: string, path: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)

const trimmed = (path: string): string => (path.length > 1 ? path.replace(/\/+$/, '') : path)
