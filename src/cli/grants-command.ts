// `lockgate grants`: the answers that reach further than one call, and an end to them. Whoever can run this with the state
// folder at hand is the operator.

import type { GrantRow } from '../observe/store.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { atDesk, type Desk } from './open-desk.ts'
import { OPERATOR } from './operator.ts'
import type { Piece } from './terminal.ts'

const LIST_MAX = 1_000

export const grantsCommand: RunCommand = async (input) => {
  const { line, terminal } = input
  const [action = 'list', id] = line.positionals
  if (action === 'list' && id === undefined) return atDesk(input, (desk) => list(desk, input))
  if (action !== 'revoke')
    return terminal.fail('usage', `expected list or revoke, got \`${line.positionals.join(' ')}\``, [
      'see `lockgate grants --help`',
    ])
  if (id === undefined)
    return terminal.fail('usage', 'the id of the grant is missing', [`${terminal.command('grants list')} has the ids`])
  return atDesk(input, (desk) => revoke(desk, id, input))
}

async function list(desk: Desk, { line, terminal }: CommandInput): Promise<ExitCode> {
  const rows = await desk.grants.list({ limit: LIST_MAX, live: !line.flag('all') })
  for (const row of rows) {
    terminal.line(['bold', row.id], '  ', statePiece(row), `  ${row.tool} (${row.effect}), ${row.reach}`)
    terminal.line('    ', row.shown)
    terminal.line('    ', [
      'dim',
      `given by ${row.grantedBy} at ${timeText(row.grantedAt)}, holds until ${timeText(row.expiresAt)}`,
    ])
  }
  if (rows.length === 0) terminal.note('no grants')
  terminal.value(rows)
  return 0
}

async function revoke(desk: Desk, id: string, { terminal }: CommandInput): Promise<ExitCode> {
  const revoked = await desk.grants.revoke(id, OPERATOR)
  terminal.value({ revoked })
  if (revoked) {
    terminal.line(['green', 'revoked'], ` ${id}: calls that it covered are asked again`)
    return 0
  }
  terminal.note(['red', 'error: '], `there is no grant \`${id}\`, or it was revoked before`)
  return 1
}

const timeText = (at: number): string => new Date(at).toISOString()

function statePiece({ revokedAt, expiresAt }: GrantRow): Piece {
  if (revokedAt !== undefined) return ['red', 'revoked']
  return expiresAt <= Date.now() ? ['dim', 'expired'] : ['green', 'holds']
}
