// What checkpoints promise of a store, collected from those in its records and from copies kept elsewhere: which rows there
// must be, and up to where rows may be gone. It finds what contradicts itself among them; rows are held against it by `verify`.

import { sha256 } from '../../base/digest.ts'
import { type NoteKey, openNote } from '../../base/signed-note.ts'
import type { ChainFloor, ChainHead, RecordRow } from '../store.ts'
import { type Checkpoint, headsDigest, NO_CHECKPOINT, readCheckpoint } from './checkpoint-text.ts'
import { readNoteBody } from './note-body.ts'
import { noteKeys } from './note-keys.ts'

export type Finding = { readonly chain: string; readonly seq: number; readonly reason: string }

type Kept = { readonly row: Pick<RecordRow, 'chain' | 'seq'>; readonly hash: string; readonly checkpoint: Checkpoint }

/** A chain's promised rows in their order. Hashes stand as bytes: there may be very many. */
class PromisedRows {
  readonly #hashes = new Map<number, string>()

  add(seq: number, hash: string): boolean {
    const packed = pack(hash)
    const known = this.#hashes.get(seq)
    this.#hashes.set(seq, packed)
    return known === undefined || known === packed
  }

  ordered(): readonly number[] {
    return [...this.#hashes.keys()].sort((one, other) => one - other)
  }

  holds(seq: number, hash: string): boolean {
    return this.#hashes.get(seq) === pack(hash)
  }
}

const pack = (hash: string): string => Buffer.from(hash, 'hex').toString('latin1')

export class SignedState {
  readonly #trusted: readonly NoteKey[] | undefined
  readonly #named = new Map<string, NoteKey>()
  readonly #rows = new Map<string, PromisedRows>()
  readonly #floors = new Map<string, ChainFloor[]>()
  /** As the records of each dropping say: exact, and signed only as rows among others. */
  readonly #recorded = new Map<string, Map<number, string>>()
  readonly #series = new Map<string, Kept[]>()
  #count = 0

  /** `publicKey`: PEM of one or several keys. Without it those that the records name are taken. */
  constructor(publicKey: string | undefined) {
    this.#trusted = publicKey === undefined ? undefined : noteKeys(publicKey)
  }

  /** How many checkpoints the records hold. */
  get count(): number {
    return this.#count
  }

  /** How many keys have signed them, where none was given. */
  get namedKeys(): number {
    return this.#named.size
  }

  promised(chain: string): PromisedRows | undefined {
    return this.#rows.get(chain)
  }

  chains(): IterableIterator<string> {
    return this.#rows.keys()
  }

  /** Up to where rows of a chain may be gone: 0 where none may. Where nothing is signed and no key known, records that say so are believed. */
  floorOf(chain: string): number {
    const signed = (this.#floors.get(chain) ?? []).map(({ seq }) => seq)
    const recorded =
      this.#count === 0 && this.#trusted === undefined ? [...(this.#recorded.get(chain)?.keys() ?? [])] : []
    return Math.max(0, ...signed, ...recorded)
  }

  /** The hash of a row that is gone. */
  hashBelow(chain: string, seq: number): string | undefined {
    const recorded = this.#recorded.get(chain)?.get(seq)
    return recorded ?? this.#floors.get(chain)?.find((floor) => floor.seq === seq)?.hash
  }

  /** A record of kind `checkpoint`. */
  addRow(row: RecordRow): Finding | undefined {
    const { chain, seq } = row
    const broken = (reason: string): Finding => ({ chain, seq, reason })
    const body = readNoteBody(row.body)
    if (body === undefined) return broken('the checkpoint is none')
    const opened = openNote(body.note, this.#keysFor(body.key))
    if (opened === undefined)
      return broken(
        this.#trusted === undefined
          ? 'the signature of the checkpoint does not hold'
          : 'none of the known keys has signed the checkpoint',
      )
    const checkpoint = readCheckpoint(opened.text)
    if (checkpoint === undefined) return broken('the checkpoint is none')
    if (checkpoint.chain !== chain) return broken('the checkpoint was made for another chain')
    const own = checkpoint.heads.find((head) => head.chain === chain)
    if (own !== undefined && own.seq >= seq) return broken('the checkpoint was moved')
    this.#count += 1
    this.#named.set(opened.key.bytes.toString('hex'), opened.key)
    const series = this.#series.get(chain) ?? []
    series.push({ row: { chain, seq }, hash: sha256(body.note), checkpoint })
    this.#series.set(chain, series)
    return this.#promise(checkpoint)
  }

  #keysFor(named: string): readonly NoteKey[] {
    return this.#trusted ?? noteKeys(named)
  }

  #promise({ heads, floors, chain }: Checkpoint): Finding | undefined {
    let contradiction: ChainHead | undefined
    for (const head of heads) {
      const rows = this.#rows.get(head.chain) ?? new PromisedRows()
      this.#rows.set(head.chain, rows)
      if (!rows.add(head.seq, head.hash)) contradiction ??= head
    }
    for (const floor of floors) this.#floors.set(floor.chain, [...(this.#floors.get(floor.chain) ?? []), floor])
    if (contradiction === undefined) return undefined
    const reason = `two checkpoints have signed different rows ${contradiction.seq}; one of them is of \`${chain}\``
    return { chain: contradiction.chain, seq: contradiction.seq, reason }
  }

  /** A floor as the record of the dropping says it. */
  addRecorded({ chain, seq, hash }: ChainFloor): void {
    const recorded = this.#recorded.get(chain) ?? new Map<number, string>()
    this.#recorded.set(chain, recorded.set(seq, hash))
  }

  /** Once all rows are there: whether each checkpoint follows the one that it names, and lists what it should. */
  faultOfSeries(mayMissOlder: boolean): Finding | undefined {
    const hashes = new Map<string, number>()
    for (const series of this.#series.values())
      for (const { hash, checkpoint } of series) hashes.set(hash, checkpoint.number)
    for (const series of this.#series.values()) {
      const found = faultOfOne(series, hashes, mayMissOlder || this.#floors.size > 0)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** A copy that was kept elsewhere. The checkpoint that it is one of has to be there, unless it was old. */
  addCopy(note: string): Finding | undefined {
    const opened = openNote(note, this.#trusted ?? [...this.#named.values()])
    const checkpoint = opened === undefined ? undefined : readCheckpoint(opened.text)
    if (checkpoint === undefined) {
      const reason =
        'none of the known keys has signed a copy of a checkpoint: the copy, or the key, is of other records'
      return { chain: '', seq: 0, reason }
    }
    const { chain, number, heads } = checkpoint
    const own = heads.find((head) => head.chain === chain)?.seq ?? 0
    const kept = this.#series.get(chain)?.find((one) => one.checkpoint.number === number)
    if (kept !== undefined && kept.hash !== sha256(note))
      return { ...kept.row, reason: `the checkpoint ${number} is another one than its copy` }
    if (kept === undefined && this.floorOf(chain) <= own)
      return { chain, seq: own + 1, reason: `the checkpoint ${number} is missing, of which there is a copy` }
    return kept === undefined ? this.#promise(checkpoint) : undefined
  }
}

function faultOfOne(
  series: readonly Kept[],
  hashes: ReadonlyMap<string, number>,
  mayMissOlder: boolean,
): Finding | undefined {
  let previous: Kept | undefined
  let state: Map<string, ChainHead> | undefined
  for (const kept of series.toSorted((one, other) => one.row.seq - other.row.seq)) {
    const { row, checkpoint } = kept
    const broken = (reason: string): Finding => ({ ...row, reason })
    const { before, number } = checkpoint
    if (previous !== undefined && (before !== previous.hash || number !== previous.checkpoint.number + 1))
      return broken('the checkpoint does not follow the one before it in its chain')
    if (previous === undefined && !followsOther(checkpoint, hashes, mayMissOlder))
      return broken('the checkpoint before this one is missing')
    const changed = checkpoint.heads.map((head): [string, ChainHead] => [head.chain, head])
    if (checkpoint.isFull) state = new Map(changed)
    else if (state !== undefined) for (const [chain, head] of changed) state.set(chain, head)
    if (
      state !== undefined &&
      (state.size !== checkpoint.count || headsDigest([...state.values()]) !== checkpoint.digest)
    )
      return broken('the checkpoint does not list the chains that it counts')
    previous = kept
  }
  return undefined
}

function followsOther({ before, number }: Checkpoint, hashes: ReadonlyMap<string, number>, mayMiss: boolean): boolean {
  if (before === NO_CHECKPOINT) return number === 1
  const found = hashes.get(before)
  return found === undefined ? mayMiss : found === number - 1
}
