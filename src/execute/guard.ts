// What stands between "allowed" and the tool. Guards are declared in one list, outermost first; `guard-list.ts` checks the
// list when the executor is built and composes one chain for each tool, of the guards that concern it and no others.

import type { Call, CheckedInput, Ending } from '../describe/call.ts'
import type { Entry } from '../describe/entry.ts'
import type { RunScope } from './run-scope.ts'

/** One allowed call on its way to its tool. A guard that gives a try its own scope or deadline passes on a copy. */
export type Job = {
  readonly call: Call
  readonly entry: Entry
  readonly input: CheckedInput
  readonly scope: RunScope
  /** Monotonic milliseconds at which the call is over, or this part of it. */
  readonly deadlineAtMs: number
}

export type Next = (job: Job) => Promise<Ending>

export interface Guard {
  readonly name: string
  /** What it bounds, in one sentence for the operator. */
  readonly bounds: string
  /** Whether it stands before this tool at all; absent: before every tool. Asked once for each definition of a tool. */
  concerns?(entry: Entry): boolean
  /** The same sentence with the figures that hold for this tool. */
  boundsOf?(entry: Entry): string
  run(job: Job, next: Next): Promise<Ending>
}

/**
 * Whether an allowed call may still go on after it had to wait: the ending of one that may not, because it is denied now or
 * its tool was replaced. Says effect `none`.
 */
export type StillMay = (job: Job) => Ending | undefined

/** Told of an answer that came after whoever waited for it had left. */
export type ReportLate = (job: Job, ending: Ending, afterMs: number) => void

/** Told of a fault of a tool or of a guard; the answer is the text for the operator. */
export type ReportCrash = (job: Job, error: unknown) => string

/** Folds a list of guards around the innermost step. A fault of one reaches those outside of it in one way: as a rejection. */
export function compose(guards: readonly Guard[], innermost: Next): Next {
  return guards.reduceRight<Next>(
    (next, guard) => (job) => {
      try {
        return guard.run(job, next)
      } catch (bug) {
        return Promise.reject(bug)
      }
    },
    innermost,
  )
}
