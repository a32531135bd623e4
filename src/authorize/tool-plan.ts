// The rules that can speak of one tool, sorted out once, so that a decision does not cost more where there are more rules
// about other tools. Nothing here depends on a caller or on arguments. What only a decision needs is made when the first
// one is asked for: a listing of a thousand tools must not pay for it.

import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import { type DeclaredEffect, EFFECTS, effectMost } from '../describe/effect.ts'
import type { Entry } from '../describe/entry.ts'
import type { Place } from '../describe/place.ts'
import type { Tool } from '../describe/tool.ts'
import { DecisionTexts } from './decision-text.ts'
import type { Defaults } from './profiles.ts'
import {
  looksAtCall,
  type Question,
  type Rule,
  ruleHolds,
  sideOf,
  speaksOfCaller,
  speaksOfPrograms,
  whenHolds,
} from './rule.ts'
import type { RuleBook } from './rule-book.ts'
import { RuleList } from './rule-list.ts'
import { demandOf, isAll, placesOf } from './rule-places.ts'

export class ToolPlan {
  readonly source: string
  /** As expressions see it. */
  readonly named: { readonly name: string; readonly source: string; readonly version: string }
  /** The tool asks for each file below a folder that it reads, and either only reads or runs where the others can be hidden. */
  readonly filtersReads: boolean
  readonly resolved: boolean
  readonly #tool: Tool
  readonly #book: RuleBook
  readonly #inputs: unknown
  readonly #decisions = new Map<DeclaredEffect, Map<Rule | 'default', Decision>>()
  #rules: readonly Rule[] | undefined
  #gates: readonly Rule[] | undefined
  #lists: RuleLists | undefined
  #texts: DecisionTexts | undefined
  #pathless: boolean | undefined
  #places: readonly Place[] | undefined
  #demands: readonly Demand[] | undefined

  constructor({ tool, source, listing }: Entry, book: RuleBook) {
    this.source = source
    this.named = { name: tool.name, source, version: tool.version }
    this.filtersReads = tool.walks === true && (effectMost(tool.effect) === 'read' || tool.place === 'child')
    this.resolved = tool.resolve !== undefined
    this.#inputs = listing?.inputSchema.properties
    this.#tool = tool
    this.#book = book
  }

  get texts(): DecisionTexts {
    this.#texts ??= new DecisionTexts(this.#tool.name, this.#book)
    return this.#texts
  }

  /** The tool's schema is known and has no `path`. */
  get pathless(): boolean {
    this.#pathless ??= !mayTakePath(this.#inputs)
    return this.#pathless
  }

  /** Every rule that speaks of the tool, in the order in which they are asked. */
  get rules(): readonly Rule[] {
    this.#rules ??= this.#book.about(this.#tool.name, this.source, this.#runsIn)
    return this.#rules
  }

  /** Rules that deny whatever the arguments are. */
  get gates(): readonly Rule[] {
    this.#gates ??= this.rules.filter((rule) => rule.answer === 'deny' && this.isSteady(rule))
    return this.#gates
  }

  /** Whether a rule holds or not whatever the arguments are, as far as the tool goes. */
  isSteady(rule: Rule): boolean {
    const { effect } = this.#tool
    const known = typeof effect === 'string'
    if (rule.effects !== undefined && !(known && rule.effects.includes(effect))) return false
    return !looksAtCall(rule, known)
  }

  /** Whether a steady rule holds for a caller. */
  holdsFor(rule: Rule, caller: Caller): boolean {
    if (!speaksOfCaller(rule, caller)) return false
    return rule.when === undefined || whenHolds(rule.when, sideOf(rule), this.#bare(caller))
  }

  /** The deny that holds whatever the arguments are: a rule's, or a default's that no rule could outdo. */
  gate(caller: Caller): Decision | undefined {
    const { effect } = this.#tool
    const most = effectMost(effect)
    for (const rule of this.gates) if (this.holdsFor(rule, caller)) return this.byRule(rule, most)
    if (!isDeniedByDefault(effect, this.#book.defaults)) return undefined
    const speaks = (rule: Rule) => rule.answer !== 'deny' && this.mayHold(rule, caller)
    return this.rules.some(speaks) ? undefined : this.byDefault(most)
  }

  /** Whether some call of the caller could make the rule hold. */
  mayHold(rule: Rule, caller: Caller): boolean {
    if (this.isSteady(rule)) return this.holdsFor(rule, caller)
    if (!speaksOfCaller(rule, caller) || !mayBeOfEffect(rule, this.#tool.effect)) return false
    if (speaksOfPrograms(rule) && (this.#tool.command === undefined || rule.programs?.globs.length === 0)) return false
    if (rule.resources?.length === 0 || rule.where.some(({ test }) => test.all.some(isEmpty))) return false
    return rule.when === undefined || rule.when.looksAtCall || whenHolds(rule.when, sideOf(rule), this.#bare(caller))
  }

  /** The strictest answer, and where the call then has to run. */
  answer(question: Doing): Decision {
    const decision = this.#strictest(question)
    return decision.kind === 'deny' || this.#placing.length === 0 ? decision : this.#inPlace(decision, question)
  }

  /** The strictest of what the call gets and of what a read of each thing that it reads would get. */
  #strictest(question: Doing): Decision {
    // INVARIANT deny-wins: what may not be read may not be had by moving, copying or changing it either.
    const { effect } = question
    let strictest = this.#answerTo(question, effect)
    for (const read of question.reads()) {
      if (strictest.kind === 'deny') break
      const decision = this.#answerTo(read, effect)
      if (decision.kind === 'deny' || strictest.kind === 'allow')
        strictest = decision.kind === 'allow' ? strictest : decision
    }
    return strictest
  }

  /** The answer to every call of this effect, where no rule speaks of the tool. */
  steady(effect: DeclaredEffect): Decision | undefined {
    if (this.rules.length > 0) return undefined
    return effect === 'read' || this.#book.defaults.read === 'allow' ? this.byDefault(effect) : undefined
  }

  /** Everything that asks about the call or about something that it reads: ask rules, and effects whose default asks. */
  asking(question: Doing): readonly (Rule | DeclaredEffect)[] {
    return [question, ...question.reads()].flatMap((one): readonly (Rule | DeclaredEffect)[] => {
      const { kind, by } = this.#answerTo(one, question.effect)
      if (kind !== 'ask') return []
      return by === 'default' ? [one.effect] : this.#sorted().ask.rules.filter((rule) => ruleHolds(rule, one))
    })
  }

  byRule(rule: Rule, effect: DeclaredEffect): Decision {
    const known = this.#decisions.get(effect)?.get(rule)
    return known ?? this.#keep(effect, rule, this.texts.byRule(rule, effect))
  }

  /** `of`: the effect of the whole call, where the default is asked about something that it reads. */
  byDefault(effect: DeclaredEffect, of: DeclaredEffect = effect): Decision {
    const known = effect === of ? this.#decisions.get(effect)?.get('default') : undefined
    if (known !== undefined) return known
    // INVARIANT closed: an effect that no default knows is no permission.
    if (!Object.hasOwn(this.#book.defaults, effect)) return this.texts.closed()
    const decision = this.texts.byDefault(effect, this.#book.defaults[effect], of)
    return effect === of ? this.#keep(effect, 'default', decision) : decision
  }

  #answerTo(question: Question, of: DeclaredEffect): Decision {
    // INVARIANT deny-wins: every deny is asked before any ask, every ask before any allow, and a default only when no
    // rule holds, so that neither the order nor the origin of a rule can widen what another one narrows.
    const holds = (rule: Rule) => ruleHolds(rule, question)
    const { deny, ask, allow } = this.#sorted()
    const rule = deny.find(question, holds) ?? ask.find(question, holds) ?? allow.find(question, holds)
    return rule === undefined ? this.byDefault(question.effect, of) : this.byRule(rule, of)
  }

  /** The places of every allow and ask that holds, and not only of the one that answers, bind the call. */
  #inPlace(decision: Decision, question: Doing): Decision {
    const asked = [question, ...question.reads()]
    let left = this.#runsIn
    for (const { rule, places } of this.#placing) {
      if (!asked.some((one) => ruleHolds(rule, one))) continue
      left = left.filter((place) => places.includes(place))
    }
    return isAll(left, this.#runsIn) ? decision : Object.freeze({ ...decision, place: Object.freeze(left) })
  }

  /** Where the tool can run. */
  get #runsIn(): readonly Place[] {
    this.#places ??= placesOf(this.#tool)
    return this.#places
  }

  /** The rules that leave fewer places than the tool could run in. */
  get #placing(): readonly Demand[] {
    this.#demands ??= this.rules.flatMap((rule) => {
      if (rule.places === undefined || rule.displaced) return []
      const places = demandOf(rule.places)
      return isAll(places, this.#runsIn) ? [] : [{ rule, places }]
    })
    return this.#demands
  }

  #sorted(): RuleLists {
    const of = (wanted: Rule['answer']) => new RuleList(this.rules.filter(({ answer }) => answer === wanted))
    this.#lists ??= { deny: of('deny'), ask: of('ask'), allow: of('allow') }
    return this.#lists
  }

  /** What a condition is asked about before there are arguments; it is one that does not look at any. */
  #bare(caller: Caller) {
    const effect = effectMost(this.#tool.effect)
    return {
      args: {},
      caller,
      effect,
      tool: this.named,
      resolved: true,
      pathForCel: undefined,
      resourceTexts: () => undefined,
    }
  }

  #keep(effect: DeclaredEffect, key: Rule | 'default', decision: Decision): Decision {
    const decisions = this.#decisions.get(effect) ?? new Map<Rule | 'default', Decision>()
    this.#decisions.set(effect, decisions.set(key, decision))
    return decision
  }
}

type Demand = { readonly rule: Rule; readonly places: readonly Place[] }

/** A call, or a file that it asks about, with what it reads besides doing more than that. */
type Doing = Question & { reads(): readonly Question[] }

/** Whether a schema leaves room for an argument `path`; one that names no arguments does. */
const mayTakePath = (properties: unknown): boolean =>
  typeof properties !== 'object' || properties === null || Object.hasOwn(properties, 'path')

const isEmpty = (patterns: readonly unknown[]): boolean => patterns.length === 0

/** An effect that depends on the arguments cannot be known before they are. */
function mayBeOfEffect({ effects }: Rule, declared: Tool['effect']): boolean {
  if (effects === undefined) return true
  if (typeof declared === 'string') return effects.includes(declared)
  return effectsUpTo(declared.most).some((effect) => effects.includes(effect))
}

export const effectsUpTo = (most: (typeof EFFECTS)[number]): readonly DeclaredEffect[] =>
  EFFECTS.slice(0, EFFECTS.indexOf(most) + 1)

/** Whether the defaults deny the tool whatever the arguments make of its effect. */
export function isDeniedByDefault(declared: Tool['effect'], defaults: Defaults): boolean {
  if (typeof declared === 'string') return defaults[declared] === 'deny'
  return effectsUpTo(declared.most).every((effect) => defaults[effect] === 'deny')
}

type RuleLists = Readonly<Record<'deny' | 'ask' | 'allow', RuleList>>
