// The rules that can speak of one tool, sorted out once, so that a decision does not cost more where there are more rules
// about other tools. Nothing here depends on a caller or on arguments.

import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import { DECLARED_EFFECTS, type DeclaredEffect, effectMost } from '../describe/effect.ts'
import type { Entry } from '../describe/entry.ts'
import type { Tool } from '../describe/tool.ts'
import { DecisionTexts } from './decision-text.ts'
import type { Answer } from './policy-options.ts'
import type { Defaults } from './read-rules.ts'
import { type Question, type Rule, ruleHolds, speaksOfCaller, speaksOfTool } from './rule.ts'

type PlannedRule = { readonly rule: Rule; readonly decision: Decision }

/** The rules of one answer. Those about resources are not looked at where a tool declares none. */
class RuleList {
  readonly #general: readonly PlannedRule[]
  readonly #touching: readonly PlannedRule[]

  constructor(planned: readonly PlannedRule[], answer: Answer) {
    this.#general = planned.filter(({ rule }) => rule.answer === answer && rule.resources === undefined)
    this.#touching = planned.filter(({ rule }) => rule.answer === answer && rule.resources !== undefined)
  }

  first(question: Question): Decision | undefined {
    for (const { rule, decision } of this.#general) if (ruleHolds(rule, question)) return decision
    if (this.#touching.length === 0 || question.touches.kind === 'unknown') return undefined
    for (const { rule, decision } of this.#touching) if (ruleHolds(rule, question)) return decision
    return undefined
  }

  /** All that hold. */
  all(question: Question): readonly Rule[] {
    return [...this.#general, ...this.#touching].map(({ rule }) => rule).filter((rule) => ruleHolds(rule, question))
  }
}

export class ToolPlan {
  readonly source: string
  readonly texts: DecisionTexts
  /** The tool reads only, and asks for each file below a folder. */
  readonly filtered: boolean
  readonly resolved: boolean
  readonly #deny: RuleList
  readonly #ask: RuleList
  readonly #allow: RuleList
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
    this.#deny = new RuleList(planned, 'deny')
    this.#ask = new RuleList(planned, 'ask')
    this.#allow = new RuleList(planned, 'allow')
    this.#gates = planned.filter(({ rule }) => isGate(rule, tool.effect))
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
      this.#deny.first(question) ??
      this.#ask.first(question) ??
      this.#allow.first(question) ??
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
    return this.#ask.all(question)
  }
}

/** Whether a rule denies a tool whatever its arguments are. An effect that depends on them cannot be known yet. */
const isGate = ({ answer, where, resources, effects }: Rule, declared: Tool['effect']): boolean =>
  answer === 'deny' &&
  where.length === 0 &&
  resources === undefined &&
  (effects === undefined || (typeof declared === 'string' && effects.includes(declared)))
