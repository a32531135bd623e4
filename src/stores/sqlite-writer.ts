// The one writer of a SQLite store, in its worker thread. "Commit when idle, batch arrivals": what came while a transaction
// ran is committed together in the next one. It answers nothing before that is on disk. Rows that could not be written stay
// in line and are tried again; a request that could not be carried out is answered so and left, since its caller acts on it.

import type { IntentDraft } from '../observe/store.ts'
import { type ApprovalChoice, intentRecord } from './approval-choice.ts'
import type { KeyHeld } from './journal-choice.ts'
import { uptimeMs } from './owner-identity.ts'
import { SqliteArtifacts } from './sqlite-artifacts.ts'
import { SqliteDesk } from './sqlite-desk.ts'
import { isBusyError, type SqlDatabase, type SqlStatement } from './sqlite-driver.ts'
import { SqliteImages } from './sqlite-images.ts'
import { RENEW_MS, SqliteIntents } from './sqlite-intents.ts'
import { SqliteJournal } from './sqlite-journal.ts'
import { SqliteProof } from './sqlite-proof.ts'
import type {
  Answers,
  Batch,
  FlatRows,
  Numbered,
  ReadRequest,
  Reply,
  Report,
  WorkerStart,
  WriteRequest,
} from './sqlite-protocol.ts'
import { closesOf, FLAT_FIELDS, flatChars, flatRow } from './sqlite-protocol.ts'
import { SqliteRecords } from './sqlite-records.ts'
import { SqliteRetention } from './sqlite-retention.ts'
import { SqliteWatch } from './sqlite-watch.ts'
import { SubjectKeys } from './subject-keys.ts'

/** Batches of rows to one transaction: bounds how long a failing one takes, and how long others wait for the lock. */
const TRANSACTION_BATCHES = 40
const RETRY_MS = 500
/** A timer may fire a little early by this count. */
const TIMER_SLACK_MS = 200

/** Whether personal members are sealed, and the operator's own key. */
export type Sealing = Pick<WorkerStart, 'seal' | 'key'>

export class SqliteWriter {
  readonly #database: SqlDatabase
  readonly #keys: SubjectKeys
  readonly #records: SqliteRecords
  readonly #proof: SqliteProof
  readonly #retention: SqliteRetention
  readonly #desk: SqliteDesk
  readonly #watch: SqliteWatch
  readonly #intents: SqliteIntents
  readonly #journal: SqliteJournal
  readonly #images: SqliteImages
  readonly #artifacts: SqliteArtifacts
  readonly #statements: Readonly<Record<'begin' | 'commit' | 'rollback', SqlStatement>>
  readonly #report: (report: Report) => void
  readonly #renewing: NodeJS.Timeout
  #retrying: NodeJS.Timeout | undefined
  #rows: FlatRows[] = []
  #rowsDone = 0
  #charsDone = 0
  #renewAt = 0
  #failure: string | undefined

  /** Takes the owner's lease at once; throws where that cannot be written. */
  constructor(database: SqlDatabase, chain: string, sealing: Sealing, report: (report: Report) => void) {
    this.#database = database
    this.#keys = new SubjectKeys(database, sealing.key)
    this.#records = new SqliteRecords(database, chain, this.#keys, sealing.seal ?? true)
    this.#proof = new SqliteProof(database)
    this.#retention = new SqliteRetention(database, this.#records, this.#keys)
    this.#desk = new SqliteDesk(database, this.#records)
    this.#watch = new SqliteWatch(database, () => report({ kind: 'changed' }))
    this.#intents = new SqliteIntents(database, chain)
    this.#journal = new SqliteJournal(database, this.#keys, sealing.seal ?? true)
    this.#images = new SqliteImages(database)
    this.#artifacts = new SqliteArtifacts(database, this.#keys, sealing.seal ?? true)
    this.#report = report
    this.#statements = {
      begin: database.prepare('BEGIN IMMEDIATE'),
      commit: database.prepare('COMMIT'),
      rollback: database.prepare('ROLLBACK'),
    }
    this.#transaction([], [])
    this.#renewing = setInterval(() => this.#tryAgain(), RENEW_MS)
  }

  /** Writes all rows and requests of the batches, then answers what was asked. True: the store was closed. */
  take(batches: readonly Batch[]): boolean {
    const writes: Numbered<WriteRequest>[] = []
    const reads: Numbered<ReadRequest>[] = []
    let closing: number | undefined
    for (const { rows, requests } of batches) {
      if (rows.length > 0) this.#rows.push(rows)
      for (const { id, request } of requests) {
        if (request.kind === 'close') closing = id
        else if (isRead(request)) reads.push({ id, request })
        else writes.push({ id, request })
      }
    }
    const mayWait = this.#failure !== undefined && writes.length === 0 && closing === undefined
    const replies = mayWait ? [] : this.#write(writes)
    for (const { id, request } of reads) replies.push(answerTo(id, () => this.#read(request)))
    if (closing !== undefined) replies.push(this.#close(closing))
    this.#tell(replies)
    return closing !== undefined
  }

  /** Does some housekeeping between two batches; what it left to sync is synced before anybody waits for a commit. */
  idle(housekeeping: () => void): void {
    if (this.#failure !== undefined) return
    quietly(housekeeping)
    this.#renewAt = 0
    this.#tryAgain()
  }

  #write(writes: readonly Numbered<WriteRequest>[]): Reply[] {
    try {
      while (this.#rows.length > TRANSACTION_BATCHES) {
        this.#transaction(this.#rows.slice(0, TRANSACTION_BATCHES), [])
        this.#tell([])
      }
      return this.#transaction(this.#rows, writes)
    } catch (error) {
      // Perhaps one request is at fault, and the rows and the other requests shall not suffer for it.
      if (writes.length > 0 && !isBusyError(error)) return this.#writeApart(writes)
      this.#failed(error)
      return writes.map(({ id, request }) => failedReply(id, request, messageOf(error)))
    }
  }

  #writeApart(writes: readonly Numbered<WriteRequest>[]): Reply[] {
    this.#write([])
    const failure = this.#failure
    if (failure !== undefined) return writes.map(({ id, request }) => failedReply(id, request, failure))
    return writes.flatMap((numbered) => {
      try {
        return this.#transaction([], [numbered])
      } catch (error) {
        return failedReply(numbered.id, numbered.request, messageOf(error))
      }
    })
  }

  #failed(error: unknown): void {
    this.#failure = messageOf(error)
    this.#retrying ??= setTimeout(() => {
      this.#retrying = undefined
      this.#tryAgain()
    }, RETRY_MS)
  }

  /** All of it becomes durable together, or nothing. */
  #transaction(batches: readonly FlatRows[], writes: readonly Numbered<WriteRequest>[]): Reply[] {
    const { begin, commit, rollback } = this.#statements
    // After a failure the lease is what shows, with no rows to write, that writing is possible again.
    const renews = this.#failure !== undefined || uptimeMs() >= this.#renewAt
    if (batches.length === 0 && !renews && writes.every(({ request }) => request.kind === 'flush')) {
      return writes.map(({ id }) => ({ id, kind: 'done', value: undefined }))
    }
    begin.run([])
    const end = this.#records.end
    try {
      // First of all: a process that was stopped for long must own its intents again before it writes one.
      if (renews) this.#intents.renew()
      this.#keys.refresh()
      for (const rows of batches) {
        this.#records.insert(rows)
        this.#endIntents(rows)
      }
      const replies = writes.map(({ id, request }): Reply => ({ id, kind: 'done', value: this.#carryOut(request) }))
      commit.run([])
      this.#written(batches, renews)
      if (writes.some(({ request }) => request.kind === 'erase')) quietly(() => this.#retention.emptyLog())
      return replies
    } catch (error) {
      this.#records.rewind(end)
      this.#keys.forget()
      quietly(() => rollback.run([]))
      throw error
    }
  }

  #endIntents(rows: FlatRows): void {
    for (let row = 0; row < rows.length; row += FLAT_FIELDS) {
      const closes = closesOf(rows, row)
      if (closes === undefined) continue
      this.#intents.end(typeof closes === 'string' ? closes : closes.callId)
      if (typeof closes !== 'string') this.#journal.end(closes, Number(rows[row + 1]))
    }
  }

  #written(batches: readonly FlatRows[], renewed: boolean): void {
    for (const rows of batches) {
      this.#rowsDone += rows.length / FLAT_FIELDS
      for (let row = 0; row < rows.length; row += FLAT_FIELDS) this.#charsDone += flatChars(rows, row)
    }
    this.#rows = this.#rows.slice(batches.length)
    this.#failure = undefined
    if (renewed) this.#renewAt = uptimeMs() + RENEW_MS - TIMER_SLACK_MS
  }

  #carryOut(request: WriteRequest): Answers[WriteRequest['kind']] {
    switch (request.kind) {
      case 'intend':
        return this.#intend(request)
      case 'keep':
        return void this.#images.keep(request.change)
      case 'keep-artifact':
        return this.#artifacts.keep(request.artifact, request.bounds)
      case 'claim':
        return this.#intents.claimLapsed()
      case 'drop':
        this.#artifacts.dropExpired(request.now)
        return this.#retention.drop(request.before, request.now)
      case 'erase':
        return this.#retention.erase(request.subject, request.record)
      case 'flush':
        return undefined
      default:
        return this.#desk.carryOut(request)
    }
  }

  // INVARIANT intent-first: the claimed key, the redeemed approval, the intent's row and its being open stand in one transaction.
  #intend({ draft, now }: Extract<WriteRequest, { kind: 'intend' }>): Answers['intend'] {
    const { ask, record } = draft
    // Before an approval is spent, where one may be.
    const held = ask === undefined ? this.#claim(draft, now) : this.#heldBy(draft, now)
    if (held !== undefined) return held
    const choice = this.#desk.ask(draft, now)
    if (choice?.kind === 'unapproved' || choice?.kind === 'grants') return choice
    if (choice?.kind === 'open') return { kind: 'unapproved', state: 'open', approval: choice.open }
    const used = usedBy(choice)
    this.#records.insert(flatRow(intentRecord({ ...record, argumentsText: draft.argumentsText }, used)))
    this.#intents.open(draft)
    if (ask !== undefined) this.#claim(draft, now)
    return { kind: 'recorded', ...used }
  }

  #heldBy({ journal }: IntentDraft, now: number): KeyHeld | undefined {
    return journal === undefined ? undefined : this.#journal.held(journal, now)
  }

  /** Claims the key of a call that has one, or says who has it. */
  #claim(draft: IntentDraft, now: number): KeyHeld | undefined {
    const { journal, callId, record } = draft
    if (journal === undefined || this.#journal.claim(journal, callId, record.at, now)) return undefined
    const held = this.#heldBy(draft, now)
    if (held === undefined) throw new Error('a key is neither free nor held')
    return held
  }

  #read(request: ReadRequest): Answers[ReadRequest['kind']] {
    switch (request.kind) {
      case 'records':
        return this.#records.query(request.query)
      case 'chains':
        return this.#records.chains()
      case 'heads':
        return this.#records.heads()
      case 'held':
        return this.#proof.held(request.stretch)
      case 'count':
        return this.#records.count()
      case 'approvals':
        return this.#desk.approvals.list(request.filter)
      case 'grants':
        return this.#desk.grants.list(request.filter)
      case 'stops':
        return this.#desk.stops.list()
      case 'journal':
        return this.#journal.list(request.filter)
      case 'find':
        return this.#images.find(request.callId)
      case 'find-artifact':
        return this.#artifacts.find(request.artifact, request.principal, request.now)
      case 'artifacts':
        return this.#artifacts.list(request.filter)
      case 'watch':
        return void (request.on ? this.#watch.start() : this.#watch.stop())
    }
  }

  #tryAgain(): void {
    const before = this.#failure
    this.#write([])
    if (before !== this.#failure || before !== undefined) this.#tell([])
  }

  #close(id: number): Reply {
    this.#watch.stop()
    clearInterval(this.#renewing)
    clearTimeout(this.#retrying)
    const lost = this.#rows.reduce((count, rows) => count + rows.length / FLAT_FIELDS, 0)
    // Where the lease cannot be given back it lapses.
    quietly(() => {
      this.#statements.begin.run([])
      this.#intents.close()
      this.#statements.commit.run([])
    })
    quietly(() => this.#database.close())
    if (lost === 0) return { id, kind: 'done', value: undefined }
    return { id, kind: 'failed', reason: `${lost} records were not written: ${this.#failure ?? 'no reason is known'}` }
  }

  #tell(replies: readonly Reply[]): void {
    const [rowsDone, charsDone, failure] = [this.#rowsDone, this.#charsDone, this.#failure]
    this.#report({ kind: 'progress', rowsDone, charsDone, failure, replies })
  }
}

const READS: ReadonlySet<string> = new Set<ReadRequest['kind']>([
  ...(['records', 'chains', 'heads', 'count', 'approvals', 'grants', 'stops', 'journal', 'find', 'watch'] as const),
  ...(['find-artifact', 'artifacts', 'held'] as const),
])

const isRead = (request: WriteRequest | ReadRequest): request is ReadRequest => READS.has(request.kind)

function usedBy(choice: ApprovalChoice | undefined): { readonly approvalId?: string; readonly grantId?: string } {
  if (choice?.kind === 'redeem') return { approvalId: choice.approvalId }
  return choice?.kind === 'grant' ? { grantId: choice.grant.id } : {}
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function answerTo(id: number, work: () => unknown): Reply {
  try {
    return { id, kind: 'done', value: work() }
  } catch (error) {
    return { id, kind: 'failed', reason: messageOf(error) }
  }
}

/** For what follows an error: SQLite has rolled back by itself after some, and then says that there is nothing to undo. */
function quietly(work: () => unknown): void {
  try {
    work()
  } catch {
    // The first error is the one that is told.
  }
}

/** An intent that fails is an answer of its own; everything else rejects. */
const failedReply = (id: number, request: WriteRequest, reason: string): Reply =>
  request.kind === 'intend' ? { id, kind: 'done', value: { kind: 'failed', reason } } : { id, kind: 'failed', reason }
