// Waiting for the call that has a key: one of this process tells when it ends, one of another process is looked after. It
// waits for a bounded time, and for a caller that has left not at all.

import type { Clock } from '../base/clock.ts'
import type { Call } from '../describe/call.ts'
import type { Store } from './store.ts'

/** `news`: worth asking for the key again. `late`: the time is over. `left`: the caller is gone. `stopped`: the gate closes. */
export type TwinNews = 'news' | 'late' | 'left' | 'stopped'

type Between = { readonly from: object; readonly to: object }

const POLL_MS_FIRST = 25
const POLL_MS_MAX = 250
/** How often it is looked whether the process that runs the other call is gone. */
const LAPSED_MS = 1_000

export class TwinWaits {
  readonly #store: Pick<Store, 'journal'>
  readonly #clock: Clock
  readonly #settleLapsed: () => Promise<unknown>
  /** Calls of this process that have a key and are not over. */
  readonly #running = new Map<string, Call>()
  /** By the call that is waited for. */
  readonly #wakes = new Map<string, Set<() => void>>()
  /** Which turn waits for a call of which other one. */
  readonly #between = new Set<Between>()
  #stopped = false

  constructor(store: Pick<Store, 'journal'>, clock: Clock, settleLapsed: () => Promise<unknown>) {
    this.#store = store
    this.#clock = clock
    this.#settleLapsed = settleLapsed
  }

  began(call: Call): void {
    this.#running.set(call.id, call)
  }

  /** Its key is settled now. */
  ended(callId: string): void {
    this.#running.delete(callId)
    for (const wake of this.#wakes.get(callId) ?? []) wake()
  }

  stop(): void {
    this.#stopped = true
    for (const wakes of this.#wakes.values()) for (const wake of wakes) wake()
  }

  /** Waits until `callId` is over, wherever it runs. */
  async wait(call: Call, callId: string, forMs: number): Promise<TwinNews> {
    const { ticket } = call.request
    const to = this.#running.get(callId)?.request.ticket?.turn
    if (ticket === undefined || to === undefined) return this.#waitFor(call, callId, forMs)
    const between: Between = { from: ticket.turn, to }
    // One of the same turn would wait for this one to say what it touches, while this one waits for it; so would one of a turn
    // that waits for this turn already.
    if (this.#leadsTo(to, ticket.turn)) ticket.leave()
    this.#between.add(between)
    try {
      return await this.#waitFor(call, callId, forMs)
    } finally {
      this.#between.delete(between)
    }
  }

  #leadsTo(from: object, to: object): boolean {
    const reached = new Set([from])
    for (const turn of reached) for (const next of this.#between) if (next.from === turn) reached.add(next.to)
    return reached.has(to)
  }

  async #waitFor({ request: { signal } }: Call, callId: string, forMs: number): Promise<TwinNews> {
    const untilMs = this.#clock.monotonic() + forMs
    let pollMs = POLL_MS_FIRST
    let lapsedAtMs = Number.NEGATIVE_INFINITY
    for (;;) {
      if (this.#stopped) return 'stopped'
      if (hasLeft(signal)) return 'left'
      const nowMs = this.#clock.monotonic()
      if (nowMs >= untilMs) return 'late'
      const isHere = this.#running.has(callId)
      if (!isHere) {
        if (nowMs - lapsedAtMs >= LAPSED_MS) {
          lapsedAtMs = nowMs
          // Not waited for: a tool that is asked what it did may take longer than this call has.
          this.#settleLapsed().catch(() => undefined)
        }
        if (await this.#isOver(callId)) return 'news'
      }
      const leftMs = untilMs - this.#clock.monotonic()
      const woken = await this.#sleep(callId, isHere ? leftMs : Math.min(leftMs, pollMs), signal)
      if (woken && !this.#stopped && !hasLeft(signal)) return 'news'
      pollMs = Math.min(POLL_MS_MAX, pollMs * 2)
    }
  }

  /** What cannot be read now is looked at again. */
  async #isOver(callId: string): Promise<boolean> {
    const rows = await this.#store.journal({ callId, limit: 1 }).catch(() => undefined)
    return rows !== undefined && rows[0]?.state !== 'running'
  }

  /** True where somebody woke it. */
  #sleep(callId: string, forMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const wakes = this.#wakes.get(callId) ?? new Set()
      this.#wakes.set(callId, wakes)
      const finish = (woken: boolean): void => {
        cancelTimer()
        signal?.removeEventListener('abort', wake)
        wakes.delete(wake)
        if (wakes.size === 0 && this.#wakes.get(callId) === wakes) this.#wakes.delete(callId)
        resolve(woken)
      }
      const wake = (): void => finish(true)
      const cancelTimer = this.#clock.after(Math.max(0, forMs), () => finish(false))
      wakes.add(wake)
      signal?.addEventListener('abort', wake, { once: true })
    })
  }
}

const hasLeft = (signal: AbortSignal | undefined): boolean => signal?.aborted === true
