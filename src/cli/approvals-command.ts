// `lockgate approvals`: the questions that calls have left, and a person's answers. Whoever can run this with the state
// folder at hand is the operator. An answer is single and final.

import { REACHES, type Reach } from '../describe/decision.ts'
import type { ApprovalRow, GrantRow } from '../observe/store.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { atDesk, type Desk } from './open-desk.ts'
import { OPERATOR } from './operator.ts'
import { refusedText } from './refused-answer.ts'
import type { Piece, Terminal } from './terminal.ts'

const LIST_MAX = 1_000

export const approvalsCommand: RunCommand = async (input) => {
  const { line, terminal } = input
  const [action = 'list', id] = line.positionals
  if (action === 'list' && id === undefined) return atDesk(input, (desk) => list(desk, input))
  if (action !== 'show' && action !== 'approve' && action !== 'decline') {
    return terminal.fail(
      'usage',
      `expected list, show, approve or decline, got \`${[action, ...(id === undefined ? [] : [id])].join(' ')}\``,
      ['see `lockgate approvals --help`'],
    )
  }
  if (id === undefined)
    return terminal.fail('usage', `the id of the approval is missing`, [
      `${terminal.command('approvals list')} has the ids`,
    ])
  if (action === 'show') return atDesk(input, (desk) => show(desk, id, terminal))
  const scope = readScope(line.text('scope'), action)
  if (scope.kind === 'bad') return terminal.fail('usage', scope.reason)
  return atDesk(input, (desk) => answer(desk, { id, decision: action, scope: scope.reach }, input))
}

type Scope = { readonly kind: 'ok'; readonly reach: Reach } | { readonly kind: 'bad'; readonly reason: string }

/** To reach further is a decision of its own: it is said in so many words, or not at all. */
function readScope(given: string | undefined, action: 'approve' | 'decline'): Scope {
  if (given === undefined) return { kind: 'ok', reach: 'once' }
  if (action === 'decline') return { kind: 'bad', reason: '`--scope` is for `approve`: a no is about this one call' }
  const reach = REACHES.find((known) => known === given)
  return reach === undefined
    ? { kind: 'bad', reason: `\`--scope\`: expected ${REACHES.join(', ')}, got \`${given}\`` }
    : { kind: 'ok', reach }
}

async function list(desk: Desk, { line, terminal }: CommandInput): Promise<ExitCode> {
  const rows = await desk.approvals.list({ limit: LIST_MAX, ...(line.flag('all') ? {} : { state: 'open' as const }) })
  const shown = rows.filter((row) => line.flag('all') || !isExpired(row))
  for (const row of shown) {
    terminal.line(['bold', row.id], '  ', statePiece(row), `  ${row.tool} (${row.effect})`)
    printShown(terminal, row)
  }
  if (shown.length === 0) terminal.note('no open questions')
  terminal.value(shown)
  return 0
}

async function show(desk: Desk, id: string, terminal: Terminal): Promise<ExitCode> {
  const row = await desk.approvals.show(id)
  if (row === undefined) return missing(terminal, id)
  terminal.line(['bold', row.id], '  ', statePiece(row))
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['tool', `${row.tool} (${row.effect})`],
    ['caller', `${row.tenant}/${row.user}/${row.agent}, session ${row.session}`],
    ['reason', row.reason],
    ['opened', new Date(row.openedAt).toISOString()],
    ['expires', new Date(row.expiresAt).toISOString()],
    [
      'answered',
      row.answeredAt === undefined ? undefined : `${new Date(row.answeredAt).toISOString()} by ${row.answeredBy ?? ''}`,
    ],
    ['reach', row.reach],
    ['comment', row.comment],
    ['used by', row.redeemedBy],
    ['code', row.proof === undefined ? undefined : 'asked for: the gate has shown it where it runs'],
  ]
  for (const [name, value] of facts) if (value !== undefined) terminal.line('  ', ['dim', name.padEnd(9)], value)
  printShown(terminal, row)
  if (row.state === 'open' && !isExpired(row)) {
    for (const { reach, shown } of row.offers) terminal.line('  ', ['dim', `--scope ${reach}`.padEnd(17)], shown)
  }
  terminal.value(row)
  return 0
}

type Given = { readonly id: string; readonly decision: 'approve' | 'decline'; readonly scope: Reach }

async function answer(desk: Desk, { id, decision, scope }: Given, { line, terminal }: CommandInput): Promise<ExitCode> {
  const comment = line.text('comment')
  const code = line.text('code')
  const answered = await desk.approvals.decide(id, {
    ...{ decision, by: OPERATOR },
    ...(decision === 'approve' ? { scope } : {}),
    ...(comment === undefined ? {} : { comment }),
    ...(code === undefined ? {} : { code }),
  })
  if (answered.kind === 'missing') return missing(terminal, id)
  const { approval } = answered
  terminal.value(answered)
  if (answered.kind === 'closed') {
    terminal.note(['red', 'error: '], `this question is closed: `, statePiece(approval))
    return 1
  }
  if (answered.kind === 'refused') {
    terminal.note(['red', 'error: '], refusedText(answered))
    return 1
  }
  printShown(terminal, approval)
  terminal.line(statePiece(approval), ` ${approval.tool}; `, effectOf(terminal, decision, answered.grant))
  return 0
}

function effectOf(terminal: Terminal, decision: 'approve' | 'decline', grant: GrantRow | undefined): string {
  if (decision === 'decline') return 'the call will not run'
  if (grant === undefined) return 'the equal call runs once when it is made again, under the rules that asked'
  return `${grant.shown}; take it back with ${terminal.command(`grants revoke ${grant.id}`)}`
}

function missing(terminal: Terminal, id: string): ExitCode {
  terminal.note(['red', 'error: '], `there is no approval \`${id}\`; ${terminal.command('approvals list')} has the ids`)
  terminal.value({ kind: 'missing' })
  return 1
}

/** The rendering that the person answers to, with what it means below each other. */
function printShown(terminal: Terminal, { shown }: ApprovalRow): void {
  for (const text of shown.split('\n')) terminal.line('    ', text)
}

const isExpired = ({ state, expiresAt }: ApprovalRow): boolean =>
  (state === 'open' || state === 'approved') && expiresAt <= Date.now()

function statePiece(row: ApprovalRow): Piece {
  if (isExpired(row)) return ['dim', 'expired']
  const styles = { open: 'yellow', approved: 'green', declined: 'red', redeemed: 'dim' } as const
  return [styles[row.state], row.state]
}
