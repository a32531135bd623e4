// The trail of a gate: what its operator can ask of the records, and what happens to them by themselves. Whether a call may go
// on without its record is not decided here.

import type { Clock } from '../base/clock.ts'
import { errorText } from '../base/error-text.ts'
import type { Gate, GateEvents } from '../gate-contract.ts'
import { planFloors } from '../observe/checkpoints/plan-floors.ts'
import type { ChainFloor, RecordSubject, Store } from '../observe/store.ts'
import { verifyRecords } from '../observe/verify.ts'
import { AuditHealth } from './audit-health.ts'
import { CheckpointCopies } from './checkpoint-copies.ts'
import { credentialDraft } from './credential-record.ts'
import { GateCheckpoints } from './gate-checkpoints.ts'
import type { AuditOptions, LogEntry } from './gate-options.ts'
import { RefusedRequests } from './refused-requests.ts'
import type { SigningKey } from './signing-key.ts'

const HOUR_MS = 3_600_000
const TEXT_MAX = 1_024

export type GateAuditParts = {
  readonly store: Store
  readonly clock: Clock
  readonly options: AuditOptions
  /** Absent: nothing is signed. */
  readonly key: SigningKey | undefined
  readonly log: (entry: LogEntry) => void
  readonly emit: <Name extends 'audit-failed' | 'checkpoint-made'>(event: Name, detail: GateEvents[Name]) => void
}

export class GateAudit {
  readonly records: Gate['records']
  readonly #parts: GateAuditParts
  readonly #health: AuditHealth
  readonly #refused: RefusedRequests
  readonly #checkpoints: GateCheckpoints | undefined
  #cancel: (() => void) | undefined
  /** The policy that the first call will find; undefined once a record says so. */
  #beganUnder: string | undefined
  #retaining: Promise<void> | undefined
  #closed = false

  constructor(parts: GateAuditParts) {
    const { store, clock, log, emit } = parts
    this.#parts = parts
    this.#refused = new RefusedRequests({ clock, append: (draft) => store.append(draft) })
    this.#health = new AuditHealth({
      ...{ clock, log },
      failure: () => store.failure(),
      changed: (reason) => {
        emit('audit-failed', reason === undefined ? {} : { reason })
        if (reason === undefined) this.#checkpoints?.again()
      },
    })
    this.#checkpoints = checkpointsOf(parts)
    this.records = {
      query: (query) => store.records(query),
      verify: (options = {}) => verifyRecords(store, { ...this.#ownKey(), ...options }),
      flush: () => store.flush(),
      checkpoint: async () => this.#signing().make(),
      publicKey: async () => this.#signing().publicKey(),
      erase: (subject, by) => this.#erase(subject, by),
      retain: () => this.#retain(),
      credential: async (change) => {
        store.append(credentialDraft(change, clock.now()))
        await store.flush()
      },
      refused: (request) => this.#refused.note(request),
    }
  }

  /** Under which policy calls are decided from now on. */
  notePolicy(what: string, version: string): void {
    this.noteCall()
    const { store, clock } = this.#parts
    const body = JSON.stringify({ what, policy: version })
    store.append({ kind: 'gate', at: Math.trunc(clock.now()), callId: null, body })
  }

  /** Told at each call. */
  noteFailure(reason: string | undefined): void {
    this.#health.note(reason)
  }

  /** Why records cannot be kept as they should. */
  troubles(): readonly string[] {
    this.#health.look()
    const failure = this.#parts.store.failure()
    const unsigned = this.#checkpoints?.troubles() ?? []
    return failure === undefined ? unsigned : [`records cannot be kept: ${failure}`, ...unsigned]
  }

  /** A call has ended, and left so many rows at most. */
  noteRows(rows: number): void {
    this.#checkpoints?.note(rows)
  }

  /** A call is opened. A gate that is never asked for one leaves no record of having been there. */
  noteCall(): void {
    const version = this.#beganUnder
    if (version === undefined) return
    this.#beganUnder = undefined
    this.notePolicy('the gate began', version)
  }

  /** `version`: of the policy, noted with the first call where it is given. */
  start(version: string | undefined): void {
    this.#beganUnder = version
    this.#checkpoints?.start()
    if (this.#parts.options.keepMs !== undefined) this.#retainLater(0)
  }

  /** Nothing happens by itself any more; the store is still open. */
  stop(): void {
    this.#closed = true
    this.#cancel?.()
    this.#health.stop()
    this.#refused.stop()
    this.#checkpoints?.stop()
  }

  /** The last checkpoint, once no row comes any more; the store is still open. */
  async close(): Promise<void> {
    // What has begun to go goes: a gate that is opened for one call only would otherwise never get that far.
    await this.#retaining
    await this.#checkpoints?.close()
  }

  #signing(): GateCheckpoints {
    if (this.#checkpoints !== undefined) return this.#checkpoints
    throw new Error('nothing is signed here: these records need `audit.signingKey`')
  }

  /** Of the keys that the records name anybody could have added one. */
  #ownKey(): { readonly publicKey?: string } {
    return this.#checkpoints === undefined ? {} : { publicKey: this.#checkpoints.publicKey() }
  }

  #retainLater(delayMs: number): void {
    const { clock, log, options } = this.#parts
    const { keepMs = HOUR_MS } = options
    const retain = async (): Promise<void> => {
      try {
        await this.#retain()
      } catch (error) {
        log({ level: 'error', message: 'old records could not be dropped', details: { error: errorText(error) } })
      }
      if (!this.#closed) this.#retainLater(Math.min(HOUR_MS, Math.max(1_000, keepMs / 10)))
    }
    const begin = (): void => {
      this.#retaining = retain()
    }
    // At the start at once: a gate of a single call is gone before a timer comes.
    if (delayMs === 0) begin()
    else this.#cancel = clock.after(delayMs, begin, 'background')
  }

  // INVARIANT chain: that rows may be gone is signed before they go, so that a gate that ends in between leaves records that hold.
  async #retain(): Promise<number> {
    const { store, clock, options } = this.#parts
    if (options.keepMs === undefined) return 0
    const before = Math.trunc(clock.now()) - options.keepMs
    if (this.#checkpoints !== undefined) {
      const planned = await planFloors(store, before)
      if (planned.length === 0) return 0
      await this.#checkpoints.signFloors(planned)
    }
    const dropped = new Map<string, ChainFloor>()
    // Some rows at a time, so that others can write in between.
    for (;;) {
      const floors = await store.dropBefore(before)
      for (const floor of floors) dropped.set(floor.chain, floor)
      if (floors.length === 0 || this.#closed) break
    }
    // Where each chain begins now: less may have gone than was planned.
    if (dropped.size > 0) await this.#checkpoints?.signFloors([...dropped.values()])
    return dropped.size
  }

  async #erase(subject: RecordSubject, by: string): ReturnType<Store['erase']> {
    const { store, clock } = this.#parts
    const [tenant, user] = [textOf('tenant', subject.tenant), textOf('user', subject.user)]
    const body = JSON.stringify({ by: textOf('by', by) })
    return store.erase({ tenant, user }, { kind: 'erasure', at: Math.trunc(clock.now()), callId: null, body })
  }
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.length <= TEXT_MAX) return value
  throw new TypeError(`\`${name}\`: expected a text of 1 to ${TEXT_MAX} characters`)
}

function checkpointsOf({ store, clock, options, key, log, emit }: GateAuditParts): GateCheckpoints | undefined {
  if (key === undefined) return undefined
  const copies = new CheckpointCopies(options.checkpointTo ?? [], log)
  return new GateCheckpoints({
    ...{ store, clock, key, options, copies, log },
    made: (note) => emit('checkpoint-made', { note }),
  })
}
