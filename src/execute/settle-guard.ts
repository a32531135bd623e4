// The innermost guard: whatever the tool answers or throws becomes an ending here. Output is checked against its schema
// before anything outside holds it; an answer that the schema refuses is withheld, and its effect is said to be done.

import type { Clock } from '../base/clock.ts'
import { isJsonObject, takeJson } from '../base/json-value.ts'
import type { Ending } from '../describe/call.ts'
import { readDisplay } from '../describe/content.ts'
import { ERROR_TYPES } from '../describe/error-types.ts'
import type { EffectState } from '../describe/outcome.ts'
import type { Redactor } from '../describe/redactor.ts'
import { refused } from '../describe/refused.ts'
import { FAILURE_TYPES, ToolFailure } from '../describe/tool-failure.ts'
import { ToolResult } from '../describe/tool-result.ts'
import { cleanMessage } from './clean-message.ts'
import type { Guard, Job, Next, ReportCrash, ReportLate } from './guard.ts'
import { redactEnding } from './redact-ending.ts'

/** Values that a schema checks: bounded like arguments, but larger. */
const OUTPUT_BOUNDS = { depthMax: 64, keysMax: 1_000_000, bytesMax: 64 * 1024 * 1024 } as const

const AS_IT_CAME = { keyOrder: 'given', undefinedMembers: 'drop', unsafeIntegers: 'keep' } as const

export type SettleParts = {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly reportCrash: ReportCrash
  readonly reportLate: ReportLate
  readonly redactor: Redactor
  /** Folders whose paths a model may be told. */
  readonly roots: readonly string[]
  /** Told what a failure said and its caller is not told. */
  readonly reportHidden: (job: Job, message: string) => void
}

export function settleGuard(parts: SettleParts): Guard {
  return {
    name: 'settle',
    bounds: 'turns the answer into an ending, checks it against the output schema and takes secrets out of it',
    run: (job, next) => settle(job, next, parts),
  }
}

async function settle(job: Job, next: Next, parts: SettleParts): Promise<Ending> {
  const { clock, reportCrash, reportLate, redactor } = parts
  let ending: Ending
  try {
    const raw = await next(job)
    // The tool was not even started.
    if (raw.kind === 'failure') return raw
    ending = await settleAnswer(job, raw.value)
  } catch (error) {
    const failure = failureOf(error)
    ending = failure === undefined ? crash(job, error, reportCrash) : described(job, failure)
  }
  try {
    // INVARIANT no-raw-result: from here on nobody holds what the tool answered as it came.
    ending = redactEnding(job.call, forCaller(job, ending, parts), redactor)
  } catch (error) {
    ending = crash(job, error, reportCrash)
  }
  const { overAtMs } = job.scope
  // Nobody waits for this try any more: what became of it is recorded here, once, whatever stands outside makes of it.
  if (overAtMs !== undefined) reportLate(job, ending, clock.monotonic() - overAtMs)
  return ending
}

/** What is left out of a message stands in the operator's log, under the id that the message names. */
function forCaller(job: Job, ending: Ending, { roots, reportHidden }: SettleParts): Ending {
  if (ending.kind !== 'failure') return ending
  const { message, isWhole } = cleanMessage(ending.error.message, { roots, argumentsText: job.input.text })
  if (isWhole) return ending
  reportHidden(job, ending.error.message)
  const named = `${message}; the operator finds the whole under ${job.call.id}`
  return { ...ending, error: { ...ending.error, message: named } }
}

/** A failure that says that nothing was changed is believed: later guards may try again. */
function described(job: Job, failure: ToolFailure): Ending {
  const ending = settleFailure(job, failure)
  if (ending.kind === 'failure' && ending.error.effect === 'none') job.scope.actedNot()
  return ending
}

function settleAnswer(job: Job, answer: unknown): Ending | Promise<Ending> {
  const failure = failureOf(answer)
  if (failure !== undefined) return described(job, failure)
  if (!(answer instanceof ToolResult)) return checkValue(job, { kind: 'value', value: answer })
  const { value, content, display } = answer
  return checkValue(job, { kind: 'value', value, content, ...(display === undefined ? {} : { display }) })
}

function checkValue(job: Job, ending: Ending & { kind: 'value' }): Ending | Promise<Ending> {
  const check = job.entry.checkOutput
  if (check === undefined) return ending
  const taken = takeJson(ending.value, OUTPUT_BOUNDS, AS_IT_CAME)
  if (taken.kind === 'refused')
    return withheld(job, `\`${taken.path}\`: expected ${taken.expected}, came ${taken.came}`)
  const checked = check.check(taken.value, taken.text)
  const conclude = (result: Awaited<typeof checked>): Ending =>
    result.kind === 'ok' ? { ...ending, value: result.value } : withheld(job, result.message)
  return 'then' in checked ? checked.then(conclude) : conclude(checked)
}

function withheld(job: Job, problem: string): Ending {
  return refused(
    'output_invalid',
    'the tool answered something that its own output schema refuses; the answer is withheld',
    {
      effect: job.input.effect === 'read' ? 'none' : 'done',
      help: problem,
    },
  )
}

// INVARIANT honest-effect: a tool that does not say what it did is not believed to have done nothing, unless it only reads,
// or was never started.
export const unsaidEffect = (job: Job): EffectState => (job.scope.mayHaveActed ? 'unknown' : 'none')

/** What was thrown or returned may throw again when it is looked at. */
function failureOf(answer: unknown): ToolFailure | undefined {
  try {
    return answer instanceof ToolFailure ? answer : undefined
  } catch {
    return undefined
  }
}

const EFFECTS = ['none', 'done', 'unknown']
const DETAIL_BOUNDS = { depthMax: 16, keysMax: 1_000, bytesMax: 65_536 } as const

/** What a tool says of its failure, as far as it has the right form: authors without types say anything. */
export function settleFailure(job: Job, { options }: ToolFailure): Ending {
  const { content, help } = options
  const display = readDisplay(options.display)
  const type = FAILURE_TYPES.find((known) => known === options.type) ?? 'tool_error'
  const code = typeof options.code === 'string' ? options.code.slice(0, 128) : 'unspecified'
  const message =
    typeof options.message === 'string' ? options.message : 'the tool reports a failure and does not say which'
  const taken = takeJson(options.details ?? {}, DETAIL_BOUNDS, AS_IT_CAME)
  const details = taken.kind === 'ok' && isJsonObject(taken.value) ? taken.value : {}
  const advice =
    options.retry ?? (job.entry.tool.repeat === 'safe' && type !== 'unsafe_args' ? 'safe' : ERROR_TYPES[type].retry)
  return refused(type, message, {
    effect: EFFECTS.includes(options.effect ?? '') ? (options.effect ?? unsaidEffect(job)) : unsaidEffect(job),
    retry: { advice },
    details: { ...details, code },
    ...(content === undefined ? {} : { content }),
    ...(display === undefined ? {} : { display }),
    ...(typeof help === 'string' ? { help } : {}),
  })
}

function crash(job: Job, error: unknown, reportCrash: ReportCrash): Ending {
  const help = reportCrash(job, error)
  return refused(
    'tool_crashed',
    `the tool broke off unexpectedly; the operator finds the reason under ${job.call.id}`,
    {
      effect: unsaidEffect(job),
      help,
    },
  )
}
