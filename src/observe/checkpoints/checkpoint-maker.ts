// Makes the checkpoints of one gate, one after the other: it signs where all chains of the store stand, appends that as a record
// of its own chain, and answers once it is durable. A series begins with a checkpoint that lists every chain; later ones
// list what has changed. It never signs that old rows may be gone unless this gate itself is about to drop them, or a checkpoint
// of the same key said so before: a row that merely claims it could be anybody's.

import type { Clock } from '../../base/clock.ts'
import { sha256 } from '../../base/digest.ts'
import { type NoteKey, type NoteSigner, noteKey, openNote, signNote } from '../../base/signed-note.ts'
import type { ChainFloor, ChainHead, RecordRow, Store } from '../store.ts'
import { type Checkpoint, checkpointText, headsDigest, NO_CHECKPOINT, readCheckpoint } from './checkpoint-text.ts'
import { noteBody, readNoteBody } from './note-body.ts'

export type CheckpointMakerParts = {
  readonly store: Pick<Store, 'chain' | 'append' | 'flush' | 'heads' | 'records'>
  readonly clock: Pick<Clock, 'now'>
  readonly signer: NoteSigner
  /** PEM of the signer's public half. */
  readonly publicKey: string
  /** A chain that was signed is gone or shorter, or has another row there: somebody else has changed the records. */
  readonly tampered: (chain: string, what: string) => void
}

export type CheckpointWish = {
  /** Lists every chain, and is made even where nothing is new. */
  readonly full?: boolean
  /** Only where other chains have rows that no checkpoint covers: what gates left that are gone. */
  readonly ofOthers?: boolean
  /** Rows up to there are about to be dropped, or were. */
  readonly floors?: readonly ChainFloor[]
}

/** Rows of other gates that are only checkpoints need none in turn. */
const LOOKED_AT = 4
const PAGE_ROWS = 200

export class CheckpointMaker {
  readonly #parts: CheckpointMakerParts
  readonly #key: NoteKey
  /** What the last checkpoint of this series knows; undefined before the first. */
  #signed: Map<string, ChainHead> | undefined
  #floors = new Map<string, ChainFloor>()
  #number = 0
  #before = NO_CHECKPOINT
  #queue: Promise<unknown> = Promise.resolve()

  constructor(parts: CheckpointMakerParts) {
    this.#parts = parts
    this.#key = noteKey(parts.signer.privateKey)
  }

  /** The note; undefined where every row is covered already. Rejects where it could not be made durable. */
  make(wish: CheckpointWish = {}): Promise<string | undefined> {
    const made = this.#queue.then(() => this.#make(wish))
    this.#queue = made.catch(() => undefined)
    return made
  }

  async #make({ full = false, ofOthers = false, floors = [] }: CheckpointWish): Promise<string | undefined> {
    if (this.#signed === undefined) await this.#lookBack()
    const heads = await this.#parts.store.heads()
    if (!full && floors.length === 0 && !(await this.#hasNews(heads, ofOthers))) return undefined
    for (const floor of floors) this.#floors.set(floor.chain, floor)
    this.#reportTampered(heads)
    const signed = this.#signed
    const isGone = [...(signed?.keys() ?? [])].some((chain) => heads.every((head) => head.chain !== chain))
    const isFull = full || signed === undefined || isGone
    return this.#write(heads, isFull, isFull ? [...this.#floors.values()] : floors)
  }

  async #write(heads: readonly ChainHead[], isFull: boolean, floors: readonly ChainFloor[]): Promise<string> {
    const { store, clock, signer, publicKey: key } = this.#parts
    const at = Math.trunc(clock.now())
    const text = checkpointText({
      ...{ origin: signer.name, number: this.#number + 1, chain: store.chain, at, before: this.#before },
      ...{ count: heads.length, digest: headsDigest(heads), isFull, floors },
      heads: isFull ? heads : heads.filter((head) => !isEqual(head, this.#signed?.get(head.chain))),
    })
    const note = signNote(text, signer)
    store.append({ kind: 'checkpoint', at, callId: null, body: noteBody({ note, key }) })
    // It stands in line for the chain from here on, whatever becomes of this flush: the next one follows it.
    this.#signed = new Map(heads.map((head) => [head.chain, head]))
    this.#number += 1
    this.#before = sha256(note)
    await store.flush()
    return note
  }

  /** Goes on where the newest checkpoint of the store ends, whoever made it. */
  async #lookBack(): Promise<void> {
    let newest: Checkpoint | undefined
    for await (const row of this.#newestFirst()) {
      const { note } = readNoteBody(row.body) ?? { note: '' }
      const opened = openNote(note, [this.#key])
      const checkpoint = opened === undefined ? undefined : readCheckpoint(opened.text)
      // One that this key has not signed is not followed.
      if (checkpoint === undefined) continue
      if (newest === undefined) {
        newest = checkpoint
        this.#number = checkpoint.number
        this.#before = sha256(note)
      }
      for (const floor of checkpoint.floors) if (!this.#floors.has(floor.chain)) this.#floors.set(floor.chain, floor)
      if (checkpoint.isFull) return
    }
  }

  async *#newestFirst(): AsyncGenerator<RecordRow> {
    const { store } = this.#parts
    let after: number | undefined
    for (;;) {
      const page = await store.records({
        ...{ kind: 'checkpoint', newestFirst: true, unopened: true, limit: PAGE_ROWS },
        ...(after === undefined ? {} : { afterPosition: after }),
      })
      yield* page
      after = page.at(-1)?.position
      if (page.length < PAGE_ROWS || after === undefined) return
    }
  }

  async #hasNews(heads: readonly ChainHead[], ofOthers: boolean): Promise<boolean> {
    if (this.#signed !== undefined) return this.#hasChanged(heads)
    const { store } = this.#parts
    if (heads.length === 0) return false
    if (!ofOthers && heads.some(({ chain }) => chain === store.chain)) return true
    return this.#othersLeft(await store.records({ newestFirst: true, unopened: true, limit: PAGE_ROWS }))
  }

  /** Whether anything stands behind the newest checkpoint that others left. */
  #othersLeft(newestFirst: readonly RecordRow[]): boolean {
    const newest = newestFirst.find(({ chain }) => chain !== this.#parts.store.chain)
    if (newest === undefined) return newestFirst.length === PAGE_ROWS
    if (newest.kind !== 'checkpoint') return true
    const { note } = readNoteBody(newest.body) ?? { note: '' }
    const opened = openNote(note, [this.#key])
    const checkpoint = opened === undefined ? undefined : readCheckpoint(opened.text)
    // Rows may have come between the look at the heads and the row of the checkpoint.
    const own = checkpoint?.heads.find(({ chain }) => chain === newest.chain)
    return checkpoint === undefined || newest.seq !== (own?.seq ?? 0) + 1
  }

  async #hasChanged(heads: readonly ChainHead[]): Promise<boolean> {
    const signed = this.#signed ?? new Map<string, ChainHead>()
    if (heads.length < signed.size) return true
    for (const head of heads) {
      const before = signed.get(head.chain)
      if (isEqual(head, before)) continue
      const { seq = 0 } = before ?? {}
      if (head.seq <= seq || head.seq > seq + LOOKED_AT) return true
      const { chain } = head
      const rows = await this.#parts.store.records({ chain, afterSeq: seq, unopened: true, limit: LOOKED_AT })
      if (rows.some(({ kind }) => kind !== 'checkpoint')) return true
    }
    return false
  }

  #reportTampered(heads: readonly ChainHead[]): void {
    const now = new Map(heads.map((head) => [head.chain, head]))
    for (const [chain, before] of this.#signed ?? []) {
      const head = now.get(chain)
      if (head === undefined && (this.#floors.get(chain)?.seq ?? 0) < before.seq)
        this.#parts.tampered(chain, `the chain is gone; its row ${before.seq} was signed`)
      if (head !== undefined && head.seq < before.seq)
        this.#parts.tampered(chain, `the chain ends at row ${head.seq}; its row ${before.seq} was signed`)
      if (head?.seq === before.seq && head.hash !== before.hash)
        this.#parts.tampered(chain, `row ${before.seq} is another one than was signed`)
    }
  }
}

const isEqual = (one: ChainHead, other: ChainHead | undefined): boolean =>
  one.seq === other?.seq && one.hash === other.hash
