// Progress of running calls on its way to those who listen: a few times a second for each call, never after the call has
// ended, and never kept for whoever comes later.

import type { Clock } from '../base/clock.ts'
import { Steady } from '../base/steady.ts'
import type { EventRow } from './events-row.ts'

const GAP_MS = 250
/** Calls whose progress is told at the same time; that of others is not. */
const CALLS_MAX = 1_000

export class PassingEvents {
  readonly #clock: Clock
  readonly #tell: (row: EventRow) => void
  readonly #calls = new Map<unknown, Steady<EventRow>>()

  constructor(clock: Clock, tell: (row: EventRow) => void) {
    this.#clock = clock
    this.#tell = tell
  }

  /** Calls that have told of their progress and have not ended. */
  get size(): number {
    return this.#calls.size
  }

  hear(row: EventRow): void {
    const { callId } = row.data
    const known = this.#calls.get(callId)
    if (known === undefined && this.#calls.size >= CALLS_MAX) return
    const steady = known ?? new Steady(GAP_MS, this.#clock, this.#tell)
    if (known === undefined) this.#calls.set(callId, steady)
    steady.push(row)
  }

  /** What is still to be told of a call is told now, before its end is. */
  end(callId: unknown): void {
    this.#calls.get(callId)?.end()
    this.#calls.delete(callId)
  }

  close(): void {
    for (const callId of [...this.#calls.keys()]) this.end(callId)
  }
}
