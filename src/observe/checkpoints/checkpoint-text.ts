// What a checkpoint says, as lines of text that are signed: where each chain stood. The form is exact, so that equal
// checkpoints are equal texts; whatever is not of this form is no checkpoint.
//
//   lockgate/<key>                     the origin: the signer of this series
//   checkpoint 12 of <chain>           its number, and the chain that it is a record of
//   time 2026-01-31T12:00:00.000Z
//   before <hash>                      SHA-256 of the note of the checkpoint before; zeros: there is none
//   heads 3 <hash> [all]               how many chains there are, and the digest of all their heads; `all`: each is listed
//   head <chain> <seq> <hash>          each head that the checkpoint before in this chain does not have
//   floor <chain> <seq> <hash>         rows up to here may be gone, since they were old

import { sha256 } from '../../base/digest.ts'
import { CHAIN_START } from '../../base/hash-chain.ts'
import type { ChainFloor, ChainHead } from '../store.ts'

export type Checkpoint = {
  readonly origin: string
  readonly number: number
  /** Whose record it is. */
  readonly chain: string
  /** Milliseconds since the Unix epoch. */
  readonly at: number
  readonly before: string
  /** Of all chains, those that are not listed as well. */
  readonly count: number
  readonly digest: string
  /** Every chain is listed; else those whose head has changed since the checkpoint before of the same chain. */
  readonly isFull: boolean
  readonly heads: readonly ChainHead[]
  readonly floors: readonly ChainFloor[]
}

export const NO_CHECKPOINT = CHAIN_START

export function checkpointText(checkpoint: Checkpoint): string {
  const { origin, number, chain, at, before, count, digest, isFull, heads, floors } = checkpoint
  const lines = [
    origin,
    `checkpoint ${number} of ${encoded(chain)}`,
    `time ${new Date(at).toISOString()}`,
    `before ${before}`,
    `heads ${count} ${digest}${isFull ? ' all' : ''}`,
    ...sorted(heads).map((head) => `head ${lineOf(head)}`),
    ...sorted(floors).map((floor) => `floor ${lineOf(floor)}`),
  ]
  return `${lines.join('\n')}\n`
}

/** The digest of the heads of all chains, in whatever order they come. */
export const headsDigest = (heads: readonly ChainHead[]): string => sha256(sorted(heads).map(lineOf).join('\n'))

/** Names of chains are percent-encoded: a name that somebody put into a database adds no line. */
const NAME = '[!-~]+'
const HASH = '[0-9a-f]{64}'
const NUMBER = '[1-9][0-9]{0,15}'
const TOP = new RegExp(
  `^(lockgate/[0-9a-f]+)\\ncheckpoint (${NUMBER}) of (${NAME})\\ntime (\\S+)\\nbefore (${HASH})\\nheads (0|${NUMBER}) (${HASH})( all)?\\n`,
)
const LINE = new RegExp(`^(head|floor) (${NAME}) (${NUMBER}) (${HASH})$`)

/** Undefined for a text that is no checkpoint. */
export function readCheckpoint(text: string): Checkpoint | undefined {
  const [top, origin = '', number, chain = '', time = '', before = '', count, digest = '', all] = TOP.exec(text) ?? []
  if (top === undefined) return undefined
  const at = Date.parse(time)
  const places = { head: [] as ChainHead[], floor: [] as ChainFloor[] }
  const rest = text.slice(top.length)
  for (const line of rest === '' ? [] : rest.slice(0, -1).split('\n')) {
    const [, kind, name = '', seq, hash = ''] = LINE.exec(line) ?? []
    if (kind !== 'head' && kind !== 'floor') return undefined
    places[kind].push({ chain: decoded(name), seq: Number(seq), hash })
  }
  const { head: heads, floor: floors } = places
  const read = { origin, number: Number(number), chain: decoded(chain), at, before, count: Number(count), digest }
  const checkpoint = { ...read, isFull: all !== undefined, heads, floors }
  // Also what would be sorted or written otherwise is not of the form.
  return Number.isFinite(at) && checkpointText(checkpoint) === text ? checkpoint : undefined
}

const lineOf = ({ chain, seq, hash }: ChainHead): string => `${encoded(chain)} ${seq} ${hash}`

/** Through bytes, which have no half characters. */
const encoded = (name: string): string => encodeURIComponent(Buffer.from(name).toString())

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    // It is not encoded so, and the whole is refused.
    return ''
  }
}

const sorted = (heads: readonly ChainHead[]): readonly ChainHead[] =>
  [...heads].sort((one, other) => (one.chain < other.chain ? -1 : one.chain > other.chain ? 1 : one.seq - other.seq))
