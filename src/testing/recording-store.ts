// A memory store that lets a test look at what was written, in order, and make writing fail.

import type { Clock } from '../base/clock.ts'
import { bodyOf } from '../observe/record-text.ts'
import type { Intended, IntentDraft, JournalEnd, RecordDraft, Store } from '../observe/store.ts'
import { intentRecord } from '../stores/approval-choice.ts'
import { createMemoryStore } from '../stores/memory-store.ts'

export type RecordingStore = Store & {
  /** What was written: `intent` before the effect, `end` after, each with its parsed body. */
  readonly written: readonly WrittenRecord[]
  /** From now on nothing can be kept, for this reason; undefined mends it. */
  breakWith(reason: string | undefined): void
}

export type WrittenRecord = {
  readonly kind: RecordDraft['kind']
  readonly callId: string | null
  readonly body: Readonly<Record<string, unknown>>
}

export function createRecordingStore(options: { readonly clock: Clock }): RecordingStore {
  const store = createMemoryStore(options)
  const written: WrittenRecord[] = []
  let broken: string | undefined
  const note = ({ kind, callId, body, personal }: RecordDraft): void =>
    void written.push({ kind, callId, body: bodyOf({ body, ...(personal === undefined ? {} : { personal }) }) })
  return {
    chain: store.chain,
    images: store.images,
    artifacts: store.artifacts,
    written,
    breakWith: (reason) => {
      broken = reason
    },
    failure: () => broken ?? store.failure(),
    append(draft, closes) {
      note(draft)
      store.append(draft, closes)
    },
    async intend(draft: IntentDraft): Promise<Intended> {
      if (broken !== undefined) return { kind: 'failed', reason: broken }
      const intended = await store.intend(draft)
      if (intended.kind === 'recorded') note(intentRecord(draft.record, intended))
      return intended
    },
    async settle(draft: RecordDraft, end: JournalEnd) {
      if (broken !== undefined) throw new Error(broken)
      await store.settle(draft, end)
      note(draft)
    },
    journal: (filter) => store.journal(filter),
    flush: () => store.flush(),
    approvals: (filter) => store.approvals(filter),
    async answer(id, answer, record) {
      const done = await store.answer(id, answer, record)
      if (done.kind === 'answered') note(record)
      return done
    },
    async renewProof(id, proof, record) {
      const done = await store.renewProof(id, proof, record)
      if (done) note(record)
      return done
    },
    grants: (filter) => store.grants(filter),
    async revokeGrant(id, by, at, record) {
      const done = await store.revokeGrant(id, by, at, record)
      if (done) note(record)
      return done
    },
    stops: () => store.stops(),
    async stop(row, record) {
      await store.stop(row, record)
      note(record)
    },
    async lift(id, record) {
      const done = await store.lift(id, record)
      if (done) note(record)
      return done
    },
    watch: (changed) => store.watch(changed),
    records: (query) => store.records(query),
    chains: () => store.chains(),
    heads: () => store.heads(),
    dropBefore: (at) => store.dropBefore(at),
    async erase(subject, record) {
      const erased = await store.erase(subject, record)
      note(record)
      return erased
    },
    recordCount: () => store.recordCount(),
    lapsedIntents: () => store.lapsedIntents(),
    close: () => store.close(),
  }
}
