// Waits for the answers of people: given here, or by another process on the same database. The database is watched only
// while somebody waits, and nothing is left behind when the wait is over. It never answers in the place of a person.

import type { Clock } from '../base/clock.ts'
import type { ApprovalRow, Store } from '../observe/store.ts'

/** A timer cannot be longer than some weeks; a wait looks again after this. */
const LOOK_AGAIN_MS = 86_400_000

export type AnswerWait = { readonly forMs: number; readonly signal?: AbortSignal }

export class AnswerWaits {
  readonly #store: Pick<Store, 'approvals' | 'watch'>
  readonly #clock: Clock
  readonly #bells = new Map<string, Set<Bell>>()
  #unwatch: (() => void) | undefined
  #closed = false

  constructor(store: Pick<Store, 'approvals' | 'watch'>, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** The row once it is no longer open, or as it is when the time is over, the caller has left or the gate closes. */
  async settled(id: string, { forMs, signal }: AnswerWait): Promise<ApprovalRow | undefined> {
    if (typeof forMs !== 'number' || Number.isNaN(forMs)) throw new TypeError('`forMs`: expected milliseconds')
    const until = this.#clock.monotonic() + forMs
    // Heard from before the first look, so that no answer falls in between.
    const bell = this.#hang(id)
    try {
      for (;;) {
        const [row] = await this.#store.approvals({ id, limit: 1 })
        const leftMs = Math.min(until - this.#clock.monotonic(), (row?.expiresAt ?? 0) - this.#clock.now())
        if (row?.state !== 'open' || leftMs <= 0 || signal?.aborted === true || this.#closed) return row
        await bell.rung(this.#clock, Math.min(Math.ceil(leftMs), LOOK_AGAIN_MS), signal)
        // The store may be gone by then.
        if (this.#closed) return row
      }
    } finally {
      this.#take(id, bell)
    }
  }

  /** Something has become of this question. */
  ring(id: string): void {
    for (const bell of this.#bells.get(id) ?? []) bell.ring()
  }

  close(): void {
    this.#closed = true
    this.#ringAll()
  }

  #ringAll(): void {
    for (const bells of this.#bells.values()) for (const bell of bells) bell.ring()
  }

  #hang(id: string): Bell {
    this.#unwatch ??= this.#store.watch(() => this.#ringAll())
    const bell = new Bell()
    const bells = this.#bells.get(id) ?? new Set()
    this.#bells.set(id, bells.add(bell))
    return bell
  }

  #take(id: string, bell: Bell): void {
    const bells = this.#bells.get(id)
    bells?.delete(bell)
    if (bells?.size === 0) this.#bells.delete(id)
    if (this.#bells.size > 0) return
    this.#unwatch?.()
    this.#unwatch = undefined
  }
}

/** Rung while nobody listens, it is heard by whoever listens next. */
class Bell {
  #isRung = false
  #wake: (() => void) | undefined

  ring(): void {
    this.#isRung = true
    this.#wake?.()
  }

  /** Resolves when it is rung, when the time is over, or when the signal aborts. */
  async rung(clock: Clock, forMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (!this.#isRung) {
      await new Promise<void>((resolve) => {
        const cancel = clock.after(forMs, () => this.#wake?.())
        this.#wake = () => {
          cancel()
          signal?.removeEventListener('abort', leave)
          this.#wake = undefined
          resolve()
        }
        const leave = (): void => this.#wake?.()
        signal?.addEventListener('abort', leave)
      })
    }
    this.#isRung = false
  }
}
