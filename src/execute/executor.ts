// Makes an allowed call happen, inside its guards. Only `call-tool.ts` holds an executor.

import type { Clock } from '../base/clock.ts'
import type { Call, CheckedInput, Ending } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Entry } from '../describe/entry.ts'
import type { Redactor } from '../describe/redactor.ts'
import { refused } from '../describe/refused.ts'
import type { MachineAbilities } from '../machine/abilities.ts'
import { type BreakerStates, breakerGuard } from './breaker-guard.ts'
import { deadlineGuard, type Running } from './deadline-guard.ts'
import type { Guard, Job, ReportCrash, ReportLate, StillMay } from './guard.ts'
import { GuardList, type PlacedGuard } from './guard-list.ts'
import type { GuardOptions } from './guard-options.ts'
import { slotRank } from './guard-slots.ts'
import { hostGuards } from './host-guards.ts'
import { LastingWork, type Work } from './lasting-work.ts'
import { LoopWatch } from './loop-watch.ts'
import { placeGuard } from './place-guard.ts'
import { retryGuard } from './retry-guard.ts'
import { RunScope, type ScopeParts } from './run-scope.ts'
import { runTool } from './run-tool.ts'
import { settleGuard } from './settle-guard.ts'
import { type StillMayParts, stillMay } from './still-may.ts'
import { attemptGuard } from './time-bound.ts'
import { WorkerRuns } from './worker-runs.ts'

export type ExecutorParts = Omit<ScopeParts, 'lasts'> &
  StillMayParts & {
    readonly clock: Clock
    /** Milliseconds from the opening of a call; a tool's own deadline can only be shorter. */
    readonly deadlineMs: number
    readonly reportLate: ReportLate
    readonly reportCrash: ReportCrash
    readonly redactor: Redactor
    /** Folders of the workspace, for what messages may name. */
    readonly roots?: readonly string[]
    readonly machine: () => Promise<MachineAbilities>
    /** Guards of other parts of the gate, each at the place that its name has in the list. */
    readonly twin?: Guard
    readonly lane?: Guard
    readonly cache?: Guard
    /** Told of work that goes on after its call; the answer is called once that is over, and may be called again. */
    readonly goesOn?: (work: Work) => () => void
    /** The host's own, checked. */
    readonly guards?: readonly GuardOptions[]
    /** From 0 up to 1; for the waiting times between tries. */
    readonly random?: () => number
  }

export class Executor {
  readonly guards: GuardList
  readonly #parts: ExecutorParts & ScopeParts
  readonly #lasting: LastingWork
  readonly #running: Running = new Set()
  readonly #workers: WorkerRuns
  readonly #stillMay: StillMay
  readonly #breakers: BreakerStates = new Map()
  #stopped = false

  constructor(parts: ExecutorParts) {
    const { clock } = parts
    this.#lasting = new LastingWork(parts.denies)
    this.#stillMay = stillMay(parts)
    this.#parts = { ...parts, lasts: (work, end) => this.#last(work, end) }
    this.#workers = new WorkerRuns(clock)
    const run = { clock, watch: new LoopWatch(clock), workers: this.#workers }
    this.guards = new GuardList(placedGuards(parts, this.#running, this.#breakers), (job) => runTool(job, run))
  }

  /** Runs an allowed call. After `stop`, nothing starts any more. */
  run(call: Call, entry: Entry, input: CheckedInput): Promise<Ending> {
    if (this.#stopped) return Promise.resolve(refused('cancelled', 'the gate is closing; nothing was done'))
    const deadlineAtMs = this.#deadlineOf(call, entry)
    const scope = new RunScope(this.#parts, call, entry, input, deadlineAtMs)
    const job: Job = { call, entry, input, scope, deadlineAtMs }
    // Between the decision and here its arguments were checked, a record was written, and an equal call under its key may have
    // been waited for.
    const refusal = this.#stillMay(job)
    return refusal === undefined ? this.guards.chainOf(entry)(job) : Promise.resolve(refusal)
  }

  #last(work: Work, end: (reason: Error) => void): () => void {
    const over = this.#parts.goesOn?.(work)
    const release = this.#lasting.add(work, end)
    return () => {
      release()
      over?.()
    }
  }

  /** INVARIANT child-within-parent: a call that a tool makes is over when the call of that tool is. */
  #deadlineOf({ openedMonotonicMs, request }: Call, { tool }: Entry): number {
    const { deadlineMs } = this.#parts
    const ownMs = openedMonotonicMs + Math.min(deadlineMs, tool.deadlineMs ?? deadlineMs)
    if (request.parent === undefined) return ownMs
    const parent = [...this.#running].find(({ job }) => job.call === request.parent)
    return Math.min(ownMs, parent?.job.deadlineAtMs ?? openedMonotonicMs)
  }

  /** Asks again about every running call and about what calls have left running, and ends what is denied now. */
  review(): void {
    this.#lasting.review()
    for (const { job, deny } of [...this.#running]) {
      const denial = this.#parts.denies(job.call, job.entry, job.input)
      if (denial !== undefined) deny(denial)
    }
  }

  /** By source that has been called: whether it is left alone now. */
  breakersOpen(): ReadonlyMap<string, boolean> {
    return new Map([...this.#breakers].map(([source, { openedAtMs }]) => [source, openedAtMs !== undefined]))
  }

  /** Ends what calls of a conversation have left running in the background. */
  sessionEnded(caller: Caller): void {
    this.#lasting.sessionEnded(caller)
  }

  /** Cancels every running call, each with an outcome of its own, and starts none after that. */
  stop(): void {
    this.#stopped = true
    this.#lasting.stop()
    for (const { cancel } of [...this.#running]) cancel()
  }

  /** Ends what still runs in workers. */
  close(): Promise<void> {
    return this.#workers.close()
  }
}

/** The whole list, outermost first. Of two at one place the later one holds: the host's own stand behind the tools' own. */
function placedGuards(parts: ExecutorParts, running: Running, breakers: BreakerStates): readonly PlacedGuard[] {
  const { clock, reportLate, reportCrash, redactor, machine, twin, lane, cache, random = Math.random } = parts
  const reportHidden = ({ call }: Job, message: string): void =>
    parts.log(call, 'failed, and said more than its caller is told', { message })
  const inner = { clock, random, reportCrash, stillMay: stillMay(parts) }
  const given = (slot: 'twin' | 'lane' | 'cache', guard: Guard | undefined): readonly PlacedGuard[] =>
    guard === undefined ? [] : [{ slot, guard }]
  const placed: readonly PlacedGuard[] = [
    { slot: 'deadline', guard: deadlineGuard(clock, running, reportLate) },
    ...given('twin', twin),
    ...given('lane', lane),
    ...given('cache', cache),
    { slot: 'breaker', guard: breakerGuard(clock, {}, ({ tool }) => tool.place === 'upstream', breakers) },
    { slot: 'retry', guard: retryGuard(inner) },
    { slot: 'attempt', guard: attemptGuard(clock) },
    { slot: 'place', guard: placeGuard(machine) },
    {
      slot: 'settle',
      guard: settleGuard({ clock, reportCrash, reportLate, redactor, roots: parts.roots ?? [], reportHidden }),
    },
    ...hostGuards(parts.guards ?? [], inner),
  ]
  return [...placed].sort((one, other) => slotRank(one.slot) - slotRank(other.slot))
}
