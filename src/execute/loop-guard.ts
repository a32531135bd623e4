// Sees a conversation that goes in circles: the same call with the same result again and again, or two calls that take turns
// without any change. It says so first, and refuses later. Another result, or a third call, breaks the circle.
//
// Of a conversation it remembers two calls and no more, and it remembers only so many conversations.

import type { Clock } from '../base/clock.ts'
import { sha256 } from '../base/digest.ts'
import { takeJsonText } from '../base/json-text.ts'
import { takeJson } from '../base/json-value.ts'
import type { Call, CallRequest, CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { ContentPart } from '../describe/content.ts'
import type { Outcome } from '../describe/outcome.ts'
import { TurnOrder } from './turn-order.ts'

export type RepeatLimits = {
  /** From so many equal calls on, the outcome says so. */
  readonly warn: number
  /** From so many on, the call is refused. */
  readonly refuse: number
  /**
   * Milliseconds that a model takes at least from an answer to its next call. Outside a turn, a call that comes faster is made
   * by a program and does not count: how many of those there may be is a matter of rates. 0 counts every call.
   */
  readonly paceMs: number
}

/** A call that was made, and what came back. */
type Made = { readonly tool: string; readonly text: string; readonly result: string }

type Track = {
  last: Made | undefined
  /** The newest one that is not like the last. */
  before: Made | undefined
  /** How many of the newest are like the last. */
  run: number
  /** How many of the newest are like the one before the one before them, while two take turns. */
  turns: number
  /** When the newest ended, in the clock's own count. */
  endedMs: number
  /** How many of the newest were a program's. */
  quick: number
}

/** After so many quick calls it is a program that makes them, also where it pauses now and then. */
const QUICK_MAX = 10

const SESSIONS_MAX = 1_000
/** Characters of arguments and results that are kept as they are; of longer ones the digest is kept. */
const KEPT_MAX = 1_024
const ARGUMENT_BOUNDS = { depthMax: 64, keysMax: 10_000, bytesMax: 65_536 } as const

/** Ends that say nothing of the call itself: somebody has to answer first, or the same call may well work later. */
const PASSING = new Set([
  'approval_required',
  'approval_declined',
  'approval_expired',
  'input_required',
  'cancelled',
  'unavailable',
  'busy',
  'rate_limited',
  'audit_unavailable',
])

export class LoopGuard {
  readonly #limits: RepeatLimits
  readonly #clock: Pick<Clock, 'monotonic'>
  /** In the order of their first call, so that the oldest goes first. */
  readonly #tracks = new Map<string, Track>()
  readonly #byCaller = new WeakMap<Caller, Track>()
  readonly #turns = new WeakMap<object, TurnOrder<string | undefined>>()

  constructor(limits: RepeatLimits, clock: Pick<Clock, 'monotonic'>) {
    this.#limits = limits
    this.#clock = clock
  }

  /** How often this call would then have been made without any change, where that is once too often. */
  refuses(call: Call, input: CheckedInput): number | undefined {
    // What a tool calls is part of the call of that tool, and that one counts.
    if (call.request.parent !== undefined) return undefined
    const track = this.#trackOf(call.caller)
    const { refuse } = this.#limits
    if (track.run + 1 < refuse && turnsToTimes(track.turns) < refuse) return undefined
    if (!this.#isPaced(track, call)) return undefined
    const times = timesOf(track, kept(call.request.name), kept(input.text))
    return times >= refuse ? times : undefined
  }

  /**
   * Whether one of these calls of a turn would be refused, if all came to the same. Their ends then have to be known one after
   * the other: of calls that are decided together each looks like the first.
   */
  mayRefuse(caller: Caller, requests: readonly CallRequest[]): boolean {
    const { run, turns } = this.#trackOf(caller)
    const before = Math.max(run === 1 ? 0 : run, turns === 0 ? 0 : turnsToTimes(turns))
    const most = this.#limits.refuse - before
    if (requests.length < most) return false
    const counts = new Map<string, number>()
    return requests.some(({ name, arguments: given }) => {
      const key = JSON.stringify([kept(name), askedText(given)])
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return count >= most
    })
  }

  /**
   * Notes how a call ended, in a turn in the order of its calls. The answer is a remark for the model, where the conversation
   * goes in circles, as far as that is known by now.
   */
  note(call: Call, outcome: Outcome): string | undefined {
    const { parent, inTurn, ticket } = call.request
    if (parent !== undefined) return undefined
    if (inTurn !== true || ticket === undefined) return this.#count(call, outcome)
    const order = this.#turns.get(ticket.turn) ?? new TurnOrder()
    this.#turns.set(ticket.turn, order)
    return order.take(ticket.position, () => this.#count(call, outcome))
  }

  #count(call: Call, outcome: Outcome): string | undefined {
    if (!outcome.ok && PASSING.has(outcome.error.type)) return undefined
    const track = this.#trackOf(call.caller)
    const paced = this.#isPaced(track, call)
    track.endedMs = this.#clock.monotonic()
    const tool = kept(call.request.name)
    const text = textOf(call, outcome)
    if (call.trail.decision?.by === 'loop') {
      // What was refused for going in circles goes on in them, as if it had come to the same as before.
      const known = [track.last, track.before].find((made) => isSameCall(made, tool, text))
      if (known !== undefined) follow(track, tool, text, known.result)
      return undefined
    }
    const result = resultOf(call.id, outcome)
    if (!paced && isKnown(track, { tool, text, result })) {
      track.quick += 1
      if (track.quick >= QUICK_MAX) startAnew(track)
      return undefined
    }
    track.quick = 0
    const times = follow(track, tool, text, result)
    return times < this.#limits.warn ? undefined : remarkOf(times, track.run > 1, this.#limits.refuse)
  }

  #isPaced({ endedMs }: Track, { request, openedMonotonicMs }: Call): boolean {
    return request.inTurn === true || openedMonotonicMs - endedMs >= this.#limits.paceMs
  }

  #trackOf(caller: Caller): Track {
    const known = this.#byCaller.get(caller)
    if (known !== undefined) return known
    const key = JSON.stringify([caller.tenant, caller.user, caller.agent, caller.session])
    const track = this.#tracks.get(key) ?? {
      last: undefined,
      before: undefined,
      run: 0,
      turns: 0,
      endedMs: Number.NEGATIVE_INFINITY,
      quick: 0,
    }
    this.#tracks.set(key, track)
    this.#byCaller.set(caller, track)
    const [oldest] = this.#tracks.keys()
    if (this.#tracks.size > SESSIONS_MAX && oldest !== undefined) this.#tracks.delete(oldest)
    return track
  }
}

const isSameCall = (made: Made | undefined, tool: string, text: string): boolean =>
  made !== undefined && made.text === text && made.tool === tool

/** Takes one more call into account; how often it has been made by now, in a row or as one of two that take turns. */
function startAnew(track: Track): void {
  track.run = 1
  track.turns = 0
}

const isKnown = ({ last, before }: Track, { tool, text, result }: Made): boolean =>
  [last, before].some((made) => isSameCall(made, tool, text) && made?.result === result)

function follow(track: Track, tool: string, text: string, result: string): number {
  const { last, before, turns } = track
  const again = isSameCall(last, tool, text)
  if (again && last?.result === result) {
    track.turns = 0
    track.run += 1
    return track.run
  }
  // One call that now ends so and now so is no two calls that take turns.
  const returns = !again && before?.result === result && isSameCall(before, tool, text)
  track.before = last
  track.last = returns ? before : { tool, text, result }
  track.run = 1
  track.turns = returns ? turns + 1 : 0
  return returns ? turnsToTimes(turns) : 1
}

/** How often a call would have been made, if it came to the same once more. */
function timesOf(track: Track, tool: string, text: string): number {
  if (isSameCall(track.last, tool, text)) return track.run + 1
  return isSameCall(track.before, tool, text) ? turnsToTimes(track.turns) : 1
}

/** Of two that take turns each was made once before, and the next one to come is counted; one return is no circle yet. */
const turnsToTimes = (turns: number): number => (turns === 0 ? 1 : Math.floor(turns / 2) + 2)

const kept = (text: string): string => (text.length <= KEPT_MAX ? text : `sha256 ${sha256(text)}`)

function textOf({ trail, request }: Call, outcome: Outcome): string {
  if (trail.input !== undefined) return kept(trail.input.text)
  if (outcome.ok || outcome.error.type !== 'invalid_args') return ''
  if (typeof request.arguments === 'string') return kept(request.arguments)
  return askedText(request.arguments)
}

/** Arguments before anybody has looked at them. */
function askedText(given: unknown): string {
  const taken =
    typeof given === 'string' ? takeJsonText(given, ARGUMENT_BOUNDS) : takeJson(given ?? {}, ARGUMENT_BOUNDS)
  if (taken.kind === 'ok') return kept(taken.text)
  return typeof given === 'string' ? kept(given) : ''
}

/** What a model reads of the outcome, but for the name of the very call. */
function resultOf(callId: string, outcome: Outcome): string {
  const [only] = outcome.content
  const content = outcome.content.length === 1 && only?.type === 'text' ? only.text : textOfParts(outcome.content)
  if (outcome.ok) return kept(content)
  return kept(`${outcome.error.type} ${outcome.error.message} ${content}`.replaceAll(callId, ''))
}

const textOfParts = (content: readonly ContentPart[]): string => JSON.stringify(content)

function remarkOf(times: number, repeats: boolean, refuse: number): string {
  const what = repeats
    ? `this call has been made ${times} times in a row with the same result`
    : `this call and the one before it have taken turns ${times} times without any change`
  const until = times < refuse ? `; at ${refuse} times it is refused` : ''
  return `[${what}${until}; do something else]`
}

/** Why a call is refused, for the model. */
export const loopReason = (times: number): string =>
  `this call has been made ${times - 1} times without any change, so it is refused; make another call first, or ask the person`
