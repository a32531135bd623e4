// Text that comes in pieces. Whole lines go out once they are there: but for blocks of several lines no secret goes on behind the
// end of a line. Of a line that does not end, the last part waits, which is longer than any secret that can be found by its form.

import type { RedactedStream } from '../../describe/redactor.ts'
import { type Finding, withoutFindings } from './finding.ts'

export type StreamParts = {
  readonly find: (text: string) => readonly Finding[]
  /** Characters of a known value that may go over several lines; 0 where there is none. */
  readonly spanMax: number
  /** Whether a value may be encoded over several lines. */
  readonly holdsEncoded: boolean
}

/** Longer than any form of a secret. */
const HOLD = 32_768
const BLOCK_BEGIN = '-----BEGIN '
const BLOCK_END = '-----END '

export class HeldBackStream implements RedactedStream {
  readonly #parts: StreamParts
  readonly #names = new Set<string>()
  #held = ''

  constructor(parts: StreamParts) {
    this.#parts = parts
  }

  get names(): readonly string[] {
    return [...this.#names]
  }

  push(piece: string): string {
    this.#held += piece
    const findings = this.#parts.find(this.#held)
    return this.#release(this.#cut(findings), findings)
  }

  end(): string {
    return this.#release(this.#held.length, this.#parts.find(this.#held))
  }

  #release(cut: number, findings: readonly Finding[]): string {
    const out = findings.filter(({ to }) => to <= cut)
    for (const { name } of out) this.#names.add(name)
    const text = withoutFindings(this.#held.slice(0, cut), out)
    this.#held = this.#held.slice(cut)
    return text
  }

  /** Up to where everything is decided. */
  #cut(findings: readonly Finding[]): number {
    const held = this.#held
    let cut = held.lastIndexOf('\n', held.length - 1 - this.#parts.spanMax) + 1
    cut = this.#beforeBlock(cut)
    if (held.length - cut > 2 * HOLD) cut = this.#withinLine(cut)
    const split = findings.find(({ from, to }) => from < cut && to >= cut)
    return split === undefined ? cut : split.from
  }

  /** A line that does not end: up to the last place between two words before what has to wait. */
  #withinLine(from: number): number {
    const most = this.#held.length - HOLD
    const between = this.#held.slice(from, most).search(/[^\s,;&]*$/)
    return between > 0 ? from + between : most
  }

  /** A block that has begun and not ended waits; one that is too long for that does not end. */
  #beforeBlock(cut: number): number {
    const held = this.#held
    const begin = held.lastIndexOf(BLOCK_BEGIN, cut)
    const isOpen = begin >= 0 && held.indexOf(BLOCK_END, begin) < 0 && held.length - begin < HOLD
    const whole = isOpen ? Math.min(cut, begin) : cut
    return this.#beforeEncodedLines(whole)
  }

  /** Encoded data goes on in the next line. */
  #beforeEncodedLines(cut: number): number {
    if (!this.#parts.holdsEncoded) return cut
    const held = this.#held
    let at = cut
    while (at > 0 && cut - at < HOLD) {
      const start = held.lastIndexOf('\n', at - 2) + 1
      if (!/^[A-Za-z0-9+/_=-]{20,}\r?\n$/.test(held.slice(start, at))) break
      at = start
    }
    return cut - at < HOLD ? at : cut
  }
}
