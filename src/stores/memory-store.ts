// A store without a disk: for embedding, for tests, and for whoever wants nothing kept. Everything in it is bounded and ends
// with the process, so it never has intents of somebody who is gone. It refuses nothing for lack of room but what
// `memory-approvals` and `memory-images` say.

import type { Clock } from '../base/clock.ts'
import type { BeforeImages } from '../describe/before-images.ts'
import type {
  Answered,
  ApprovalAnswer,
  ApprovalRow,
  ApprovalState,
  Intended,
  IntentDraft,
  OpenIntent,
  RecordDraft,
  RecordQuery,
  RecordRow,
  Store,
} from '../observe/store.ts'
import { openedBody } from './approval-choice.ts'
import { MemoryApprovals } from './memory-approvals.ts'
import { MemoryImages } from './memory-images.ts'
import { newChainName } from './record-chain.ts'
import { checkDraft, checkLimit } from './record-draft.ts'
import { RecordRing } from './record-ring.ts'

export type MemoryStoreOptions = {
  readonly clock: Clock
  /** Rows kept, the newest. Default: 1,000, few enough to stay in the young part of the heap; their bodies together are bounded to 64 Mi characters besides. */
  readonly recordsMax?: number
  /** Default: 10,000. */
  readonly approvalsMax?: number
  /** Bytes of before-images. Default: 64 MiB. */
  readonly imagesBytesMax?: number
}

const BODY_CHARS_MAX = 64 * 1024 * 1024

/** Throws a RangeError on a bound that is no positive whole number. */
export function createMemoryStore(options: MemoryStoreOptions): Store {
  const { clock, recordsMax = 1_000, approvalsMax = 10_000, imagesBytesMax = 64 * 1024 * 1024 } = options
  for (const [name, bound] of Object.entries({ recordsMax, approvalsMax, imagesBytesMax })) {
    if (!Number.isSafeInteger(bound) || bound < 1) throw new RangeError(`\`${name}\` is a positive whole number`)
  }
  return new MemoryStore(clock, recordsMax, approvalsMax, new MemoryImages(imagesBytesMax))
}

class MemoryStore implements Store {
  readonly chain: string
  readonly images: BeforeImages
  /** Read by whoever verifies: a chain may begin after its first row. */
  readonly forgetsOldRows = true
  readonly #clock: Clock
  readonly #ring: RecordRing
  readonly #approvals: MemoryApprovals
  #closed = false

  constructor(clock: Clock, recordsMax: number, approvalsMax: number, images: BeforeImages) {
    this.chain = newChainName(clock.now())
    this.images = images
    this.#clock = clock
    this.#ring = new RecordRing(this.chain, recordsMax, BODY_CHARS_MAX)
    this.#approvals = new MemoryApprovals(approvalsMax)
  }

  failure(): string | undefined {
    return this.#closed ? 'the store is closed' : undefined
  }

  append(draft: RecordDraft): void {
    checkDraft(draft)
    if (!this.#closed) this.#ring.push(draft)
  }

  async intend(draft: IntentDraft): Promise<Intended> {
    checkDraft(draft.record)
    if (this.#closed) return { kind: 'failed', reason: 'the store is closed' }
    if (draft.ask !== undefined) {
      const { intended, opened } = this.#approvals.ask(draft.ask, draft.callId, this.#clock.now())
      if (opened !== undefined) {
        this.append({ kind: 'approval', at: draft.record.at, callId: draft.callId, body: openedBody(opened) })
      }
      if (intended.kind === 'recorded') this.append(draft.record)
      return intended
    }
    this.append(draft.record)
    return { kind: 'recorded' }
  }

  async flush(): Promise<void> {}

  async approvals(filter: { id?: string; state?: ApprovalState; limit: number }): Promise<readonly ApprovalRow[]> {
    checkLimit(filter.limit)
    return this.#approvals.list(filter)
  }

  async answer(id: string, answer: ApprovalAnswer, record: RecordDraft): Promise<Answered> {
    checkDraft(record)
    if (this.#closed) throw new Error('the store is closed')
    const done = this.#approvals.answer(id, answer, this.#clock.now())
    if (done.kind === 'answered') this.append(record)
    return done
  }

  async records(query: RecordQuery): Promise<readonly RecordRow[]> {
    checkLimit(query.limit)
    return this.#ring.rows(query)
  }

  async chains(): Promise<readonly string[]> {
    return this.#ring.isEmpty ? [] : [this.chain]
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
}
