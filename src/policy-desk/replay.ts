// A recorded session, walked again: each call beside the outcome that was recorded, and beside the answer that it would get
// today. The outcomes are those of the records, so that two walks over the same records tell the same; no tool is run,
// nothing is asked and nothing recorded.

import { redactedArguments } from '../authorize/redacted-arguments.ts'
import { isJsonObject, type JsonObject } from '../base/json-value.ts'
import type { Call, CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import type { Replay, ReplayOptions, ReplayStep } from '../gate-contract.ts'
import { bodyOf } from '../observe/record-text.ts'
import type { DeskParts } from './desk-parts.ts'
import { callOf, lookUp } from './explain-call.ts'
import { argumentsOf, recordedCaller } from './recorded-calls.ts'
import { type SessionCall, sessionCalls } from './recorded-session.ts'

const CALLS_DEFAULT = 1_000
const CALLS_MAX = 100_000
/** Calls that are decided before other work of the process gets its turn. */
const BATCH = 256

type Today = ReplayStep['today']

export async function replaySession(parts: DeskParts, session: string, options: ReplayOptions): Promise<Replay> {
  const { callsMax = CALLS_DEFAULT } = options
  const bound = Math.max(1, Math.min(CALLS_MAX, Math.trunc(callsMax)))
  const { calls, more } = await sessionCalls(parts.store, session, options, bound)
  const steps: ReplayStep[] = []
  for (const [index, call] of calls.entries()) {
    if (index % BATCH === BATCH - 1) await new Promise((resolve) => setImmediate(resolve))
    const step = await stepOf(parts, call)
    if (step !== undefined) steps.push(step)
  }
  return { session, steps, more }
}

/** Undefined for a row that names no tool: it tells of no call. */
async function stepOf(parts: DeskParts, { callId, row, recorded, at }: SessionCall): Promise<ReplayStep | undefined> {
  const body = bodyOf(row)
  const { tool } = body
  const read = recordedCaller(row)
  if (typeof tool !== 'string' || read.kind === 'bad') return undefined
  const { caller } = read
  const args = argumentsOf(body)
  const isWhole = args.kind === 'whole' && redactedArguments(args.args).length === 0
  return {
    ...{ callId, at, tool, caller, recorded },
    ...(isWhole ? { arguments: args.args } : {}),
    today: await today(parts, { tool, caller, args, recorded, spoke: speakerOf(body) }),
  }
}

const speakerOf = ({ decision }: JsonObject): unknown => (isJsonObject(decision) ? decision.by : undefined)

type Asked = {
  readonly tool: string
  readonly caller: Caller
  readonly args: ReturnType<typeof argumentsOf>
  readonly recorded: ReplayStep['recorded']
  /** Who spoke then. */
  readonly spoke: unknown
}

const NOT_THERE = 'its arguments are not in its record'

const untold = (why: string): Today => ({ kind: 'untold', why })

async function today(parts: DeskParts, asked: Asked): Promise<Today> {
  const { tool, caller, args, recorded, spoke } = asked
  if (spoke === 'task') return untold('what its task allowed is not recorded, and the task denied it')
  const call = callOf(parts, caller, tool, args.kind === 'whole' ? args.args : {})
  const found = lookUp(parts, call)
  if (found.kind === 'missing') return refused(recorded, found.code, found.help ?? found.reason)
  const { entry } = found
  const admitted = parts.rooms.policy.admit(call, entry)
  if (admitted.kind === 'deny') return decided(recorded, admitted.decision)
  if (args.kind === 'unread' && recorded.decision === undefined) return untold(NOT_THERE)
  if (args.kind !== 'whole')
    return ofAllCalls(parts, asked, entry, args.kind === 'cut' ? 'its arguments were cut in the record' : NOT_THERE)
  const hidden = redactedArguments(args.args)
  const input = await parts.rooms.check(call, entry)
  if (hidden.length > 0) return ofHidden(parts, asked, entry, input.kind === 'ok' ? input : undefined, hidden)
  if (input.kind === 'invalid') return refused(recorded, input.code, input.message)
  return decided(recorded, decisionNow(parts, call, entry, input))
}

/** The loop guard speaks of calls that are made one after the other, and not of looking back at them. */
function decisionNow({ rooms, policyOf }: DeskParts, call: Call, entry: Entry, input: CheckedInput): Decision {
  const decision = rooms.policy.decide(call, entry, input)
  return decision.by === 'loop' ? policyOf(call.caller).decide(call.caller, entry, input) : decision
}

/** What secrets stood there is not recorded: the answer holds where no rule looks at them. */
function ofHidden(
  parts: DeskParts,
  asked: Asked,
  entry: Entry,
  input: CheckedInput | undefined,
  hidden: readonly string[],
): Today {
  const { caller, recorded } = asked
  const policy = parts.policyOf(caller)
  const names = hidden.map((name) => `\`${name}\``).join(', ')
  const why = `${names} ${hidden.length === 1 ? 'was' : 'were'} redacted in the record`
  if (input === undefined) return ofAllCalls(parts, asked, entry, why)
  if (policy.looksAt(caller, entry, input, hidden)) return untold(`${why}, and rules look at that`)
  return decided(recorded, policy.decide(caller, entry, input))
}

/** The answer that holds for every call of the tool, where there is one. */
function ofAllCalls({ policyOf }: DeskParts, { caller, recorded }: Asked, entry: Entry, why: string): Today {
  const { decision, depends } = policyOf(caller).outlook(caller, entry)
  return depends ? untold(`${why}, and rules look at them`) : decided(recorded, decision)
}

const decided = ({ decision: before }: ReplayStep['recorded'], decision: Decision): Today => ({
  kind: 'decided',
  decision,
  differs: before?.kind !== decision.kind,
})

/** Before any decision: a call that ended so then as well is no other answer. */
const refused = (recorded: ReplayStep['recorded'], type: string, message: string): Today => ({
  ...{ kind: 'refused', type, message },
  differs: recorded.decision !== undefined || recorded.error?.type !== type,
})
