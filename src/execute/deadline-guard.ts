// The outermost guard: the call ends when its time is over or its caller has left, whatever the tool does. The tool is
// told to stop and is not waited for; what it answers later goes to nobody.

import type { Clock } from '../base/clock.ts'
import { errorText } from '../base/error-text.ts'
import type { Ending } from '../describe/call.ts'
import type { Decision } from '../describe/decision.ts'
import { refused } from '../describe/refused.ts'
import type { Guard, Job, Next, ReportLate } from './guard.ts'
import { reconcile } from './reconcile.ts'
import { unsaidEffect } from './settle-guard.ts'

/** A call on its way, and how to end it at once; the tool is told to stop and is not waited for. */
export type RunningCall = { readonly job: Job; readonly cancel: () => void; readonly deny: (denial: Decision) => void }
export type Running = Set<RunningCall>

export function deadlineGuard(clock: Clock, running: Running, reportLate: ReportLate): Guard {
  return {
    name: 'deadline',
    bounds: 'ends the call when its time is over or its caller has left',
    run: (job, next) => {
      const ending = race(job, next, { clock, running, reportLate })
      // A tool that can say what became of its call is asked where nobody else knows.
      return job.entry.tool.happened === undefined ? ending : ending.then((known) => reconcile(job, known, clock))
    },
  }
}

type Parts = { readonly clock: Clock; readonly running: Running; readonly reportLate: ReportLate }

function race(job: Job, next: Next, { clock, running, reportLate }: Parts): Promise<Ending> {
  const { signal } = job.call.request
  if (signal?.aborted === true) return Promise.resolve(cancelled(job))
  const leftMs = job.deadlineAtMs - clock.monotonic()
  if (leftMs <= 0) return Promise.resolve(timedOut(job))
  return new Promise((resolve) => {
    let over = false
    const finish = (ending: Ending): void => {
      over = true
      cancelTimer()
      running.delete(here)
      signal?.removeEventListener('abort', leave)
      job.scope.end()
      resolve(ending)
    }
    const stop = (ending: Ending, reason: string): void => {
      if (over) return
      over = true
      job.scope.abort(new DOMException(reason, reason === 'deadline' ? 'TimeoutError' : 'AbortError'))
      finish(ending)
    }
    const leave = (): void => stop(cancelled(job), 'cancelled')
    const deny = (denial: Decision): void => stop(nowDenied(job, denial), 'denied')
    const here: RunningCall = { job, cancel: leave, deny }
    const cancelTimer = clock.after(leftMs, () => stop(timedOut(job), 'deadline'))
    running.add(here)
    signal?.addEventListener('abort', leave, { once: true })
    const answered = (ending: Ending): void => {
      if (over) return
      const lateMs = clock.monotonic() - job.deadlineAtMs
      if (lateMs <= 0) {
        finish(ending)
        return
      }
      // A tool that held the event loop beyond its time kept the timer from firing; it is late all the same.
      stop(timedOut(job), 'deadline')
      if (job.call.trail.attempts > 0) reportLate(job, ending, lateMs)
    }
    next(job).then(answered, (bug: unknown) => answered(broken(job, bug)))
  })
}

/** A fault of the guards inside; the tool may have run. */
function broken(job: Job, bug: unknown): Ending {
  const message = `the gate failed; the operator finds the reason under ${job.call.id}`
  return refused('internal', message, { effect: unsaidEffect(job), help: errorText(bug) })
}

function timedOut(job: Job): Ending {
  const effect = unsaidEffect(job)
  const message =
    effect === 'unknown'
      ? 'the deadline passed while the tool ran; it may have taken effect, so look before you try again'
      : 'the deadline passed before there was an answer; nothing was changed'
  return refused('timeout', message, { effect, retry: { advice: effect === 'none' ? 'safe' : 'never' } })
}

/** A running call that is not allowed any more. */
function nowDenied(job: Job, denial: Decision): Ending {
  job.call.trail.decision = denial
  const effect = unsaidEffect(job)
  const done = effect === 'unknown' ? 'it had begun and may have taken effect' : 'nothing was changed'
  const { rule } = denial
  return refused('permission_denied', `${denial.reason}; the call was ended while it ran: ${done}`, {
    effect,
    ...(rule === undefined ? {} : { help: rule.text }),
  })
}

function cancelled(job: Job): Ending {
  const effect = unsaidEffect(job)
  const message =
    effect === 'unknown'
      ? 'the call was cancelled while the tool ran; it may have taken effect'
      : 'the call was cancelled; nothing was changed'
  return refused('cancelled', message, { effect })
}
