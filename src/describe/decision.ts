// What the policy answers, and the reference to the rule that answered.

import type { DecisionSummary } from './outcome.ts'
import type { Place } from './place.ts'

/** Who gave a rule: strictness decides, never origin; but an `allow` of an untrusted project is refused when it is loaded. */
export const RULE_ORIGINS = ['system', 'user', 'project', 'session'] as const
export type RuleOrigin = (typeof RULE_ORIGINS)[number]

/** How far the answer of a person may reach: this one call, calls of this session, or calls of a pattern that is shown. */
export const REACHES = ['once', 'session', 'pattern'] as const
export type Reach = (typeof REACHES)[number]

/** Where a rule stands. `text` is the rule as one line, e.g. `deny read_file where path=**\/.env*`. */
export type RuleReference = {
  readonly text: string
  readonly file?: string
  readonly line?: number
  readonly because?: string
  /** Absent: `user`. */
  readonly origin?: RuleOrigin
}

/**
 * Who spoke: a rule, an effect default, the caller's task or step, the tool's own `admit`, the kill switch, the loop guard,
 * or a check that failed closed.
 */
export type DecidedBy = 'rule' | 'default' | 'task' | 'step' | 'tool' | 'stop' | 'loop' | 'closed'

export type Decision = {
  readonly kind: 'allow' | 'ask' | 'deny'
  readonly by: DecidedBy
  readonly rule?: RuleReference
  /** For the model and the operator: names no tool or rule that the caller cannot see. */
  readonly reason: string
  /** Of an `ask`: the widest reach that a person's answer may have. Absent: once. */
  readonly reach?: Reach
  /** Where the call has to run, by the rule that let it. Absent: wherever the tool runs. */
  readonly place?: readonly Place[]
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
