// Claims in the order in which they came. Each waits for those before it that it meets, and for nothing else; one that came
// later never goes before one that it meets, so nobody waits for ever while others end. Knows no call and no time.

import type { LaneClaim } from './lane-claim.ts'
import { LaneIndex, type LaneStand } from './lane-index.ts'

/** One claim in a queue, from `enter` to `leave`. */
export class LaneSpot {
  readonly claim: LaneClaim
  /** Called once when nothing is before it any more, unless nothing was when it came. */
  readonly free: () => void
  /** How many that it meets are before it. */
  before = 0
  left = false
  stand: LaneStand<LaneSpot> | undefined
  after: LaneSpot[] | undefined

  constructor(claim: LaneClaim, free: () => void) {
    this.claim = claim
    this.free = free
  }
}

export class LaneQueue {
  /** As long as all only read, or there is but one, nobody asks where they stand, and they are in here and nowhere else. */
  readonly #all = new Set<LaneSpot>()
  readonly #barriers = new Set<LaneSpot>()
  readonly #index = new LaneIndex<LaneSpot>()
  readonly #keepsBarriers: boolean
  /** How many do more than read. */
  #writing = 0
  /** Whether all are in the index. */
  #allStand = true

  /** Without barriers only what is touched counts. */
  constructor(barriers: 'with-barriers' | 'without-barriers') {
    this.#keepsBarriers = barriers === 'with-barriers'
  }

  get isEmpty(): boolean {
    return this.#all.size === 0
  }

  /** Its turn has come at once where `before` is 0 in the answer; else `free` is called when it has. */
  enter(claim: LaneClaim, free: () => void): LaneSpot {
    const spot = new LaneSpot(claim, free)
    const isBarrier = this.#isBarrier(claim)
    if (isBarrier) for (const other of this.#all) waitFor(spot, other)
    else for (const barrier of this.#barriers) waitFor(spot, barrier)
    if (!claim.onlyReads) this.#writing += 1
    if (this.#writing > 0 && this.#all.size > 0) this.#meet(spot, isBarrier)
    else this.#allStand = false
    this.#all.add(spot)
    if (isBarrier) this.#barriers.add(spot)
    return spot
  }

  /** It is over, or does not wait any more. May be called again. */
  leave(spot: LaneSpot): void {
    if (spot.left) return
    spot.left = true
    this.#all.delete(spot)
    if (this.#isBarrier(spot.claim)) this.#barriers.delete(spot)
    if (!spot.claim.onlyReads) this.#writing -= 1
    if (spot.stand !== undefined) this.#index.remove(spot, spot.stand)
    if (spot.after === undefined) return
    for (const next of spot.after) {
      next.before -= 1
      if (next.before === 0 && !next.left) next.free()
    }
  }

  #isBarrier({ barrier }: LaneClaim): boolean {
    return this.#keepsBarriers && barrier
  }

  #meet(spot: LaneSpot, isBarrier: boolean): void {
    if (!this.#allStand) {
      for (const other of this.#all) other.stand ??= this.#index.add(other, other.claim.keys, undefined)
      this.#allStand = true
    }
    // A barrier and those before it wait for each other already.
    const meets = (other: LaneSpot): void => {
      if (!this.#isBarrier(other.claim)) waitFor(spot, other)
    }
    spot.stand = this.#index.add(spot, spot.claim.keys, isBarrier ? undefined : meets)
  }
}

function waitFor(spot: LaneSpot, other: LaneSpot): void {
  spot.before += 1
  other.after ??= []
  other.after.push(spot)
}
