// Whether records can be kept, as somebody should hear of it: once when that ends and once when it begins again. It refuses no
// call; that is the records' own.

import type { Clock } from '../base/clock.ts'
import type { LogEntry } from './gate-options.ts'

/** How often a store that cannot write is asked again, without a call that asks. */
const LOOK_MS = 1_000

export type AuditHealthParts = {
  readonly failure: () => string | undefined
  readonly clock: Pick<Clock, 'after'>
  readonly log: (entry: LogEntry) => void
  readonly changed: (reason: string | undefined) => void
}

export class AuditHealth {
  readonly #parts: AuditHealthParts
  #failed = false
  #cancel: (() => void) | undefined
  #stopped = false

  constructor(parts: AuditHealthParts) {
    this.#parts = parts
  }

  /** Costs nothing while all is well. */
  note(reason: string | undefined): void {
    if ((reason !== undefined) === this.#failed || this.#stopped) return
    this.#failed = reason !== undefined
    if (reason === undefined) {
      this.#cancel?.()
      this.#parts.log({ level: 'info', message: 'records can be kept again' })
    } else {
      this.#parts.log({ level: 'error', message: 'records cannot be kept', details: { reason } })
      this.#lookLater()
    }
    this.#parts.changed(reason)
  }

  look(): void {
    this.note(this.#parts.failure())
  }

  stop(): void {
    this.#stopped = true
    this.#cancel?.()
  }

  #lookLater(): void {
    this.#cancel = this.#parts.clock.after(
      LOOK_MS,
      () => {
        this.look()
        if (this.#failed && !this.#stopped) this.#lookLater()
      },
      'background',
    )
  }
}
