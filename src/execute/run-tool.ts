// Starts the tool: the one place where a hidden `run` is opened. Drives generators, whose yields are progress.

import type { Clock } from '../base/clock.ts'
import type { Ending } from '../describe/call.ts'
import { refused } from '../describe/refused.ts'
import type { Progress, RunAnswer } from '../describe/tool.ts'
import { openRun } from '../describe/tool-run.ts'
import type { Job } from './guard.ts'
import { BLOCKED_MS_MIN, type LoopWatch } from './loop-watch.ts'
import type { WorkerRuns } from './worker-runs.ts'

type Generated = AsyncGenerator<Progress, RunAnswer<unknown>, void>

export type RunToolParts = { readonly clock: Clock; readonly watch: LoopWatch; readonly workers: WorkerRuns }

export async function runTool(job: Job, { clock, watch, workers }: RunToolParts): Promise<Ending> {
  const { scope, input } = job
  // Whatever stood before may have waited, and nothing is started for a call that is over.
  if (scope.aborted !== undefined || scope.over) return refused('cancelled', 'the call was over before its tool began')
  const run = openRun(job.entry.tool)
  if (run === undefined) throw new Error(`\`${job.entry.tool.name}\` was not made by defineTool`)
  const { trail } = job.call
  trail.attempts += 1
  trail.startedAtMs ??= clock.now()
  if (trail.attempts > 1) trail.endedAtMs = undefined
  scope.begin()
  const startedMs = clock.monotonic()
  const watched = watch.enter()
  try {
    // INVARIANT last-check: the tool gets the very object that the policy decided on, frozen since it was checked.
    const answer = typeof run === 'function' ? run(input.args, scope) : workers.run(job, run)
    noteBlocked(job, clock.monotonic() - startedMs)
    const value = isGenerator(answer) ? await drive(job, answer) : await answer
    return { kind: 'value', value }
  } finally {
    trail.endedAtMs = clock.now()
    noteBlocked(job, watch.leave(watched))
    scope.stop()
  }
}
/** Yields that come without waiting would keep timers, and with them the deadline, from ever firing. */
const YIELDS_PER_TURN = 64

async function drive(job: Job, generated: Generated): Promise<unknown> {
  for (let yields = 1; ; yields++) {
    const step = await generated.next()
    if (yields % YIELDS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve))
    if (step.done === true) return step.value
    job.scope.progress(step.value)
    if (job.scope.aborted !== undefined) {
      // The generator gets the chance to clean up; its answer goes the way of a late result.
      await generated.return(undefined)
      throw job.scope.aborted
    }
  }
}

function noteBlocked(job: Job, blockedMs: number): void {
  const { trail } = job.call
  if (blockedMs >= BLOCKED_MS_MIN) trail.blockedMs = Math.max(trail.blockedMs ?? 0, Math.round(blockedMs))
}

const isGenerator = (answer: unknown): answer is Generated =>
  typeof answer === 'object' &&
  answer !== null &&
  Symbol.asyncIterator in answer &&
  'next' in answer &&
  typeof answer.next === 'function'
