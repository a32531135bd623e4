// All rules of a policy with what else decides, and a way to those that speak of one tool: a gate with a thousand rules
// about other tools pays for none of them.

import type { Place } from '../describe/place.ts'
import type { Defaults, Reaches } from './profiles.ts'
import { type Rule, ruleOf, speaksOfTool } from './rule.ts'
import { demandOf } from './rule-places.ts'
import type { Steps } from './task-steps.ts'

/** A name without wildcards. */
const PLAIN = /^[A-Za-z0-9_-]+$/

export type BookParts = {
  readonly rules: readonly Rule[]
  readonly defaults: Defaults
  readonly reach: Reaches
  readonly steps: Steps
  readonly version: string
}

export class RuleBook {
  readonly defaults: Defaults
  readonly reach: Reaches
  readonly steps: Steps
  readonly version: string
  /** In the order in which they are asked, which does not depend on the order in which they were given. */
  readonly rules: readonly Rule[]
  /** Those that can deny a tool whatever the arguments are. */
  readonly gates: readonly Rule[]
  readonly #byTool = new Map<string, Rule[]>()
  readonly #anyTool: Rule[] = []

  constructor({ rules, defaults, reach, steps, version }: BookParts) {
    this.defaults = defaults
    this.reach = reach
    this.steps = steps
    this.version = version
    this.rules = rules.toSorted(byMeaning)
    this.gates = this.rules.filter((rule) => mayGate(rule))
    for (const rule of this.rules) {
      const patterns = rule.tools?.globs.map(({ pattern }) => pattern)
      if (patterns?.every((pattern) => PLAIN.test(pattern)) !== true) this.#anyTool.push(rule)
      else for (const name of new Set(patterns)) this.#add(name, rule)
    }
  }

  /** The rules that speak of a tool, which can run in these `places`. One that wants it to run elsewhere denies it. */
  about(name: string, source: string, places: readonly Place[]): readonly Rule[] {
    const named = this.#byTool.get(name)
    const all = named === undefined ? this.#anyTool : [...this.#anyTool, ...named].toSorted(byMeaning)
    return all
      .filter((rule) => speaksOfTool(rule, name, source))
      .map((rule) =>
        rule.places === undefined || demandOf(rule.places).some((place) => places.includes(place))
          ? rule
          : ruleOf({ ...rule, answer: 'deny' }, { ...rule, displaced: true }),
      )
  }

  #add(name: string, rule: Rule): void {
    const rules = this.#byTool.get(name)
    if (rules === undefined) this.#byTool.set(name, [rule])
    else rules.push(rule)
  }
}

/** Whether a rule may deny some tool without looking at arguments. */
const mayGate = ({ answer, places, where, resources, programs, reads, when }: Rule): boolean =>
  (answer === 'deny' || places !== undefined) &&
  programs === undefined &&
  reads === undefined &&
  where.length === 0 &&
  resources === undefined &&
  when?.looksAtArguments !== true

const byMeaning = (one: Rule, other: Rule): number =>
  compare(one.canonical, other.canonical) || compare(at(one), at(other))

const at = ({ place: { file = '', line = 0 } }: Rule): string => `${file}:${String(line).padStart(8, '0')}`

const compare = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1)
