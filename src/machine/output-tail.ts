// The newest part of what a command prints, told a few times a second while it runs: live progress, and no more. What comes
// faster than it is told is dropped at its front.

import type { Clock } from '../base/clock.ts'

const EVERY_MS = 250
const BYTES_MAX = 8_192

type Told = (output: { readonly stream: 'stdout' | 'stderr'; readonly bytes: Buffer }) => void

export class OutputTail {
  readonly #clock: Clock
  readonly #tell: Told
  readonly #waiting = new Map<'stdout' | 'stderr', Buffer>()
  #cancel: (() => void) | undefined
  #toldMs = Number.NEGATIVE_INFINITY
  #ended = false

  constructor(clock: Clock, tell: Told) {
    this.#clock = clock
    this.#tell = tell
  }

  push(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    if (this.#ended) return
    const before = this.#waiting.get(stream)
    const all = before === undefined ? chunk : Buffer.concat([before, chunk.subarray(-BYTES_MAX)])
    this.#waiting.set(stream, all.subarray(-BYTES_MAX))
    const sinceMs = this.#clock.monotonic() - this.#toldMs
    if (sinceMs >= EVERY_MS) this.#flush()
    else this.#cancel ??= this.#clock.after(EVERY_MS - sinceMs, () => this.#flush(), 'background')
  }

  /** Tells what is still waiting, and nothing any more after that. */
  end(): void {
    this.#flush()
    this.#ended = true
  }

  #flush(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#toldMs = this.#clock.monotonic()
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const [stream, bytes] of waiting) {
      try {
        this.#tell({ stream, bytes })
      } catch {
        // Whoever listens to progress must not be able to end the command.
      }
    }
  }
}
