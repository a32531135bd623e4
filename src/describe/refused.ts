// Builds the endings of calls that were refused or failed, with the retry advice of the error table.

import type { Ending } from './call.ts'
import type { ContentPart, Display } from './content.ts'
import { ERROR_TYPES, type ErrorType } from './error-types.ts'
import type { EffectState, OutcomeError, Retry } from './outcome.ts'

export type FailureOptions = {
  readonly effect?: EffectState
  readonly retry?: Retry
  readonly fatal?: boolean
  readonly help?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly content?: readonly ContentPart[]
  readonly display?: Display
}

export function outcomeError(type: ErrorType, message: string, options: FailureOptions = {}): OutcomeError {
  const { effect = 'none', retry = { advice: ERROR_TYPES[type].retry }, fatal = false, help, details } = options
  return {
    type,
    message,
    retry,
    effect,
    fatal,
    ...(help === undefined ? {} : { help }),
    ...(details === undefined ? {} : { details }),
  }
}

/** An ending in which nothing happened unless `effect` says otherwise. */
export function refused(type: ErrorType, message: string, options: FailureOptions = {}): Ending {
  const error = outcomeError(type, message, options)
  const { content, display } = options
  if (content === undefined && display === undefined) return { kind: 'failure', error }
  return {
    ...{ kind: 'failure', error },
    ...(content === undefined ? {} : { content }),
    ...(display === undefined ? {} : { display }),
  }
}
