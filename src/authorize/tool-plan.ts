// The rules that can speak of one tool, sorted out once, so that a decision does not cost more where there are more rules
// about other tools. Nothing here depends on a caller or on arguments. What only a decision needs is made when the first
// one is asked for: a listing of a thousand tools must not pay for it.

import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import { type DeclaredEffect, effectMost } from '../describe/effect.ts'
import type { Entry } from '../describe/entry.ts'
import type { Tool } from '../describe/tool.ts'
import { DecisionTexts } from './decision-text.ts'
import type { Answer } from './policy-options.ts'
import type { Defaults } from './read-rules.ts'
import { ResourceIndex } from './resource-index.ts'
import { type Question, type Rule, ruleHolds, speaksOfCaller, speaksOfTool } from './rule.ts'

/** The rules of a policy. `gates`: those that deny without looking at arguments. */
export type RuleBook = {
  readonly rules: readonly Rule[]
  readonly gates: readonly Rule[]
  readonly defaults: Defaults
  readonly version: string
}

/** Whether a rule denies whatever the arguments are, to some tool with some effect. */
export const isGate = ({ answer, where, resources }: Rule): boolean =>
  answer === 'deny' && where.length === 0 && resources === undefined

export class ToolPlan {
  readonly source: string
  readonly texts: DecisionTexts
  /** The tool reads only, and asks for each file below a folder. */
  readonly filtered: boolean
  readonly resolved: boolean
  readonly #tool: Tool
  readonly #book: RuleBook
  readonly #gates: readonly Rule[]
  readonly #decisions = new Map<Rule | DeclaredEffect, Decision>()
  #lists: RuleLists | undefined

  constructor({ tool, source }: Entry, book: RuleBook) {
    this.source = source
    this.texts = new DecisionTexts(tool.name, book.version)
    this.filtered = effectMost(tool.effect) === 'read'
    this.resolved = tool.resolve !== undefined
    this.#tool = tool
    this.#book = book
    this.#gates = book.gates.filter(
      (rule) => speaksOfTool(rule, tool.name, source) && speaksOfEffect(rule, tool.effect),
    )
  }

  /** The deny that holds whatever the arguments are: a rule's, or a default's that no rule could outdo. */
  gate(caller: Caller): Decision | undefined {
    for (const rule of this.#gates) if (speaksOfCaller(rule, caller)) return this.#byRule(rule)
    const { effect } = this.#tool
    if (typeof effect !== 'string' || this.#book.defaults[effect] !== 'deny') return undefined
    const { ask, allow } = this.#sorted()
    return ask.isEmpty && allow.isEmpty ? this.#byDefault(effect) : undefined
  }

  answer(question: Question): Decision {
    // INVARIANT deny-wins: every deny is asked before any ask, every ask before any allow, and a default only when no
    // rule holds, so that neither the order nor the origin of a rule can widen what another one narrows.
    const { deny, ask, allow } = this.#sorted()
    const rule = deny.first(question) ?? ask.first(question) ?? allow.first(question)
    return rule === undefined ? this.#byDefault(question.effect) : this.#byRule(rule)
  }

  /** The answer to every call of this effect, where no rule speaks of the tool. */
  steady(effect: DeclaredEffect): Decision | undefined {
    return this.#sorted().silent ? this.#byDefault(effect) : undefined
  }

  /** Every ask rule that holds. */
  asking(question: Question): readonly Rule[] {
    return this.#sorted().ask.all(question)
  }

  #sorted(): RuleLists {
    this.#lists ??= sortRules(this.#book.rules.filter((rule) => speaksOfTool(rule, this.#tool.name, this.source)))
    return this.#lists
  }

  #byRule(rule: Rule): Decision {
    return this.#decisions.get(rule) ?? this.#keep(rule, this.texts.byRule(rule))
  }

  #byDefault(effect: DeclaredEffect): Decision {
    const known = this.#decisions.get(effect)
    if (known !== undefined) return known
    // INVARIANT closed: an effect that no default knows is no permission.
    if (!Object.hasOwn(this.#book.defaults, effect)) return this.texts.closed()
    return this.#keep(effect, this.texts.byDefault(effect, this.#book.defaults[effect]))
  }

  #keep(key: Rule | DeclaredEffect, decision: Decision): Decision {
    this.#decisions.set(key, decision)
    return decision
  }
}

/** An effect that depends on the arguments cannot be known before they are. */
const speaksOfEffect = ({ effects }: Rule, declared: Tool['effect']): boolean =>
  effects === undefined || (typeof declared === 'string' && effects.includes(declared))

type RuleLists = Readonly<Record<Answer, RuleList>> & { readonly silent: boolean }

const sortRules = (rules: readonly Rule[]): RuleLists => ({
  deny: new RuleList(rules, 'deny'),
  ask: new RuleList(rules, 'ask'),
  allow: new RuleList(rules, 'allow'),
  silent: rules.length === 0,
})

/** The rules of one answer. Those about resources are not looked at where a tool declares none. */
class RuleList {
  readonly #general: readonly Rule[]
  readonly #touching: ResourceIndex<Rule>

  constructor(rules: readonly Rule[], answer: Answer) {
    const mine = rules.filter((rule) => rule.answer === answer)
    this.#general = mine.filter(({ resources }) => resources === undefined)
    const touching = mine.filter(({ resources }) => resources !== undefined)
    this.#touching = new ResourceIndex(touching, ({ resources }) => resources ?? [])
  }

  get isEmpty(): boolean {
    return this.#general.length === 0 && this.#touching.size === 0
  }

  first(question: Question): Rule | undefined {
    for (const rule of this.#general) if (ruleHolds(rule, question)) return rule
    if (this.#touching.size === 0 || question.touches.kind === 'unknown') return undefined
    for (const rule of this.#touching.candidates(question)) if (ruleHolds(rule, question)) return rule
    return undefined
  }

  /** All that hold. */
  all(question: Question): readonly Rule[] {
    return [...this.#general, ...this.#touching.all()].filter((rule) => ruleHolds(rule, question))
  }
}
