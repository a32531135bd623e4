// `lockgate explain effects`: what each kind of call may do, and what this version does about it. It says only what is
// enforced.

import { loadPolicy } from '../authorize/policy.ts'
import type { PolicyOptions, ProfileName } from '../authorize/policy-options.ts'
import type { DefaultRow } from '../authorize/profiles.ts'
import type { DeclaredEffect } from '../describe/effect.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput } from './command.ts'
import { locateConfig } from './locations.ts'
import { readProject } from './project.ts'
import type { Terminal } from './terminal.ts'

/** One kind of call. `effect` is what decides about it; administration has none, for no tool does it. */
type Tier = {
  readonly tier: string
  readonly examples: string
  readonly effect: DeclaredEffect | undefined
  readonly place: string
  readonly credentials: string
  readonly lane: string
  readonly retry: string
}

/** Beside others in a turn, unless they touch the same. */
const SIDE_BY_SIDE = 'beside others of its turn; a call waits for one before it that changes what it reads'
const IN_ORDER = 'waits for each call before it that touches the same, also one of another turn'
const ALONE = 'alone in its turn, unless the tool says that it touches nothing but what it names'
const RETRY_READ = 'where its tool or its source says so'
const RETRY_SAFE = 'only where it is known that nothing happened, or the tool may be repeated'
const RETRY_NEVER = 'only where it is known that nothing happened'

const TIERS: readonly Tier[] = [
  {
    tier: 'workspace read',
    examples: 'read_file, list_dir, find_files, search_text',
    effect: 'read',
    place: 'the process of the gate',
    credentials: 'none',
    lane: SIDE_BY_SIDE,
    retry: RETRY_READ,
  },
  {
    tier: 'network read',
    examples: 'a tool of an MCP server that the operator calls `read`',
    effect: 'read',
    place: 'the server of its source',
    credentials: 'the `env` or `headers` of its source, and no other',
    lane: 'alone in its turn: a server does not say what its tools touch',
    retry: RETRY_READ,
  },
  {
    tier: 'workspace write',
    examples: 'write_file, edit_file, move_file, undo_change',
    effect: 'write',
    place: 'the process of the gate',
    credentials: 'none',
    lane: IN_ORDER,
    retry: RETRY_SAFE,
  },
  {
    tier: 'command',
    examples: 'run_command, narrow commands of your own, job_stop',
    effect: 'execute',
    place: 'a child process, in a sandbox where there is one',
    credentials: 'none: its environment is made from nothing',
    lane: ALONE,
    retry: RETRY_NEVER,
  },
  {
    tier: 'external write',
    examples: 'a tool that posts, sends or creates something elsewhere',
    effect: 'external',
    place: 'the server of its source',
    credentials: 'the `env` or `headers` of its source, and no other',
    lane: ALONE,
    retry: RETRY_SAFE,
  },
  {
    tier: 'destructive',
    examples: 'delete_file',
    effect: 'destructive',
    place: 'where its tool does it',
    credentials: 'as its source has them',
    lane: ALONE,
    retry: RETRY_NEVER,
  },
  {
    tier: 'unknown',
    examples: 'a tool of an MCP server of which nobody has said anything',
    effect: 'undeclared',
    place: 'the server of its source',
    credentials: 'the `env` or `headers` of its source, and no other',
    lane: 'alone in its turn',
    retry: RETRY_NEVER,
  },
  {
    tier: 'administration',
    examples: 'answering a question, stopping, changing rules, tokens, trust',
    effect: undefined,
    place: 'the command line or the admin API',
    credentials: 'the state folder, or a token with `approve`, `audit` or `admin`',
    lane: '-',
    retry: '-',
  },
]

export async function explainEffects(input: CommandInput): Promise<ExitCode> {
  const options = await configuredOrNone(input)
  if (typeof options === 'number') return options
  const loaded = loadPolicy(options, { roots: new Map() })
  if (loaded.kind === 'bad') throw new GateConfigError(loaded.problems)
  const { profile } = loaded.policy
  const rows = TIERS.map((tier) => rowOf(tier, loaded.policy.defaultsTable()))
  printTable(input.terminal, profile, rows)
  input.terminal.value({ profile, effects: rows })
  return 0
}

/** The defaults of the configuration where there is one; this command explains as well before there is. */
async function configuredOrNone(input: CommandInput): Promise<PolicyOptions | ExitCode> {
  const { io, line } = input
  if ('looked' in locateConfig(line.text('config'), io.cwd, io.variables)) return {}
  const read = await readProject(input)
  if (read.kind === 'end') return read.code
  const { profile, defaults } = read.value.config.policy
  return { ...(profile === undefined ? {} : { profile }), ...(defaults === undefined ? {} : { defaults }) }
}

type EffectRow = Omit<Tier, 'effect'> & {
  readonly effect: string
  readonly default: string
  readonly reach: string
}

function rowOf({ effect, ...tier }: Tier, defaults: readonly DefaultRow[]): EffectRow {
  if (effect === undefined) return { ...tier, effect: 'none', default: 'no tool does it', reach: '-' }
  const row = defaults.find((one) => one.effect === effect)
  return { ...tier, effect, default: row?.answer ?? 'deny', reach: row?.reach ?? 'once' }
}

function printTable(terminal: Terminal, profile: ProfileName, rows: readonly EffectRow[]): void {
  terminal.line(`What answers where no rule holds (profile ${profile}), and what this version does with such calls:`)
  for (const row of rows) {
    terminal.line()
    terminal.line(['bold', row.tier], row.effect === 'none' ? '' : ` (${row.effect})`, ['dim', `  ${row.examples}`])
    for (const [name, value] of [
      ['default', row.default],
      ['reach', row.reach],
      ['lane', row.lane],
      ['place', row.place],
      ['credentials', row.credentials],
      ['retry', row.retry],
    ] as const)
      if (value !== '-') terminal.line('  ', ['dim', name.padEnd(12)], value)
  }
  terminal.line()
  terminal.line('No tool, and nothing that a model writes, answers questions, reads tokens, or changes rules.')
}
