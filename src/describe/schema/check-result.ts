// The answer of a schema check, and the sentence that tells a model what to mend.

import type { JsonValue } from '../../base/json-value.ts'
import { type CheckIssue, ISSUES_MAX } from './check-run.ts'

/** `text` is the JSON text of `value`. */
export type CheckOk = { readonly kind: 'ok'; readonly value: JsonValue; readonly text: string }

/**
 * `invalid_args`: the value does not fit. `oversized`: checking it would take too long. `unavailable`: the schema itself
 * broke, which no other value mends; `help` then tells the author why.
 */
export type CheckInvalid = {
  readonly kind: 'invalid'
  readonly code: 'invalid_args' | 'oversized' | 'unavailable'
  /** At most 5. */
  readonly issues: readonly CheckIssue[]
  readonly message: string
  readonly help?: string
}

export type CheckResult = CheckOk | CheckInvalid

const ISSUES_TOLD_MAX = 5

/** `whole` names the value itself, e.g. `the arguments`; `say` puts what was expected into words. */
export function invalid(
  issues: readonly CheckIssue[],
  whole: string,
  say = (expected: string): string => `expected ${expected}`,
): CheckInvalid {
  const told = issues.slice(0, ISSUES_TOLD_MAX).map(({ path, expected, came }) => ({ path, expected, came }))
  const sentences = told.map(
    ({ path, expected, came }) => `${path === '' ? whole : `\`${path}\``}: ${say(expected)}, came ${came}`,
  )
  const more = issues.length - told.length
  const rest = issues.length >= ISSUES_MAX ? '; and many more' : more > 0 ? `; and ${more} more` : ''
  return { kind: 'invalid', code: 'invalid_args', issues: told, message: `${sentences.join('; ')}${rest}` }
}

export const tooCostly = (whole: string): CheckInvalid => ({
  kind: 'invalid',
  code: 'oversized',
  issues: [],
  message: `${whole}: too large or too deep to be checked against the schema of this tool; send less`,
})

export const brokenSchema = (help: string): CheckInvalid => ({
  kind: 'invalid',
  code: 'unavailable',
  issues: [],
  message: 'the schema of this tool broke while it checked a value; no other value will help',
  help,
})
