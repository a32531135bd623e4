// What stands between "allowed" and the tool. Guards are declared in one list, outermost first, and the list is checked
// when the executor is built: `settle` is innermost, so nothing outside it ever holds a raw result.

import type { Call, CheckedInput, Ending } from '../describe/call.ts'
import type { Entry } from '../describe/entry.ts'
import type { RunScope } from './run-scope.ts'

/** One allowed call on its way to its tool. */
export type Job = {
  readonly call: Call
  readonly entry: Entry
  readonly input: CheckedInput
  readonly scope: RunScope
  /** Monotonic milliseconds at which the call is over. */
  readonly deadlineAtMs: number
}

export type Next = (job: Job) => Promise<Ending>

export interface Guard {
  readonly name: string
  /** What it bounds, in one sentence for the operator. */
  readonly bounds: string
  run(job: Job, next: Next): Promise<Ending>
}

/** Folds a list of guards around the innermost step. */
export function compose(guards: readonly Guard[], innermost: Next): Next {
  return guards.reduceRight<Next>((next, guard) => (job) => guard.run(job, next), innermost)
}
