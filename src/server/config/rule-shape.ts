// The rules of `policy.rules` and of rule files, as far as their form goes; whether a rule holds is the policy's to say.
// Every rule keeps the place where it stands.

import type { Answer, ArgumentGlob, RuleCallers, RuleOptions, RuleSubject } from '../../authorize/policy-options.ts'
import { DECLARED_EFFECTS } from '../../describe/effect.ts'
import type { ConfigNode } from './config-node.ts'
import { choice, flag, listOf, namedValues, number, refined, type Shape, text } from './shape.ts'
import { byForm, chosenByKey, fields, needed, optional } from './shape-object.ts'

/** A rule, what it was read from, and its key within its file. */
export type PlacedRule = { readonly rule: Omit<RuleOptions, 'at'>; readonly node: ConfigNode; readonly key: string }

const RULES_MAX = 2_000

const oneOrMore = <Value>(one: Shape<Value>): Shape<Value | readonly Value[]> =>
  byForm({ text: one, list: listOf(one) })

const effect = choice(DECLARED_EFFECTS)

const subject: Shape<RuleSubject> = byForm({
  text: text('a tool name or a glob over tool names'),
  list: listOf(text('a tool name or a glob over tool names')),
  map: fields({
    tool: optional(oneOrMore(text('a tool name or a glob')), 'Tool names, or globs over them.'),
    source: optional(oneOrMore(text('a source name or a glob')), 'Names of sources, or globs over them.'),
    effect: optional(oneOrMore(effect), 'What the call may do.'),
    resource: optional(
      oneOrMore(text('a verb and a key, such as `read file:**/.env*`')),
      'What the call touches: `verb kind:glob`. File globs without a leading slash count from the workspace root.',
    ),
  }),
})

const callers: Shape<RuleCallers> = fields({
  agent: optional(oneOrMore(text()), 'The agent, or a glob over agents.'),
  user: optional(oneOrMore(text()), 'The user, or a glob over users.'),
  role: optional(oneOrMore(text()), 'A role that the caller has.'),
  tenant: optional(oneOrMore(text()), 'The tenant, or a glob over tenants.'),
  task: optional(oneOrMore(text()), 'The name of the task, or a glob.'),
})

const argumentGlob: Shape<ArgumentGlob> = byForm({ text: text('a glob'), number: number(), flag: flag() })

const globsByArgument: Shape<NonNullable<RuleOptions['where']>> = refined(
  namedValues(
    text('the name of an argument'),
    byForm({ text: text('a glob'), number: number(), flag: flag(), list: listOf(argumentGlob) }),
  ),
  (values) => Object.fromEntries(values),
)

const narrowing = {
  for: optional(callers, 'Which callers the rule speaks of. All keys must hold.'),
  where: optional(globsByArgument, 'Argument name to glob, or a list of globs, over the canonical argument.'),
  because: optional(text('a sentence'), 'Why the rule exists. Shown with each answer that it gives.'),
}

const answer = (word: Answer) => `${word}: what the rule speaks of, by tool name, glob, source, effect or resource.`

const rule: Shape<Omit<RuleOptions, 'at'>> = chosenByKey({
  allow: fields({ allow: needed(subject, answer('allow')), ...narrowing }),
  ask: fields({ ask: needed(subject, answer('ask')), ...narrowing }),
  deny: fields({ deny: needed(subject, answer('deny')), ...narrowing }),
})

/** A list of at most 2,000 rules. */
export const rules: Shape<readonly PlacedRule[]> = listOf(
  refined(rule, (value, { node, key }): PlacedRule => ({ rule: value, node, key })),
  RULES_MAX,
)

/** A file of `policy.files`. */
export const ruleFile = fields({
  rules: needed(rules, 'Rules, judged together with all others: the strictest answer holds.'),
})
