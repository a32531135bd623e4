// What a tool holds while it runs, and what guards hold of it: who told it to stop, whether it still runs, and whether it
// may have acted. Each try has a scope of its own below that of its call; what is told to a scope is told to all below it.
// The abort signal is made when somebody asks for it: most tools never do.

import type { Clock } from '../base/clock.ts'
import { errorText } from '../base/error-text.ts'
import type { Call, CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Entry } from '../describe/entry.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { ChosenPlace, NestedCall, Progress, RunContext } from '../describe/tool.ts'
import type { TraceContext } from '../describe/trace-context.ts'
import type { Work } from './lasting-work.ts'

export type ToolLog = (call: Call, message: string, details: Readonly<Record<string, unknown>> | undefined) => void

/** Makes a call inside a running one. `signal` aborts when the tool that makes it is told to stop, or is over. */
export type CallNested = (parent: Call, request: NestedCall, signal: AbortSignal) => Promise<Outcome>

export type ScopeParts = {
  readonly clock: Clock
  readonly mayTouch: (caller: Caller, entry: Entry, resource: string, input: CheckedInput) => boolean
  readonly callNested: CallNested
  /** Keeps work that goes on after its call; see `LastingWork`. */
  readonly lasts: (work: Work, end: (reason: Error) => void) => () => void
  /** Told of what a running tool says of how far it is. May throw. */
  readonly progress: (call: Call, progress: Progress) => void
  readonly log: ToolLog
}

export type AbortListener = (reason: Error) => void

const LIMITS_MAX = 16
const IN_PROCESS: ChosenPlace = Object.freeze({ place: 'process', why: 'the tool runs in the gate itself' })

export class RunScope implements RunContext {
  /** Counts the tries of the call from 1. */
  readonly attempt: number
  /** Monotonic milliseconds at which the call, or this try of it, is over. */
  readonly deadlineAtMs: number
  readonly #parts: ScopeParts
  readonly #call: Call
  readonly #entry: Entry
  readonly #input: CheckedInput
  readonly #above: RunScope | undefined
  #controller: AbortController | undefined
  #aborted: Error | undefined
  #listeners: Set<AbortListener> | undefined
  #unfollow: (() => void) | undefined
  #overAtMs: number | undefined
  /** Tool runs below this scope that have not really ended. */
  #running = 0
  /** Tool runs that have begun and have not said that they did nothing. */
  #acting = 0
  #stopped: (() => void)[] | undefined
  #nested = false
  #progressAtMs = 0

  constructor(
    parts: ScopeParts,
    call: Call,
    entry: Entry,
    input: CheckedInput,
    deadlineAtMs: number,
    attempt = 1,
    above?: RunScope,
  ) {
    this.#parts = parts
    this.#call = call
    this.#entry = entry
    this.#input = input
    this.deadlineAtMs = deadlineAtMs
    this.attempt = attempt
    this.#above = above
  }

  get callId(): string {
    return this.#call.id
  }

  get caller(): Caller {
    return this.#call.caller
  }

  get clock(): Clock {
    return this.#parts.clock
  }

  get idempotencyKey(): string {
    const { id, request } = this.#call
    return request.idempotencyKey ?? id
  }

  get place(): ChosenPlace {
    return this.#call.trail.place ?? IN_PROCESS
  }

  get trace(): TraceContext | undefined {
    return this.#call.trail.trace
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#aborted !== undefined && !this.#controller.signal.aborted) this.#controller.abort(this.#aborted)
    return this.#controller.signal
  }

  get approved(): boolean {
    const { approvalId, grantId } = this.#call.trail
    return approvalId !== undefined || grantId !== undefined
  }

  // Tools take these out of the context as they like, so each is a function of its own.
  get leftMs(): () => number {
    return () => Math.max(0, this.deadlineAtMs - this.#parts.clock.monotonic())
  }

  get progress(): (progress: Progress) => void {
    return (progress) => this.#say(progress)
  }

  get mayTouch(): (resource: string) => boolean {
    return (resource) => this.#asks(resource)
  }

  get noteLimit(): (limit: string, kind: 'hit' | 'unenforced') => void {
    return (limit, kind) => this.#note(limit, kind)
  }

  get goesOn(): (end: (reason: Error) => void) => () => void {
    return (end) => this.#parts.lasts({ call: this.#call, entry: this.#entry, input: this.#input }, end)
  }

  get call(): (request: NestedCall) => Promise<Outcome> {
    return (request) => this.#make(request)
  }

  get log(): (message: string, details?: Readonly<Record<string, unknown>>) => void {
    return (message, details) => this.#parts.log(this.#call, message, details)
  }

  /** A scope below this one, for one try or one part of the call. It has to be ended. */
  fork(deadlineAtMs = this.deadlineAtMs, attempt = this.attempt): RunScope {
    const endsAtMs = Math.min(deadlineAtMs, this.deadlineAtMs)
    const below = new RunScope(this.#parts, this.#call, this.#entry, this.#input, endsAtMs, attempt, this)
    below.#unfollow = this.onAbort((reason) => below.abort(reason))
    return below
  }

  /** Tells the tool to stop; it may not listen, so nobody waits for it. */
  abort(reason: Error): void {
    if (this.#aborted !== undefined) return
    this.#aborted = reason
    this.#controller?.abort(reason)
    const listeners = this.#listeners
    if (listeners === undefined) return
    this.#listeners = undefined
    for (const listener of listeners) listener(reason)
  }

  get aborted(): Error | undefined {
    return this.#aborted
  }

  /** Calls `listener` once when this scope is told to stop, at once where it was already; the answer takes it back. */
  onAbort(listener: AbortListener): () => void {
    if (this.#aborted !== undefined) {
      listener(this.#aborted)
      return () => {}
    }
    this.#listeners ??= new Set()
    this.#listeners.add(listener)
    return () => void this.#listeners?.delete(listener)
  }

  /** There is an outcome: what the tool still says goes nowhere, and the calls that it still makes are ended. */
  end(): void {
    this.#overAtMs ??= this.#parts.clock.monotonic()
    this.#unfollow?.()
    if (this.#nested) this.abort(new DOMException('the call that made it is over', 'AbortError'))
  }

  get over(): boolean {
    return this.#overAtMs !== undefined || (this.#above?.over ?? false)
  }

  /** Monotonic milliseconds since when nobody waits for this scope any more. */
  get overAtMs(): number | undefined {
    const aboveMs = this.#above?.overAtMs
    if (this.#overAtMs === undefined || aboveMs === undefined) return this.#overAtMs ?? aboveMs
    return Math.min(this.#overAtMs, aboveMs)
  }

  /** Whether the call has its outcome, and not only this try. */
  get callOver(): boolean {
    return this.#above === undefined ? this.#overAtMs !== undefined : this.#above.callOver
  }

  /** A run of the tool begins. */
  begin(): void {
    for (let scope: RunScope | undefined = this; scope !== undefined; scope = scope.#above) {
      scope.#running += 1
      scope.#acting += 1
    }
  }

  /** A run of the tool has really ended, whoever still waits for it. */
  stop(): void {
    for (let scope: RunScope | undefined = this; scope !== undefined; scope = scope.#above) {
      scope.#running -= 1
      if (scope.#running > 0 || scope.#stopped === undefined) continue
      for (const tell of scope.#stopped.splice(0)) tell()
    }
  }

  /** It is known of a run in this scope that it changed nothing. May be said twice of one. */
  actedNot(): void {
    for (let scope: RunScope | undefined = this; scope !== undefined && scope.#acting > 0; scope = scope.#above)
      scope.#acting -= 1
  }

  get running(): boolean {
    return this.#running > 0
  }

  /** Whether a run may have acted: one runs, or has ended without saying that it changed nothing. */
  get mayHaveActed(): boolean {
    return this.#acting > 0 && this.#input.effect !== 'read'
  }

  /** Resolves when no run of the tool is left; undefined where none is. */
  whenStopped(): Promise<void> | undefined {
    if (this.#running === 0) return undefined
    return new Promise((resolve) => {
      this.#stopped ??= []
      this.#stopped.push(resolve)
    })
  }

  /** Monotonic milliseconds of the newest progress; 0 before the first. */
  get progressAtMs(): number {
    return this.#progressAtMs
  }

  #say(progress: Progress): void {
    if (this.over || this.#aborted !== undefined) return
    const nowMs = this.#parts.clock.monotonic()
    for (let scope: RunScope | undefined = this; scope !== undefined; scope = scope.#above) scope.#progressAtMs = nowMs
    try {
      this.#parts.progress(this.#call, progress)
    } catch (error) {
      this.#parts.log(this.#call, 'the listener for progress failed', { error: errorText(error) })
    }
  }

  #asks(resource: string): boolean {
    if (this.over) return false
    try {
      return this.#parts.mayTouch(this.#call.caller, this.#entry, resource, this.#input)
    } catch {
      return false
    }
  }

  #note(limit: string, kind: 'hit' | 'unenforced'): void {
    if (this.over) return
    const { trail } = this.#call
    const key = kind === 'hit' ? 'limitsHit' : 'limitsUnenforced'
    const known = trail[key] ?? []
    const text = String(limit).slice(0, 64)
    if (known.includes(text) || known.length >= LIMITS_MAX) return
    trail[key] = [...known, text]
  }

  #make(request: NestedCall): Promise<Outcome> {
    this.#nested = true
    // Whoever is over makes no calls any more: this one ends as cancelled, and is recorded.
    return this.#parts.callNested(this.#call, request, this.over ? AbortSignal.abort() : this.signal)
  }
}
