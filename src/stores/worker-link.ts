// The caller's end of the store's worker thread. It buffers rows, sends them in batches, pairs answers with requests, and
// knows whether rows can be kept. It never waits for the worker but in two places: when the bound on unwritten rows is
// reached (so that a caller who is faster than the disk is slowed to it), and at the exit of the process.

import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { RecordDraft } from '../observe/store.ts'
import { RowBuffer } from './row-buffer.ts'
import type { Answers, Batch, Closes, Numbered, Reply, Report, Request, WorkerStart } from './sqlite-protocol.ts'
import { charsOf } from './sqlite-protocol.ts'

/** Rows go to the worker after this time, or as soon as they fill a batch. */
const BATCH_MS = 4

/** How long the caller's thread is held for room, or an exit for the last rows, while the worker makes no progress. */
const PATIENCE_MS = 1_000

const CLOSED = 'the store is closed'

type Waiting = {
  readonly kind: Request['kind']
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

export type LinkOpened =
  | { readonly kind: 'ok'; readonly link: WorkerLink }
  | { readonly kind: 'failed'; readonly reason: string }

export class WorkerLink {
  readonly #now: () => number
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #reports: Int32Array
  readonly #waiting = new Map<number, Waiting>()
  readonly #atExit = (): void => this.#flushAtExit()
  #opening: ((opened: LinkOpened) => void) | undefined
  readonly #rows: RowBuffer
  readonly #watchers = new Set<() => void>()
  #requests: Numbered[] = []
  #lastId = 0
  #timer: NodeJS.Timeout | undefined
  #posting = false
  #referenced = true
  /** The worker made no progress while the caller waited for room. */
  #stalled = false
  #failure: string | undefined
  /** Set once, at the end: closed, or the worker is gone. */
  #ended: string | undefined

  /** Starts the worker from `code`; answers once it has opened the file, or says why not. Never rejects. */
  static open(
    code: URL,
    what: Omit<WorkerStart, 'port' | 'reports'>,
    now: () => number,
    rows = new RowBuffer(),
  ): Promise<LinkOpened> {
    return new Promise((resolve) => new WorkerLink(code, what, now, rows, resolve))
  }

  private constructor(
    code: URL,
    what: Omit<WorkerStart, 'port' | 'reports'>,
    now: () => number,
    rows: RowBuffer,
    opening: (opened: LinkOpened) => void,
  ) {
    this.#now = now
    this.#rows = rows
    this.#opening = opening
    const { port1, port2 } = new MessageChannel()
    const reports = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
    const workerData: WorkerStart = { ...what, port: port2, reports }
    this.#port = port1
    this.#reports = new Int32Array(reports)
    // Neither the host's environment nor its loaders belong in there.
    this.#worker = new Worker(code, {
      workerData,
      transferList: [port2],
      env: {},
      execArgv: [],
      // Rows pass through and do not stay, so a small nursery costs nothing and saves the gate some megabytes.
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    })
    this.#worker.on('error', (error: Error) => this.#end(`the store's worker failed: ${error.message}`))
    this.#worker.on('exit', () => this.#end('the worker of the store has ended'))
    this.#port.on('message', (report: Report) => this.#hear(report))
    process.on('exit', this.#atExit)
  }

  /** Why rows cannot be kept now. */
  failure(): string | undefined {
    if (this.#ended !== undefined) return this.#ended
    const { lost } = this.#rows
    if (lost > 0) return `${lost} records were lost: ${this.#failure ?? 'too many were not yet written'}`
    if (this.#failure !== undefined) return `records cannot be written: ${this.#failure}`
    return this.#stalled ? 'records wait for the disk, and it makes no progress' : undefined
  }

  append(draft: RecordDraft, closes: Closes): void {
    if (this.#ended !== undefined) return
    const chars = charsOf(draft, closes)
    if (this.#rows.hasRoom(chars) || this.#waitForRoom(chars)) {
      this.#rows.push(draft, closes)
      this.#schedule()
    } else {
      this.#rows.lose()
    }
  }

  #schedule(): void {
    if (this.#rows.fillsBatch) this.#post()
    else this.#timer ??= setTimeout(() => this.#post(), BATCH_MS)
  }

  ask<Kind extends Request['kind']>(request: Extract<Request, { kind: Kind }>): Promise<Answers[Kind]> {
    if (this.#ended !== undefined) return Promise.reject(new Error(this.#ended))
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      // The worker answers each kind of request in kind.
      this.#waiting.set(id, { kind: request.kind, resolve: (value) => resolve(value as Answers[Kind]), reject })
      this.#requests.push({ id, request })
      if (this.#posting) return
      this.#posting = true
      // What is asked in one go goes in one message, and is committed in one transaction.
      queueMicrotask(() => this.#post())
    })
  }

  /** Calls `changed` after another connection has changed what people decide, until the answer is called. */
  watch(changed: () => void): () => void {
    // One for each caller, even of one function.
    const watcher = (): void => changed()
    this.#watchers.add(watcher)
    if (this.#watchers.size === 1) this.#askToWatch(true)
    return () => {
      if (this.#watchers.delete(watcher) && this.#watchers.size === 0) this.#askToWatch(false)
    }
  }

  /** A worker that is gone has nothing to report any more. */
  #askToWatch(on: boolean): void {
    this.ask<'watch'>({ kind: 'watch', on }).catch(() => undefined)
  }

  /** Writes what is left and ends the worker; rejects where rows could not be written. */
  async close(): Promise<void> {
    const { unwritten } = this.#rows
    if (this.#ended !== undefined && unwritten > 0)
      throw new Error(`${unwritten} records were not written: ${this.#ended}`)
    if (this.#ended !== undefined) return
    try {
      await this.ask({ kind: 'close' })
    } finally {
      this.#end(CLOSED)
      // The worker may be gone before this is reached: that it was closed is what is told.
      this.#ended = CLOSED
      await this.#gone()
    }
  }

  /**
   * A worker that was closed ends by itself. One that is ended from outside while its driver is at work can take the whole
   * process with it (libsql ends it), so that is kept for one that does not end.
   */
  #gone(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => void this.#worker.terminate().then(() => resolve()), PATIENCE_MS)
      const gone = (): void => {
        clearTimeout(timer)
        resolve()
      }
      this.#worker.once('exit', gone)
      // It was gone before anybody listened.
      if (this.#worker.threadId === -1) gone()
    })
  }

  /** Holds the caller until the worker has caught up; not where rows cannot be written anyway. */
  #waitForRoom(chars: number): boolean {
    this.#post()
    this.#holdWhile(() => !this.#rows.hasRoom(chars) && this.#failure === undefined && !this.#stalled)
    const found = this.#rows.hasRoom(chars)
    if (!found) this.#stalled = true
    return found
  }

  /** Sleeps and listens in turn until the condition is over, the worker is gone, or it says nothing for too long. */
  #holdWhile(condition: () => boolean): void {
    let until = performance.now() + PATIENCE_MS
    let seen = Atomics.load(this.#reports, 0)
    for (this.#listen(); condition() && this.#ended === undefined && performance.now() < until; this.#listen()) {
      Atomics.wait(this.#reports, 0, seen, PATIENCE_MS / 10)
      const now = Atomics.load(this.#reports, 0)
      if (now !== seen) until = performance.now() + PATIENCE_MS
      seen = now
    }
  }

  #post(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#posting = false
    // A caller that never lets the event loop turn hears of failures here.
    this.#listen()
    if (this.#ended !== undefined || (this.#rows.isEmpty && this.#requests.length === 0)) return
    const batch: Batch = { rows: this.#rows.drain(), requests: this.#requests }
    this.#requests = []
    try {
      this.#port.postMessage(batch)
    } catch {
      this.#postApart(batch)
    }
    this.#reference()
  }

  /** Something in a request cannot be sent to a thread: neither the rows nor the other requests suffer for it. */
  #postApart({ rows, requests }: Batch): void {
    this.#port.postMessage({ rows, requests: [] } satisfies Batch)
    for (const numbered of requests) {
      try {
        this.#port.postMessage({ rows: [], requests: [numbered] } satisfies Batch)
      } catch (error) {
        this.#settle({
          id: numbered.id,
          kind: 'failed',
          reason: error instanceof Error ? error.message : String(error),
        })
      }
    }
  }

  #listen(): void {
    for (let next = receiveMessageOnPort(this.#port); next !== undefined; next = receiveMessageOnPort(this.#port)) {
      this.#hear(next.message as Report)
    }
  }

  #hear(report: Report): void {
    if (report.kind === 'progress') {
      if (this.#rows.written(report.rowsDone, report.charsDone)) this.#stalled = false
      this.#failure = report.failure
      for (const reply of report.replies) this.#settle(reply)
      if (report.failure === undefined) this.#tellLoss()
    } else if (report.kind === 'changed') {
      for (const watcher of [...this.#watchers]) watcher()
    } else if (report.kind === 'opened') {
      this.#opening?.({ kind: 'ok', link: this })
      this.#opening = undefined
    } else {
      this.#end(report.reason)
    }
    this.#reference()
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if (reply.kind === 'done') waiting?.resolve(reply.value)
    else waiting?.reject(new Error(reply.reason))
  }

  #tellLoss(): void {
    if (this.#rows.lost === 0) return
    this.#rows.tellLoss(this.#now())
    this.#schedule()
  }

  /** The process stays up while something is on its way to the disk, and for nothing else. */
  #reference(): void {
    const unwritten = this.#rows.unwritten > 0 && this.#failure === undefined
    const wanted = this.#ended === undefined && (unwritten || this.#waiting.size > 0 || this.#opening !== undefined)
    if (wanted === this.#referenced) return
    this.#referenced = wanted
    if (wanted) {
      this.#worker.ref()
      this.#port.ref()
    } else {
      this.#worker.unref()
      this.#port.unref()
    }
  }

  #flushAtExit(): void {
    let closed = false
    const done = (): void => {
      closed = true
    }
    const id = ++this.#lastId
    this.#waiting.set(id, { kind: 'close', resolve: done, reject: done })
    this.#requests.push({ id, request: { kind: 'close' } })
    this.#post()
    this.#holdWhile(() => !closed)
  }

  #end(reason: string): void {
    this.#listen()
    if (this.#ended !== undefined) return
    this.#ended = reason
    process.off('exit', this.#atExit)
    clearTimeout(this.#timer)
    this.#opening?.({ kind: 'failed', reason })
    this.#opening = undefined
    for (const { kind, resolve, reject } of this.#waiting.values()) {
      if (kind === 'intend') resolve({ kind: 'failed', reason })
      else reject(new Error(reason))
    }
    this.#waiting.clear()
    this.#port.close()
    this.#reference()
  }
}
