// Runs one export of one module in worker threads: its own heap with a bound, an empty environment, and an end that needs
// nobody's consent. A worker serves one call at a time; whoever does not stop when asked is terminated and replaced. It is
// no sandbox: such a module can do what the gate's own user can, except hold up the gate's event loop or fill its heap.

import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Clock } from '../base/clock.ts'
import type { WorkerEnd, WorkerJob } from './worker-job.ts'
import { WorkerThread } from './worker-thread.ts'

/** Threads of one host; further jobs wait for one of them. */
const WORKERS_MAX = 8
/** Milliseconds after which a thread that nobody uses is ended. */
const IDLE_MS = 30_000

export type WorkerHostOptions = {
  /** An absolute path, or a `file:` address. */
  readonly module: string
  /** A function `(args, context)`; `context` holds the facts of the job, `signal`, `leftMs()`, `progress()` and `log()`. */
  readonly export: string
  /** Bytes of the heap of each thread, at least 8 MiB. Buffers outside of the heap do not count. */
  readonly memoryBytes?: number
  readonly clock: Clock
  readonly workersMax?: number
}

export interface WorkerHost {
  /** Never rejects. */
  run(job: WorkerJob): Promise<WorkerEnd>
  /** Ends all threads; jobs that still run end as `crashed`. */
  close(): Promise<void>
}

export function startWorkerHost(options: WorkerHostOptions): WorkerHost {
  return new Host(options)
}

class Host implements WorkerHost {
  readonly #options: WorkerHostOptions
  readonly #address: string
  readonly #workersMax: number
  readonly #threads = new Set<WorkerThread>()
  readonly #idle: WorkerThread[] = []
  readonly #queue: (() => void)[] = []
  #cancelIdle: (() => void) | undefined
  #running = 0
  #closed = false

  constructor(options: WorkerHostOptions) {
    this.#options = options
    this.#address = isAbsolute(options.module) ? pathToFileURL(options.module).href : options.module
    this.#workersMax = options.workersMax ?? WORKERS_MAX
  }

  async run(job: WorkerJob): Promise<WorkerEnd> {
    if (!(await this.#room(job.signal))) return { kind: 'stopped', started: false, terminated: false }
    if (this.#closed) return { kind: 'unstarted', reason: 'the worker host is closed' }
    const taken = this.#idle.pop() ?? this.#start()
    if (!(taken instanceof WorkerThread)) return this.#left(taken)
    const end = await taken.run(job)
    this.#giveBack(taken)
    return this.#left(end)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cancelIdle?.()
    for (const wake of this.#queue.splice(0)) wake()
    await Promise.all([...this.#threads].map((thread) => thread.end()))
  }

  #start(): WorkerThread | WorkerEnd {
    const { memoryBytes, export: name, clock } = this.#options
    const started = WorkerThread.start({ address: this.#address, name, memoryBytes, clock })
    if (started instanceof WorkerThread) this.#threads.add(started)
    return started
  }

  #giveBack(thread: WorkerThread): void {
    if (thread.usable && !this.#closed) {
      this.#idle.push(thread)
      this.#cancelIdle?.()
      this.#cancelIdle = this.#options.clock.after(IDLE_MS, () => this.#endIdle(), 'background')
      return
    }
    this.#threads.delete(thread)
    void thread.end()
  }

  #endIdle(): void {
    for (const thread of this.#idle.splice(0)) {
      this.#threads.delete(thread)
      void thread.end()
    }
  }

  /** False where the job was stopped before there was room for it. */
  #room(signal: AbortSignal): boolean | Promise<boolean> {
    if (signal.aborted) return false
    if (this.#running < this.#workersMax) {
      this.#running += 1
      return true
    }
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', leave)
        this.#running += 1
        resolve(true)
      }
      const leave = (): void => {
        this.#queue.splice(this.#queue.indexOf(wake), 1)
        resolve(false)
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#queue.push(wake)
    })
  }

  #left(end: WorkerEnd): WorkerEnd {
    this.#running -= 1
    this.#queue.shift()?.()
    return end
  }
}
