// The one source of time. Rooms take a clock, so that tests own time and nobody sleeps.

/** Wall and monotonic time, and timers. All values in milliseconds. */
export interface Clock {
  /** Milliseconds since the Unix epoch. May step when the machine's clock is set. */
  now(): number
  /** Milliseconds from an arbitrary start; never steps back. Durations are differences of this. */
  monotonic(): number
  /** Calls `action` once after `delayMs`; the answer cancels it. A pending timer never keeps the process alive. */
  after(delayMs: number, action: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
