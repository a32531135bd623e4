// Keeps whoever reports without end from flooding whoever waits: a few reports go on at once, then the newest one after each
// pause, and the last one before the end. What comes between is dropped.

import type { Clock } from './clock.ts'

export class Steady<Report> {
  readonly #deliver: (report: Report) => void
  readonly #gapMs: number
  readonly #clock: Clock
  readonly #burst: number
  /** Reports that may go on at once: one more after each gap, up to the burst. */
  #allowed: number
  #countedMs: number
  #pending: { readonly report: Report } | undefined
  #cancel: (() => void) | undefined
  #isOver = false

  /** `burst`: reports that may come at once without any being dropped. */
  constructor(gapMs: number, clock: Clock, deliver: (report: Report) => void, burst = 1) {
    this.#gapMs = gapMs
    this.#burst = burst
    this.#allowed = burst
    this.#countedMs = clock.monotonic()
    this.#clock = clock
    this.#deliver = deliver
  }

  push(report: Report): void {
    if (this.#isOver) return
    this.#pending = { report }
    if (this.#cancel !== undefined) return
    this.#refill()
    if (this.#allowed >= 1) this.#flush()
    else this.#cancel = this.#clock.after((1 - this.#allowed) * this.#gapMs, () => this.#flush(), 'background')
  }

  /** Hands on what still waits; nothing goes on after that. */
  end(): void {
    this.#flush()
    this.#isOver = true
  }

  #refill(): void {
    const nowMs = this.#clock.monotonic()
    this.#allowed = Math.min(this.#burst, this.#allowed + (nowMs - this.#countedMs) / this.#gapMs)
    this.#countedMs = nowMs
  }

  #flush(): void {
    this.#cancel?.()
    this.#cancel = undefined
    const pending = this.#pending
    if (pending === undefined) return
    this.#pending = undefined
    this.#refill()
    this.#allowed -= 1
    this.#deliver(pending.report)
  }
}
