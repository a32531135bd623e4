// One worker thread and the one job that it serves at a time. It hears what the thread says, asks it to stop when the job's
// signal aborts, and terminates it when asking does not help. A thread that was terminated or has died is never used again.

import { Worker } from 'node:worker_threads'
import type { Clock } from '../base/clock.ts'
import { errorMessage, errorText } from '../base/error-text.ts'
import { type FromWorker, type ToWorker, WORKER_CODE } from './worker-code.ts'
import type { WorkerEnd, WorkerJob } from './worker-job.ts'

/** Milliseconds between asking a job to stop and terminating its thread. */
const GRACE_MS = 100
const MIB = 1_048_576
/** Below this a thread cannot even load its script. */
const HEAP_MIB_MIN = 8

export type WorkerThreadOptions = {
  readonly address: string
  readonly name: string
  readonly memoryBytes: number | undefined
  readonly clock: Clock
}

type Open = { readonly job: WorkerJob; readonly resolve: (end: WorkerEnd) => void; started: boolean; stopping: boolean }

export class WorkerThread {
  readonly #worker: Worker
  readonly #clock: Clock
  readonly #gone: Promise<void>
  #ready = false
  #dead: WorkerEnd | undefined
  #open: Open | undefined

  static start(options: WorkerThreadOptions): WorkerThread | WorkerEnd {
    try {
      return new WorkerThread(options)
    } catch (error) {
      return { kind: 'unstarted', reason: errorText(error) }
    }
  }

  private constructor({ address, name, memoryBytes, clock }: WorkerThreadOptions) {
    this.#clock = clock
    this.#worker = new Worker(WORKER_CODE, {
      eval: true,
      workerData: { module: address, name },
      env: {},
      execArgv: [],
      argv: [],
      stdin: true,
      // What a module prints must not stand in the gate's own output: there a protocol may be spoken.
      stdout: true,
      stderr: true,
      ...(memoryBytes !== undefined && {
        resourceLimits: { maxOldGenerationSizeMb: Math.max(HEAP_MIB_MIN, Math.floor(memoryBytes / MIB)) },
      }),
    })
    this.#worker.stdout.resume()
    this.#worker.stderr.resume()
    this.#worker.on('message', (message: FromWorker) => this.#hear(message))
    this.#worker.on('messageerror', () => this.#finish({ kind: 'threw', reason: 'its answer cannot be read' }))
    this.#worker.on('error', (error: Error) => this.#die(deathOf(error)))
    this.#gone = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#die({ kind: 'crashed', reason: `its thread ended with status ${code}` })
        resolve()
      })
    })
    this.#worker.unref()
  }

  get usable(): boolean {
    return this.#dead === undefined && this.#open === undefined
  }

  run(job: WorkerJob): Promise<WorkerEnd> {
    return new Promise((resolve) => {
      if (this.#dead !== undefined) return resolve(this.#dead)
      const stop = (): void => this.#stop()
      const cleared = (end: WorkerEnd): void => {
        job.signal.removeEventListener('abort', stop)
        resolve(end)
      }
      this.#open = { job, resolve: cleared, started: false, stopping: false }
      // Somebody waits for this job: the process stays for it.
      this.#worker.ref()
      job.signal.addEventListener('abort', stop, { once: true })
      if (job.signal.aborted) this.#stop()
      else this.#begin()
    })
  }

  /** Resolves when the thread is gone. */
  async end(): Promise<void> {
    this.#dead ??= { kind: 'crashed', reason: 'the worker host was closed' }
    await this.#worker.terminate().catch(() => {})
    await this.#gone
  }

  #begin(): void {
    const open = this.#open
    if (!this.#ready || open === undefined || open.started || open.stopping) return
    const { args, facts, leftMs } = open.job
    try {
      this.#worker.postMessage({ kind: 'run', args, facts, leftMs } satisfies ToWorker)
      open.started = true
    } catch (error) {
      this.#finish({ kind: 'unstarted', reason: `its arguments cannot be handed to a worker: ${errorText(error)}` })
    }
  }

  #hear(message: FromWorker): void {
    switch (message.kind) {
      case 'ready':
        this.#ready = true
        this.#begin()
        break
      case 'unloadable':
        this.#die({ kind: 'unstarted', reason: message.reason })
        break
      case 'progress':
        this.#open?.job.onProgress?.(message.progress)
        break
      case 'log':
        this.#open?.job.onLog?.(message.message, message.details)
        break
      default:
        this.#finish(message)
    }
  }

  #stop(): void {
    const open = this.#open
    if (open === undefined || open.stopping) return
    open.stopping = true
    if (!open.started) {
      this.#finish({ kind: 'stopped', started: false, terminated: false })
      return
    }
    this.#worker.postMessage({ kind: 'abort', reason: errorMessage(open.job.signal.reason) } satisfies ToWorker)
    const cancel = this.#clock.after(GRACE_MS, () => {
      if (this.#open !== open) return
      this.#dead = { kind: 'stopped', started: true, terminated: true }
      void this.#worker.terminate()
    })
    void this.#gone.then(cancel)
  }

  #finish(end: WorkerEnd): void {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    this.#worker.unref()
    // It threw because it was asked to: that is what stopping looks like from the outside.
    const stopped = open.stopping && end.kind === 'threw'
    // What a stopped job left behind may still be at work in there.
    if (open.started && open.stopping) this.#dead ??= { kind: 'crashed', reason: 'a job in it was stopped' }
    open.resolve(stopped ? { kind: 'stopped', started: true, terminated: false } : end)
  }

  #die(end: WorkerEnd): void {
    this.#dead ??= end
    this.#finish(this.#dead)
  }
}

function deathOf(error: Error): WorkerEnd {
  const reason = errorText(error)
  if ('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return { kind: 'crashed', reason, limit: 'memoryBytes' }
  return { kind: 'crashed', reason }
}
