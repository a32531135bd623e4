// `lockgate journal`: what is known under idempotency keys, and the operator's word on a call whose end nobody knows. Whoever
// can run this with the state folder at hand is the operator. It runs nothing and settles nothing whose end is known.

import type { JournalRow } from '../observe/store.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { atDesk, type Desk } from './open-desk.ts'
import { OPERATOR } from './operator.ts'
import type { Piece } from './terminal.ts'

const LIST_MAX = 1_000
const STATES = ['running', 'done', 'unknown'] as const
const EFFECTS = ['none', 'done'] as const

export const journalCommand: RunCommand = async (input) => {
  const { line, terminal } = input
  const [action = 'list', callId] = line.positionals
  if (action === 'list' && callId === undefined) {
    const given = line.text('state')
    const state = STATES.find((known) => known === given)
    if (given !== undefined && state === undefined)
      return terminal.fail('usage', `\`--state\`: expected ${STATES.join(', ')}, got \`${given}\``)
    return atDesk(input, (desk) => list(desk, input, state))
  }
  if (action !== 'settle')
    return terminal.fail('usage', `expected list or settle, got \`${line.positionals.join(' ')}\``, [
      'see `lockgate journal --help`',
    ])
  if (callId === undefined)
    return terminal.fail('usage', 'the id of the call is missing', [
      `${terminal.command('journal list --state unknown')} has the ids`,
    ])
  const effect = EFFECTS.find((known) => known === line.text('as'))
  if (effect === undefined)
    return terminal.fail('usage', 'say what the call did: `--as none` (it changed nothing) or `--as done`')
  return atDesk(input, (desk) => settle(desk, callId, effect, input))
}

async function list(desk: Desk, { terminal }: CommandInput, state: JournalRow['state'] | undefined): Promise<ExitCode> {
  const rows = await desk.journal.list({ limit: LIST_MAX, ...(state === undefined ? {} : { state }) })
  for (const row of rows) {
    terminal.line(statePiece(row.state), '  ', ['bold', row.key], `  ${row.tool}  ${row.callId}`)
    const ended = row.endedAt === undefined ? '' : `, ended ${timeText(row.endedAt)}`
    terminal.line('         ', [
      'dim',
      `${row.tenant}/${row.user}/${row.agent}, claimed ${timeText(row.claimedAt)}${ended}`,
    ])
  }
  if (rows.length === 0) terminal.note('no keys')
  terminal.value(rows)
  return 0
}

async function settle(
  desk: Desk,
  callId: string,
  effect: (typeof EFFECTS)[number],
  { terminal }: CommandInput,
): Promise<ExitCode> {
  const settled = await desk.journal.settle(callId, effect, OPERATOR)
  terminal.value({ settled })
  if (settled) {
    const meaning = effect === 'none' ? 'its key is free again' : 'the same call under its key is not run again'
    terminal.line(['green', 'settled'], ` ${callId} as ${effect}: ${meaning}`)
    return 0
  }
  terminal.note(['red', 'error: '], `no call \`${callId}\` ended without its end being known`)
  return 1
}

const timeText = (at: number): string => new Date(at).toISOString()

function statePiece(state: JournalRow['state']): Piece {
  const styles = { running: 'yellow', done: 'green', unknown: 'red' } as const
  return [styles[state], state.padEnd(7)]
}
