// Commands that go on after their call. Each belongs to one conversation of one caller: nobody else finds it, by its id or
// otherwise. Their number, their time, their output and the time that nobody asks about them are bounded; they end when the
// call would not be allowed any more, and with the gate.

import { randomUUID } from 'node:crypto'
import { StringDecoder } from 'node:string_decoder'
import type { Clock } from '../../../base/clock.ts'
import type { Caller } from '../../../describe/caller.ts'
import type { Place } from '../../../describe/place.ts'
import { NO_REDACTION, type Redactor } from '../../../describe/redactor.ts'
import type { ProcessEnd } from '../../../machine/process-plan.ts'
import { JobRing } from './job-ring.ts'

export type JobBounds = {
  readonly perSession: number
  readonly perGate: number
  readonly deadlineMs: number
  readonly idleMs: number
  readonly outputBytes: number
}

/** Why a job was ended before it was over. */
export type JobStop = 'stopped' | 'deadline' | 'idle' | 'not allowed any more' | 'its session ended' | 'the gate closed'

/** `problem`: what it did that it may not have, in words. */
export type JobEnd = ProcessEnd & { readonly problem?: string }

/** What a job runs. It ends when the signal says so, and never rejects. */
export type JobRun = (parts: {
  readonly signal: AbortSignal
  readonly onBytes: (stream: string, bytes: Buffer) => void
}) => Promise<JobEnd>

export type JobFacts = { readonly program: string; readonly args: readonly string[]; readonly place: Place }

/** Ended jobs whose output can still be read; the oldest go first. */
const ENDED_MAX = 64

type JobParts = { readonly outputBytes: number; readonly nowMs: number; readonly redactor: Redactor }

/** One output of a job on its way to the ring, which holds nothing that was not looked at. */
class CleanedOutput {
  readonly #decoder = new StringDecoder('utf8')
  readonly #stream: ReturnType<Redactor['stream']>
  readonly #ring: JobRing

  constructor(redactor: Redactor, ring: JobRing) {
    this.#stream = redactor.stream()
    this.#ring = ring
  }

  push(bytes: Buffer): void {
    this.#keep(this.#stream.push(this.#decoder.write(bytes)))
  }

  end(): void {
    this.#keep(this.#stream.push(this.#decoder.end()) + this.#stream.end())
  }

  #keep(text: string): void {
    if (text !== '') this.#ring.push(Buffer.from(text))
  }
}

export class Job {
  readonly id = `job_${randomUUID()}`
  readonly facts: JobFacts
  readonly ring: JobRing
  readonly done: Promise<JobEnd>
  end: JobEnd | undefined
  why: JobStop | undefined
  askedAtMs: number
  readonly #controller = new AbortController()

  constructor(facts: JobFacts, run: JobRun, { outputBytes, nowMs, redactor }: JobParts) {
    this.facts = facts
    this.ring = new JobRing(outputBytes)
    this.askedAtMs = nowMs
    const cleaned = new Map<string, CleanedOutput>()
    const onBytes = (stream: string, bytes: Buffer): void => {
      const output = cleaned.get(stream) ?? new CleanedOutput(redactor, this.ring)
      cleaned.set(stream, output)
      output.push(bytes)
    }
    this.done = run({ signal: this.#controller.signal, onBytes }).then((end) => {
      for (const output of cleaned.values()) output.end()
      this.end = end
      return end
    })
  }

  /** Only the first reason counts. */
  stop(why: JobStop): void {
    if (this.end !== undefined || this.why !== undefined) return
    this.why = why
    this.#controller.abort()
  }
}

/** A place that is kept for a job until it is started or given up. */
export type JobSlot = { start(facts: JobFacts, run: JobRun, timeoutMs: number): Job; release(): void }

type Owned = { readonly owner: string; readonly job: Job }

export class Jobs {
  readonly #clock: Clock
  readonly #bounds: JobBounds
  readonly #redactor: Redactor
  readonly #jobs = new Map<string, Owned>()
  /** Owners of places that are taken, one for each. */
  readonly #taken: string[] = []
  #closed = false

  constructor(clock: Clock, bounds: JobBounds, redactor: Redactor = NO_REDACTION) {
    this.#clock = clock
    this.#bounds = bounds
    this.#redactor = redactor
  }

  /** A place for one more job, or why there is none. */
  reserve(caller: Caller): JobSlot | { readonly full: string } {
    const owner = ownerOf(caller)
    const own = this.#taken.filter((one) => one === owner).length
    if (this.#closed) return { full: 'the gate is closing' }
    if (own >= this.#bounds.perSession)
      return { full: `${own} jobs of this conversation run already, which is all that it may have; stop one first` }
    if (this.#taken.length >= this.#bounds.perGate) return { full: 'as many jobs run already as this gate allows' }
    this.#taken.push(owner)
    let held = true
    const release = (): void => {
      if (held) this.#taken.splice(this.#taken.indexOf(owner), 1)
      held = false
    }
    return { release, start: (facts, run, timeoutMs) => this.#start(owner, facts, run, timeoutMs, release) }
  }

  /** A job of this caller; asking about it keeps it from ending for want of interest. */
  find(caller: Caller, id: string): Job | undefined {
    const owned = this.#jobs.get(id)
    if (owned === undefined || owned.owner !== ownerOf(caller)) return undefined
    owned.job.askedAtMs = this.#clock.monotonic()
    return owned.job
  }

  /** Ends all of them; resolves when they are over. */
  async close(): Promise<void> {
    this.#closed = true
    const jobs = [...this.#jobs.values()].map(({ job }) => job)
    for (const job of jobs) job.stop('the gate closed')
    await Promise.all(jobs.map(({ done }) => done))
    this.#jobs.clear()
  }

  #start(owner: string, facts: JobFacts, run: JobRun, timeoutMs: number, release: () => void): Job {
    const job = new Job(facts, run, {
      ...{ outputBytes: this.#bounds.outputBytes, nowMs: this.#clock.monotonic(), redactor: this.#redactor },
    })
    this.#jobs.set(job.id, { owner, job })
    const limitMs = Math.min(timeoutMs, this.#bounds.deadlineMs)
    const cancels = [this.#clock.after(limitMs, () => job.stop('deadline'), 'background'), this.#watchIdle(job)]
    void job.done.then(() => {
      for (const cancel of cancels) cancel()
      release()
      this.#forget()
    })
    // The gate may have begun to close while the command was made ready.
    if (this.#closed) job.stop('the gate closed')
    return job
  }

  #watchIdle(job: Job): () => void {
    const { idleMs } = this.#bounds
    let cancel = (): void => {}
    const look = (waitMs: number): void => {
      cancel = this.#clock.after(
        waitMs,
        () => {
          const quietMs = this.#clock.monotonic() - job.askedAtMs
          if (quietMs >= idleMs) job.stop('idle')
          else look(idleMs - quietMs)
        },
        'background',
      )
    }
    look(idleMs)
    return () => cancel()
  }

  #forget(): void {
    const ended = [...this.#jobs].filter(([, { job }]) => job.end !== undefined)
    for (const [id] of ended.slice(0, Math.max(0, ended.length - ENDED_MAX))) this.#jobs.delete(id)
  }
}

const ownerOf = ({ tenant, user, agent, session }: Caller): string => JSON.stringify([tenant, user, agent, session])
