// A clock that stands still until the test moves it. Timers fire in order, at their time.

import type { Clock } from '../base/clock.ts'

type Timer = { readonly atMs: number; readonly order: number; readonly action: () => void }

export class FakeClock implements Clock {
  #nowMs: number
  #elapsedMs = 0
  #order = 0
  readonly #timers = new Set<Timer>()

  /** Starts at an epoch time in milliseconds; 2026-01-01T00:00:00Z where none is given. */
  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs
  }

  now(): number {
    return this.#nowMs
  }

  monotonic(): number {
    return this.#elapsedMs
  }

  after(delayMs: number, action: () => void): () => void {
    const timer = { atMs: this.#elapsedMs + delayMs, order: this.#order++, action }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.size
  }

  /** Moves time on and fires what falls due; lets promises settle after each timer. */
  async advance(byMs: number): Promise<void> {
    const targetMs = this.#elapsedMs + byMs
    for (;;) {
      await settlePromises()
      const [due] = [...this.#timers]
        .filter(({ atMs }) => atMs <= targetMs)
        .sort((one, other) => one.atMs - other.atMs || one.order - other.order)
      if (due === undefined) break
      this.#moveTo(due.atMs)
      this.#timers.delete(due)
      due.action()
    }
    this.#moveTo(targetMs)
    await settlePromises()
  }

  /** Moves time on as a tool does that never lets the event loop go: no timer fires. */
  block(byMs: number): void {
    this.#moveTo(this.#elapsedMs + byMs)
  }

  /** Sets the wall clock, as an operator or NTP would; monotonic time does not move. */
  step(byMs: number): void {
    this.#nowMs += byMs
  }

  #moveTo(elapsedMs: number): void {
    const byMs = Math.max(0, elapsedMs - this.#elapsedMs)
    this.#elapsedMs += byMs
    this.#nowMs += byMs
  }
}

const settlePromises = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
