// `lockgate tokens`: the credentials of callers. The plain text of a token is shown once, when it is made, and kept by nobody
// here. Whoever can run this with the state folder at hand is the operator.

import { systemClock } from '../base/clock.ts'
import { didYouMean } from '../base/did-you-mean.ts'
import { errorMessage } from '../base/error-text.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import { parseDurationMs } from '../server/config/units.ts'
import { recordTokens } from '../server/token-changes.ts'
import {
  isScope,
  readTokenCaller,
  SCOPES,
  type Scope,
  scopeProblem,
  type TokenCaller,
  type TokenRow,
} from '../server/token-rows.ts'
import { tokenWarnings } from '../server/token-warnings.ts'
import { type MadeToken, type NewToken, openTokens, type Tokens, type TokensOptions } from '../server/tokens.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import type { CommandLine } from './command-line.ts'
import { atDeskOf } from './open-desk.ts'
import { OPERATOR } from './operator.ts'
import { openProject, type Project } from './project.ts'

/** `serve` keeps tokens of these names, and makes them anew as it needs them. */
const KEPT_NAMES = new Set(['call', 'operator'])
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@:-]{0,63}$/u
const EXPIRES_MS_MAX = 10 * 365 * 86_400_000
const ACTIONS = ['create', 'list', 'revoke', 'rotate'] as const

export const tokensCommand: RunCommand = async (input) => {
  const { line, terminal } = input
  const [given = 'list', id] = line.positionals
  const action = ACTIONS.find((name) => name === given)
  if (action === undefined) {
    const near = didYouMean(given, ACTIONS)
    return terminal.fail('usage', `expected ${ACTIONS.join(', ')}, got \`${given}\``, [
      near === undefined ? 'see `lockgate tokens --help`' : `did you mean \`${near}\`?`,
    ])
  }
  const takesId = action === 'revoke' || action === 'rotate'
  if (takesId !== (id !== undefined))
    return takesId
      ? terminal.fail('usage', 'the id of the token is missing', ['`lockgate tokens list` has the ids'])
      : terminal.fail('usage', `\`${action}\` takes no id`)
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  const project = opened.value
  if (action === 'list' || (takesId && id === undefined))
    return list(await openTokensOf(input, project), project, input)
  return recording(input, project, (tokens) => change(tokens, action, id, project, input))
}

const openTokensOf = (
  { terminal }: CommandInput,
  { stateFolder }: Project,
  record?: TokensOptions['record'],
): Promise<Tokens> =>
  openTokens({
    folder: stateFolder,
    clock: systemClock,
    log: (message) => terminal.note(['dim', message]),
    ...(record === undefined ? {} : { record }),
  })

/** Changes are recorded where records last; those of a gate in memory end with it. */
function recording(
  input: CommandInput,
  project: Project,
  use: (tokens: Tokens) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { database } = project
  if (database === undefined) return openTokensOf(input, project).then(use)
  return atDeskOf({ ...project, database }, input, async (desk) =>
    use(await openTokensOf(input, project, recordTokens(desk, OPERATOR))),
  )
}

async function change(
  tokens: Tokens,
  action: Exclude<(typeof ACTIONS)[number], 'list'>,
  id: string | undefined,
  project: Project,
  input: CommandInput,
): Promise<ExitCode> {
  try {
    if (action === 'create' || id === undefined) return await create(tokens, project, input)
    return action === 'revoke' ? await revoke(tokens, id, input) : await rotate(tokens, id, input)
  } catch (error) {
    if (error instanceof GateConfigError) throw error
    return input.terminal.fail('configuration', `nothing was changed: ${errorMessage(error)}`)
  }
}

async function create(tokens: Tokens, project: Project, input: CommandInput): Promise<ExitCode> {
  const { terminal } = input
  const read = readNewToken(input.line)
  if (read.kind === 'bad') return terminal.fail('usage', read.reason, ['see `lockgate tokens create --help`'])
  const { name } = read.token
  if (KEPT_NAMES.has(name))
    return terminal.fail('usage', `\`${name}\` is the name of a token that \`lockgate serve\` keeps itself`)
  if (tokens.list().some((row) => row.name === name))
    return terminal.fail('usage', `there is a token \`${name}\` already; revoke it, or rotate it`)
  const made = await tokens.create(read.token)
  warn(input, project, made.row)
  return show(input, made)
}

function list(tokens: Tokens, project: Project, input: CommandInput): ExitCode {
  const { terminal } = input
  const rows = tokens.list()
  for (const row of rows) {
    terminal.line(['bold', row.id], `  ${row.name}  `, ['cyan', row.scopes.join(',')], statePart(row))
    const facts = [callerText(row.caller), ...(row.elicitation === true ? ['may answer through its client'] : [])]
    for (const fact of facts) if (fact !== '') terminal.line('    ', ['dim', fact])
    warn(input, project, row)
  }
  if (rows.length === 0) terminal.note('no tokens; `lockgate serve` makes two, `lockgate tokens create` others')
  terminal.value(rows.map(publicRow))
  return 0
}

async function revoke(tokens: Tokens, id: string, { terminal }: CommandInput): Promise<ExitCode> {
  const row = await tokens.revoke(id)
  if (row === undefined) return missing(terminal, id)
  terminal.line(['green', 'ended '], `${row.name} (${row.id}); a server that is running knows it within a second`)
  terminal.value({ revoked: publicRow(row) })
  return 0
}

async function rotate(tokens: Tokens, id: string, input: CommandInput): Promise<ExitCode> {
  const made = await tokens.rotate(id)
  return made === undefined ? missing(input.terminal, id) : show(input, made)
}

function missing(terminal: CommandInput['terminal'], id: string): ExitCode {
  terminal.note(['red', 'error: '], `there is no token \`${id}\`; \`lockgate tokens list\` has the ids`)
  terminal.value({ kind: 'missing' })
  return 1
}

function show({ terminal }: CommandInput, { token, row }: MadeToken): ExitCode {
  terminal.line(['bold', row.id], `  ${row.name}  `, ['cyan', row.scopes.join(',')], statePart(row))
  terminal.line('  token  ', ['cyan', token])
  terminal.note('it is not shown again')
  terminal.value({ token, ...publicRow(row) })
  return 0
}

function warn({ terminal }: CommandInput, { config }: Project, row: TokenRow): void {
  for (const warning of tokenWarnings(row, config.policy)) terminal.note(['yellow', 'warning: '], warning)
}

const publicRow = ({ hash: _, ...row }: TokenRow): Omit<TokenRow, 'hash'> => row

const statePart = ({ expiresAt }: TokenRow): string => {
  if (expiresAt === undefined) return ''
  return `  ${expiresAt <= Date.now() ? 'expired' : 'expires'} ${new Date(expiresAt).toISOString()}`
}

const callerText = (caller: TokenCaller = {}): string =>
  Object.entries(caller)
    .map(([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')

type NewTokenRead =
  | { readonly kind: 'ok'; readonly token: NewToken }
  | { readonly kind: 'bad'; readonly reason: string }
const bad = (reason: string): NewTokenRead & { kind: 'bad' } => ({ kind: 'bad', reason })

function readNewToken(line: CommandLine): NewTokenRead {
  const name = line.text('name')
  if (name === undefined) return bad('`--name` is missing: a name under which records and lists show the token')
  if (!NAME.test(name)) return bad('`--name`: expected 1 to 64 letters, digits, blanks and `._@:-`')
  const scopes = readScopes(line.text('scope'))
  if (scopes.kind === 'bad') return scopes
  const caller = readTokenCaller(callerOf(line))
  if (caller.kind === 'bad') return bad(caller.reason)
  const elicitation = line.flag('elicitation')
  if (elicitation && !scopes.scopes.includes('call'))
    return bad('`--elicitation` marks a token that calls: add the scope `call`, or leave it out')
  const expires = line.text('expires')
  const lifeMs = expires === undefined ? undefined : parseDurationMs(expires)
  if (expires !== undefined && (lifeMs === undefined || lifeMs <= 0 || lifeMs > EXPIRES_MS_MAX))
    return bad(`\`--expires\`: expected a duration, such as \`30d\` or \`12h\`, got \`${expires}\``)
  return {
    kind: 'ok',
    token: {
      name,
      scopes: scopes.scopes,
      ...(Object.keys(caller.caller).length === 0 ? {} : { caller: caller.caller }),
      ...(lifeMs === undefined ? {} : { expiresAt: Date.now() + lifeMs }),
      ...(elicitation ? { elicitation } : {}),
    },
  }
}

type ScopesRead =
  | { readonly kind: 'ok'; readonly scopes: readonly Scope[] }
  | { readonly kind: 'bad'; readonly reason: string }

function readScopes(text: string | undefined): ScopesRead {
  if (text === undefined) return bad(`\`--scope\` is missing: ${SCOPES.join(', ')}, or several of them after commas`)
  const given = text.split(',').map((word) => word.trim())
  const unknown = given.find((word) => !isScope(word))
  if (unknown !== undefined) return bad(`\`--scope\`: there is no scope \`${unknown}\`; there are ${SCOPES.join(', ')}`)
  const scopes = SCOPES.filter((scope) => given.includes(scope))
  const problem = scopeProblem(scopes)
  return problem === undefined ? { kind: 'ok', scopes } : bad(`\`--scope\`: ${problem}`)
}

/** `--task NAME` leaves what it may use open; `--task NAME:GLOB,GLOB` says it. */
function callerOf(line: CommandLine): Readonly<Record<string, unknown>> {
  const texts = ['tenant', 'user', 'agent', 'step'].flatMap((key) => {
    const value = line.text(key)
    return value === undefined ? [] : [[key, value] as const]
  })
  const [roles, layers, task] = [line.texts('role'), line.texts('layer'), line.text('task')]
  return {
    ...Object.fromEntries(texts),
    ...(roles.length === 0 ? {} : { roles }),
    ...(layers.length === 0 ? {} : { layers }),
    ...(task === undefined ? {} : { task: taskOf(task) }),
  }
}

function taskOf(text: string): object {
  const colon = text.indexOf(':')
  if (colon < 0) return { name: text }
  const globs = text.slice(colon + 1)
  // Nothing after the colon allows nothing; that is another thing than no list.
  return { name: text.slice(0, colon), allow: globs === '' ? [] : globs.split(',') }
}
