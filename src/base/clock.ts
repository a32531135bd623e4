// The one source of time. Rooms take a clock, so that tests own time and nobody sleeps.

/** Wall and monotonic time, and timers. All values in milliseconds. */
export interface Clock {
  /** Milliseconds since the Unix epoch. May step when the machine's clock is set. */
  now(): number
  /** Milliseconds from an arbitrary start; never steps back. Durations are differences of this. */
  monotonic(): number
  /**
   * Calls `action` once after `delayMs`; the answer cancels it. Somebody waits for it, so it keeps the process alive, unless it
   * runs in the background.
   */
  after(delayMs: number, action: () => void, kind?: 'awaited' | 'background'): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, action, kind = 'awaited') {
    const timer = setTimeout(action, delayMs)
    if (kind === 'background') timer.unref()
    return () => clearTimeout(timer)
  },
}
