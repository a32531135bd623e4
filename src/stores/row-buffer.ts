// The rows on the caller's side: what was appended and not yet sent, and how much was sent and not yet written. Bounded.
// A row that finds no room is lost and counted, never passed over: the count lasts until a row that tells it is written.

import type { RecordDraft } from '../observe/store.ts'
import type { Closes, FlatRows } from './sqlite-protocol.ts'
import { addFlat, charsOf, FLAT_FIELDS } from './sqlite-protocol.ts'

/**
 * A batch is sent when it holds so much. V8 puts what it reads from a message of more than 100 KB among its long-lived
 * objects, where the worker's heap would grow by every row until the next full collection.
 */
const BATCH_ROWS = 128
const BATCH_CHARS = 48 * 1024

export class RowBuffer {
  readonly #rowsMax: number
  readonly #charsMax: number
  #rows: FlatRows = []
  #unsentChars = 0
  #rowsTaken = 0
  #charsTaken = 0
  #rowsDone = 0
  #charsDone = 0
  #lost = 0
  /** The row that tells of a loss: of how many, and where it stands among the rows taken. */
  #told: { readonly count: number; readonly at: number } | undefined

  /** Bounds on what is not yet written: rows, and characters of their bodies. */
  constructor(rowsMax = 50_000, charsMax = 64 * 1024 * 1024) {
    this.#rowsMax = rowsMax
    this.#charsMax = charsMax
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0
  }

  /** Enough waits to be sent at once. */
  get fillsBatch(): boolean {
    return this.#rows.length >= BATCH_ROWS * FLAT_FIELDS || this.#unsentChars >= BATCH_CHARS
  }

  get unwritten(): number {
    return this.#rowsTaken - this.#rowsDone
  }

  get lost(): number {
    return this.#lost
  }

  hasRoom(chars: number): boolean {
    const rows = this.#rowsTaken - this.#rowsDone
    // One body larger than the bound passes when nothing else waits.
    return rows < this.#rowsMax && (rows === 0 || this.#charsTaken - this.#charsDone + chars <= this.#charsMax)
  }

  push(draft: RecordDraft, closes: Closes): void {
    const chars = charsOf(draft, closes)
    addFlat(this.#rows, draft, closes)
    this.#unsentChars += chars
    this.#rowsTaken += 1
    this.#charsTaken += chars
  }

  lose(): void {
    this.#lost += 1
  }

  /** Takes what waits to be sent. */
  drain(): FlatRows {
    const rows = this.#rows
    this.#rows = []
    this.#unsentChars = 0
    return rows
  }

  /** What is written by now, in all. True: more than before. */
  written(rows: number, chars: number): boolean {
    const progress = rows > this.#rowsDone
    this.#rowsDone = rows
    this.#charsDone = chars
    if (this.#told !== undefined && rows >= this.#told.at) {
      this.#lost -= this.#told.count
      this.#told = undefined
    }
    return progress
  }

  /** Once rows are written again: a row that says how many were lost. */
  tellLoss(at: number): void {
    if (this.#lost === 0 || this.#told !== undefined || !this.hasRoom(0)) return
    const body = JSON.stringify({ event: 'records-lost', count: this.#lost })
    this.push({ kind: 'gate', at, callId: null, body }, undefined)
    this.#told = { count: this.#lost, at: this.#rowsTaken }
  }
}
