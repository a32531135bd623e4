// The newest rows of one chain in bounded memory. Rows get their bodies and digests when somebody reads: from then on they
// are linked to what was read, and what is left verifies from its first row. A row that goes before anybody has read it is
// not hashed: no one can hold its digest, and the chain goes on from the last row that was shown.

import { createHmac, randomBytes } from 'node:crypto'
import type { ChainHead, RecordDraft, RecordQuery, RecordRow, RecordSubject } from '../observe/store.ts'
import { RecordChain } from './record-chain.ts'
import { fitsInside, fitsOutside } from './record-filter.ts'
import { draftChars, mergedBody } from './stored-body.ts'

type Slot = { draft: RecordDraft; body: string; bodyDigest: string; hash: string }

export class RecordRing {
  readonly #chain: RecordChain
  readonly #rowsMax: number
  readonly #charsMax: number
  readonly #slots: (Slot | undefined)[]
  readonly #keys = new RingKeys()
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
    const chars = draftChars(draft)
    while (this.#first <= this.#last && this.#isFullFor(chars)) this.#dropFirst()
    this.#last += 1
    this.#slots[this.#last % this.#rowsMax] = { draft, body: '', bodyDigest: '', hash: '' }
    this.#chars += chars
  }

  get size(): number {
    return this.#last - this.#first + 1
  }

  get isEmpty(): boolean {
    return this.#last === 0
  }

  rows(query: RecordQuery): RecordRow[] {
    const { chain, afterSeq = 0, afterPosition, newestFirst = false, limit } = query
    if (chain !== undefined && chain !== this.#chain.name) return []
    this.#linkTo(this.#last)
    // There is one chain, so that its own count is the order of writing too.
    const from = Math.max(this.#first, afterSeq + 1, newestFirst ? 0 : (afterPosition ?? 0) + 1)
    const to = newestFirst ? Math.min(this.#last, (afterPosition ?? Number.POSITIVE_INFINITY) - 1) : this.#last
    const found: RecordRow[] = []
    for (let step = 0; step <= to - from && found.length < limit; step += 1) {
      const seq = newestFirst ? to - step : from + step
      const row = this.#rowAt(seq)
      if (row !== undefined && fitsOutside(query, row) && fitsInside(query, row)) found.push(row)
    }
    return found
  }

  head(): ChainHead | undefined {
    if (this.isEmpty) return undefined
    this.#linkTo(this.#last)
    return { chain: this.#chain.name, ...this.#chain.end }
  }

  /** Forgets rows from the first on as long as they may go, and says where that ended. */
  dropWhile(mayGo: (row: RecordRow) => boolean): ChainHead | undefined {
    this.#linkTo(this.#last)
    let floor: ChainHead | undefined
    for (let row = this.#rowAt(this.#first); row !== undefined && mayGo(row); row = this.#rowAt(this.#first)) {
      floor = { chain: row.chain, seq: row.seq, hash: row.hash }
      this.#dropFirst()
    }
    return floor
  }

  /**
   * Makes everything about a person unreadable, and answers how many rows that were. What nobody has seen loses its personal
   * members; a row that was shown cannot change any more, so that it goes, with everything before it.
   */
  erase(subject: RecordSubject): number {
    const isTheirs = (draft: RecordDraft): boolean =>
      draft.subject?.tenant === subject.tenant && draft.subject.user === subject.user
    let lastShown = 0
    let count = 0
    for (let seq = this.#first; seq <= this.#last; seq += 1) {
      const slot = this.#slots[seq % this.#rowsMax]
      if (slot === undefined || !isTheirs(slot.draft)) continue
      count += 1
      if (seq <= this.#chain.end.seq) lastShown = seq
      else this.#strip(slot)
    }
    while (this.#first <= lastShown) this.#dropFirst()
    return count
  }

  #strip(slot: Slot): void {
    this.#chars -= draftChars(slot.draft)
    const { kind, at, callId, body } = slot.draft
    slot.draft = { kind, at, callId, body }
    this.#chars += draftChars(slot.draft)
  }

  #rowAt(seq: number): RecordRow | undefined {
    const slot = seq <= this.#last ? this.#slots[seq % this.#rowsMax] : undefined
    if (slot === undefined) return undefined
    const { body, bodyDigest, hash } = slot
    const { kind, at, callId } = slot.draft
    return { kind, at, callId, body, chain: this.#chain.name, seq, bodyDigest, hash, position: seq }
  }

  #isFullFor(chars: number): boolean {
    return this.#last - this.#first + 1 >= this.#rowsMax || this.#chars + chars > this.#charsMax
  }

  #dropFirst(): void {
    if (this.#first > this.#chain.end.seq) this.#chain.skip()
    const at = this.#first % this.#rowsMax
    const slot = this.#slots[at]
    if (slot !== undefined) this.#chars -= draftChars(slot.draft)
    this.#slots[at] = undefined
    this.#first += 1
  }

  #linkTo(last: number): void {
    for (let seq = this.#chain.end.seq + 1; seq <= last; seq += 1) {
      const slot = this.#slots[seq % this.#rowsMax]
      if (slot === undefined) throw new Error('a row that should be kept is gone')
      const { kind, at, callId, subject } = slot.draft
      slot.body = mergedBody(slot.draft, this.#keys)
      slot.bodyDigest = this.#chain.link(kind, at, callId, slot.body)
      slot.hash = this.#chain.end.hash
      this.#chars -= draftChars(slot.draft)
      // The texts are in the body, or not kept.
      slot.draft = { kind, at, callId, body: slot.body, ...(subject === undefined ? {} : { subject }) }
      this.#chars += draftChars(slot.draft)
    }
  }
}

/** The key of HMACs: random, and gone with the process. */
class RingKeys {
  #key: Buffer | undefined

  hmac(text: string): string {
    this.#key ??= randomBytes(32)
    return createHmac('sha256', this.#key).update(text).digest('hex')
  }
}
