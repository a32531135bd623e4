// The store that lasts: SQLite in one worker thread, which several processes may share by its file. The caller's thread only
// buffers and sends; linking, inserting and waiting for the disk is the worker's. Refuses to open a file that it cannot
// write, that is not its own, or that a newer version has written.

import { resolve } from 'node:path'
import type { Clock } from '../base/clock.ts'
import type { BeforeImages } from '../describe/before-images.ts'
import type {
  Answered,
  ApprovalAnswer,
  ApprovalRow,
  ApprovalState,
  ArtifactStore,
  ChainFloor,
  ChainHead,
  ChainStretch,
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
  StretchHeld,
} from '../observe/store.ts'
import { linkedArtifacts } from './linked-artifacts.ts'
import type { GrantFilter } from './memory-grants.ts'
import type { JournalFilter } from './memory-journal.ts'
import { newChainName } from './record-chain.ts'
import { checkDraft, checkLimit } from './record-draft.ts'
import { workerFile } from './worker-file.ts'
import { WorkerLink } from './worker-link.ts'

export type SqliteStoreOptions = {
  /** Made with its folder where absent, readable by its owner only. */
  readonly file: string
  readonly clock: Clock
  /** Personal members are encrypted with a key of each person, so that they can be made unreadable. Default: true. */
  readonly seal?: boolean
  /** 32 bytes in base64: encrypts those keys in turn. A file that was once used with it is not opened without it. */
  readonly key?: string
}

export type SqliteStoreOpened =
  | { readonly kind: 'ok'; readonly store: Store }
  | { readonly kind: 'failed'; readonly reason: string }

/** Never rejects. The reason is for the operator and names the file. */
export async function openSqliteStore({
  file,
  clock,
  seal = true,
  key,
}: SqliteStoreOptions): Promise<SqliteStoreOpened> {
  const chain = newChainName(clock.now())
  const code = await workerFile()
  if (code === undefined) {
    return { kind: 'failed', reason: 'the code of the SQLite worker is missing from this installation' }
  }
  const start = { file: resolve(file), chain, seal, ...(key === undefined ? {} : { key }) }
  const opened = await WorkerLink.open(code, start, () => clock.now())
  return opened.kind === 'ok' ? { kind: 'ok', store: new SqliteStore(chain, clock, opened.link) } : opened
}

class SqliteStore implements Store {
  readonly chain: string
  readonly images: BeforeImages
  readonly artifacts: ArtifactStore
  readonly #clock: Clock
  readonly #link: WorkerLink
  #closing: Promise<void> | undefined

  constructor(chain: string, clock: Clock, link: WorkerLink) {
    this.chain = chain
    this.images = {
      keep: (change) => link.ask<'keep'>({ kind: 'keep', change }),
      find: (callId) => link.ask<'find'>({ kind: 'find', callId }),
    }
    this.artifacts = linkedArtifacts(link)
    this.#clock = clock
    this.#link = link
  }

  failure(): string | undefined {
    return this.#link.failure()
  }

  append(draft: RecordDraft, closes?: string): void {
    checkDraft(draft)
    this.#link.append(draft, closes)
  }

  async intend(draft: IntentDraft): Promise<Intended> {
    checkDraft(draft.record)
    try {
      return await this.#link.ask<'intend'>({ kind: 'intend', draft, now: this.#clock.now() })
    } catch (error) {
      return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) }
    }
  }

  async settle(draft: RecordDraft, end: JournalEnd): Promise<void> {
    checkDraft(draft)
    this.#link.append(draft, end)
    // In the same message and the same transaction as the row.
    await this.flush()
  }

  async journal(filter: JournalFilter): Promise<readonly JournalRow[]> {
    checkLimit(filter.limit)
    return await this.#link.ask<'journal'>({ kind: 'journal', filter })
  }

  async flush(): Promise<void> {
    await this.#link.ask<'flush'>({ kind: 'flush' })
    const failure = this.#link.failure()
    if (failure !== undefined) throw new Error(failure)
  }

  async approvals(filter: { id?: string; state?: ApprovalState; limit: number }): Promise<readonly ApprovalRow[]> {
    checkLimit(filter.limit)
    return await this.#link.ask<'approvals'>({ kind: 'approvals', filter })
  }

  async answer(id: string, answer: ApprovalAnswer, record: RecordDraft): Promise<Answered> {
    checkDraft(record)
    return await this.#link.ask<'answer'>({ kind: 'answer', approval: id, answer, record, now: this.#clock.now() })
  }

  async renewProof(id: string, proof: string, record: RecordDraft): Promise<boolean> {
    checkDraft(record)
    const now = this.#clock.now()
    return await this.#link.ask<'renew-proof'>({ kind: 'renew-proof', approval: id, proof, record, now })
  }

  async grants(filter: GrantFilter): Promise<readonly GrantRow[]> {
    checkLimit(filter.limit)
    return await this.#link.ask<'grants'>({ kind: 'grants', filter })
  }

  async revokeGrant(id: string, by: string, at: number, record: RecordDraft): Promise<boolean> {
    checkDraft(record)
    return await this.#link.ask<'revoke'>({ kind: 'revoke', grant: id, by, at, record, now: this.#clock.now() })
  }

  async stops(): Promise<readonly StopRow[]> {
    return await this.#link.ask<'stops'>({ kind: 'stops' })
  }

  async stop(row: StopRow, record: RecordDraft): Promise<void> {
    checkDraft(record)
    await this.#link.ask<'stop'>({ kind: 'stop', row, record })
  }

  async lift(id: string, record: RecordDraft): Promise<boolean> {
    checkDraft(record)
    return await this.#link.ask<'lift'>({ kind: 'lift', stop: id, record })
  }

  watch(changed: () => void): () => void {
    return this.#link.watch(changed)
  }

  async records(query: RecordQuery): Promise<readonly RecordRow[]> {
    checkLimit(query.limit)
    return await this.#link.ask<'records'>({ kind: 'records', query })
  }

  async chains(): Promise<readonly string[]> {
    return await this.#link.ask<'chains'>({ kind: 'chains' })
  }

  async held(stretch: ChainStretch): Promise<StretchHeld | undefined> {
    checkLimit(stretch.limit)
    return await this.#link.ask<'held'>({ kind: 'held', stretch })
  }

  async heads(): Promise<readonly ChainHead[]> {
    return await this.#link.ask<'heads'>({ kind: 'heads' })
  }

  async dropBefore(at: number): Promise<readonly ChainFloor[]> {
    return await this.#link.ask<'drop'>({ kind: 'drop', before: at, now: Math.trunc(this.#clock.now()) })
  }

  async erase(subject: RecordSubject, record: RecordDraft): Promise<Erased> {
    checkDraft(record)
    return await this.#link.ask<'erase'>({ kind: 'erase', subject, record })
  }

  async recordCount(): Promise<number> {
    return await this.#link.ask<'count'>({ kind: 'count' })
  }

  async lapsedIntents(): Promise<readonly OpenIntent[]> {
    return await this.#link.ask<'claim'>({ kind: 'claim' })
  }

  close(): Promise<void> {
    this.#closing ??= this.#link.close()
    return this.#closing
  }
}
