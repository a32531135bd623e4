// How many calls a minute there may be: of one caller, of one tenant, and of single tools, whoever calls them. Each bound is
// a bucket that fills steadily and lets a whole minute's calls through at once where none came before. Only calls that are
// really made take from it: who lists tools, or asks what would be decided, takes nothing.

import type { Clock } from '../base/clock.ts'
import { compileNameGlob } from '../base/glob.ts'
import type { Call } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Entry } from '../describe/entry.ts'

export type RateOptions = {
  /** Calls a minute of one (tenant, user, agent), and of those who work for it. */
  readonly caller?: number
  readonly tenant?: number
  /** By tool name or glob: of each tool that matches. Of two that match the lower one holds. */
  readonly tools?: Readonly<Record<string, number>>
}

/** `reason` is for the model. */
export type Limited = { readonly kind: 'limited'; readonly reason: string; readonly afterMs: number }

const MINUTE_MS = 60_000
const BUCKETS_MAX = 10_000

/** A bucket is full at `fullAtMs`; each call moves that time on by its share of a minute. */
type Bucket = { fullAtMs: number }
type Bound = { readonly key: string; readonly perMinute: number; readonly whose: string }

export class RateLimits {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #options: RateOptions
  readonly #tools: readonly { readonly matches: (name: string) => boolean; readonly perMinute: number }[]
  readonly #opened = new WeakSet<Call>()
  /** In the order of their last use. */
  readonly #buckets = new Map<string, Bucket>()

  constructor(options: RateOptions, clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
    this.#options = options
    this.#tools = Object.entries(options.tools ?? {}).flatMap(([name, perMinute]) => {
      const glob = compileNameGlob(name)
      return glob.kind === 'ok' ? [{ matches: (text: string) => glob.matches(text), perMinute }] : []
    })
  }

  /** The call is made, and not only looked at. */
  opened(call: Call): Call {
    this.#opened.add(call)
    return call
  }

  /** Takes one call from every bucket that it counts in, or from none: then the answer says when to come again. */
  take(call: Call, entry: Entry): Limited | undefined {
    if (!this.#opened.has(call)) return undefined
    const nowMs = this.#clock.monotonic()
    const bounds = this.#boundsOf(call, entry)
    for (const { key, perMinute, whose } of bounds) {
      const afterMs = (this.#buckets.get(key)?.fullAtMs ?? nowMs) + MINUTE_MS / perMinute - nowMs - MINUTE_MS
      // A millionth of a call is a matter of rounding.
      if (afterMs > 0.001) return limited(whose, perMinute, Math.ceil(afterMs))
    }
    for (const { key, perMinute } of bounds) this.#takeOne(key, MINUTE_MS / perMinute, nowMs)
    return undefined
  }

  #boundsOf({ caller }: Call, { tool }: Entry): readonly Bound[] {
    const { tenant } = caller
    const { caller: perCaller, tenant: perTenant } = this.#options
    const perTool = this.#tools.filter(({ matches }) => matches(tool.name)).map(({ perMinute }) => perMinute)
    const bounds: Bound[] = []
    if (perCaller !== undefined)
      for (const key of callerKeys(caller)) bounds.push({ key, perMinute: perCaller, whose: 'of this caller' })
    if (perTenant !== undefined)
      bounds.push({ key: JSON.stringify(['tenant', tenant]), perMinute: perTenant, whose: 'of this tenant' })
    if (perTool.length > 0)
      bounds.push({ key: JSON.stringify(['tool', tool.name]), perMinute: Math.min(...perTool), whose: 'of this tool' })
    return bounds
  }

  #takeOne(key: string, shareMs: number, nowMs: number): void {
    const bucket = this.#buckets.get(key) ?? { fullAtMs: nowMs }
    bucket.fullAtMs = Math.max(bucket.fullAtMs, nowMs) + shareMs
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    if (this.#buckets.size > BUCKETS_MAX) this.#sweep(nowMs)
  }

  /** Full buckets say nothing that is not known; where all are in use, the one that was used last of all goes. */
  #sweep(nowMs: number): void {
    for (const [key, { fullAtMs }] of this.#buckets) if (fullAtMs <= nowMs) this.#buckets.delete(key)
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > BUCKETS_MAX && oldest !== undefined) this.#buckets.delete(oldest)
  }
}

/** INVARIANT child-within-parent: what somebody does for another one counts for both, and once where they are the same. */
function callerKeys(caller: Caller): ReadonlySet<string> {
  const keys = new Set<string>()
  for (let at: Caller | undefined = caller; at !== undefined; at = at.parent)
    keys.add(JSON.stringify(['caller', at.tenant, at.user, at.agent]))
  return keys
}

const limited = (whose: string, perMinute: number, afterMs: number): Limited => ({
  kind: 'limited',
  reason: `the calls ${whose} are bounded to ${perMinute} a minute; wait ${Math.ceil(afterMs / 1_000)} s and try again`,
  afterMs,
})
