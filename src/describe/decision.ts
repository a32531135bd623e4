// What the policy answers, and the reference to the rule that answered.

import type { DecisionSummary } from './outcome.ts'

/** Where a rule stands. `text` is the rule as one line, e.g. `deny read_file where path=**\/.env*`. */
export type RuleReference = {
  readonly text: string
  readonly file?: string
  readonly line?: number
  readonly because?: string
}

/** Who spoke: a rule, an effect default, the caller's task, the tool's own `admit`, or a check that failed closed. */
export type DecidedBy = 'rule' | 'default' | 'task' | 'tool' | 'closed'

export type Decision = {
  readonly kind: 'allow' | 'ask' | 'deny'
  readonly by: DecidedBy
  readonly rule?: RuleReference
  /** For the model and the operator: names no tool or rule that the caller cannot see. */
  readonly reason: string
  /** Digest of the whole policy that decided. */
  readonly policyVersion: string
}

const summaries = new WeakMap<Decision, DecisionSummary>()

/** What an outcome tells of a decision. Decisions are frozen, so each is summed up once. */
export function summaryOf(decision: Decision): DecisionSummary {
  const known = summaries.get(decision)
  if (known !== undefined) return known
  const { kind, rule, reason } = decision
  const summary: DecisionSummary = Object.freeze(
    rule === undefined ? { kind, reason } : { kind, rule: rule.text, reason },
  )
  summaries.set(decision, summary)
  return summary
}
