// One command while it runs: hears what it prints, watches its bounds, ends it when something asks for that, and puts together
// how it ended. Every way out gives back what the command was given.

import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../base/clock.ts'
import { errorMessage } from '../base/error-text.ts'
import type { ProcessLimit } from './abilities.ts'
import { CapturedStream } from './captured-stream.ts'
import { LaunchedTree } from './launched-tree.ts'
import { OutputTail } from './output-tail.ts'
import type { Launch } from './prepare-launch.ts'
import type { ProcessEnd, ProcessPlan } from './process-plan.ts'

type Stopped = NonNullable<Extract<ProcessEnd, { kind: 'ended' }>['stopped']>

/** Milliseconds in which pipes may still bring what the command said before it ended. */
const DRAIN_MS = 100
/** Milliseconds between SIGTERM and SIGKILL, and then until nobody waits any longer. */
const GRACE_MS = 500
const KILLED_MS = 1_000
/** Milliseconds between looks at the processor time of the whole tree. */
const CPU_WATCH_MS = 100
/** Where a plan names no bound: this many times what is kept, at least 16 MiB. */
const FLOOD_FACTOR = 16
const FLOOD_BYTES_MIN = 16_777_216

/** What a command dies of at a bound that the kernel keeps, by signal and as an exit status of whoever waited for it. */
const DEADLY: readonly { readonly limit: ProcessLimit; readonly signal: string; readonly status: number }[] = [
  { limit: 'cpuMs', signal: 'SIGXCPU', status: 152 },
  { limit: 'fileBytes', signal: 'SIGXFSZ', status: 153 },
]

export class RunningProcess {
  /** Never rejects. */
  readonly end: Promise<ProcessEnd>
  readonly #plan: ProcessPlan
  readonly #launch: Launch
  readonly #clock: Clock
  readonly #startedMs: number
  readonly #floodBytes: number
  readonly #streams: { readonly stdout: CapturedStream; readonly stderr: CapturedStream }
  readonly #tail: OutputTail | undefined
  readonly #cancels = new Set<() => void>()
  readonly #abort = (): void => this.#stop('aborted')
  #tree: LaunchedTree | undefined
  #finish: (end: ProcessEnd) => void = () => {}
  #stopped: Stopped | undefined
  #overCpu = false
  #exited = false
  #closed = false
  #leftovers = false
  #heardMs: number

  constructor(plan: ProcessPlan, launch: Launch, clock: Clock) {
    this.#plan = plan
    this.#launch = launch
    this.#clock = clock
    this.#startedMs = this.#heardMs = clock.monotonic()
    const { outputBytes, floodBytes } = plan.limits
    this.#floodBytes = floodBytes ?? Math.max(FLOOD_BYTES_MIN, FLOOD_FACTOR * outputBytes)
    this.#streams = { stdout: new CapturedStream(outputBytes), stderr: new CapturedStream(outputBytes) }
    this.#tail = plan.onOutput === undefined ? undefined : new OutputTail(clock, plan.onOutput)
    this.end = new Promise((resolve) => {
      this.#finish = resolve
      this.#start()
    })
  }

  #start(): void {
    const { cwd, stdin, signal, idleMs } = this.#plan
    let tree: LaunchedTree
    try {
      tree = new LaunchedTree(this.#launch, cwd, stdin === undefined ? 'ignore' : 'pipe')
    } catch (error) {
      this.#finish({ kind: 'unstarted', why: 'refused', reason: errorMessage(error) })
      return
    }
    this.#tree = tree
    const { child } = tree
    child.once('error', (error) => {
      if (child.pid === undefined) this.#neverStarted(tree, error)
    })
    child.once('close', () => {
      this.#closed = true
    })
    child.once('exit', (code, endSignal) => void this.#over(tree, code, endSignal))
    this.#listen('stdout', child.stdout)
    this.#listen('stderr', child.stderr)
    if (stdin !== undefined) (child.stdin as Writable | null)?.end(stdin)
    signal.addEventListener('abort', this.#abort, { once: true })
    if (idleMs !== undefined) this.#watchIdle(idleMs, idleMs)
    if (this.#plan.limits.cpuMs !== undefined && this.#launch.group !== undefined)
      this.#watchCpu(this.#plan.limits.cpuMs)
  }

  #listen(name: 'stdout' | 'stderr', stream: Readable | null): void {
    stream?.on('data', (chunk: Buffer) => {
      this.#heardMs = this.#clock.monotonic()
      this.#streams[name].push(chunk)
      this.#tail?.push(name, chunk)
      this.#plan.onBytes?.(name, chunk)
      if (this.#streams.stdout.totalBytes + this.#streams.stderr.totalBytes > this.#floodBytes) this.#stop('flood')
    })
  }

  #after(delayMs: number, action: () => void): void {
    const cancel = this.#clock.after(delayMs, () => {
      this.#cancels.delete(cancel)
      action()
    })
    this.#cancels.add(cancel)
  }

  #watchIdle(idleMs: number, delayMs: number): void {
    this.#after(delayMs, () => {
      const quietMs = this.#clock.monotonic() - this.#heardMs
      if (quietMs >= idleMs) this.#stop('idle')
      else this.#watchIdle(idleMs, idleMs - quietMs)
    })
  }

  #watchCpu(cpuMs: number): void {
    this.#after(CPU_WATCH_MS, () => {
      if ((this.#launch.group?.cpuMs() ?? 0) < cpuMs) return this.#watchCpu(cpuMs)
      this.#overCpu = true
      this.#stop('limit')
    })
  }

  /** Only the first reason counts, and only while the command runs. */
  #stop(reason: Stopped): void {
    if (this.#stopped !== undefined || this.#exited) return
    this.#stopped = reason
    const gentle = reason === 'aborted' || reason === 'idle'
    if (gentle) this.#tree?.ask('SIGTERM')
    else this.#tree?.kill()
    this.#insist(gentle ? GRACE_MS : KILLED_MS, 2)
  }

  #insist(delayMs: number, tries: number): void {
    this.#after(delayMs, () => {
      if (this.#exited || this.#tree === undefined) return
      // It cannot be ended, as long as the kernel holds it in the middle of something. Nobody waits for that.
      if (tries === 0) return void this.#over(this.#tree, null, 'SIGKILL')
      this.#tree.kill()
      this.#insist(KILLED_MS, tries - 1)
    })
  }

  async #over(tree: LaunchedTree, code: number | null, endSignal: string | null): Promise<void> {
    if (this.#exited) return
    this.#exited = true
    this.#plan.signal.removeEventListener('abort', this.#abort)
    for (const cancel of this.#cancels) cancel()
    if (!(await this.#closedWithin(DRAIN_MS))) {
      this.#leftovers = true
      tree.kill()
      await this.#closedWithin(DRAIN_MS)
    }
    const limitsHit = this.#limitsHit(code, endSignal)
    await tree.letGo(this.#clock)
    this.#tail?.end()
    this.#finish(this.#ended(tree, code, endSignal, limitsHit))
  }

  /** Resolves early where the pipes are closed. What has already arrived when the time is over is still read. */
  async #closedWithin(waitMs: number): Promise<boolean> {
    if (this.#closed) return true
    await new Promise<void>((resolve) => {
      const done = (): void => {
        cancel()
        resolve()
      }
      const cancel = this.#clock.after(waitMs, resolve)
      this.#tree?.child.once('close', done)
    })
    for (let turn = 0; turn < 3 && !this.#closed; turn++) await new Promise((resolve) => setImmediate(resolve))
    return this.#closed
  }

  #limitsHit(code: number | null, endSignal: string | null): readonly (ProcessLimit | 'outputBytes')[] {
    const { limits } = this.#plan
    const hits = new Set<ProcessLimit | 'outputBytes'>(this.#launch.group?.hits())
    if (this.#overCpu) hits.add('cpuMs')
    if (this.#stopped === 'flood') hits.add('outputBytes')
    for (const { limit, signal, status } of DEADLY) {
      if (limits[limit] !== undefined && (endSignal === signal || code === status)) hits.add(limit)
    }
    return [...hits]
  }

  #ended(
    tree: LaunchedTree,
    exitCode: number | null,
    endSignal: string | null,
    limitsHit: readonly (ProcessLimit | 'outputBytes')[],
  ): ProcessEnd {
    const stdout = this.#streams.stdout.take()
    const stderr = this.#streams.stderr.take()
    if (tree.reached === false && this.#stopped === undefined && limitsHit.length === 0) {
      return { kind: 'unstarted', why: 'refused', reason: firstLine(stderr.head) }
    }
    return {
      kind: 'ended',
      exitCode,
      endSignal,
      ...(this.#stopped !== undefined && { stopped: this.#stopped }),
      limitsHit,
      unenforced: this.#launch.unenforced,
      stdout,
      stderr,
      elapsedMs: this.#clock.monotonic() - this.#startedMs,
      leftovers: this.#leftovers,
    }
  }

  #neverStarted(tree: LaunchedTree, error: Error): void {
    this.#exited = true
    this.#plan.signal.removeEventListener('abort', this.#abort)
    for (const cancel of this.#cancels) cancel()
    this.#tail?.end()
    void tree.letGo(this.#clock)
    const why = 'code' in error && (error.code === 'ENOENT' || error.code === 'EACCES') ? 'missing' : 'refused'
    this.#finish({ kind: 'unstarted', why, reason: errorMessage(error) })
  }
}

function firstLine(text: Buffer): string {
  const [line = ''] = text.toString('utf8').split('\n')
  return line === '' ? 'the machine did not let it start' : line
}
