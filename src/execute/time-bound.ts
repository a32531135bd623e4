// Two guards that bound time inside the deadline of the call. `attempt` stands inside the retries: a try that takes too long
// is given up, and another may follow. `tries` stands around them: all tries together, and what waits between them. Like the
// deadline they race: the tool is told to stop, and what it answers later goes to nobody.

import type { Clock } from '../base/clock.ts'
import type { Ending } from '../describe/call.ts'
import type { Entry } from '../describe/entry.ts'
import { refused } from '../describe/refused.ts'
import type { Guard, Job, Next } from './guard.ts'
import type { RunScope } from './run-scope.ts'
import { unsaidEffect } from './settle-guard.ts'

/** `details.limit` of a call that ended because nothing was heard of it any more: no other try follows. */
export const IDLE_LIMIT = 'idleMs'

type Bound = {
  readonly limit: 'attemptMs' | 'triesMs'
  readonly ms: number | undefined
  readonly idleMs?: number | undefined
}

/** `ms` of every tool that is concerned; absent: of each tool as it says itself. */
export function attemptGuard(
  clock: Clock,
  ms?: number,
  concerns = ({ tool }: Entry): boolean => tool.attemptMs !== undefined || tool.idleMs !== undefined,
): Guard {
  const boundOf = ({ tool }: Entry): Bound => ({ limit: 'attemptMs', ms: ms ?? tool.attemptMs, idleMs: tool.idleMs })
  return {
    name: 'attempt',
    bounds:
      ms === undefined
        ? 'gives up a try that takes longer than its tool allows it, or of which nothing is heard'
        : `gives up a try that takes longer than ${ms} ms`,
    concerns,
    boundsOf: (entry) => textOf(boundOf(entry)),
    run: (job, next) => withinTime(job, next, boundOf(job.entry), clock),
  }
}

export function triesGuard(clock: Clock, ms: number, concerns: (entry: Entry) => boolean): Guard {
  return {
    name: 'tries',
    bounds: `gives up after ${ms} ms of all tries together`,
    concerns,
    run: (job, next) => withinTime(job, next, { limit: 'triesMs', ms }, clock),
  }
}

function textOf({ ms, idleMs }: Bound): string {
  const tries = ms === undefined ? '' : `gives up a try that takes longer than ${ms} ms`
  const idle = idleMs === undefined ? '' : `ends a call of which nothing is heard for ${idleMs} ms`
  return [tries, idle].filter((text) => text !== '').join(', and ')
}

function withinTime(job: Job, next: Next, bound: Bound, clock: Clock): Promise<Ending> {
  const startedMs = clock.monotonic()
  const { ms = Number.POSITIVE_INFINITY, idleMs } = bound
  const scope = job.scope.fork(startedMs + ms)
  return new Promise((resolve, reject) => {
    let over = false
    let cancelTime = (): void => {}
    let cancelIdle = (): void => {}
    const cancelTimers = (): void => {
      cancelTime()
      cancelIdle()
    }
    const forget = job.scope.onAbort(cancelTimers)
    const finish = (): void => {
      over = true
      forget()
      cancelTimers()
      scope.end()
    }
    const giveUp = (ending: Ending): void => {
      if (over) return
      over = true
      scope.abort(new DOMException('this try is over', 'TimeoutError'))
      finish()
      resolve(ending)
    }
    const answered = (ending: Ending): void => {
      if (over) return
      finish()
      resolve(ending)
    }
    if (ms < job.deadlineAtMs - startedMs) cancelTime = clock.after(ms, () => giveUp(overdue(job, bound)))
    if (idleMs !== undefined) cancelIdle = watchIdle(scope, idleMs, clock, () => giveUp(idle(job, idleMs)))
    next({ ...job, scope, deadlineAtMs: scope.deadlineAtMs }).then(answered, reject)
  })
}

/** Calls `lapse` once nothing was heard for `idleMs`. Progress moves no timer: the one that fires looks at it. */
function watchIdle(scope: RunScope, idleMs: number, clock: Clock, lapse: () => void): () => void {
  const startedMs = clock.monotonic()
  let cancel = (): void => {}
  const wait = (waitMs: number): void => {
    cancel = clock.after(waitMs, () => {
      const quietMs = clock.monotonic() - Math.max(startedMs, scope.progressAtMs)
      if (quietMs >= idleMs) lapse()
      else wait(idleMs - quietMs)
    })
  }
  wait(idleMs)
  return () => cancel()
}

function overdue(job: Job, { limit, ms = 0 }: Bound): Ending {
  const effect = unsaidEffect(job)
  const what = limit === 'attemptMs' ? 'this try' : 'all tries together'
  const after =
    effect === 'unknown' ? '; it may have taken effect, so look before you try again' : '; nothing was changed'
  return refused('timeout', `there was no answer within the ${ms} ms of ${what}${after}`, {
    effect,
    retry: { advice: effect === 'none' ? 'safe' : 'never' },
    details: { limit },
  })
}

function idle(job: Job, idleMs: number): Ending {
  const effect = unsaidEffect(job)
  const after =
    effect === 'unknown' ? '; it may have taken effect, so look before you try again' : '; nothing was changed'
  return refused('timeout', `the tool said nothing for ${idleMs} ms and was ended${after}`, {
    effect,
    retry: { advice: effect === 'none' ? 'safe' : 'never' },
    details: { limit: IDLE_LIMIT },
  })
}
