// Requests that a door refused before they could be a call: which way they came in, and with what answer. Whoever reaches the
// port can make as many as they like, so that only so many of a minute get a record of their own, and the rest is counted.

import type { Clock } from '../base/clock.ts'
import type { RecordDraft } from '../observe/store.ts'

export type RefusedRequest = {
  readonly method: string
  /** Without its query, which may hold anything. */
  readonly path: string
  /** The HTTP status that it was answered with. */
  readonly status: number
  /** The id of the credential that it came with, where there was one that holds. */
  readonly credential?: string
}

const WINDOW_MS = 60_000
const RECORDED_MAX = 60
const PATH_CHARACTERS_MAX = 128
const METHOD_CHARACTERS_MAX = 16

export type RefusedRequestsParts = {
  readonly clock: Clock
  readonly append: (draft: RecordDraft) => void
}

export class RefusedRequests {
  readonly #parts: RefusedRequestsParts
  #untilMs = Number.NEGATIVE_INFINITY
  #recorded = 0
  #uncounted = 0
  #cancel: (() => void) | undefined

  constructor(parts: RefusedRequestsParts) {
    this.#parts = parts
  }

  note({ method, path, status, credential }: RefusedRequest): void {
    const nowMs = this.#parts.clock.monotonic()
    if (nowMs >= this.#untilMs) this.#begin(nowMs)
    if (this.#recorded >= RECORDED_MAX) {
      this.#uncounted += 1
      return
    }
    this.#recorded += 1
    this.#write({
      what: 'a request was refused',
      method: method.slice(0, METHOD_CHARACTERS_MAX).toWellFormed(),
      path: path.slice(0, PATH_CHARACTERS_MAX).toWellFormed(),
      status,
      ...(credential === undefined ? {} : { credential }),
    })
  }

  /** Writes down what was only counted. */
  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    if (this.#uncounted === 0) return
    this.#write({ what: 'more requests were refused', count: this.#uncounted })
    this.#uncounted = 0
  }

  #begin(nowMs: number): void {
    this.stop()
    this.#recorded = 0
    this.#untilMs = nowMs + WINDOW_MS
    this.#cancel = this.#parts.clock.after(WINDOW_MS, () => this.stop(), 'background')
  }

  #write(body: object): void {
    const at = Math.trunc(this.#parts.clock.now())
    this.#parts.append({ kind: 'gate', at, callId: null, body: JSON.stringify(body) })
  }
}
