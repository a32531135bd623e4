// `lockgate turn FILE`: the calls of one model turn, outcomes in the order of the calls.

import { parseJsonText } from '../base/json-text.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { Gate, NamedCall, Session } from '../gate-contract.ts'
import { hasPerson } from './approval-prompt.ts'
import { readCallerOptions } from './caller-options.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { makeCall } from './make-call.ts'
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
    const { outcomes, together } = await runTurn(gate, input, caller.caller, read.calls).finally(quiet)
    for (const outcome of outcomes) printOutcome(terminal, outcome)
    if (together) for (const pieces of turnSchedule(outcomes)) terminal.line(...pieces)
    else terminal.note(['dim', 'the calls were made one by one, since a question had to be answered first'])
    terminal.value(outcomes)
    return outcomes.every(({ ok }) => ok) ? 0 : 1
  })
}

type TurnRun = {
  readonly outcomes: readonly Outcome[]
  /** All were handed in at once, as a model's turn is. */
  readonly together: boolean
}

/** Where somebody has to answer, the calls go in one by one: a question is answered before the next call may follow. */
async function runTurn(
  gate: Gate,
  { io, line, terminal }: CommandInput,
  caller: Parameters<Gate['session']>[0],
  calls: readonly NamedCall[],
): Promise<TurnRun> {
  const session = gate.session(caller, 'cli')
  const signalled = calls.map((call) => ({ ...call, signal: io.signal }))
  const yes = line.flag('yes')
  const answers = yes || hasPerson(io)
  if (!answers || !(await anyAsks(session, calls))) {
    return { outcomes: await session.turn(signalled, { signal: io.signal }), together: true }
  }
  const outcomes: Outcome[] = []
  for (const call of signalled) {
    const make = async (one: NamedCall): Promise<Outcome> => {
      const [outcome] = await session.turn([one])
      if (outcome === undefined) throw new Error('a turn of one call had no outcome')
      return outcome
    }
    outcomes.push(await makeCall({ gate, session, terminal, io, yes }, call, make))
  }
  return { outcomes, together: false }
}

async function anyAsks(session: Session, calls: readonly NamedCall[]): Promise<boolean> {
  const previews = await Promise.all(calls.map((call) => session.decide(call)))
  return previews.some((one) => one.kind === 'decided' && one.decision.kind === 'ask' && one.grant === undefined)
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
