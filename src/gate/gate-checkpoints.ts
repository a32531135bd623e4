// When a gate makes its checkpoints: at the start for what others left, after so many rows, after a while with rows that none
// covers, around the dropping of old rows, and at the end. A checkpoint that fails is logged and made again with the next occasion;
// it never fails a call.

import type { Clock } from '../base/clock.ts'
import { errorText } from '../base/error-text.ts'
import { CheckpointMaker, type CheckpointWish } from '../observe/checkpoints/checkpoint-maker.ts'
import type { ChainFloor, Store } from '../observe/store.ts'
import type { CheckpointCopies } from './checkpoint-copies.ts'
import type { AuditOptions, LogEntry } from './gate-options.ts'
import type { Signing, SigningKey } from './signing-key.ts'

const EVERY_ROWS = 1_000
const AFTER_MS = 60_000

export type GateCheckpointsParts = {
  readonly store: Store
  readonly clock: Clock
  readonly key: SigningKey
  readonly options: AuditOptions
  readonly copies: CheckpointCopies
  readonly log: (entry: LogEntry) => void
  readonly made: (note: string) => void
}

export class GateCheckpoints {
  readonly #parts: GateCheckpointsParts
  readonly #everyRows: number
  readonly #afterMs: number
  #maker: CheckpointMaker | undefined
  #rows = 0
  #running: Promise<unknown> | undefined
  #cancel: (() => void) | undefined
  #isStarted = false
  #isStopped = false
  #failed = false

  constructor(parts: GateCheckpointsParts) {
    this.#parts = parts
    const { checkpointEvery = EVERY_ROWS, checkpointMs = AFTER_MS } = parts.options
    this.#everyRows = checkpointEvery
    this.#afterMs = checkpointMs
  }

  start(): void {
    this.#isStarted = true
    this.#soon({ ofOthers: true })
    this.#lookLater()
  }

  /** So many rows came at most. */
  note(rows: number): void {
    this.#rows += rows
    if (this.#rows >= this.#everyRows && this.#running === undefined) this.#soon()
  }

  /** Records can be kept again: what failed meanwhile is made up for. */
  again(): void {
    if (this.#failed && !this.#isStopped) this.#soon()
  }

  /** A checkpoint now; undefined where every row is covered. Rejects where it could not be made. */
  async make(wish?: CheckpointWish): Promise<string | undefined> {
    this.#rows = 0
    this.#maker ??= this.#startMaker()
    const note = await this.#maker.make(wish)
    this.#failed = false
    if (note === undefined) return undefined
    await this.#parts.copies.give(note)
    this.#parts.made(note)
    return note
  }

  publicKey(): string {
    return this.#signing().publicKey
  }

  /** Why rows are not signed, or copies not kept, as they should be. */
  troubles(): readonly string[] {
    return [...(this.#failed ? ['checkpoints cannot be made'] : []), ...this.#parts.copies.troubles()]
  }

  /** Rows up to these floors are about to go: signed before they do. */
  async signFloors(floors: readonly ChainFloor[]): Promise<void> {
    await this.make({ full: true, floors })
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
  }

  /** The last one of this gate. Never rejects. */
  async close(): Promise<void> {
    this.stop()
    if (!this.#isStarted) return
    await this.#running
    await this.#quietly()
  }

  #signing(): Signing {
    return this.#parts.key.signing()
  }

  #startMaker(): CheckpointMaker {
    const { store, clock, log } = this.#parts
    const tampered = (chain: string, what: string): void =>
      log({ level: 'error', message: 'records were changed behind the gate', details: { chain, what } })
    return new CheckpointMaker({ store, clock, ...this.#signing(), tampered })
  }

  #lookLater(): void {
    this.#cancel = this.#parts.clock.after(
      this.#afterMs,
      () => {
        this.#soon()
        if (!this.#isStopped) this.#lookLater()
      },
      'background',
    )
  }

  #soon(wish?: CheckpointWish): void {
    if (this.#running !== undefined) return
    this.#running = this.#quietly(wish).finally(() => {
      this.#running = undefined
      if (this.#rows >= this.#everyRows && !this.#isStopped && !this.#failed) this.#soon()
    })
  }

  async #quietly(wish?: CheckpointWish): Promise<void> {
    try {
      await this.make(wish)
    } catch (error) {
      const details = { error: errorText(error) }
      if (!this.#failed) this.#parts.log({ level: 'error', message: 'a checkpoint could not be made', details })
      this.#failed = true
    }
  }
}
