// The rules that can speak of one tool, sorted out once, so that a decision does not cost more where there are more rules
// about other tools. Nothing here depends on a caller or on arguments.

import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import { DECLARED_EFFECTS, type DeclaredEffect, effectMost } from '../describe/effect.ts'
import type { Entry } from '../describe/entry.ts'
import { DecisionTexts } from './decision-text.ts'
import type { Defaults } from './read-rules.ts'
import { type Question, type Rule, ruleHolds, speaksOfCaller, speaksOfTool } from './rule.ts'

export type PlannedRule = { readonly rule: Rule; readonly decision: Decision }

export class ToolPlan {
  readonly source: string
  readonly texts: DecisionTexts
  /** The tool reads only, and asks for each file below a folder. */
  readonly filtered: boolean
  readonly resolved: boolean
  readonly #deny: readonly PlannedRule[]
  readonly #ask: readonly PlannedRule[]
  readonly #allow: readonly PlannedRule[]
  /** Deny rules that depend on nothing but the caller. */
  readonly #gates: readonly PlannedRule[]
  readonly #silent: boolean
  readonly #defaults: ReadonlyMap<DeclaredEffect, Decision>

  constructor({ tool, source }: Entry, rules: readonly Rule[], defaults: Defaults, version: string) {
    this.source = source
    this.texts = new DecisionTexts(tool.name, version)
    this.filtered = effectMost(tool.effect) === 'read'
    this.resolved = tool.resolve !== undefined
    const planned = rules
      .filter((rule) => speaksOfTool(rule, tool.name, source))
      .map((rule) => ({ rule, decision: this.texts.byRule(rule) }))
    this.#silent = planned.length === 0
    this.#deny = planned.filter(({ rule }) => rule.answer === 'deny')
    this.#ask = planned.filter(({ rule }) => rule.answer === 'ask')
    this.#allow = planned.filter(({ rule }) => rule.answer === 'allow')
    this.#gates = this.#deny.filter(({ rule }) => {
      if (rule.where.length > 0 || rule.resources !== undefined) return false
      return rule.effects === undefined || (typeof tool.effect === 'string' && rule.effects.includes(tool.effect))
    })
    this.#defaults = new Map(DECLARED_EFFECTS.map((effect) => [effect, this.texts.byDefault(effect, defaults[effect])]))
  }

  /** The deny that holds whatever the arguments are. */
  gate(caller: Caller): Decision | undefined {
    for (const { rule, decision } of this.#gates) if (speaksOfCaller(rule, caller)) return decision
    return undefined
  }

  answer(question: Question): Decision {
    // INVARIANT deny-wins: every deny is asked before any ask, every ask before any allow, and a default only when no
    // rule holds, so that neither the order nor the origin of a rule can widen what another one narrows.
    return (
      firstHolding(this.#deny, question) ??
      firstHolding(this.#ask, question) ??
      firstHolding(this.#allow, question) ??
      // INVARIANT closed: an effect that no default knows is no permission.
      this.#defaults.get(question.effect) ??
      this.texts.closed()
    )
  }

  /** The answer to every call of this effect, where no rule speaks of the tool. */
  steady(effect: DeclaredEffect): Decision | undefined {
    return this.#silent ? this.#defaults.get(effect) : undefined
  }

  /** Every ask rule that holds. */
  asking(question: Question): readonly Rule[] {
    return this.#ask.filter(({ rule }) => ruleHolds(rule, question)).map(({ rule }) => rule)
  }
}

function firstHolding(planned: readonly PlannedRule[], question: Question): Decision | undefined {
  for (const { rule, decision } of planned) if (ruleHolds(rule, question)) return decision
  return undefined
}
