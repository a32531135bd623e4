// Reads what a host hands in as the answer of a person. It guesses nothing: a key, a decision or a reach that nobody knows is
// no decision at all, so that a misspelt answer can neither approve nor reach further than it says.

import { REACHES } from '../describe/decision.ts'
import type { PersonsAnswer } from '../gate-contract.ts'

const NAME_MAX = 256
const COMMENT_MAX = 4_096
const CODE_MAX = 64

type Check = { readonly expected: string; readonly holds: (value: unknown) => boolean }

const text = (charactersMax: number): ((value: unknown) => boolean) => {
  return (value) => typeof value === 'string' && value.length <= charactersMax && value.isWellFormed()
}

const isName = (value: unknown): boolean => text(NAME_MAX)(value) && String(value).trim() !== ''

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['decision', { expected: 'approve or decline', holds: (value) => value === 'approve' || value === 'decline' }],
  ['by', { expected: 'the name of who answers', holds: isName }],
  ['scope', { expected: `one of ${REACHES.join(', ')}`, holds: (value) => REACHES.some((reach) => reach === value) }],
  ['comment', { expected: `a text of at most ${COMMENT_MAX} characters`, holds: text(COMMENT_MAX) }],
  ['code', { expected: `a text of at most ${CODE_MAX} characters`, holds: text(CODE_MAX) }],
  ['clientAsserted', { expected: 'true or false', holds: (value) => typeof value === 'boolean' }],
])
const NEEDED = ['decision', 'by']

/** @throws TypeError naming the key that does not hold. */
export function readPersonsAnswer(given: unknown): PersonsAnswer {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new TypeError('an answer is an object with `decision` and `by`')
  const fields = new Map<string, unknown>(Object.entries(given).filter(([, value]) => value !== undefined))
  for (const [key, value] of fields) {
    const check = CHECKS.get(key)
    if (check === undefined) throw new TypeError(`\`${key.slice(0, 40)}\` is no part of an answer`)
    if (!check.holds(value)) throw new TypeError(`\`${key}\`: expected ${check.expected}`)
  }
  for (const key of NEEDED) {
    if (!fields.has(key)) throw new TypeError(`\`${key}\`: expected ${CHECKS.get(key)?.expected ?? 'a value'}`)
  }
  return Object.fromEntries(fields) as PersonsAnswer
}

/** @throws TypeError */
export function checkName(by: unknown): void {
  if (!isName(by)) throw new TypeError('`by`: expected the name of who does this')
}
