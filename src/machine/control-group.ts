// The control groups of one command: made before it starts, joined by it before it runs, read, ended and removed when it is
// over. One command has a folder in each hierarchy that keeps something for it. Nothing here throws once the groups are made:
// a group that somebody else removed has nobody in it.

import { closeSync, constants, mkdirSync, openSync, rmdirSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import type { Clock } from '../base/clock.ts'
import { errorMessage } from '../base/error-text.ts'
import type { GroupParent, ProcessLimit } from './abilities.ts'
import { namesIn, processSpace, readText, startTicks } from './process-identity.ts'

/** Milliseconds between tries to remove a group whose last process is still on its way out, and how often it is tried. */
const REMOVE_MS = 20
const REMOVE_TRIES = 100
/** Rounds of looking for members and ending them, where a hierarchy cannot end them all at once. */
const KILL_ROUNDS = 20

export type GroupBounds = {
  readonly cpuMs?: number
  readonly memoryBytes?: number
  readonly processes?: number
  /** A group is wanted to end the tree by, even where it keeps nothing. */
  readonly tree: boolean
}

type Folder = { readonly path: string; readonly version: GroupParent['version'] }

/** Groups that could not be removed yet; whoever comes next tries again. */
const left = new Set<string>()
let made = 0

export class ControlGroup {
  readonly #folders: readonly Folder[]

  private constructor(folders: readonly Folder[]) {
    this.#folders = folders
  }

  /** Undefined where nothing is wanted that a group can keep; a text where one was wanted and cannot be made. */
  static make(parents: readonly GroupParent[], bounds: GroupBounds): ControlGroup | string | undefined {
    const wanted = parents.filter(
      ({ keeps, version }) =>
        keeps.some((limit) => bounds[limit] !== undefined) ||
        (bounds.tree && (version === 'cgroup v2' || keeps.includes('processes'))),
    )
    if (wanted.length === 0) return undefined
    for (const path of left) if (removed(path)) left.delete(path)
    const name = `${ownPrefix()}${++made}`
    const folders: Folder[] = []
    try {
      for (const { folder, version, keeps } of wanted) {
        const path = join(folder, name)
        mkdirSync(path)
        folders.push({ path, version })
        for (const limit of keeps) setBound(path, version, limit, bounds[limit])
      }
    } catch (error) {
      for (const { path } of folders) if (!removed(path)) left.add(path)
      return `a control group cannot be made: ${errorMessage(error)}`
    }
    return new ControlGroup(folders)
  }

  /** Files to which a process writes `0` to get in. */
  get doors(): readonly string[] {
    return this.#folders.map(({ path }) => join(path, 'cgroup.procs'))
  }

  get isEmpty(): boolean {
    return this.#folders.every(({ path }) => members(path).length === 0)
  }

  /** Processor time of everybody who was ever in it, in milliseconds. Undefined where no hierarchy tells. */
  cpuMs(): number | undefined {
    for (const { path, version } of this.#folders) {
      if (version === 'cgroup v1') continue
      const [, used] = /^usage_usec (\d+)$/m.exec(readText(join(path, 'cpu.stat'))) ?? []
      if (used !== undefined) return Number(used) / 1_000
    }
    return undefined
  }

  /** The bounds that the system enforced at least once. */
  hits(): readonly ProcessLimit[] {
    const hits = new Set<ProcessLimit>()
    for (const { path, version } of this.#folders) {
      if (counted(join(path, 'pids.events'), 'max')) hits.add('processes')
      const memory = version === 'cgroup v2' ? 'memory.events' : 'memory.oom_control'
      if (counted(join(path, memory), 'oom_kill')) hits.add('memoryBytes')
    }
    return [...hits]
  }

  /** Ends everybody in it at once. */
  kill(): void {
    for (const folder of this.#folders) killMembers(folder.path)
  }

  /** Removes the groups as soon as the last process is gone; gives up after two seconds and leaves it to the next one. */
  remove(clock: Clock, onRemoved: () => void): void {
    let remaining = this.#folders.length
    const one = (): void => {
      remaining -= 1
      if (remaining === 0) onRemoved()
    }
    for (const { path } of this.#folders) removeSoon(clock, path, REMOVE_TRIES, one)
  }

  /** Tries once, for a process that is about to exit. */
  removeNow(): void {
    for (const { path } of this.#folders) removed(path)
  }
}

/**
 * Ends and removes the groups of gates that are gone without having done so. Names of groups tell whose they are: the
 * namespace that process ids are counted in, the gate's process id and when it started.
 */
export function sweepGroups(parents: readonly GroupParent[]): void {
  for (const { folder } of parents) {
    for (const name of namesIn(folder)) {
      const [, space, pid, start] = /^lockgate-(\d+)-(\d+)-(\d+)-\d+-\d+$/.exec(name) ?? []
      if (space === undefined || space !== processSpace() || startTicks(pid ?? '') === start) continue
      killMembers(join(folder, name))
      if (!removed(join(folder, name))) left.add(join(folder, name))
    }
  }
}

function setBound(
  path: string,
  version: GroupParent['version'],
  limit: 'cpuMs' | 'memoryBytes' | 'processes',
  value?: number,
): void {
  if (value === undefined || limit === 'cpuMs') return
  if (limit === 'processes') {
    writeFileSync(join(path, 'pids.max'), String(value))
  } else if (version === 'cgroup v2') {
    writeFileSync(join(path, 'memory.max'), String(value))
    writeIfThere(join(path, 'memory.swap.max'), '0')
    writeIfThere(join(path, 'memory.oom.group'), '1')
  } else {
    writeFileSync(join(path, 'memory.limit_in_bytes'), String(value))
    writeIfThere(join(path, 'memory.memsw.limit_in_bytes'), String(value))
  }
}

/** Swap is counted or switched off only where the kernel was built for it. */
function writeIfThere(path: string, text: string): void {
  if (readText(path) !== '') writeFileSync(path, text)
}

function killMembers(path: string): void {
  try {
    const file = openSync(join(path, 'cgroup.kill'), constants.O_WRONLY)
    try {
      return void writeSync(file, '1')
    } finally {
      closeSync(file)
    }
  } catch {
    // Older kernels and version 1 have no such file; one by one then, until those that were just forked are gone too.
  }
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const pids = members(path)
    if (pids.length === 0) return
    for (const pid of pids) killOne(pid)
  }
}

function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone in the meantime.
  }
}

const members = (path: string): readonly number[] =>
  readText(join(path, 'cgroup.procs'))
    .split('\n')
    .flatMap((line) => (/^[1-9]\d*$/.test(line) ? [Number(line)] : []))

function removeSoon(clock: Clock, path: string, tries: number, done: () => void): void {
  if (removed(path)) {
    done()
    return
  }
  // A member that could not be ended before, such as one that was being forked, is ended now.
  killMembers(path)
  if (tries === 0) {
    left.add(path)
    done()
    return
  }
  clock.after(REMOVE_MS, () => removeSoon(clock, path, tries - 1, done), 'background')
}

/** True where it is not there any more. */
function removed(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT'
  }
}

const counted = (path: string, name: string): boolean =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(readText(path))?.[1] ?? 0) > 0

let prefix: string | undefined

function ownPrefix(): string {
  prefix ??= `lockgate-${processSpace()}-${process.pid}-${startTicks('self') ?? '0'}-${threadId}-`
  return prefix
}
