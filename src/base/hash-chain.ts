// The link rule of a record chain: each row names the digest of its body and of the row before, so that a changed,
// missing or reordered row shows. The body itself is outside the link: it can be erased by law and the chain still holds.

import { sha256 } from './digest.ts'

/** What one row contributes to its link. */
export type ChainLink = {
  readonly chain: string
  /** 1 for the first row of a chain, then without gaps. */
  readonly seq: number
  readonly kind: string
  /** Milliseconds since the Unix epoch. */
  readonly at: number
  readonly callId: string | null
  readonly bodyDigest: string
}

/** The hash before the first row of a chain. */
export const CHAIN_START = '0'.repeat(64)

/** The hash of a row: SHA-256 over the row before and this row's fields, one per line. No field may hold a line break. */
export function linkHash(previousHash: string, link: ChainLink): string {
  const { chain, seq, kind, at, callId, bodyDigest } = link
  return sha256(`${previousHash}\n${chain}\n${seq}\n${kind}\n${at}\n${callId ?? ''}\n${bodyDigest}`)
}
