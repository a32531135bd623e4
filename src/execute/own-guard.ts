// A guard that the host brings. It is told of the call and may refuse it, or pass on what came of it; it refuses to be more
// than that: an answer that no tool gave, or a second run of a tool that may not be repeated, ends the call as a fault.

import type { Ending } from '../describe/call.ts'
import type { Entry } from '../describe/entry.ts'
import { isErrorType } from '../describe/error-types.ts'
import { refused } from '../describe/refused.ts'
import { ToolFailure } from '../describe/tool-failure.ts'
import type { Guard, Job, Next, ReportCrash } from './guard.ts'
import type { GuardedCall, GuardOptions } from './guard-options.ts'
import { settleFailure, unsaidEffect } from './settle-guard.ts'

type OwnOptions = GuardOptions & { readonly guard: 'own' }

export function ownGuard(options: OwnOptions, concerns: (entry: Entry) => boolean, reportCrash: ReportCrash): Guard {
  return {
    name: `own ${options.name}`,
    bounds: options.bounds,
    concerns,
    run: (job, next) => runOwn(job, next, options, reportCrash),
  }
}

async function runOwn(job: Job, next: Next, options: OwnOptions, reportCrash: ReportCrash): Promise<Ending> {
  const { call, entry, input, scope } = job
  const repeatable = input.effect === 'read' || entry.tool.repeat === 'safe' || entry.tool.repeat === 'keyed'
  /** What came of each pass; a guard may give these on, and nothing that it made itself. */
  const passed = new Set<Ending>()
  let begun = 0
  const pass = async (): Promise<Ending> => {
    begun += 1
    if (begun > 1 && !repeatable) throw new Error('`next` was called twice for a tool that may not be repeated')
    const ending = Object.freeze(await next(job))
    passed.add(ending)
    return ending
  }
  const told: GuardedCall = Object.freeze({
    callId: call.id,
    caller: call.caller,
    tool: entry.tool.name,
    args: input.args,
    effect: input.effect,
    attempt: options.at === 'try' ? scope.attempt : 0,
    get signal() {
      return scope.signal
    },
  })
  try {
    const answer: unknown = await options.run(told, pass)
    if (isPassed(answer, passed)) return begun === 1 ? answer : withEffect(answer, job, passed)
    const refusal = refusalOf(job, answer)
    if (refusal !== undefined) return begun === 0 ? refusal : withEffect(refusal, job, passed)
    throw new Error(`the guard \`${options.name}\` answered something that neither came of \`next\` nor is a refusal`)
  } catch (error) {
    const help = reportCrash(job, error)
    const message = `a guard of this tool failed; the operator finds the reason under ${call.id}`
    return withEffect(refused('internal', message, { help }), job, passed)
  }
}

// INVARIANT honest-effect: what `next` did stands, whatever the guard says of it afterwards, and whichever of several passes it
// gives on.
function withEffect(refusal: Ending, job: Job, passed: ReadonlySet<Ending>): Ending {
  if (refusal.kind === 'value') return refusal
  const done = [...passed].some((ending) =>
    ending.kind === 'value' ? job.input.effect !== 'read' : ending.error.effect === 'done',
  )
  const effect = done ? 'done' : unsaidEffect(job)
  if (effect === refusal.error.effect) return refusal
  return { ...refusal, error: { ...refusal.error, effect, retry: { advice: 'never' } } }
}

const isPassed = (answer: unknown, passed: ReadonlySet<Ending>): answer is Ending =>
  [...passed].some((ending) => ending === answer)

/** A refusal of the guard's own: a described failure, or a failure ending; it says effect `none`. */
function refusalOf(job: Job, answer: unknown): Ending | undefined {
  if (answer instanceof ToolFailure) return settleFailure(job, new ToolFailure({ ...answer.options, effect: 'none' }))
  if (typeof answer !== 'object' || answer === null || !('kind' in answer) || answer.kind !== 'failure')
    return undefined
  const error = 'error' in answer ? answer.error : undefined
  if (typeof error !== 'object' || error === null || !('type' in error) || !('message' in error)) return undefined
  const { type, message } = error
  if (typeof type !== 'string' || !isErrorType(type) || typeof message !== 'string') return undefined
  return refused(type, message)
}
