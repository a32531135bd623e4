// The calls of one turn, or of one running tool, in the order in which they were written. What a call touches is known only
// when it is about to run, and calls come to that point in any order; so nobody starts before all that were written earlier
// have said what they touch, or have left. And only so many run at once.

import type { LaneTicket } from '../../describe/call.ts'
import type { LaneClaim } from './lane-claim.ts'
import { LaneQueue, type LaneSpot } from './lane-queue.ts'

/**
 * `open`: nothing is known of what it touches. `declared`: an earlier one is still open. `queued`: one that it meets runs
 * before it. `ready`: no slot is free. `running`: from then on only `end` ends it.
 */
type TicketState = 'open' | 'declared' | 'queued' | 'ready' | 'running' | 'over'

export class GroupTicket implements LaneTicket {
  readonly position: number
  readonly #group: LaneGroup
  state: TicketState = 'open'
  claim: LaneClaim | undefined
  spot: LaneSpot | undefined
  /** Called when it may run, unless it might at once. */
  run: (() => void) | undefined
  #listeners: (() => void)[] | undefined

  constructor(group: LaneGroup, position: number) {
    this.#group = group
    this.position = position
  }

  get turn(): object {
    return this.#group
  }

  leave(): void {
    if (this.state !== 'running') this.#group.end(this)
  }

  whenPassed(listener: () => void): void {
    if (this.state === 'open') {
      this.#listeners ??= []
      this.#listeners.push(listener)
    } else listener()
  }

  /** True where it may run at once. */
  declare(claim: LaneClaim): boolean {
    return this.#group.declare(this, claim)
  }

  /** The tool has ended, or is given up. */
  end(): void {
    this.#group.end(this)
  }

  tellPassed(): void {
    const listeners = this.#listeners
    if (listeners === undefined) return
    this.#listeners = undefined
    for (const listener of listeners) listener()
  }
}

export class LaneGroup {
  readonly #parallel: number
  readonly #queue = new LaneQueue('with-barriers')
  /** In their order, from the first that is open on; those before it are in the queue or over. */
  #unpassed: GroupTicket[] = []
  #firstOpen = 0
  #count = 0
  #running = 0
  #ready: GroupTicket[] = []

  constructor(parallel: number) {
    this.#parallel = parallel
  }

  /** The next place, behind all others. */
  ticket(): GroupTicket {
    const ticket = new GroupTicket(this, this.#count++)
    this.#unpassed.push(ticket)
    return ticket
  }

  declare(ticket: GroupTicket, claim: LaneClaim): boolean {
    ticket.claim = claim
    ticket.state = 'declared'
    this.#pass()
    ticket.tellPassed()
    // `#pass` may have moved it on.
    return this.#mayRun(ticket)
  }

  #mayRun({ state }: GroupTicket): boolean {
    return state === 'running'
  }

  end(ticket: GroupTicket): void {
    const { state, spot } = ticket
    if (state === 'over') return
    ticket.state = 'over'
    if (spot !== undefined) this.#queue.leave(spot)
    if (state === 'running') this.#freeSlot()
    if (state === 'open' || state === 'declared') this.#pass()
    ticket.tellPassed()
  }

  /** Puts those in order of whom nothing written before is unknown any more. */
  #pass(): void {
    for (;;) {
      const ticket = this.#unpassed[this.#firstOpen]
      if (ticket === undefined || ticket.state === 'open') break
      this.#firstOpen += 1
      if (ticket.state !== 'declared' || ticket.claim === undefined) continue
      ticket.state = 'queued'
      ticket.spot = this.#queue.enter(ticket.claim, () => this.#free(ticket))
      if (ticket.spot.before === 0) this.#free(ticket)
    }
    if (this.#firstOpen < this.#unpassed.length) return
    this.#unpassed = []
    this.#firstOpen = 0
  }

  #free(ticket: GroupTicket): void {
    if (this.#running < this.#parallel) this.#start(ticket)
    else {
      ticket.state = 'ready'
      this.#ready.push(ticket)
    }
  }

  #start(ticket: GroupTicket): void {
    this.#running += 1
    ticket.state = 'running'
    ticket.run?.()
  }

  #freeSlot(): void {
    this.#running -= 1
    while (this.#running < this.#parallel) {
      const next = this.#ready.shift()
      if (next === undefined) return
      if (next.state === 'ready') this.#start(next)
    }
  }
}
