// Finds out what this machine can do for commands, by trying it: a sandbox that starts a program, groups that a process can
// join, limits that hold. Asked once for each process, in bounded time; whatever cannot be tried in that time counts as absent.

import { spawn } from 'node:child_process'
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { systemClock } from '../base/clock.ts'
import type { GroupParent, LimitAbility, MachineAbilities, ProcessLimit, SandboxAbility } from './abilities.ts'
import { ControlGroup, sweepGroups } from './control-group.ts'
import { groupPlaces } from './group-places.ts'
import { JOIN_GROUPS } from './join-groups.ts'
import { pathKind } from './path-kind.ts'
import { sweepPlaceholders } from './placeholders.ts'
import { sandboxArguments } from './sandbox-arguments.ts'

/** Milliseconds for one thing to be tried. */
const TRY_MS = 3_000
/** Only the system's own folders: what is first in somebody's PATH must not become the sandbox. */
const FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/usr/sbin', '/sbin']
const TRUE_PROGRAMS = ['/usr/bin/true', '/bin/true']
const INSTALL = 'install bubblewrap (apt install bubblewrap, dnf install bubblewrap)'

let found: Promise<MachineAbilities> | undefined

/** The same answer every time: machines are asked once. Never rejects. */
export function machineAbilities(): Promise<MachineAbilities> {
  found ??= probe()
  return found
}

async function probe(): Promise<MachineAbilities> {
  if (process.platform !== 'linux') return elsewhere(await seatbelt())
  const prlimit = program('prlimit')
  const [sandbox, groups, rlimits] = await Promise.all([
    bubblewrap(),
    usableGroups(),
    prlimit === undefined
      ? false
      : works(prlimit, ['--core=0:0', '--nofile=256:256', '--', TRUE_PROGRAMS.find(existsSync) ?? 'true']),
  ])
  sweepGroups(groups)
  sweepPlaceholders()
  const kept = rlimits ? prlimit : undefined
  return {
    sandbox,
    limits: limitsOf(groups, kept),
    tree: groups.some(({ version, keeps }) => version === 'cgroup v2' || keeps.includes('processes'))
      ? 'cgroup'
      : 'group',
    groups,
    ...(kept !== undefined && { prlimit: kept }),
  }
}

function limitsOf(groups: readonly GroupParent[], prlimit: string | undefined): MachineAbilities['limits'] {
  const grouped = (limit: 'cpuMs' | 'memoryBytes' | 'processes'): LimitAbility | undefined => {
    const parent = groups.find(({ keeps }) => keeps.includes(limit))
    return parent === undefined ? undefined : { kind: 'enforced', by: parent.version }
  }
  const single: LimitAbility =
    prlimit === undefined
      ? { kind: 'unenforced', reason: 'there is no `prlimit`', mend: 'install util-linux' }
      : { kind: 'enforced', by: 'prlimit' }
  const forRoot: LimitAbility = {
    kind: 'unenforced',
    reason: 'the kernel does not count the processes of root, and there is no control group to count them',
    mend: 'run the gate as another user, or where it can make control groups with the controller `pids`',
  }
  return {
    cpuMs: grouped('cpuMs') ?? single,
    memoryBytes: grouped('memoryBytes') ?? single,
    processes: grouped('processes') ?? (process.getuid?.() === 0 ? forRoot : single),
    fileBytes: single,
    openFiles: single,
  }
}

async function bubblewrap(): Promise<SandboxAbility> {
  const path = program('bwrap')
  if (path === undefined) return { kind: 'missing', reason: 'bubblewrap is not installed', mend: INSTALL }
  const nothing = { readable: [], writable: [], frozen: [], masked: [], network: false }
  const target = TRUE_PROGRAMS.find(existsSync) ?? '/usr/bin/true'
  const made = sandboxArguments({
    plan: nothing,
    cwd: '/',
    env: {},
    program: target,
    kindOf: pathKind,
    empty: '/dev/null',
  })
  if (made.kind === 'refused') return { kind: 'missing', reason: made.reason, mend: INSTALL }
  const tried = await attempt(path, [...made.args, '--', made.program])
  if (tried === undefined) return { kind: 'ready', by: 'bwrap', path }
  return {
    kind: 'missing',
    reason: `bubblewrap does not start a program: ${tried}`,
    mend: 'let the gate make user namespaces (sysctl kernel.unprivileged_userns_clone=1, an AppArmor profile for bwrap, or a container that allows them); bubblewrap has to be 0.6 or later',
  }
}

async function seatbelt(): Promise<SandboxAbility> {
  const path = '/usr/bin/sandbox-exec'
  const mend = 'run the gate on Linux with bubblewrap, or on macOS'
  if (process.platform !== 'darwin')
    return { kind: 'missing', reason: 'this system has no sandbox that the gate knows', mend }
  const tried = await attempt(path, ['-p', '(version 1)(allow default)', '/usr/bin/true'])
  if (tried === undefined) return { kind: 'ready', by: 'sandbox-exec', path }
  return { kind: 'missing', reason: `sandbox-exec does not start a program: ${tried}`, mend }
}

function elsewhere(sandbox: SandboxAbility): MachineAbilities {
  const none: LimitAbility = {
    kind: 'unenforced',
    reason: 'this system has neither `prlimit` nor control groups',
    mend: 'run the gate on Linux where commands have to be kept in such bounds',
  }
  const limits: Record<ProcessLimit, LimitAbility> = {
    cpuMs: none,
    memoryBytes: none,
    processes: none,
    fileBytes: none,
    openFiles: none,
  }
  return { sandbox, limits, tree: 'group' }
}

/** Of the places where a group can be made, those that a process can also join. */
async function usableGroups(): Promise<readonly GroupParent[]> {
  if (!existsSync('/bin/sh')) return []
  const places = groupPlaces()
  const joined = await Promise.all(places.map((place) => joins(place)))
  return places.filter((_, index) => joined[index])
}

async function joins(place: GroupParent): Promise<boolean> {
  const group = ControlGroup.make([place], { tree: true, processes: 16, memoryBytes: 67_108_864, cpuMs: 1_000 })
  if (!(group instanceof ControlGroup)) return false
  const doors = group.doors
  const fits = await works('/bin/sh', [
    '-c',
    JOIN_GROUPS,
    'lockgate',
    String(doors.length),
    ...doors,
    TRUE_PROGRAMS.find(existsSync) ?? 'true',
  ])
  group.remove(systemClock, () => {})
  return fits
}

const works = async (file: string, args: readonly string[]): Promise<boolean> =>
  (await attempt(file, args)) === undefined

/** Undefined where it ended well; else the first line of what it said. */
function attempt(file: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(file, [...args], {
      env: {},
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'],
      shell: false,
      detached: true,
    })
    let said = ''
    const cancel = systemClock.after(TRY_MS, () => {
      child.kill('SIGKILL')
      end('it does not answer')
    })
    const end = (result: string | undefined): void => {
      cancel()
      child.stderr.destroy()
      resolve(result)
    }
    child.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(0, 2_000)
    })
    child.once('error', (error) => end(error.message))
    child.once('close', (code, signal) => {
      if (code === 0) end(undefined)
      else end(said.split('\n')[0] || `it ended with ${signal ?? `status ${code}`}`)
    })
  })
}

function program(name: string): string | undefined {
  return FOLDERS.map((folder) => `${folder}/${name}`).find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return statSync(path).isFile()
    } catch {
      return false
    }
  })
}
