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
    if (kind === 'background') {
      const timer = setTimeout(action, delayMs)
      timer.unref()
      return () => clearTimeout(timer)
    }
    const waiting: Waiting = { action, atMs: performance.now() + delayMs, timer: undefined }
    if (young.size === 0) setImmediate(arm)
    young.add(waiting)
    return () => {
      if (!young.delete(waiting)) clearTimeout(waiting.timer)
    }
  },
}

type Waiting = { readonly action: () => void; readonly atMs: number; timer: NodeJS.Timeout | undefined }

/**
 * Timers of this turn of the event loop. Most are deadlines of calls that end within it, and a timer of Node costs more
 * than all the rest of keeping one; so they are armed together, when the turn is over, for whoever still waits.
 */
const young = new Set<Waiting>()

function arm(): void {
  const nowMs = performance.now()
  for (const waiting of young) waiting.timer = setTimeout(waiting.action, Math.max(0, waiting.atMs - nowMs))
  young.clear()
}
