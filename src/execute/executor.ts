// Makes an allowed call happen, inside its guards. Only `call-tool.ts` holds an executor.

import type { Clock } from '../base/clock.ts'
import type { Call, CheckedInput, Ending } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import { refused } from '../describe/refused.ts'
import { deadlineGuard, type ReportLate, type Running } from './deadline-guard.ts'
import { compose, type Guard, type Next } from './guard.ts'
import { LoopWatch } from './loop-watch.ts'
import { RunScope, type ToolLog } from './run-scope.ts'
import { runTool } from './run-tool.ts'
import { type ReportCrash, settleGuard } from './settle-guard.ts'

export type ExecutorParts = {
  readonly clock: Clock
  /** Milliseconds from the opening of a call; a tool's own deadline can only be shorter. */
  readonly deadlineMs: number
  /** The denial of a call that was allowed and is not any more. */
  readonly denies: (call: Call, entry: Entry, input: CheckedInput) => Decision | undefined
  readonly mayTouch: (caller: Caller, entry: Entry, resource: string, input: CheckedInput) => boolean
  readonly reportLate: ReportLate
  readonly reportCrash: ReportCrash
  readonly log: ToolLog
}

export class Executor {
  readonly guards: readonly Guard[]
  readonly #parts: ExecutorParts
  readonly #walk: Next
  readonly #running: Running = new Set()
  #stopped = false

  constructor(parts: ExecutorParts) {
    this.#parts = parts
    this.guards = checkOrder([
      deadlineGuard(parts.clock, this.#running, parts.reportLate),
      settleGuard(parts.reportCrash),
    ])
    const watch = new LoopWatch(parts.clock)
    this.#walk = compose(this.guards, (job) => runTool(job, parts.clock, watch))
  }

  /** Runs an allowed call. After `stop`, nothing starts any more. */
  run(call: Call, entry: Entry, input: CheckedInput): Promise<Ending> {
    if (this.#stopped) return Promise.resolve(refused('cancelled', 'the gate is closing; nothing was done'))
    // Between the decision and here a record was written, and the rules may have changed meanwhile.
    const denial = this.#parts.denies(call, entry, input)
    if (denial !== undefined) {
      call.trail.decision = denial
      return Promise.resolve(refused('permission_denied', denial.reason))
    }
    const { clock, mayTouch, log, deadlineMs } = this.#parts
    const scope = new RunScope(call, clock, (resource) => mayTouch(call.caller, entry, resource, input), log)
    const deadlineAtMs = call.openedMonotonicMs + Math.min(deadlineMs, entry.tool.deadlineMs ?? deadlineMs)
    return this.#walk({ call, entry, input, scope, deadlineAtMs })
  }

  /** Asks again about every running call, and ends those that are denied now. */
  review(): void {
    for (const { job, deny } of [...this.#running]) {
      const denial = this.#parts.denies(job.call, job.entry, job.input)
      if (denial !== undefined) deny(denial)
    }
  }

  /** Cancels every running call, each with an outcome of its own, and starts none after that. */
  stop(): void {
    this.#stopped = true
    for (const { cancel } of [...this.#running]) cancel()
  }
}

/** The deadline stands outside everything that could wait, and `settle` inside everything that could hold a result. */
function checkOrder(guards: readonly Guard[]): readonly Guard[] {
  if (guards[0]?.name !== 'deadline') throw new Error('the deadline must be the outermost guard')
  if (guards.at(-1)?.name !== 'settle') throw new Error('settle must be the innermost guard')
  return Object.freeze([...guards])
}
