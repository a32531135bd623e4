// Who runs beside whom. Calls of one turn keep the order in which they were written wherever they touch the same; calls of
// different turns, sessions and clients exclude each other by what they say that they touch; calls that a tool makes run
// inside its own lane and exclude only each other, so that a tool never waits for itself. Waiting is first come, first served.

import type { Call, CheckedInput } from '../../describe/call.ts'
import type { Entry } from '../../describe/entry.ts'
import { LaneClaim, whyExclusive } from './lane-claim.ts'
import { GroupTicket, LaneGroup } from './lane-group.ts'
import { LanePlace } from './lane-place.ts'
import { LaneQueue } from './lane-queue.ts'

export type LanesOptions = {
  /** Calls of one turn that run at the same time. Default: 8. */
  readonly parallel?: number | undefined
  /** Calls that may wait at the same time; more are busy. Default: 1,000. */
  readonly waitingMax?: number
  /** The workspace roots, absolute: file keys without a leading slash count from them. */
  readonly roots?: readonly string[]
}

export const PARALLEL = 8
const WAITING_MAX = 1_000

/** `free`: the call excludes nobody and waits for nobody. `full`: it would have to wait, and too many do. */
export type Entered = LanePlace | 'free' | 'full'

export class Lanes {
  readonly #parallel: number
  readonly #waitingMax: number
  readonly #roots: readonly string[]
  /** What calls touch across turns, by tenant; of tenants that have calls now. */
  readonly #shared = new Map<string, LaneQueue>()
  /** By the call that holds it, for the calls that its tool makes. */
  readonly #places = new Map<Call, LanePlace>()
  #waiting = 0

  constructor({ parallel = PARALLEL, waitingMax = WAITING_MAX, roots = [] }: LanesOptions = {}) {
    this.#parallel = parallel
    this.#waitingMax = waitingMax
    this.#roots = roots
  }

  /** A place for each call of a turn, in their order. */
  turn(count: number): readonly GroupTicket[] {
    const group = this.group()
    return Array.from({ length: count }, () => group.ticket())
  }

  /** Places for the calls of one running tool, one after the other as it makes them. */
  group(): LaneGroup {
    return new LaneGroup(this.#parallel)
  }

  /** How many calls wait now. */
  get waiting(): number {
    return this.#waiting
  }

  /** How many places are held or waited for. */
  get places(): number {
    return this.#places.size
  }

  /** An allowed call is about to run. Notes in its trail why it runs alone, where its tool failed to say what it touches. */
  enter(call: Call, { tool }: Pick<Entry, 'tool'>, input: CheckedInput): Entered {
    const { parent, ticket } = call.request
    const why = whyExclusive(input)
    if (why !== undefined) call.trail.exclusive = why
    const own = ticket instanceof GroupTicket && ticket.state === 'open' ? ticket : undefined
    if (own === undefined && (parent !== undefined || input.touches.kind !== 'known')) return 'free'
    const claim = new LaneClaim(tool, input, this.#roots)
    const takesPart = parent === undefined && !claim.namesNothing
    if (own === undefined && !takesPart) return 'free'
    const { tenant } = call.caller
    const place = new LanePlace({
      claim,
      ticket: own,
      shared: takesPart ? () => this.#sharedOf(tenant) : undefined,
      parent: parent === undefined ? undefined : this.#places.get(parent),
      gone: () => this.#gone(call, tenant),
    })
    this.#places.set(call, place)
    place.enter()
    if (place.isHeld || this.#waiting < this.#waitingMax) return place
    place.giveUp()
    return 'full'
  }

  /** Resolves true when the place is held, and false when it was given up before. */
  async wait(place: LanePlace): Promise<boolean> {
    this.#waiting += 1
    try {
      return await place.wait()
    } finally {
      this.#waiting -= 1
    }
  }

  #sharedOf(tenant: string): LaneQueue {
    const known = this.#shared.get(tenant)
    if (known !== undefined) return known
    const made = new LaneQueue('without-barriers')
    this.#shared.set(tenant, made)
    return made
  }

  #gone(call: Call, tenant: string): void {
    this.#places.delete(call)
    if (this.#shared.get(tenant)?.isEmpty === true) this.#shared.delete(tenant)
  }
}
