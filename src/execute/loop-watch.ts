// Sees when the event loop stands still while tools run. A tool that computes for long keeps every other call waiting;
// its record says so. Watches only while something runs for longer than one tick.

import type { Clock } from '../base/clock.ts'

const TICK_MS = 20
/** Shorter stretches are ordinary work. */
export const BLOCKED_MS_MIN = 50

type Watched = { blockedMs: number }

export class LoopWatch {
  readonly #clock: Clock
  readonly #running = new Set<Watched>()
  #lastTickMs = 0
  #ticking = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Watches on behalf of one call until `leave`. */
  enter(): Watched {
    const watched = { blockedMs: 0 }
    this.#running.add(watched)
    if (!this.#ticking) this.#tick()
    return watched
  }

  /** The longest stretch in which the loop stood still meanwhile, in milliseconds; 0 below the threshold. */
  leave(watched: Watched): number {
    this.#note()
    this.#running.delete(watched)
    return watched.blockedMs
  }

  #tick(): void {
    this.#ticking = true
    this.#lastTickMs = this.#clock.monotonic()
    const look = (): void => {
      this.#note()
      if (this.#running.size > 0) this.#tick()
      else this.#ticking = false
    }
    // A tool that never ends is watched for ever; nobody waits for that, and the process does not stay for it.
    this.#clock.after(TICK_MS, look, 'background')
  }

  #note(): void {
    const stoodMs = this.#clock.monotonic() - this.#lastTickMs - TICK_MS
    if (stoodMs < BLOCKED_MS_MIN) return
    for (const watched of this.#running) watched.blockedMs = Math.max(watched.blockedMs, Math.round(stoodMs))
  }
}
