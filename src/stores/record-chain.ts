// The end of one hash chain: it links the next row to the last. It keeps no rows. A transaction that fails takes its links
// back with `rewind`, so that no hash ever stands on a row that was not written.

import { randomBytes } from 'node:crypto'
import { sha256 } from '../base/digest.ts'
import { CHAIN_START, linkHash } from '../base/hash-chain.ts'

export type ChainEnd = { readonly seq: number; readonly hash: string }

export class RecordChain {
  readonly name: string
  #seq = 0
  #hash = CHAIN_START

  constructor(name: string) {
    this.name = name
  }

  get end(): ChainEnd {
    return { seq: this.#seq, hash: this.#hash }
  }

  rewind({ seq, hash }: ChainEnd): void {
    this.#seq = seq
    this.#hash = hash
  }

  /** Counts a row that goes unseen: the next one is linked to the last that was hashed. */
  skip(): void {
    this.#seq += 1
  }

  /** Links one more row. Its `seq` and `hash` are then the chain's `end`; the answer is the digest of its body. */
  link(kind: string, at: number, callId: string | null, body: string): string {
    const bodyDigest = sha256(body)
    this.#seq += 1
    this.#hash = linkHash(this.#hash, { chain: this.name, seq: this.#seq, kind, at, callId, bodyDigest })
    return bodyDigest
  }
}

/** A name for a new chain; names sort by the time of their making. */
export const newChainName = (now: number): string =>
  `${Math.max(0, Math.trunc(now)).toString(36).padStart(9, '0')}-${randomBytes(8).toString('hex')}`
