// The one table of error types: where each arises, what to do about it, and how other protocols name it.
// `docs/error-types.md` is generated from it, and a test pins its rows; a type that retires is never used again.

export const STAGES = ['discover', 'authorize', 'validate', 'audit', 'execute', 'observe'] as const
export type Stage = (typeof STAGES)[number]

/** What the caller can do: nothing, mend the arguments, have a person answer, wait, or repeat without harm. */
export type RetryAdvice = 'never' | 'fix_args' | 'ask' | 'later' | 'safe'

type Row = { readonly stage: Stage; readonly retry: RetryAdvice; readonly http: number; readonly means: string }

const row = (stage: Stage, retry: RetryAdvice, http: number, means: string): Row => ({ stage, retry, http, means })

export const ERROR_TYPES = {
  not_found: row('discover', 'never', 404, 'no such tool for this caller, or the tool is retired'),
  permission_denied: row(
    'authorize',
    'never',
    403,
    'a rule, a default, the task or the tool itself does not let this caller do this',
  ),
  approval_required: row(
    'audit',
    'ask',
    403,
    'a person has to approve exactly this call; the equal call made after that runs',
  ),
  approval_declined: row(
    'audit',
    'never',
    403,
    'this call was declined: by a person, or because too many wrong codes were given',
  ),
  approval_expired: row(
    'audit',
    'ask',
    403,
    'the named approval was not used in time, was used already, or was given under other rules',
  ),
  invalid_args: row('validate', 'fix_args', 422, 'the arguments do not have the shape that the tool asks for'),
  unsafe_args: row('validate', 'fix_args', 422, 'the arguments name something that the tool never touches'),
  oversized: row(
    'validate',
    'fix_args',
    413,
    'the arguments, or a result that cannot be cut, are larger than the limit',
  ),
  input_required: row('execute', 'ask', 422, 'the tool needs an answer from the user before it can go on'),
  rate_limited: row('authorize', 'later', 429, 'too many calls in too short a time'),
  busy: row('execute', 'later', 503, 'no place is free for this call'),
  unavailable: row(
    'discover',
    'later',
    503,
    'the tool exists and cannot be called now: its source is down or starting, or its definition does not hold',
  ),
  timeout: row('execute', 'never', 504, 'the deadline passed; the effect says whether anything may have happened'),
  cancelled: row('execute', 'never', 499, 'the caller left before the call ended'),
  tool_error: row(
    'execute',
    'never',
    502,
    'the tool ran and reports a failure of its own; its code is in `details.code`',
  ),
  tool_crashed: row('execute', 'never', 502, 'the tool broke off in a way that it does not describe'),
  output_invalid: row(
    'execute',
    'never',
    502,
    'the tool answered something that its own output schema refuses; the answer is withheld',
  ),
  outcome_unknown: row(
    'execute',
    'never',
    502,
    'nobody knows what the call did: contact was lost after the tool may have acted, or an equal call is under way or ended so',
  ),
  key_conflict: row('audit', 'fix_args', 409, 'the idempotency key was used before, for other arguments'),
  audit_unavailable: row('audit', 'later', 503, 'the record of the call cannot be kept, so nothing was done'),
  internal: row('observe', 'never', 500, 'a fault of the gate itself; the operator finds it under the call id'),
} as const satisfies Record<string, Row>

export type ErrorType = keyof typeof ERROR_TYPES

export const isErrorType = (value: string): value is ErrorType => Object.hasOwn(ERROR_TYPES, value)
