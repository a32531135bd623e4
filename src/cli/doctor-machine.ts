// The half of `doctor` that needs no configuration: Node, SQLite, the walk by descriptors, the clock, the state folder.

import { existsSync } from 'node:fs'
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
  ]
}

export function nodeFinding(version: string): Finding {
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

export function clockFinding(nowMs: number): Finding {
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
