// Why a call gets the answer that it gets: what each rule that speaks of its tool found. Decides nothing of its own.

import type { RuleReference } from '../describe/decision.ts'
import type { Answer } from './policy-options.ts'

/** What one rule found in one call. */
export type RuleFinding = {
  readonly rule: RuleReference
  readonly answer: Answer
  readonly holds: boolean
  /** True for the rule that answered. */
  readonly decides: boolean
  /** The first condition that does not hold, in words; absent where all do. */
  readonly failed?: string
  /** A condition that could not be judged, so that the stricter side counted. */
  readonly unsure?: string
  /** The resource that the rule holds for, where it does not speak of the call as a whole: `read file:/ws/.env`. */
  readonly concerning?: string
}
