// `lockgate approvals`: the questions that calls have left, and a person's answers. Whoever can run this with the state
// folder at hand is the operator. An answer is single and final.

import type { ApprovalRow } from '../observe/store.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { atDesk, type Desk } from './open-desk.ts'
import type { Piece, Terminal } from './terminal.ts'

const LIST_MAX = 1_000
const BY = 'operator (command line)'

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
    return terminal.fail('usage', `the id of the approval is missing`, ['`lockgate approvals list` has the ids'])
  if (action === 'show') return atDesk(input, (desk) => show(desk, id, terminal))
  return atDesk(input, (desk) => answer(desk, { id, decision: action }, input))
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
    ['comment', row.comment],
    ['used by', row.redeemedBy],
  ]
  for (const [name, value] of facts) if (value !== undefined) terminal.line('  ', ['dim', name.padEnd(9)], value)
  printShown(terminal, row)
  terminal.value(row)
  return 0
}

async function answer(
  desk: Desk,
  { id, decision }: { id: string; decision: 'approve' | 'decline' },
  { line, terminal }: CommandInput,
): Promise<ExitCode> {
  const comment = line.text('comment')
  const answered = await desk.approvals.decide(id, { decision, by: BY, ...(comment === undefined ? {} : { comment }) })
  if (answered.kind === 'missing') return missing(terminal, id)
  const { approval } = answered
  terminal.value(answered)
  if (answered.kind === 'closed') {
    terminal.note(['red', 'error: '], `this question is closed: `, statePiece(approval))
    return 1
  }
  printShown(terminal, approval)
  terminal.line(
    statePiece(approval),
    ` ${approval.tool}; `,
    decision === 'approve' ? 'the equal call runs once when it is made again' : 'the call will not run',
  )
  return 0
}

function missing(terminal: Terminal, id: string): ExitCode {
  terminal.note(['red', 'error: '], `there is no approval \`${id}\`; \`lockgate approvals list\` has the ids`)
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
