// Gives the answer of an equal read again instead of asking its tool, for tools that let it; and has every call that acts make
// kept answers stale that it may have changed. A call that was asked about, or that is more than a read, is never answered
// from here.
//
// INVARIANT cached-as-uncached: what is given again is what the tool would have answered at some moment of this very call, as
// far as changes come through the gate or are seen by the tool's own validator.

import type { Clock } from '../base/clock.ts'
import type { JsonObject } from '../base/json-value.ts'
import { isPromiseLike, within } from '../base/within.ts'
import type { Ending } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { CacheOptions, Tool } from '../describe/tool.ts'
import { CacheNames, type Rules } from './cache-names.ts'
import { type KeySet, mayWrite, touchedKeys, writtenKeys } from './cache-overlap.ts'
import type { Guard, Job, Next } from './guard.ts'
import { keepAnswer } from './kept-answer.ts'
import type { Flight, Kept, ResultCache } from './result-cache.ts'

export type CacheGuardParts = {
  readonly cache: ResultCache
  readonly clock: Clock
  /** The rules in force for a caller: another object as soon as they are others. */
  readonly rulesOf: (caller: Caller) => Rules
}

/** Milliseconds for a validator that answers later. One that takes longer says nothing, and the tool is asked. */
const VALIDATOR_MS = 1_000

export function cacheGuard(parts: CacheGuardParts): Guard {
  const { cache } = parts
  const inner = { cache, clock: parts.clock, names: new CacheNames(parts.rulesOf) }
  return {
    name: 'cache',
    bounds: 'answers an equal read again for as long as its tool lets it and nothing that it touches is written',
    concerns: ({ tool }) => tool.cache !== undefined || mayWrite(tool),
    run: (job, next) => {
      if (job.input.effect !== 'read') return write(job, next, cache)
      const options = job.entry.tool.cache
      if (options === undefined || job.call.trail.decision?.kind !== 'allow') return next(job)
      return new CachedRead(job, next, options, inner).run()
    },
  }
}

function write(job: Job, next: Next, cache: ResultCache): Promise<Ending> {
  const { entry, input } = job
  const end = cache.beginWrite(writtenKeys(entry.tool, input.effect, input.touches))
  return next(job).then(
    (ending) => {
      end(isUnsettled(ending))
      return ending
    },
    (bug: unknown) => {
      end(true)
      throw bug
    },
  )
}

/** Work that goes on after its call acts on, so that what it may change is not kept until the answer is called. */
export function writesOn(cache: ResultCache, { entry, input }: Pick<Job, 'entry' | 'input'>): () => void {
  if (input.effect === 'read') return () => {}
  const end = cache.beginWrite(writtenKeys(entry.tool, input.effect, input.touches))
  let isOver = false
  return () => {
    if (!isOver) end(false)
    isOver = true
  }
}

/** Contact was lost, or the time was over, and whoever was asked may still act on it. */
const isUnsettled = (ending: Ending): boolean =>
  ending.kind === 'failure' &&
  ending.error.effect === 'unknown' &&
  (ending.error.type === 'outcome_unknown' || ending.error.type === 'timeout' || ending.error.type === 'cancelled')

type Inner = { readonly cache: ResultCache; readonly clock: Clock; readonly names: CacheNames }

class CachedRead {
  readonly #job: Job
  readonly #next: Next
  readonly #options: CacheOptions<JsonObject>
  readonly #parts: Inner
  readonly #keys: KeySet
  /** In force for the caller, and for everybody that it works for. */
  readonly #rules: readonly Rules[]
  readonly #name: string

  constructor(job: Job, next: Next, options: CacheOptions<JsonObject>, parts: Inner) {
    this.#job = job
    this.#next = next
    this.#options = options
    this.#parts = parts
    this.#keys = touchedKeys(job.input.touches)
    this.#rules = parts.names.rulesOf(job.call.caller)
    this.#name = parts.names.nameOf(job, options)
  }

  run(): Promise<Ending> {
    const decided = this.#job.call.trail.decision?.policyVersion
    // The rules may have been replaced since the call was decided; under which ones its tool would look is its own affair.
    const isStale = !this.#rules.some(({ version }) => version === decided)
    if (isStale || this.#parts.cache.isBeingWritten(this.#keys)) return this.#next(this.#job)
    const stamp = this.#stamp()
    return isPromiseLike(stamp) ? stamp.then((said) => this.#serve(said)) : this.#serve(stamp)
  }

  #serve(stamp: Stamp): Promise<Ending> {
    const { cache } = this.#parts
    const { tool } = this.#job.entry
    // A validator may have taken its time; a write may have begun meanwhile.
    if (stamp === undefined || cache.isBeingWritten(this.#keys)) return this.#next(this.#job)
    const kept = cache.find(this.#name, tool, stamp)
    if (kept !== undefined) return Promise.resolve(this.#give(kept))
    const flight = cache.flight(this.#name, tool, stamp)
    if (flight === undefined) return this.#lead(tool, stamp)
    // What a tool calls waits for nobody: the read under way may be that of its own caller, or wait for it in turn.
    return this.#job.call.request.parent === undefined ? this.#join(flight) : this.#next(this.#job)
  }

  #give({ answer, callId }: Kept): Ending {
    this.#job.call.trail.cachedFrom = callId
    return answer.give()
  }

  async #join(flight: Flight): Promise<Ending> {
    const kept = await flight.landed
    return kept === undefined ? this.#next(this.#job) : this.#give(kept)
  }

  #lead(tool: Tool, stamp: string): Promise<Ending> {
    const { cache } = this.#parts
    const job = this.#job
    const flight = cache.takeOff(this.#name, { tool, keys: this.#keys, stamp, forMs: this.#options.forMs })
    const drop = (): void => cache.land(this.#name, flight, undefined, job.call.id)
    // Whoever waits for this read does not wait for a call that is over; and what a tool says after that says too little.
    job.scope.signal.addEventListener('abort', drop, { once: true })
    return this.#next(job).then(
      (ending) => {
        if (!flight.isOver) this.#land(flight, ending)
        return ending
      },
      (bug: unknown) => {
        drop()
        throw bug
      },
    )
  }

  /** The caller has its answer meanwhile; only those who joined wait for the validator. */
  #land(flight: Flight, ending: Ending): void {
    const { cache, names } = this.#parts
    const { id, caller, trail } = this.#job.call
    const hasNewRules = names.rulesOf(caller) !== this.#rules
    const answer = trail.limitsHit === undefined && !hasNewRules ? keepAnswer(ending) : undefined
    const land = (stamp: Stamp): void =>
      cache.land(this.#name, flight, stamp === flight.about.stamp ? answer : undefined, id)
    const stamp = answer === undefined ? undefined : this.#stamp()
    if (isPromiseLike(stamp)) void stamp.then(land)
    else land(stamp)
  }

  /** What the tool's validator says now. INVARIANT closed: one that fails, or says no text, lets nothing be kept. */
  #stamp(): Stamp | Promise<Stamp> {
    const { validator } = this.#options
    if (validator === undefined) return ''
    try {
      // INVARIANT last-check: it is asked about the very arguments that the tool would get.
      const said: unknown = validator(this.#job.input.args)
      if (!isPromiseLike(said)) return textOf(said)
      return within(said, VALIDATOR_MS, this.#parts.clock, 'background').then(
        (waited) => (waited.kind === 'value' ? textOf(waited.value) : undefined),
        () => undefined,
      )
    } catch {
      return undefined
    }
  }
}

/** Undefined: the answer is neither taken from what is kept nor kept. */
type Stamp = string | undefined

const textOf = (said: unknown): Stamp => (typeof said === 'string' ? said : undefined)
