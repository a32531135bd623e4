// The rules that can speak of one tool, sorted out once, so that a decision does not cost more where there are more rules
// about other tools. Nothing here depends on a caller or on arguments. What only a decision needs is made when the first
// one is asked for: a listing of a thousand tools must not pay for it.

import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import { type DeclaredEffect, EFFECTS, effectMost } from '../describe/effect.ts'
import type { Entry } from '../describe/entry.ts'
import type { Tool } from '../describe/tool.ts'
import { DecisionTexts } from './decision-text.ts'
import type { Defaults } from './read-rules.ts'
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
  /** The tool reads only, and asks for each file below a folder. */
  readonly filtered: boolean
  readonly resolved: boolean
  readonly #tool: Tool
  readonly #book: RuleBook
  readonly #gates: readonly Rule[]
  readonly #inputs: unknown
  readonly #decisions = new Map<Rule | DeclaredEffect, Decision>()
  #lists: RuleLists | undefined
  #texts: DecisionTexts | undefined
  #pathless: boolean | undefined

  constructor({ tool, source, listing }: Entry, book: RuleBook) {
    this.source = source
    this.filtered = tool.walks === true && effectMost(tool.effect) === 'read'
    this.resolved = tool.resolve !== undefined
    this.#inputs = listing?.inputSchema.properties
    this.#tool = tool
    this.#book = book
    this.#gates = book.gates.filter(
      (rule) => speaksOfTool(rule, tool.name, source) && speaksOfEffect(rule, tool.effect),
    )
  }

  get texts(): DecisionTexts {
    this.#texts ??= new DecisionTexts(this.#tool.name, this.#book.version)
    return this.#texts
  }

  /** The tool's schema is known and has no `path`. */
  get pathless(): boolean {
    this.#pathless ??= !mayTakePath(this.#inputs)
    return this.#pathless
  }

  /** The deny that holds whatever the arguments are: a rule's, or a default's that no rule could outdo. */
  gate(caller: Caller): Decision | undefined {
    for (const rule of this.#gates) if (speaksOfCaller(rule, caller)) return this.#byRule(rule)
    const { effect } = this.#tool
    if (!isDeniedByDefault(effect, this.#book.defaults)) return undefined
    const { ask, allow } = this.#sorted()
    const speaks = (rule: Rule) => speaksOfCaller(rule, caller) && mayBeOfEffect(rule, effect)
    return ask.some(speaks) || allow.some(speaks) ? undefined : this.#byDefault(effectMost(effect))
  }

  /** The strictest of what the call gets and of what a read of each thing that it reads would get. */
  answer(question: Doing): Decision {
    // INVARIANT deny-wins: what may not be read may not be had by moving, copying or changing it either.
    let strictest = this.#answerTo(question)
    for (const read of question.reads()) {
      if (strictest.kind === 'deny') break
      const decision = this.#answerTo(read)
      if (decision.kind === 'deny' || strictest.kind === 'allow')
        strictest = decision.kind === 'allow' ? strictest : decision
    }
    return strictest
  }

  /** The answer to every call of this effect, where no rule speaks of the tool. */
  steady(effect: DeclaredEffect): Decision | undefined {
    const { deny, ask, allow } = this.#sorted()
    if (deny.length + ask.length + allow.length > 0) return undefined
    return effect === 'read' || this.#book.defaults.read === 'allow' ? this.#byDefault(effect) : undefined
  }

  /** Every ask rule that holds for the call or for something that it reads. */
  asking(question: Doing): readonly Rule[] {
    return this.#sorted().ask.filter((rule) => asksAbout(rule, question))
  }

  #answerTo(question: Question): Decision {
    // INVARIANT deny-wins: every deny is asked before any ask, every ask before any allow, and a default only when no
    // rule holds, so that neither the order nor the origin of a rule can widen what another one narrows.
    const holds = (rule: Rule) => ruleHolds(rule, question)
    const { deny, ask, allow } = this.#sorted()
    const rule = deny.find(holds) ?? ask.find(holds) ?? allow.find(holds)
    return rule === undefined ? this.#byDefault(question.effect) : this.#byRule(rule)
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

/** A call, or a file that it asks about, with what it reads besides doing more than that. */
type Doing = Question & { reads(): readonly Question[] }

/** Whether a rule holds for a call or for something that it reads. */
export const asksAbout = (rule: Rule, question: Doing): boolean =>
  ruleHolds(rule, question) || question.reads().some((read) => ruleHolds(rule, read))

/** Whether a schema leaves room for an argument `path`; one that names no arguments does. */
const mayTakePath = (properties: unknown): boolean =>
  typeof properties !== 'object' || properties === null || Object.hasOwn(properties, 'path')

/** An effect that depends on the arguments cannot be known before they are. */
const speaksOfEffect = ({ effects }: Rule, declared: Tool['effect']): boolean =>
  effects === undefined || (typeof declared === 'string' && effects.includes(declared))

const mayBeOfEffect = (rule: Rule, declared: Tool['effect']): boolean =>
  typeof declared !== 'string' || speaksOfEffect(rule, declared)

/** Whether the defaults deny the tool whatever the arguments make of its effect. */
export function isDeniedByDefault(declared: Tool['effect'], defaults: Defaults): boolean {
  if (typeof declared === 'string') return defaults[declared] === 'deny'
  return EFFECTS.slice(0, EFFECTS.indexOf(declared.most) + 1).every((effect) => defaults[effect] === 'deny')
}

type RuleLists = Readonly<Record<'deny' | 'ask' | 'allow', readonly Rule[]>>

const sortRules = (rules: readonly Rule[]): RuleLists => ({
  deny: rules.filter(({ answer }) => answer === 'deny'),
  ask: rules.filter(({ answer }) => answer === 'ask'),
  allow: rules.filter(({ answer }) => answer === 'allow'),
})
