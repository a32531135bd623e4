// One call in its lanes, from the moment in which it says what it touches until its tool has really ended: first its place in
// its turn, then what it touches across turns. It never holds the second while it waits for the first, so no two calls can
// wait for each other.

import type { LaneClaim } from './lane-claim.ts'
import type { GroupTicket } from './lane-group.ts'
import type { LaneQueue, LaneSpot } from './lane-queue.ts'

export type LanePlaceParts = {
  readonly claim: LaneClaim
  /** Its place in its turn, or among the calls of the tool that makes it. */
  readonly ticket: GroupTicket | undefined
  /** Asked when it enters it: the queue of its tenant; undefined where it takes no part in that. */
  readonly shared: (() => LaneQueue) | undefined
  /** The place of the call whose tool makes this one: it is kept until this one is over. */
  readonly parent: LanePlace | undefined
  /** Told once, when everything is given back. */
  readonly gone: () => void
}

export class LanePlace {
  readonly #claim: LaneClaim
  readonly #ticket: GroupTicket | undefined
  readonly #shared: (() => LaneQueue) | undefined
  readonly #parent: LanePlace | undefined
  readonly #gone: () => void
  #state: 'new' | 'waiting' | 'held' | 'ending' | 'over' = 'new'
  #queue: LaneQueue | undefined
  #spot: LaneSpot | undefined
  #children = 0
  #answer: ((held: boolean) => void) | undefined

  constructor({ claim, ticket, shared, parent, gone }: LanePlaceParts) {
    this.#claim = claim
    this.#ticket = ticket
    this.#shared = shared
    this.#parent = parent
    this.#gone = gone
  }

  get isHeld(): boolean {
    return this.#state === 'held'
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  /** Says what is touched. The place is held in the end, or waited for. */
  enter(): void {
    if (this.#parent !== undefined) this.#parent.#children += 1
    const ticket = this.#ticket
    if (ticket === undefined || ticket.declare(this.#claim)) this.#enterShared()
    else {
      this.#state = 'waiting'
      ticket.run = () => this.#enterShared()
    }
  }

  /** Resolves when the place is held: true; or when it is given up before that: false. */
  wait(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#answer = resolve
    })
  }

  /** The tool has ended, or never started. What the calls that it made still hold is kept for them. */
  end(): void {
    if (this.#state === 'over') return
    if (this.#children > 0 && this.#state === 'held') this.#state = 'ending'
    else if (this.#children === 0) this.giveUp()
  }

  /** Gives everything back, whatever still runs. */
  giveUp(): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    if (this.#spot !== undefined) this.#queue?.leave(this.#spot)
    this.#ticket?.end()
    this.#answer?.(false)
    if (this.#parent !== undefined) this.#parent.#childOver()
    this.#gone()
  }

  #childOver(): void {
    this.#children -= 1
    if (this.#children === 0 && this.#state === 'ending') this.giveUp()
  }

  #enterShared(): void {
    if (this.#state === 'over') return
    if (this.#shared !== undefined) {
      this.#queue = this.#shared()
      this.#spot = this.#queue.enter(this.#claim, () => this.#hold())
      if (this.#spot.before > 0) {
        this.#state = 'waiting'
        return
      }
    }
    this.#hold()
  }

  #hold(): void {
    if (this.#state === 'over') return
    this.#state = 'held'
    this.#answer?.(true)
  }
}
