// The half of `doctor` that needs no configuration: Node, SQLite, the walk by descriptors, the clock, the state folder, and
// what keeps commands in their bounds.

import { existsSync } from 'node:fs'
import { type MachineAbilities, PROCESS_LIMITS } from '../machine/abilities.ts'
import { findProgram } from '../machine/find-program.ts'
import type { CommandInput } from './command.ts'
import { stateRoot } from './locations.ts'
import { folderProblem } from './project.ts'

export type Finding = {
  readonly name: string
  /** `warning`: it works, in a weaker way. */
  readonly state: 'ok' | 'warning' | 'failed'
  readonly detail: string
  /** How to mend it. */
  readonly mend?: string
}

const NODE_FLOOR = [20, 19] as const
/** No machine that runs this has an earlier date: 2026-01-01. */
const CLOCK_FLOOR_MS = Date.UTC(2026, 0, 1)
const CLOCK_CEILING_MS = Date.UTC(2100, 0, 1)

export async function machineFindings({ io }: CommandInput): Promise<readonly Finding[]> {
  return [
    nodeFinding(process.versions.node),
    await sqliteFinding(),
    await walkFinding(),
    clockFinding(Date.now()),
    stateFinding(stateRoot(io.cwd, io.variables)),
    ...(await commandFindings()),
  ]
}

async function commandFindings(): Promise<readonly Finding[]> {
  const { machineAbilities } = await import('../machine/probe-machine.ts')
  return abilityFindings(await machineAbilities())
}

function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const fits = major > NODE_FLOOR[0] || (major === NODE_FLOOR[0] && minor >= NODE_FLOOR[1])
  if (fits) return { name: 'node', state: 'ok', detail: version }
  return { name: 'node', state: 'failed', detail: version, mend: `install Node ${NODE_FLOOR.join('.')} or later` }
}

async function sqliteFinding(): Promise<Finding> {
  const { findDriver } = await import('../stores/sqlite-driver.ts')
  const found = await findDriver()
  if (found.kind === 'ok') return { name: 'sqlite', state: 'ok', detail: found.driver.name }
  return {
    name: 'sqlite',
    state: 'failed',
    detail: found.reason,
    mend: 'npm install libsql, or use Node 22.13 or later',
  }
}

async function walkFinding(): Promise<Finding> {
  const { walkMethod } = await import('../machine/rooted-directory.ts')
  if (walkMethod() === 'descriptor')
    return { name: 'file walk', state: 'ok', detail: 'by descriptors, /proc/self/fd is there' }
  const detail = 'by paths that are compared afterwards: /proc/self/fd is not there'
  return {
    name: 'file walk',
    state: 'warning',
    detail,
    mend: 'on Linux mount /proc; elsewhere let nobody else write to the workspace while the gate runs',
  }
}

function clockFinding(nowMs: number): Finding {
  const detail = Number.isFinite(nowMs) ? new Date(nowMs).toISOString() : String(nowMs)
  if (nowMs >= CLOCK_FLOOR_MS && nowMs < CLOCK_CEILING_MS) return { name: 'clock', state: 'ok', detail }
  return {
    name: 'clock',
    state: 'failed',
    detail,
    mend: 'set the clock: approvals expire by it, and records carry its time',
  }
}

function stateFinding(root: string): Finding {
  if (!existsSync(root)) return { name: 'state folder', state: 'ok', detail: `${root} is made when it is needed` }
  const problem = folderProblem(root)
  if (problem === undefined) return { name: 'state folder', state: 'ok', detail: root }
  return {
    name: 'state folder',
    state: 'failed',
    detail: problem,
    mend: `chmod 700 ${root}, or name another folder with LOCKGATE_STATE`,
  }
}

/** What this machine can do for commands. Nothing of it fails: a gate that starts none needs none of it. */
export function abilityFindings(abilities: MachineAbilities): readonly Finding[] {
  return [sandboxFinding(abilities), ...limitFindings(abilities), treeFinding(abilities), programFinding()]
}

function sandboxFinding({ sandbox }: MachineAbilities): Finding {
  if (sandbox.kind === 'ready') return { name: 'sandbox', state: 'ok', detail: `${sandbox.by}, ${sandbox.path}` }
  const detail = `none: ${sandbox.reason}; commands with \`sandbox: required\` are refused`
  return { name: 'sandbox', state: 'warning', detail, mend: sandbox.mend }
}

/** One line for all that are kept, and one for each way to mend those that are not. */
function limitFindings({ limits }: MachineAbilities): readonly Finding[] {
  const kept: string[] = []
  const unkept = new Map<string, { readonly names: string[]; readonly reason: string }>()
  for (const name of PROCESS_LIMITS) {
    const ability = limits[name]
    if (ability.kind === 'enforced') {
      kept.push(`${name} by ${ability.by}`)
      continue
    }
    const known = unkept.get(ability.mend)
    if (known === undefined) unkept.set(ability.mend, { names: [name], reason: ability.reason })
    else known.names.push(name)
  }
  const ok: readonly Finding[] = kept.length === 0 ? [] : [{ name: 'limits', state: 'ok', detail: kept.join(', ') }]
  return ok.concat(
    [...unkept].map(([mend, { names, reason }]) => ({
      name: 'limits',
      state: 'warning',
      detail: `not kept: ${names.join(', ')}; ${reason}`,
      mend,
    })),
  )
}

function treeFinding({ tree, sandbox }: MachineAbilities): Finding {
  if (tree === 'cgroup')
    return {
      name: 'process trees',
      state: 'ok',
      detail: 'a command and all that it started end together, by control groups',
    }
  const isHeld = sandbox.kind === 'ready' && sandbox.by === 'bwrap'
  const detail = isHeld
    ? 'end together in a sandbox; outside of one, what starts a session of its own stays'
    : 'what a command starts in a session of its own stays when the command ends'
  return {
    name: 'process trees',
    state: 'warning',
    detail,
    mend: 'run the gate on Linux where it can make control groups',
  }
}

/** Programs that the shell tool knows and that are often absent. */
const PROGRAMS = ['git', 'rg', 'grep', 'find', 'sed']

function programFinding(): Finding {
  const path = '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin'
  const absent = PROGRAMS.filter((name) => findProgram(name, { path, cwd: '/' }) === undefined)
  if (absent.length === 0) return { name: 'programs', state: 'ok', detail: `${PROGRAMS.join(', ')} are there` }
  return {
    name: 'programs',
    state: 'warning',
    detail: `not on this machine: ${absent.join(', ')}; calls of them end as unavailable`,
    mend: `install ${absent.map((name) => (name === 'rg' ? 'ripgrep' : name)).join(', ')}`,
  }
}
