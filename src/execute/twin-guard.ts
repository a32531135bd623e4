// Keeps an equal call from acting twice by accident: one that acts each time it is made is not started while an equal one
// runs elsewhere, nor shortly after an equal one ended without anybody knowing what it did. It remembers in memory, and only
// so much and so long; what must never happen twice takes an idempotency key, and with one this guard lets it pass.

import type { Clock } from '../base/clock.ts'
import type { Call, Ending } from '../describe/call.ts'
import { effectMost } from '../describe/effect.ts'
import { refused } from '../describe/refused.ts'
import type { Guard, Job, Next } from './guard.ts'

/** Milliseconds for which an end that nobody knows keeps equal calls from being made. */
const UNKNOWN_MS = 300_000
const UNKNOWN_MAX = 10_000

type Unknown = { readonly callId: string; readonly untilMs: number }

export class Twins {
  readonly guard: Guard = {
    name: 'twin',
    bounds: `ends a call that acts each time it is made while an equal one runs, and for ${UNKNOWN_MS / 60_000} minutes after one whose effect nobody knows`,
    concerns: ({ tool }) => tool.repeat !== 'safe' && effectMost(tool.effect) !== 'read',
    run: (job, next) => this.#run(job, next),
  }
  readonly #clock: Pick<Clock, 'monotonic'>
  /** By twin: calls whose tool has not yet ended. */
  readonly #running = new Map<string, Set<Job>>()
  /** By twin, in the order of ending. */
  readonly #unknown = new Map<string, Unknown>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /**
   * The guard of lanes, with a look at equal calls inside of it: one of the same turn may have ended unknown while this one
   * waited for it, and how this one ends has to be known before the next one gets the lane.
   */
  inLane(lane: Guard): Guard {
    return { ...lane, run: (job, next) => lane.run(job, (inner) => this.#runInLane(inner, next)) }
  }

  /** A call is over, and nobody knows whether it took effect. */
  endedUnknown(twin: string, callId: string): void {
    this.#unknown.delete(twin)
    const [oldest] = this.#unknown.keys()
    if (this.#unknown.size >= UNKNOWN_MAX && oldest !== undefined) this.#unknown.delete(oldest)
    this.#unknown.set(twin, { callId, untilMs: this.#clock.monotonic() + UNKNOWN_MS })
  }

  /** It is known now what this call did, and whoever made it was told. */
  known(twin: string, callId: string): void {
    if (this.#unknown.get(twin)?.callId === callId) this.#unknown.delete(twin)
  }

  /** Whether the tool of this call has not yet ended, whoever still waits for it. */
  isRunning(twin: string, callId: string): boolean {
    return [...(this.#running.get(twin) ?? [])].some(({ call }) => call.id === callId)
  }

  #run(job: Job, next: Next): Promise<Ending> {
    const { call } = job
    const { twin, journal } = call.trail
    if (twin === undefined) return next(job)
    const ended = journal === undefined ? (this.#beside(twin, call) ?? this.#afterUnknown(twin, call.id)) : undefined
    if (ended !== undefined) return Promise.resolve(ended)
    this.#enter(twin, job)
    const leave = (): void => this.#leave(twin, job)
    const running = next(job)
    running.then(leave, leave)
    return running
  }

  #runInLane(job: Job, next: Next): Promise<Ending> {
    const { call } = job
    const { twin, journal } = call.trail
    if (twin === undefined) return next(job)
    const ended = journal === undefined ? this.#afterUnknown(twin, call.id) : undefined
    if (ended !== undefined) return Promise.resolve(ended)
    return next(job).then(
      (ending) => {
        if (ending.kind === 'failure' && ending.error.effect === 'unknown') this.endedUnknown(twin, call.id)
        return ending
      },
      (bug: unknown) => {
        this.endedUnknown(twin, call.id)
        throw bug
      },
    )
  }

  /** An equal call runs that is neither of the same turn nor made by the same tool: nobody meant both. */
  #beside(twin: string, call: Call): Ending | undefined {
    for (const { call: other, scope } of this.#running.get(twin) ?? []) {
      // One that is over, while its tool does not stop, counts by how it ended.
      if (scope.over || areSiblings(call, other)) continue
      const message = `an equal call (${other.id}) is running, and this one was not started, since both together would act twice; wait for the outcome of that one`
      return twinEnding(message, other.id, 'running')
    }
    return undefined
  }

  #afterUnknown(twin: string, callId: string): Ending | undefined {
    const ended = this.#unknown.get(twin)
    if (ended === undefined || ended.callId === callId) return undefined
    const leftMs = ended.untilMs - this.#clock.monotonic()
    if (leftMs <= 0) {
      this.#unknown.delete(twin)
      return undefined
    }
    const minutes = Math.ceil(leftMs / 60_000)
    const message = `an equal call (${ended.callId}) ended without anybody knowing whether it took effect, and this one was not started; look whether it did, and if it did not, make this call again in ${minutes} min`
    return twinEnding(message, ended.callId, 'unknown')
  }

  #enter(twin: string, job: Job): void {
    const equal = this.#running.get(twin) ?? new Set()
    this.#running.set(twin, equal.add(job))
  }

  #leave(twin: string, job: Job): void {
    const equal = this.#running.get(twin)
    equal?.delete(job)
    if (equal?.size === 0) this.#running.delete(twin)
  }
}

/** A model that writes the same call twice in one turn means both; and what the tools of a turn call belongs to it. */
const areSiblings = (call: Call, other: Call): boolean => turnOf(call) === turnOf(other)

function turnOf(call: Call): object {
  const { parent, ticket } = call.request
  return parent === undefined ? (ticket?.turn ?? call) : turnOf(parent)
}

/** `none`: this call did nothing. What the other one did is said in words, and in the details for programs. */
const twinEnding = (message: string, twin: string, state: 'running' | 'unknown'): Ending =>
  refused('outcome_unknown', message, { effect: 'none', details: { twin, state } })
