// The newest rows of one chain in bounded memory. Rows get their digests when somebody reads: from then on they are linked
// to what was read, and what is left verifies from its first row. A row that goes before anybody has read it is not hashed:
// no one can hold its digest, and the chain goes on from the last row that was shown.

import type { RecordDraft, RecordQuery, RecordRow } from '../observe/store.ts'
import { RecordChain } from './record-chain.ts'

type Slot = { readonly draft: RecordDraft; bodyDigest: string; hash: string }

export class RecordRing {
  readonly #chain: RecordChain
  readonly #rowsMax: number
  readonly #charsMax: number
  readonly #slots: (Slot | undefined)[]
  #first = 1
  #last = 0
  #chars = 0

  /** `charsMax` bounds the bodies together; the newest row stays whatever its size. */
  constructor(chain: string, rowsMax: number, charsMax: number) {
    this.#chain = new RecordChain(chain)
    this.#rowsMax = rowsMax
    this.#charsMax = charsMax
    this.#slots = new Array<Slot | undefined>(rowsMax).fill(undefined)
  }

  push(draft: RecordDraft): void {
    while (this.#first <= this.#last && this.#isFullFor(draft)) this.#dropFirst()
    this.#last += 1
    this.#slots[this.#last % this.#rowsMax] = { draft, bodyDigest: '', hash: '' }
    this.#chars += draft.body.length
  }

  get size(): number {
    return this.#last - this.#first + 1
  }

  get isEmpty(): boolean {
    return this.#last === 0
  }

  rows({ chain, afterSeq = 0, callId, kind, newestFirst = false, limit }: RecordQuery): RecordRow[] {
    if (chain !== undefined && chain !== this.#chain.name) return []
    this.#linkTo(this.#last)
    const from = Math.max(this.#first, afterSeq + 1)
    const found: RecordRow[] = []
    for (let step = 0; step <= this.#last - from && found.length < limit; step += 1) {
      const seq = newestFirst ? this.#last - step : from + step
      const slot = this.#slots[seq % this.#rowsMax]
      if (slot === undefined) continue
      const { draft, bodyDigest, hash } = slot
      if (kind !== undefined && draft.kind !== kind) continue
      if (callId !== undefined && draft.callId !== callId) continue
      const { at, body } = draft
      found.push({ kind: draft.kind, at, callId: draft.callId, body, chain: this.#chain.name, seq, bodyDigest, hash })
    }
    return found
  }

  #isFullFor(draft: RecordDraft): boolean {
    return this.#last - this.#first + 1 >= this.#rowsMax || this.#chars + draft.body.length > this.#charsMax
  }

  #dropFirst(): void {
    if (this.#first > this.#chain.end.seq) this.#chain.skip()
    const at = this.#first % this.#rowsMax
    this.#chars -= this.#slots[at]?.draft.body.length ?? 0
    this.#slots[at] = undefined
    this.#first += 1
  }

  #linkTo(last: number): void {
    for (let seq = this.#chain.end.seq + 1; seq <= last; seq += 1) {
      const slot = this.#slots[seq % this.#rowsMax]
      if (slot === undefined) throw new Error('a row that should be kept is gone')
      const { kind, at, callId, body } = slot.draft
      slot.bodyDigest = this.#chain.link(kind, at, callId, body)
      slot.hash = this.#chain.end.hash
    }
  }
}
