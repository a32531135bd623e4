// The guard that has a call wait for its lane, and keeps the lane until the tool has really ended: a tool that was told to
// stop may still write. It is not waited for for ever, and the record then says so.

import type { Clock } from '../../base/clock.ts'
import type { Ending } from '../../describe/call.ts'
import { refused } from '../../describe/refused.ts'
import type { Guard, Job, Next, ReportLate, StillMay } from '../guard.ts'
import type { LanePlace } from './lane-place.ts'
import type { Lanes } from './lanes.ts'

/** Milliseconds after the end of a call for which the lane is kept for a tool that does not end. */
const KEPT_MS = 5_000

export type LaneGuardParts = {
  readonly lanes: Lanes
  readonly clock: Clock
  readonly stillMay: StillMay
  /** Told of lanes that were given up while the tool still ran. */
  readonly reportLate: ReportLate
}

export function laneGuard(parts: LaneGuardParts): Guard {
  const { lanes } = parts
  return {
    name: 'lane',
    bounds: 'has calls that touch the same run one after the other, in the order in which they were written',
    run: (job, next) => {
      const entered = lanes.enter(job.call, job.entry, job.input)
      if (entered === 'free') return next(job)
      if (entered === 'full') return Promise.resolve(full())
      return entered.isHeld ? hold(job, next, entered, parts) : waitAndHold(job, next, entered, parts)
    },
  }
}

async function waitAndHold(job: Job, next: Next, place: LanePlace, parts: LaneGuardParts): Promise<Ending> {
  const { clock, lanes, stillMay } = parts
  const sinceMs = clock.monotonic()
  const unfollow = job.scope.onAbort(() => place.giveUp())
  const held = await lanes.wait(place)
  unfollow()
  job.call.trail.laneWaitMs = Math.round(clock.monotonic() - sinceMs)
  // Whoever waited for this call has its outcome already.
  if (!held || place.isOver) return refused('cancelled', 'the call was ended while it waited; nothing was done')
  const refusal = asked(job, place, stillMay)
  return refusal ?? hold(job, next, place, parts)
}

/** While the call waited the rules may have changed, and its tool may have been replaced. */
function asked(job: Job, place: LanePlace, stillMay: StillMay): Ending | undefined {
  try {
    const refusal = stillMay(job)
    if (refusal !== undefined) place.end()
    return refusal
  } catch (error) {
    place.end()
    throw error
  }
}

function hold(job: Job, next: Next, place: LanePlace, { clock, reportLate }: LaneGuardParts): Promise<Ending> {
  let cancelTimer: (() => void) | undefined
  const keepNotForEver = (): void => {
    if (place.isOver || cancelTimer !== undefined) return
    const sinceMs = clock.monotonic()
    const giveUp = (): void => {
      if (place.isOver) return
      place.giveUp()
      reportLate(job, stillRunning(), clock.monotonic() - sinceMs)
    }
    cancelTimer = clock.after(KEPT_MS, giveUp, 'background')
  }
  const unfollow = job.scope.onAbort(keepNotForEver)
  const ended = (): void => {
    // A try that ran out of its time may still run when the call is over.
    const stopped = job.scope.whenStopped()
    if (stopped !== undefined) {
      keepNotForEver()
      stopped.then(ended)
      return
    }
    place.end()
    if (!place.isOver) return
    unfollow()
    cancelTimer?.()
  }
  try {
    const running = next(job)
    running.then(ended, ended)
    return running
  } catch (error) {
    ended()
    throw error
  }
}

const full = (): Ending => refused('busy', 'too many calls wait already for what others are at; nothing was done')

const stillRunning = (): Ending =>
  refused('outcome_unknown', 'the tool had not ended by then; its lane was given to the calls behind it', {
    effect: 'unknown',
  })
