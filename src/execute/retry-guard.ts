// Tries again what failed in a way that may pass, within what is left of the call's time. It refuses to repeat what may
// have happened: only a failure that says that nothing did, or a tool that may be repeated, is tried again; and before a
// change is made again the tool is asked whether it took effect.

import type { Clock } from '../base/clock.ts'
import type { Ending } from '../describe/call.ts'
import type { Entry } from '../describe/entry.ts'
import type { ErrorType } from '../describe/error-types.ts'
import type { RetryOptions } from '../describe/tool.ts'
import type { Guard, Job, Next, StillMay } from './guard.ts'
import { askHappened, knownNow } from './reconcile.ts'
import type { RunScope } from './run-scope.ts'
import { IDLE_LIMIT } from './time-bound.ts'

export type RetryParts = {
  readonly clock: Clock
  readonly stillMay: StillMay
  /** From 0 up to 1. */
  readonly random: () => number
}

const BACKOFF_MS = 200
const BACKOFF_MS_MAX = 60_000
/** Milliseconds that a tool is given to say whether it took effect. */
const HAPPENED_MS = 1_000

/** Failures that may pass. All others say something of the call itself, and would come again. */
const PASSING: ReadonlySet<ErrorType> = new Set([
  'unavailable',
  'busy',
  'timeout',
  'tool_crashed',
  'outcome_unknown',
  'tool_error',
])

/** `options` for every tool that is concerned; absent: of each tool as it says itself. */
export function retryGuard(
  parts: RetryParts,
  options?: RetryOptions,
  concerns = ({ tool }: Entry): boolean => tool.retry !== undefined,
): Guard {
  const optionsOf = ({ tool }: Entry): RetryOptions => options ?? tool.retry ?? { times: 0 }
  return {
    name: 'retry',
    bounds: options === undefined ? 'tries again as often as its tool says' : textOf(options),
    // INVARIANT honest-effect: each run of a `never` tool acts again, whatever a list of guards says.
    concerns: (entry) => entry.tool.repeat !== 'never' && concerns(entry),
    boundsOf: (entry) => textOf(optionsOf(entry)),
    run: (job, next) => tries(job, next, optionsOf(job.entry), parts),
  }
}

const textOf = ({ times, backoffMs = BACKOFF_MS }: RetryOptions): string =>
  `tries up to ${times} more ${times === 1 ? 'time' : 'times'} what may pass, after at most ${backoffMs} ms and twice as long each time`

async function tries(job: Job, next: Next, options: RetryOptions, parts: RetryParts): Promise<Ending> {
  const { clock, random, stillMay } = parts
  /** An earlier try may have acted, and nobody has said that it did not. */
  let mayHave = false
  for (let attempt = 1; ; attempt++) {
    const scope = job.scope.fork(job.deadlineAtMs, attempt)
    const made = await next({ ...job, scope })
    scope.end()
    if (made.kind === 'value') return made
    const ending = mayHave ? withEffect(made, 'unknown') : made
    if (attempt > options.times || job.scope.aborted !== undefined || !mayPass(ending)) return ending
    const known = await whatHappened(job, scope, ending, clock)
    if (!mayRepeat(job, known)) return known
    mayHave = known.error.effect === 'unknown'
    const waitMs = waitOf(options, attempt, known, random)
    // What would not begin before the time is over is not begun at all, and nobody waits for nothing.
    if (clock.monotonic() + waitMs >= job.deadlineAtMs) return known
    if (!(await pause(job, waitMs, clock))) return known
    const refusal = stillMay(job)
    if (refusal?.kind === 'failure') return withEffect(refusal, known.error.effect)
  }
}

type Failed = Ending & { kind: 'failure' }

/** The strongest of what is known of all tries. */
const withEffect = (ending: Failed, effect: Failed['error']['effect']): Failed =>
  effect === 'none' || ending.error.effect === 'done' || ending.error.effect === effect
    ? ending
    : { ...ending, error: { ...ending.error, effect, retry: { advice: 'never' } } }

function mayPass({ error }: Failed): boolean {
  if (!PASSING.has(error.type) || error.effect === 'done') return false
  if (error.type === 'timeout') return error.details?.limit !== IDLE_LIMIT
  return error.type !== 'tool_error' || error.retry.advice === 'later' || error.retry.advice === 'safe'
}

/** Before a change is made again: did the last one take effect? Where nobody knows, the failure stays what it was. */
async function whatHappened(job: Job, scope: RunScope, ending: Failed, clock: Clock): Promise<Failed> {
  if (ending.error.effect !== 'unknown' || job.entry.tool.happened === undefined) return ending
  const leftMs = job.deadlineAtMs - clock.monotonic()
  const happened = await askHappened(job, Math.min(HAPPENED_MS, leftMs), clock)
  if (happened === undefined) return ending
  if (!happened) scope.actedNot()
  return knownNow(ending, happened)
}

function mayRepeat({ entry }: Job, { error }: Failed): boolean {
  if (error.effect === 'done') return false
  return error.effect === 'none' || entry.tool.repeat === 'safe' || entry.tool.repeat === 'keyed'
}

/** Full jitter: anything up to the bound, so that callers who failed together do not come back together. */
function waitOf(
  { backoffMs = BACKOFF_MS }: RetryOptions,
  attempt: number,
  { error }: Failed,
  random: () => number,
): number {
  const boundMs = Math.min(BACKOFF_MS_MAX, backoffMs * 2 ** (attempt - 1))
  return Math.max(random() * boundMs, error.retry.afterMs ?? 0)
}

/** False where the call was ended meanwhile. */
function pause(job: Job, waitMs: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(waitMs, () => {
      forget()
      resolve(true)
    })
    const forget = job.scope.onAbort(() => {
      cancel()
      resolve(false)
    })
  })
}
