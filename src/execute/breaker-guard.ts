// Leaves a source alone that fails again and again: after some failures in a row that are the source's own, its calls end at
// once for a while; then one is let through, and what becomes of it decides for all.

import type { Clock } from '../base/clock.ts'
import type { Ending } from '../describe/call.ts'
import type { Entry } from '../describe/entry.ts'
import type { ErrorType } from '../describe/error-types.ts'
import { refused } from '../describe/refused.ts'
import type { Guard, Job, Next } from './guard.ts'

export type BreakerOptions = {
  /** Failures in a row after which it opens. */
  readonly failures?: number
  /** Milliseconds for which it stays open. */
  readonly coolMs?: number
}

const FAILURES = 5
const COOL_MS = 10_000

/** Failures that are the source's fault, whatever was asked of it. */
const FAULTS: ReadonlySet<ErrorType> = new Set(['unavailable', 'tool_crashed', 'timeout', 'outcome_unknown'])

/** `trying`: the one call that was let through is still on its way. */
type State = { failures: number; openedAtMs: number | undefined; trying: boolean }

/** By source; who makes the guard may look at it. */
export type BreakerStates = Map<string, State>

export function breakerGuard(
  clock: Clock,
  options: BreakerOptions,
  concerns: (entry: Entry) => boolean,
  states: BreakerStates = new Map(),
): Guard {
  const { failures = FAILURES, coolMs = COOL_MS } = options
  const stateOf = (source: string): State => {
    const known = states.get(source)
    if (known !== undefined) return known
    const state: State = { failures: 0, openedAtMs: undefined, trying: false }
    states.set(source, state)
    return state
  }
  return {
    name: 'breaker',
    bounds: `leaves a source alone for ${coolMs} ms after ${failures} failures of its own in a row`,
    concerns,
    run: (job, next) => guarded(job, next, stateOf(job.entry.source), { clock, failures, coolMs }),
  }
}

type Bounds = { readonly clock: Clock; readonly failures: number; readonly coolMs: number }

function guarded(job: Job, next: Next, state: State, bounds: Bounds): Promise<Ending> {
  const { clock, coolMs } = bounds
  if (state.openedAtMs !== undefined) {
    const leftMs = state.openedAtMs + coolMs - clock.monotonic()
    if (leftMs > 0 || state.trying) return Promise.resolve(open(Math.max(leftMs, 0)))
  }
  return tried(job, next, state, bounds)
}

async function tried(job: Job, next: Next, state: State, bounds: Bounds): Promise<Ending> {
  const isTrial = state.openedAtMs !== undefined
  if (isTrial) state.trying = true
  let noted = false
  const note = (verdict: 'failed' | 'works' | 'untold'): void => {
    if (noted) return
    noted = true
    if (isTrial) state.trying = false
    if (verdict === 'failed') fail(state, isTrial, bounds)
    else if (verdict === 'works') works(state)
  }
  // A call whose time is over before the source has answered tells of the source; one that was cancelled does not.
  const forget = job.scope.onAbort((reason) => note(reason.name === 'TimeoutError' ? 'failed' : 'untold'))
  try {
    const ending = await next(job)
    note(verdictOn(ending))
    return ending
  } finally {
    note('untold')
    forget()
  }
}

function verdictOn(ending: Ending): 'failed' | 'works' | 'untold' {
  if (ending.kind === 'value') return 'works'
  if (FAULTS.has(ending.error.type)) return 'failed'
  // The source has answered, and be it with a failure of the tool's own; whether it was even asked is not certain of others.
  return ending.error.type === 'tool_error' || ending.error.type === 'output_invalid' ? 'works' : 'untold'
}

function fail(state: State, isTrial: boolean, { clock, failures }: Bounds): void {
  state.failures += 1
  if (isTrial || state.failures >= failures) state.openedAtMs = clock.monotonic()
}

function works(state: State): void {
  state.failures = 0
  state.openedAtMs = undefined
}

const open = (leftMs: number): Ending =>
  refused(
    'busy',
    'what is behind this tool has failed again and again, so it is left alone for a while; nothing was done',
    {
      retry: { advice: 'later', afterMs: Math.ceil(leftMs) },
    },
  )
