// The newest output of a job, by byte offsets that only grow: a reader goes on from where it was, and is told what it missed.

import { wholeEnd, wholeStart } from './command-answer.ts'

export type RingRead = {
  readonly text: string
  /** Where the text begins: later than asked for where the ring has dropped what was before. */
  readonly from: number
  /** Where to go on. */
  readonly next: number
}

export class JobRing {
  readonly #bytesMax: number
  #chunks: Buffer[] = []
  #kept = 0
  #total = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** All bytes that were ever put in. */
  get total(): number {
    return this.#total
  }

  push(bytes: Buffer): void {
    this.#chunks.push(Buffer.from(bytes))
    this.#kept += bytes.length
    this.#total += bytes.length
    while (this.#kept > this.#bytesMax) {
      const [first = Buffer.alloc(0), ...rest] = this.#chunks
      const over = this.#kept - this.#bytesMax
      this.#chunks = over >= first.length ? rest : [first.subarray(over), ...rest]
      this.#kept -= Math.min(over, first.length)
    }
  }

  /** Text from an offset on, at most so many bytes. `more`: what is cut in a character at the end is still to come. */
  read(from: number, bytesMax: number, more: boolean): RingRead {
    const start = this.#total - this.#kept
    const at = Math.min(Math.max(from, start), this.#total)
    const rest = this.#bytes(at - start, bytesMax)
    const whole = at > from ? wholeStart(rest) : rest
    const isCut = more || at + rest.length < this.#total
    const text = isCut ? wholeEnd(whole) : whole
    const begin = at + rest.length - whole.length
    return { text: text.toString('utf8'), from: begin, next: begin + text.length }
  }

  #bytes(skip: number, count: number): Buffer {
    const parts: Buffer[] = []
    let [before, left] = [skip, count]
    for (const chunk of this.#chunks) {
      const part = chunk.subarray(Math.min(before, chunk.length)).subarray(0, left)
      before = Math.max(0, before - chunk.length)
      left -= part.length
      parts.push(part)
      if (left === 0) break
    }
    return Buffer.concat(parts)
  }
}
