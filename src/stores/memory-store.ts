// A store without a disk: for embedding, for tests, and for whoever wants nothing kept. Everything in it is bounded and ends
// with the process, so it never has intents of somebody who is gone. It refuses nothing for lack of room but what
// `memory-approvals`, `memory-images` and `memory-journal` say.

import type { Clock } from '../base/clock.ts'
import { withMembers } from '../base/with-members.ts'
import type { BeforeImages } from '../describe/before-images.ts'
import type {
  Answered,
  ApprovalAnswer,
  ApprovalRow,
  ApprovalState,
  ArtifactStore,
  ChainFloor,
  ChainHead,
  Erased,
  GrantRow,
  Intended,
  IntentDraft,
  JournalEnd,
  JournalRow,
  OpenIntent,
  RecordDraft,
  RecordQuery,
  RecordRow,
  RecordSubject,
  StopRow,
  Store,
} from '../observe/store.ts'
import { aboutApproval, grantedRecord, wrongCodeRecord } from './approval-answer.ts'
import { intentRecord, openedRecord } from './approval-choice.ts'
import { MemoryApprovals } from './memory-approvals.ts'
import { MemoryArtifacts } from './memory-artifacts.ts'
import { type GrantFilter, MemoryGrants } from './memory-grants.ts'
import { MemoryImages } from './memory-images.ts'
import { type JournalFilter, MemoryJournal } from './memory-journal.ts'
import { newChainName } from './record-chain.ts'
import { checkDraft, checkLimit } from './record-draft.ts'
import { RecordRing } from './record-ring.ts'

export type MemoryStoreOptions = {
  readonly clock: Clock
  /** Rows kept, the newest. Default: 1,000, few enough to stay in the young part of the heap; their bodies together are bounded to 64 Mi characters besides. */
  readonly recordsMax?: number
  /** Default: 10,000; as many grants besides. */
  readonly approvalsMax?: number
  /** Bytes of before-images. Default: 64 MiB. */
  readonly imagesBytesMax?: number
  /** Idempotency keys. Default: 10,000; their answers together are bounded to 16 Mi characters besides. */
  readonly keysMax?: number
}

const BODY_CHARS_MAX = 64 * 1024 * 1024
/** A gate without a disk keeps contents in memory, whatever it is allowed to keep. */
const ARTIFACT_BYTES_MAX = 64 * 1024 * 1024
const ANSWER_CHARS_MAX = 16 * 1024 * 1024

/** Throws a RangeError on a bound that is no positive whole number. */
export function createMemoryStore(options: MemoryStoreOptions): Store {
  const {
    clock,
    recordsMax = 1_000,
    approvalsMax = 10_000,
    imagesBytesMax = 64 * 1024 * 1024,
    keysMax = 10_000,
  } = options
  for (const [name, bound] of Object.entries({ recordsMax, approvalsMax, imagesBytesMax, keysMax })) {
    if (!Number.isSafeInteger(bound) || bound < 1) throw new RangeError(`\`${name}\` is a positive whole number`)
  }
  return new MemoryStore(clock, { recordsMax, approvalsMax, keysMax }, new MemoryImages(imagesBytesMax))
}

type Bounds = { readonly recordsMax: number; readonly approvalsMax: number; readonly keysMax: number }

class MemoryStore implements Store {
  readonly chain: string
  readonly images: BeforeImages
  readonly artifacts: ArtifactStore
  /** Read by whoever verifies: a chain may begin after its first row. */
  readonly forgetsOldRows = true
  readonly #clock: Clock
  readonly #images: MemoryImages
  readonly #artifacts: MemoryArtifacts
  readonly #ring: RecordRing
  readonly #approvals: MemoryApprovals
  readonly #grants: MemoryGrants
  readonly #journal: MemoryJournal
  /** Made by hand, so that they need no bound. */
  readonly #stops = new Map<string, StopRow>()
  readonly #openIntents = new Set<string>()
  #closed = false

  constructor(clock: Clock, { recordsMax, approvalsMax, keysMax }: Bounds, images: MemoryImages) {
    this.chain = newChainName(clock.now())
    this.images = images
    this.#images = images
    this.#artifacts = new MemoryArtifacts(ARTIFACT_BYTES_MAX, () => this.failure())
    this.artifacts = this.#artifacts
    this.#clock = clock
    this.#ring = new RecordRing(this.chain, recordsMax, BODY_CHARS_MAX)
    this.#approvals = new MemoryApprovals(approvalsMax)
    this.#grants = new MemoryGrants(approvalsMax)
    this.#journal = new MemoryJournal(keysMax, ANSWER_CHARS_MAX)
  }

  failure(): string | undefined {
    return this.#closed ? 'the store is closed' : undefined
  }

  append(draft: RecordDraft, closes?: string): void {
    checkDraft(draft)
    if (this.#closed) return
    if (closes !== undefined) this.#openIntents.delete(closes)
    this.#ring.push(draft)
  }

  async intend(draft: IntentDraft): Promise<Intended> {
    checkDraft(draft.record)
    if (this.#closed) return { kind: 'failed', reason: 'the store is closed' }
    const { journal } = draft
    if (journal === undefined) return this.#recorded(draft)
    const now = this.#clock.now()
    const held = this.#journal.held(journal, now)
    if (held !== undefined) return held
    if (!this.#journal.makeRoom(journal, now)) {
      return { kind: 'failed', reason: 'too many idempotency keys are held by calls that have no known end' }
    }
    const intended = this.#recorded(draft)
    if (intended.kind === 'recorded') this.#journal.claim(journal, draft.callId, draft.record.at)
    return intended
  }

  #recorded(draft: IntentDraft): Intended {
    if (draft.ask !== undefined) {
      const now = this.#clock.now()
      const grants = this.#grants.heldFor(draft.ask, now)
      const { intended, opened } = this.#approvals.ask(draft.ask, grants, draft.callId, now)
      if (opened !== undefined) {
        this.append(openedRecord(opened, draft.record.at, draft.callId))
      }
      if (intended.kind === 'recorded') this.#begun(draft, intended)
      return intended
    }
    this.#begun(draft, {})
    return { kind: 'recorded' }
  }

  #begun({ callId, record, argumentsText }: IntentDraft, used: Parameters<typeof intentRecord>[1]): void {
    this.append(intentRecord({ ...record, argumentsText }, used))
    this.#openIntents.add(callId)
  }

  async settle(draft: RecordDraft, end: JournalEnd): Promise<void> {
    this.#assertWritable(draft)
    this.append(draft, end.callId)
    this.#journal.end(end, draft.at)
  }

  async journal(filter: JournalFilter): Promise<readonly JournalRow[]> {
    checkLimit(filter.limit)
    return this.#journal.list(filter)
  }

  async flush(): Promise<void> {}

  async approvals(filter: { id?: string; state?: ApprovalState; limit: number }): Promise<readonly ApprovalRow[]> {
    checkLimit(filter.limit)
    return this.#approvals.list(filter)
  }

  async answer(id: string, answer: ApprovalAnswer, record: RecordDraft): Promise<Answered> {
    checkDraft(record)
    this.#assertOpen()
    const done = this.#approvals.answer(id, answer, this.#clock.now())
    if (done.kind === 'answered') this.append(aboutApproval(record, done.approval))
    if (done.kind === 'answered' && done.grant !== undefined) {
      this.#grants.add(done.grant)
      this.append(grantedRecord(done.grant, answer.at))
    }
    if (done.kind === 'refused' && done.why === 'code-wrong') {
      this.append(wrongCodeRecord(done.approval, answer))
    }
    return done
  }

  async renewProof(id: string, proof: string, record: RecordDraft): Promise<boolean> {
    this.#assertWritable(record)
    const done = this.#approvals.renewProof(id, proof, this.#clock.now())
    if (done) this.append(record)
    return done
  }

  async grants(filter: GrantFilter): Promise<readonly GrantRow[]> {
    checkLimit(filter.limit)
    return this.#grants.list(filter)
  }

  async revokeGrant(id: string, by: string, at: number, record: RecordDraft): Promise<boolean> {
    this.#assertWritable(record)
    const revoked = this.#grants.revoke(id, by, at)
    if (revoked === undefined) return false
    this.#approvals.end(revoked.approvalId, this.#clock.now())
    this.append(record)
    return true
  }

  async stops(): Promise<readonly StopRow[]> {
    return [...this.#stops.values()]
  }

  async stop(row: StopRow, record: RecordDraft): Promise<void> {
    this.#assertWritable(record)
    if (this.#stops.has(row.id)) throw new Error('a stop has this id already')
    this.#stops.set(row.id, row)
    this.append(record)
  }

  async lift(id: string, record: RecordDraft): Promise<boolean> {
    this.#assertWritable(record)
    if (!this.#stops.delete(id)) return false
    this.append(record)
    return true
  }

  /** No other process can change anything. */
  watch(): () => void {
    return () => undefined
  }

  async records(query: RecordQuery): Promise<readonly RecordRow[]> {
    checkLimit(query.limit)
    return this.#ring.rows(query)
  }

  async chains(): Promise<readonly string[]> {
    return this.#ring.isEmpty ? [] : [this.chain]
  }

  async heads(): Promise<readonly ChainHead[]> {
    const head = this.#ring.head()
    return head === undefined ? [] : [head]
  }

  async dropBefore(at: number): Promise<readonly ChainFloor[]> {
    this.#assertOpen()
    this.#artifacts.dropExpired(this.#clock.now())
    const [checkpoint] = this.#ring.rows({ kind: 'checkpoint', newestFirst: true, limit: 1 })
    const floor = this.#ring.dropWhile(
      (row) =>
        row.at < at &&
        row.seq < (checkpoint?.seq ?? Number.POSITIVE_INFINITY) &&
        (row.callId === null || !this.#openIntents.has(row.callId)),
    )
    if (floor === undefined) return []
    const body = JSON.stringify({ before: at, floors: [floor] })
    this.append({ kind: 'retention', at: Math.trunc(this.#clock.now()), callId: null, body })
    return [floor]
  }

  async erase(subject: RecordSubject, record: RecordDraft): Promise<Erased> {
    this.#assertWritable(record)
    const parts = [this.#approvals, this.#grants, this.#journal, this.#images, this.#artifacts]
    const erased = {
      records: this.#ring.erase(subject),
      others: parts.reduce((sum, part) => sum + part.erase(subject), 0),
      unsealed: 0,
    }
    this.append({ ...record, body: withMembers(record.body, JSON.stringify(erased).slice(1, -1)) })
    return erased
  }

  async recordCount(): Promise<number> {
    return this.#ring.size
  }

  async lapsedIntents(): Promise<readonly OpenIntent[]> {
    return []
  }

  async close(): Promise<void> {
    this.#closed = true
  }

  #assertWritable(record: RecordDraft): void {
    checkDraft(record)
    this.#assertOpen()
  }

  #assertOpen(): void {
    if (this.#closed) throw new Error('the store is closed')
  }
}
