// After a call of which nobody knows what it did: the tool itself is asked whether it took effect. Only where it has really
// stopped, since what still runs may act after the answer; and only for a bounded time, since somebody waits.

import type { Clock } from '../base/clock.ts'
import { within } from '../base/within.ts'
import type { Ending } from '../describe/call.ts'
import type { Job } from './guard.ts'

/** Milliseconds for the tool to stop and to answer. */
const RECONCILE_MS = 1_000

/** What `happened` says; undefined where it does not know, fails, or takes longer than `waitMs`. */
export async function askHappened(job: Job, waitMs: number, clock: Clock): Promise<boolean | undefined> {
  const { happened } = job.entry.tool
  const untilMs = clock.monotonic() + waitMs
  try {
    const stopped = job.scope.whenStopped()
    if (stopped !== undefined && (await within(stopped, waitMs, clock)).kind === 'late') return undefined
    const leftMs = untilMs - clock.monotonic()
    if (happened === undefined || leftMs <= 0) return undefined
    const waited = await within(Promise.resolve(happened(job.input.args)), leftMs, clock)
    return waited.kind === 'value' && typeof waited.value === 'boolean' ? waited.value : undefined
  } catch {
    return undefined
  }
}

/** The same ending, with what the tool says of its effect. */
export async function reconcile(job: Job, ending: Ending, clock: Clock): Promise<Ending> {
  if (ending.kind !== 'failure' || ending.error.effect !== 'unknown') return ending
  const happened = await askHappened(job, RECONCILE_MS, clock)
  return happened === undefined ? ending : knownNow(ending, happened)
}

/** INVARIANT honest-effect: the type of the failure stays; only what is known of the effect changes. */
export function knownNow(ending: Ending & { kind: 'failure' }, happened: boolean): Ending & { kind: 'failure' } {
  const { error, content } = ending
  const message = happened
    ? 'there was no answer, and the call did take effect; do not make it again'
    : 'there was no answer, and the call did not take effect; it may be made again'
  return {
    kind: 'failure',
    error: {
      ...error,
      message,
      effect: happened ? 'done' : 'none',
      retry: { advice: happened ? 'never' : 'safe' },
    },
    ...(content === undefined ? {} : { content }),
  }
}
