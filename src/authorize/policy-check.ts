// What shows only once the tools are known: rules that cannot do what they say. A rule that names a tool and something that
// the tool cannot have is an error; so is one about many tools where none of those that there are can have it.

import type { RuleReference } from '../describe/decision.ts'
import type { ConfigProblem } from '../describe/gate-config-error.ts'
import { type Rule, speaksOfPrograms, speaksOfTool } from './rule.ts'
import { misfit, misfitOf, strangeArgument } from './rule-fit.ts'
import type { KnownTool } from './rule-warnings.ts'

/** A policy with a problem does not hold. */
export type PolicyCheck = { readonly problems: readonly ConfigProblem[]; readonly warnings: readonly string[] }

/** Which of the known tools a rule speaks of now, by name; none is worth a warning. */
export type RuleMatches = { readonly rule: RuleReference; readonly tools: readonly string[] }

export const checkRules = (rules: readonly Rule[], known: readonly KnownTool[]): readonly ConfigProblem[] =>
  rules.flatMap((rule) => {
    const meant = known.filter(({ tool, source }) => speaksOfTool(rule, tool.name, source))
    const direct = meant.flatMap((tool) => misfitOf(rule, tool)?.problem ?? [])
    if (direct.length > 0) return direct
    const strange = meant.map((tool) => strangeArgument(rule, tool))
    const [first] = strange
    if (first === undefined || strange.includes(undefined)) return []
    return [misfit(rule, first).problem]
  })

export const matchesOf = (rules: readonly Rule[], known: readonly KnownTool[]): readonly RuleMatches[] =>
  rules.map((rule) => ({
    rule: rule.reference,
    // A rule about resources never holds for a tool that does not say what it touches, nor one about programs for one that
    // starts none.
    tools: known
      .filter(({ tool }) => rule.resources === undefined || tool.touches !== undefined)
      .filter(({ tool }) => !speaksOfPrograms(rule) || tool.command !== undefined)
      .filter(({ tool, source }) => speaksOfTool(rule, tool.name, source))
      .map(({ tool }) => tool.name),
  }))
