// Where on this machine control groups can be made for commands: read from /proc, then tried. A group is made below the one
// that the gate itself is in, so that no command leaves the bounds that the gate was given; beside it only where it has none. It refuses to move the
// gate's own processes.

import { mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import type { GroupParent } from './abilities.ts'

type Hierarchy = {
  readonly version: GroupParent['version']
  /** Of version 1: which controllers are mounted there. */
  readonly controllers: readonly string[]
  /** The gate's own group, as a folder. */
  readonly folder: string
}

/** Folders in which the gate may make groups, with what each can keep; found by making one and removing it again. */
export function groupPlaces(
  groupText = read('/proc/self/cgroup'),
  mountText = read('/proc/self/mountinfo'),
): readonly GroupParent[] {
  return hierarchies(groupText, mountText).flatMap(({ version, controllers, folder }) => {
    const inside = tryOut(version, controllers, folder)
    const parent = dirname(folder)
    const beside = (inside?.length ?? 0) < 3 && mayBeBeside(version, folder) ? tryOut(version, controllers, parent) : []
    if ((beside?.length ?? 0) > (inside?.length ?? 0)) return [{ folder: parent, version, keeps: beside ?? [] }]
    return inside === undefined ? [] : [{ folder, version, keeps: inside }]
  })
}

/**
 * In version 2 a group that holds processes hands no controller down. A user's own slice hands them to the groups beside the
 * gate's; that is used where the gate's own group has no bound that a group beside it would escape.
 */
function mayBeBeside(version: GroupParent['version'], folder: string): boolean {
  const user = process.getuid?.() ?? 0
  if (version === 'cgroup v1' || user === 0) return false
  const bounds = ['memory.max', 'memory.high', 'pids.max', 'cpu.max'].map((name) => read(join(folder, name)))
  if (!bounds.every((bound) => bound === '' || bound.startsWith('max'))) return false
  try {
    return statSync(dirname(folder)).uid === user
  } catch {
    return false
  }
}

/** The hierarchies that matter here, each with the gate's own folder in it. */
export function hierarchies(groupText: string, mountText: string): readonly Hierarchy[] {
  const mounts = mountText.split('\n').flatMap(readMount)
  return groupText.split('\n').flatMap((line) => {
    const [, names, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? []
    if (names === undefined || path === undefined) return []
    const version = names === '' ? 'cgroup v2' : 'cgroup v1'
    const controllers = names.split(',')
    if (version === 'cgroup v1' && !controllers.some((name) => name === 'pids' || name === 'memory')) return []
    const mount = mounts.find(
      ({ kind, options }) =>
        (kind === 'cgroup2' && version === 'cgroup v2') ||
        (kind === 'cgroup' && version === 'cgroup v1' && controllers.some((name) => options.has(name))),
    )
    if (mount === undefined) return []
    return [{ version, controllers, folder: join(mount.at, below(mount.root, path)) } as const]
  })
}

type Mount = {
  readonly root: string
  readonly at: string
  readonly kind: string
  readonly options: ReadonlySet<string>
}

/** `36 35 98:0 /root /mount/point rw,noatime - type source options`, as proc(5) describes it. */
function readMount(line: string): readonly Mount[] {
  const [front = '', back = ''] = line.split(' - ')
  const [, , , root, at] = front.split(' ')
  const [kind, , options = ''] = back.split(' ')
  if (root === undefined || at === undefined || (kind !== 'cgroup' && kind !== 'cgroup2')) return []
  return [{ root: unescaped(root), at: unescaped(at), kind, options: new Set(options.split(',')) }]
}

const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))

/** A container may see a part of the hierarchy only; then its own path begins with the root of what is mounted. */
function below(root: string, path: string): string {
  if (root === '/') return path
  const relative = posix.relative(root, path)
  return relative.startsWith('..') ? '' : relative
}

/** Undefined where no group can be made there. */
function tryOut(
  version: GroupParent['version'],
  controllers: readonly string[],
  folder: string,
): GroupParent['keeps'] | undefined {
  const group = join(folder, `lockgate-probe-${process.pid}-${Math.random().toString(36).slice(2)}`)
  try {
    if (version === 'cgroup v2') enableControllers(folder)
    mkdirSync(group)
  } catch {
    return undefined
  }
  try {
    const file = (name: string): boolean => read(join(group, name)) !== ''
    if (version === 'cgroup v1') {
      return [
        ...(controllers.includes('pids') && file('pids.max') ? (['processes'] as const) : []),
        ...(controllers.includes('memory') && file('memory.limit_in_bytes') ? (['memoryBytes'] as const) : []),
      ]
    }
    return [
      ...(file('cpu.stat') ? (['cpuMs'] as const) : []),
      ...(file('pids.max') ? (['processes'] as const) : []),
      ...(file('memory.max') ? (['memoryBytes'] as const) : []),
    ]
  } finally {
    rmdirSync(group)
  }
}

/** Works where the gate's group was delegated and holds no process itself, or is the root; elsewhere nothing changes. */
function enableControllers(folder: string): void {
  const has = read(join(folder, 'cgroup.controllers')).split(/\s+/)
  const given = read(join(folder, 'cgroup.subtree_control')).split(/\s+/)
  for (const name of ['pids', 'memory']) {
    if (!has.includes(name) || given.includes(name)) continue
    try {
      writeFileSync(join(folder, 'cgroup.subtree_control'), `+${name}`)
    } catch {
      // Processes sit in it: limits by this controller are then not to be had.
    }
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
