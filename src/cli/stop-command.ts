// `lockgate stop`: the kill switch, from beside the gate. What is stopped is stopped for every process on the database, at
// once and over restarts, until it is lifted.

import type { StopRow, StopTarget } from '../observe/store.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import type { CommandLine } from './command-line.ts'
import { atDesk, type Desk } from './open-desk.ts'
import { OPERATOR } from './operator.ts'
import type { Terminal } from './terminal.ts'

const TARGETS = ['tool', 'source', 'session'] as const

export const stopCommand: RunCommand = async (input) => {
  const { line, terminal } = input
  const asked = readAsked(line)
  switch (asked.kind) {
    case 'bad':
      return terminal.fail('usage', asked.reason, ['see `lockgate stop --help`'])
    case 'list':
      return atDesk(input, async (desk) => list(desk, terminal))
    case 'lift':
      return atDesk(input, (desk) => lift(desk, asked.id, terminal))
    case 'stop':
      return atDesk(input, (desk) => stop(desk, asked.target, input))
  }
}

type Asked =
  | { readonly kind: 'list' }
  | { readonly kind: 'lift'; readonly id: string }
  | { readonly kind: 'stop'; readonly target: StopTarget }
  | { readonly kind: 'bad'; readonly reason: string }

/** Exactly one thing is done. To stop everything is said in so many words. */
function readAsked(line: CommandLine): Asked {
  const bad = (reason: string): Asked => ({ kind: 'bad', reason })
  const lifted = line.text('lift')
  const named = TARGETS.flatMap((key) => {
    const value = line.text(key)
    return value === undefined ? [] : [[key, value] as const]
  })
  const wants = [line.flag('list'), lifted !== undefined, line.flag('all'), named.length > 0]
  if (wants.filter(Boolean).length !== 1)
    return bad('expected one of --all, --tool, --source or --session, or --list, or --lift')
  if (line.flag('list')) return { kind: 'list' }
  if (lifted !== undefined) return { kind: 'lift', id: lifted }
  const empty = named.find(([, value]) => value.trim() === '')
  if (empty !== undefined) return bad(`\`--${empty[0]}\` names nothing`)
  return { kind: 'stop', target: Object.fromEntries(named) }
}

function list(desk: Desk, terminal: Terminal): ExitCode {
  const rows = desk.stops()
  for (const row of rows) {
    terminal.line(['bold', row.id], '  ', ['red', targetText(row)])
    const reason = row.reason === undefined ? '' : `: ${row.reason}`
    terminal.line('    ', ['dim', `by ${row.by} at ${new Date(row.at).toISOString()}${reason}`])
  }
  if (rows.length === 0) terminal.note('nothing is stopped')
  terminal.value(rows)
  return 0
}

async function stop(desk: Desk, target: StopTarget, { line, terminal }: CommandInput): Promise<ExitCode> {
  const reason = line.text('reason')
  const row = await desk.stop(target, { by: OPERATOR, ...(reason === undefined ? {} : { reason }) })
  terminal.line(['red', 'stopped'], ` ${targetText(row)}, until ${terminal.command(`stop --lift ${row.id}`)}`)
  terminal.value(row)
  return 0
}

async function lift(desk: Desk, id: string, terminal: Terminal): Promise<ExitCode> {
  const lifted = await desk.lift(id, OPERATOR)
  terminal.value({ lifted })
  if (lifted) {
    terminal.line(['green', 'lifted'], ` ${id}`)
    return 0
  }
  terminal.note(
    ['red', 'error: '],
    `nothing is stopped under \`${id}\`; ${terminal.command('stop --list')} has the ids`,
  )
  return 1
}

function targetText({ target }: StopRow): string {
  const named = TARGETS.flatMap((key) => (target[key] === undefined ? [] : [`${key} ${target[key]}`]))
  return named.length === 0 ? 'everything' : named.join(', ')
}
