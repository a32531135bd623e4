// Head and tail of a stream whose length nobody knows. However much comes, it holds no more than it was told to.

import type { CapturedOutput } from './process-plan.ts'

export class CapturedStream {
  readonly #headMax: number
  readonly #tailMax: number
  readonly #head: Buffer[] = []
  #tail: Buffer[] = []
  #headBytes = 0
  #tailBytes = 0
  #totalBytes = 0

  /** `bytesMax` in all: one half for the head, the other one for the tail. */
  constructor(bytesMax: number) {
    this.#headMax = Math.ceil(bytesMax / 2)
    this.#tailMax = Math.floor(bytesMax / 2)
  }

  get totalBytes(): number {
    return this.#totalBytes
  }

  push(chunk: Buffer): void {
    this.#totalBytes += chunk.length
    const forHead = Math.min(chunk.length, this.#headMax - this.#headBytes)
    if (forHead > 0) {
      this.#head.push(chunk.subarray(0, forHead))
      this.#headBytes += forHead
    }
    if (forHead === chunk.length) return
    this.#tail.push(chunk.subarray(forHead))
    this.#tailBytes += chunk.length - forHead
    if (this.#tailBytes > 2 * this.#tailMax + 65_536) this.#compact()
  }

  /** Nothing was cut where the two halves still meet: then all of it is in the head. */
  take(): CapturedOutput {
    this.#compact()
    const head = Buffer.concat(this.#head)
    const [tail = Buffer.alloc(0)] = this.#tail
    if (head.length + tail.length < this.#totalBytes) return { head, tail, totalBytes: this.#totalBytes }
    return { head: Buffer.concat([head, tail]), tail: Buffer.alloc(0), totalBytes: this.#totalBytes }
  }

  #compact(): void {
    const all = Buffer.concat(this.#tail)
    // A copy, so that what is cut off is not held by what is kept.
    const kept = Buffer.from(all.subarray(Math.max(0, all.length - this.#tailMax)))
    this.#tail = [kept]
    this.#tailBytes = kept.length
  }
}
