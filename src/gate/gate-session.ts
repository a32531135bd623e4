// A conversation of one caller. Everything it does goes through `callTool`; it holds no way around it.

import { setMaxListeners } from 'node:events'
import { callTool, type Rooms } from '../call-tool.ts'
import { callTurn } from '../call-turn.ts'
import type { Call, CallRequest, CheckedInput, Entrance, LaneTicket } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry, ToolListing } from '../describe/entry.ts'
import type { Outcome, OutcomeError } from '../describe/outcome.ts'
import { readTraceContext } from '../describe/read-trace-context.ts'
import type { Tool } from '../describe/tool.ts'
import type { CallOptions, ChildOptions, DecisionPreview, NamedCall, Session, TurnOptions } from '../gate-contract.ts'

/** A caller's own id of a call is kept so far. */
const ID_CHARACTERS_MAX = 256

/** Also signals of other realms and of polyfills. */
const isSignal = (signal: unknown): signal is AbortSignal =>
  typeof signal === 'object' &&
  signal !== null &&
  'aborted' in signal &&
  'addEventListener' in signal &&
  typeof signal.addEventListener === 'function' &&
  'removeEventListener' in signal &&
  typeof signal.removeEventListener === 'function'

type Followed = { readonly signal: AbortSignal; readonly release: () => void }

/**
 * Aborts with any of them. Signals of other realms do not go into `AbortSignal.any`, nothing may stay behind on those that
 * live long, and of one that many calls share Node warns as of a leak.
 */
function anyOf(signals: readonly AbortSignal[]): Followed {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  const abort = (): void => controller.abort()
  for (const signal of signals) {
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  }
  const release = (): void => {
    for (const signal of signals) signal.removeEventListener('abort', abort)
  }
  return { signal: controller.signal, release }
}

/** The open question that a refused call left behind. */
function askedApproval({ type, details }: OutcomeError): string | undefined {
  const { approvalId, reason = 'waiting' } = details ?? {}
  if (type !== 'approval_required' || reason !== 'waiting') return undefined
  return typeof approvalId === 'string' ? approvalId : undefined
}

/** A throw is no answer. */
async function isAnswered(
  ask: NonNullable<SessionParts['ask']>,
  approval: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    return (await ask(approval, signal)) === true
  } catch {
    return false
  }
}

/** What a session is given of its gate besides the way into the pipeline. */
export type SessionParts = {
  readonly rooms: Rooms
  readonly entrance: Entrance
  readonly list: (caller: Caller) => readonly ToolListing[]
  /** A place for each call of a turn, in their order. */
  readonly turn: (count: number) => readonly LaneTicket[]
  /** The outcomes of a turn within the budget that they share. */
  readonly fitTurn: (outcomes: readonly Outcome[]) => readonly Outcome[] | Promise<readonly Outcome[]>
  /** Whether the calls of a turn are so often equal that one of them may have to be refused for it. */
  readonly mayCircle: (caller: Caller, requests: readonly CallRequest[]) => boolean
  /** A call that is looked at and never made. */
  readonly preview: (request: CallRequest) => Call
  /** Puts an open question to a person; whether it is answered now. Undefined where nobody is there to be asked. */
  readonly ask: ((approvalId: string, signal: AbortSignal | undefined) => Promise<boolean>) | undefined
  /** Told that a conversation is over. */
  readonly ended: (caller: Caller) => void
  /** The grant that would answer a call that asks. */
  readonly grantFor: (call: Call, entry: Entry, input: CheckedInput, decision: Decision) => Promise<string | undefined>
  /** Both throw GateConfigError for what does not hold. */
  readonly atStep: (caller: Caller, step: string) => Caller
  readonly childOf: (caller: Caller, options: ChildOptions) => Caller
}

export class GateSession implements Session {
  readonly caller: Caller
  readonly #parts: SessionParts

  constructor(caller: Caller, parts: SessionParts) {
    this.caller = caller
    this.#parts = parts
  }

  atStep(step: string): GateSession {
    return new GateSession(this.#parts.atStep(this.caller, step), this.#parts)
  }

  child(options: ChildOptions): GateSession {
    return new GateSession(this.#parts.childOf(this.caller, options), this.#parts)
  }

  tools(): readonly ToolListing[] {
    return this.#parts.list(this.caller)
  }

  call<Args, Value>(tool: Tool<Args, Value>, args: Args, options?: CallOptions): Promise<Outcome<Value>>
  call(request: NamedCall): Promise<Outcome>
  call(first: Tool<never, unknown> | NamedCall, args?: unknown, options?: CallOptions): Promise<Outcome> {
    if (typeof first !== 'object' || first === null || !('version' in first)) return this.#make(this.#request(first))
    return this.#make({ ...this.#request({ ...options, name: first.name, arguments: args }), tool: first })
  }

  async turn(calls: readonly NamedCall[], options: TurnOptions = {}): Promise<readonly Outcome[]> {
    if (!Array.isArray(calls)) throw new TypeError('a turn is a list of calls')
    const { ask = this.#parts.ask } = options
    const given = isSignal(options.signal) ? options.signal : undefined
    const whole = given === undefined ? undefined : anyOf([given])
    const requests = calls.map((call): CallRequest => ({ ...this.#request(call), inTurn: true }))
    try {
      const outcomes = await callTurn((request) => this.#makeWithin(whole?.signal, given, request, ask), requests, {
        tickets: this.#parts.turn(requests.length),
        oneByOne: ask !== undefined,
        afterEachOther: this.#parts.mayCircle(this.caller, requests),
      })
      return await this.#parts.fitTurn(outcomes)
    } finally {
      whole?.release()
    }
  }

  end(): void {
    this.#parts.ended(this.caller)
  }

  async decide({ name, arguments: given }: Pick<NamedCall, 'name' | 'arguments'>): Promise<DecisionPreview> {
    const { rooms, preview, grantFor } = this.#parts
    const call = preview(this.#request({ name, arguments: given }))
    const found = rooms.catalogue.find(call)
    if (found.kind === 'missing') return { kind: 'refused', type: found.code, message: found.reason }
    const { entry } = found
    const admitted = rooms.policy.admit(call, entry)
    if (admitted.kind === 'deny') return { kind: 'decided', decision: admitted.decision }
    const input = await rooms.check(call, entry)
    if (input.kind === 'invalid') return { kind: 'refused', type: input.code, message: input.message }
    const decision = rooms.policy.decide(call, entry, input)
    const grant = decision.kind === 'ask' ? await grantFor(call, entry, input, decision) : undefined
    return grant === undefined ? { kind: 'decided', decision } : { kind: 'decided', decision, grant }
  }

  /** One call; and where it asks and a person answers at once, the same call anew. Waiting is no part of either. */
  #make(request: CallRequest, ask = this.#parts.ask): Promise<Outcome> {
    const made = callTool(this.#parts.rooms, request)
    return ask === undefined ? made : this.#askOnce(request, made, ask)
  }

  /** A call of a turn ends when its own signal aborts, or that of the whole turn. */
  async #makeWithin(
    whole: AbortSignal | undefined,
    given: AbortSignal | undefined,
    request: CallRequest,
    ask: SessionParts['ask'],
  ): Promise<Outcome> {
    if (whole === undefined) return this.#make(request, ask)
    if (request.signal === undefined || request.signal === given) return this.#make({ ...request, signal: whole }, ask)
    const either = anyOf([whole, request.signal])
    try {
      return await this.#make({ ...request, signal: either.signal }, ask)
    } finally {
      either.release()
    }
  }

  async #askOnce(
    request: CallRequest,
    made: Promise<Outcome>,
    ask: NonNullable<SessionParts['ask']>,
  ): Promise<Outcome> {
    const outcome = await made
    const approval = outcome.ok ? undefined : askedApproval(outcome.error)
    if (approval === undefined || !(await isAnswered(ask, approval, request.signal))) return outcome
    // INVARIANT one-outcome: what was asked about is over and recorded; this is another call, and its outcome is the answer.
    return callTool(this.#parts.rooms, { ...request, approval })
  }

  #request(call: NamedCall): CallRequest {
    // Hosts without types may pass anything; what is no call names no tool.
    const asked: Partial<NamedCall> = typeof call === 'object' && call !== null ? call : {}
    const { name, arguments: given, id, approval, idempotencyKey, signal, onProgress, trace } = asked
    const followed = trace == null ? undefined : readTraceContext(trace.traceparent, trace.tracestate)
    return {
      caller: this.caller,
      entrance: this.#parts.entrance,
      name: typeof name === 'string' ? name : '',
      arguments: given,
      ...(typeof id === 'string' ? { id: id.slice(0, ID_CHARACTERS_MAX) } : {}),
      ...(typeof approval === 'string' ? { approval } : {}),
      // One that is no text is not dropped: whoever gives a key counts on it, and hears that it does not hold.
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(isSignal(signal) ? { signal } : {}),
      ...(typeof onProgress === 'function' ? { onProgress } : {}),
      ...(followed === undefined ? {} : { trace: followed }),
    }
  }
}
