// `lockgate turn FILE`: the calls of one model turn, outcomes in the order of the calls.

import { parseJsonText } from '../base/json-text.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { Gate, NamedCall } from '../gate-contract.ts'
import { hasPerson } from './approval-prompt.ts'
import { readCallerOptions } from './caller-options.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { hasAnswer } from './make-call.ts'
import { sourcesFor, untilThere, withGate } from './open-gate.ts'
import { printOutcome } from './print-outcome.ts'
import { followProgress } from './print-progress.ts'
import { openProject } from './project.ts'
import { readInput } from './read-input.ts'
import { turnSchedule } from './turn-schedule.ts'

const CALLS_MAX = 1_000
// Wider than what one call may hold, so that it is the gate that says which call is too large.
const TURN_BOUNDS = { bytesMax: 4 * 1_048_576, depthMax: 80, keysMax: 400_000 } as const

export const turnCommand: RunCommand = async (input) => {
  const { io, line, terminal } = input
  const [file] = line.positionals
  if (file === undefined)
    return terminal.fail('usage', 'the file with the calls is missing', ['see `lockgate turn --help`'])
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  const caller = readCallerOptions(line, opened.value.config.caller)
  if (caller.kind === 'bad') return terminal.fail('usage', caller.reason)
  const text = await readInput(file, io)
  const read = text.kind === 'bad' ? text : readCalls(text.text)
  if (read.kind === 'bad') return terminal.fail('usage', `${file}: ${read.reason}`)
  return withGate(opened.value, input, { starts: sourcesFor(read.calls.map(({ name }) => name)) }, async (gate) => {
    for (const { name } of read.calls) await untilThere(gate, name, io.signal)
    const quiet = followProgress(gate, terminal)
    const outcomes = await runTurn(gate, input, caller.caller, read.calls).finally(quiet)
    for (const outcome of outcomes) printOutcome(terminal, outcome)
    for (const pieces of turnSchedule(outcomes)) terminal.line(...pieces)
    terminal.value(outcomes)
    return outcomes.every(({ ok }) => ok) ? 0 : 1
  })
}

/** Questions are answered one after the other, each in the place of its call; what follows waits only where it has to. */
async function runTurn(
  gate: Gate,
  { io, line, terminal }: CommandInput,
  caller: Parameters<Gate['session']>[0],
  calls: readonly NamedCall[],
): Promise<readonly Outcome[]> {
  const session = gate.session(caller, 'cli')
  const yes = line.flag('yes')
  const ask = async (id: string): Promise<boolean> => {
    const shown = (await gate.approvals.show(id))?.shown ?? ''
    return hasAnswer({ gate, session, terminal, io, yes }, { id, shown })
  }
  return session.turn(calls, { signal: io.signal, ...(yes || hasPerson(io) ? { ask } : {}) })
}

type Calls =
  | { readonly kind: 'ok'; readonly calls: readonly NamedCall[] }
  | { readonly kind: 'bad'; readonly reason: string }

function readCalls(text: string): Calls {
  const bad = (reason: string): Calls => ({ kind: 'bad', reason })
  const parsed = parseJsonText(text, TURN_BOUNDS)
  if (parsed.kind === 'refused') return bad(parsed.message)
  const { value } = parsed
  if (!Array.isArray(value)) return bad('expected a JSON array of calls, each `{ "name": …, "arguments": … }`')
  if (value.length > CALLS_MAX) return bad(`a turn has at most ${CALLS_MAX} calls`)
  const calls: NamedCall[] = []
  for (const [index, one] of value.entries()) {
    const call = readCall(one)
    if (typeof call === 'string') return bad(`call ${index}: ${call}`)
    calls.push(call)
  }
  return { kind: 'ok', calls }
}

const KNOWN = new Set(['id', 'name', 'arguments', 'approval', 'idempotencyKey'])

function readCall(value: unknown): NamedCall | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'expected an object with `name` and `arguments`'
  const given: Readonly<Record<string, unknown>> = { ...value }
  const unknown = Object.keys(given).find((key) => !KNOWN.has(key))
  if (unknown !== undefined) return `\`${unknown}\` is no part of a call; known: ${[...KNOWN].join(', ')}`
  const { id, name, arguments: args, approval, idempotencyKey } = given
  if (typeof name !== 'string') return '`name` must be text'
  if (id !== undefined && typeof id !== 'string') return '`id` must be text'
  if (approval !== undefined && typeof approval !== 'string') return '`approval` must be text'
  if (idempotencyKey !== undefined && typeof idempotencyKey !== 'string') return '`idempotencyKey` must be text'
  return {
    name,
    arguments: args ?? {},
    ...(id === undefined ? {} : { id }),
    ...(approval === undefined ? {} : { approval }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  }
}
