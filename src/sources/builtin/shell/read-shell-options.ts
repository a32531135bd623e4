// Reads what an operator says about the shell tools: every problem is named, and what is not said has a default. It refuses what
// nothing would keep.

import { isAbsolute } from 'node:path'
import type { ConfigProblem } from '../../../describe/gate-config-error.ts'
import type { SandboxMode } from '../../../machine/abilities.ts'
import type { JobBounds } from './jobs.ts'
import { DAY_MS, type KeptLimits, OptionBounds } from './option-bounds.ts'
import type { ProgramGrammar } from './program-grammar.ts'
import { readPrograms } from './read-programs.ts'
import type { ShellOptions } from './shell-options.ts'

export type { KeptLimits } from './option-bounds.ts'

export type ShellSettings = {
  readonly grammars: ReadonlyMap<string, ProgramGrammar>
  readonly sandbox: SandboxMode
  readonly network: boolean
  readonly deadlineMs: number
  readonly limits: KeptLimits
  /** Those of the limits that the operator has asked for: a machine that cannot keep them is told of. */
  readonly asked: Partial<KeptLimits>
  readonly jobs: JobBounds
  readonly folders: readonly string[]
}

export type ReadShell =
  | { readonly kind: 'ok'; readonly settings: ShellSettings }
  | { readonly kind: 'refused'; readonly problems: readonly ConfigProblem[] }

/** Of one command, where nobody says otherwise. */
export const DEFAULT_LIMITS: Readonly<KeptLimits> = {
  outputBytes: 1_048_576,
  cpuMs: 600_000,
  memoryBytes: 2_147_483_648,
  processes: 256,
  fileBytes: 104_857_600,
  openFiles: 1_024,
}
export const COMMAND_MS = 60_000
const COMMAND_MS_MAX = 600_000

const KEYS = ['programs', 'sandbox', 'network', 'deadlineMs', 'limits', 'jobs', 'folders']
const JOB_KEYS = ['perSession', 'perGate', 'deadlineMs', 'idleMs']

export function readShellOptions(options: ShellOptions): ReadShell {
  const read = new OptionBounds('tools.shell')
  const given = read.members(options, '', KEYS) ?? {}
  const programs = readPrograms(options.programs ?? 'inspect')
  const jobs = given.jobs === undefined ? {} : (read.members(given.jobs, 'jobs', JOB_KEYS) ?? {})
  const folders = read.texts(given.folders, 'folders')
  for (const folder of folders) if (!isAbsolute(folder)) read.problem('folders', `\`${folder}\` is no absolute path`)
  const limits = read.limits(given.limits, DEFAULT_LIMITS)
  const settings = {
    sandbox: read.sandbox(given.sandbox, 'preferred'),
    network: read.flag(given.network, 'network', false),
    deadlineMs: read.count(given.deadlineMs, 'deadlineMs', { least: 100, most: COMMAND_MS_MAX, otherwise: COMMAND_MS }),
    limits,
    asked: read.asked(given.limits, limits),
    jobs: {
      perSession: read.count(jobs.perSession, 'jobs.perSession', { least: 0, most: 100, otherwise: 4 }),
      perGate: read.count(jobs.perGate, 'jobs.perGate', { least: 0, most: 1_000, otherwise: 32 }),
      deadlineMs: read.count(jobs.deadlineMs, 'jobs.deadlineMs', { least: 1_000, most: DAY_MS, otherwise: 1_800_000 }),
      idleMs: read.count(jobs.idleMs, 'jobs.idleMs', { least: 1_000, most: DAY_MS, otherwise: 900_000 }),
      outputBytes: limits.outputBytes,
    },
    folders,
  }
  const problems = programs.kind === 'ok' ? read.problems : [...read.problems, ...programs.problems.map(placed)]
  if (programs.kind !== 'ok' || problems.length > 0) return { kind: 'refused', problems }
  return { kind: 'ok', settings: { ...settings, grammars: programs.programs } }
}

const placed = ({ key, message }: { readonly key: string; readonly message: string }): ConfigProblem => ({
  key: `tools.shell.${key}`,
  message,
})
