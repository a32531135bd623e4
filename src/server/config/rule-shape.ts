// The rules of `policy.rules` and of rule files, as far as their form goes; whether a rule holds is the policy's to say.
// Every rule keeps the place where it stands.

import type {
  Answer,
  ArgumentGlob,
  ArgumentTest,
  RuleCallers,
  RuleExample,
  RuleOptions,
  RuleSubject,
} from '../../authorize/policy-options.ts'
import type { JsonObject } from '../../base/json-value.ts'
import { DECLARED_EFFECTS } from '../../describe/effect.ts'
import { PLACES } from '../../describe/place.ts'
import { type ConfigNode, describeNode, jsonOf } from './config-node.ts'
import { choice, flag, listOf, namedValues, number, refined, refuse, type Shape, text } from './shape.ts'
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
    group: optional(oneOrMore(text('the name of a group')), 'Names of `groups`: sets of tools.'),
    effect: optional(oneOrMore(effect), 'What the call may do.'),
    resource: optional(
      oneOrMore(text('a verb and a key, such as `read file:**/.env*`')),
      'What the call touches: `verb kind:glob`. File globs without a leading slash count from the workspace root.',
    ),
    program: optional(
      oneOrMore(text('the bare name of a program, or a glob')),
      'Programs that the call starts. Of a call that starts none the rule does not speak.',
    ),
    reads: optional(flag(), 'Whether the program, called like this, certainly only reads.'),
  }),
})

const callers: Shape<RuleCallers> = fields({
  agent: optional(oneOrMore(text()), 'The agent, or a glob over agents.'),
  user: optional(oneOrMore(text()), 'The user, or a glob over users.'),
  role: optional(oneOrMore(text()), 'A role that the caller has.'),
  tenant: optional(oneOrMore(text()), 'The tenant, or a glob over tenants.'),
  task: optional(oneOrMore(text()), 'The name of the task, or a glob.'),
  step: optional(oneOrMore(text()), 'The phase of the task, or a glob.'),
})

const argumentGlob: Shape<ArgumentGlob> = byForm({ text: text('a glob'), number: number(), flag: flag() })

const argumentTest: Shape<ArgumentTest> = fields({
  in: optional(listOf(argumentGlob), 'Equal to one of these.'),
  min: optional(number(), 'A number, this one or a larger one.'),
  max: optional(number(), 'A number, this one or a smaller one.'),
  prefix: optional(text(), 'A text that begins so.'),
})

const globsByArgument: Shape<NonNullable<RuleOptions['where']>> = refined(
  namedValues(
    text('the name of an argument'),
    byForm({ text: text('a glob'), number: number(), flag: flag(), list: listOf(argumentGlob), map: argumentTest }),
  ),
  (values) => Object.fromEntries(values),
)

const EXAMPLE: JsonObject = { type: 'object' }

/** The arguments of a call: whatever stands there. */
const exampleArguments: Shape<JsonObject> = {
  expected: 'the arguments of a call',
  schema: EXAMPLE,
  read(reading) {
    const { node } = reading
    if (node.kind !== 'map') return refuse(reading, `expected the arguments of a call, got ${describeNode(node)}`)
    return Object.fromEntries(node.entries.map((entry) => [entry.key, jsonOf(entry.node)]))
  },
}

const example: Shape<RuleExample> = byForm({ text: text('a resource such as `read file:.env`'), map: exampleArguments })

const examples = fields({
  match: optional(listOf(example, 100), 'The rule has to hold for each of these.'),
  miss: optional(listOf(example, 100), 'The rule must hold for none of these.'),
})

const place = choice(PLACES)

const narrowing = {
  for: optional(callers, 'Which callers the rule speaks of. All keys must hold.'),
  where: optional(
    globsByArgument,
    'Argument name to glob, to a list of globs, or to a test `{ in, min, max, prefix }`, over the canonical argument.',
  ),
  when: optional(
    text('a CEL expression'),
    'A CEL expression over `args`, `caller`, `tool` and `resources` that has to be true. One that cannot be evaluated counts as the stricter side.',
  ),
  examples: optional(examples, 'Checked whenever the rule is loaded.'),
  because: optional(text('a sentence'), 'Why the rule exists. Shown with each answer that it gives.'),
}

const placed = {
  place: optional(oneOrMore(place), 'Where calls that the rule holds for have to run; elsewhere they are denied.'),
}

const answer = (word: Answer) =>
  `${word}: what the rule speaks of, by tool name, glob, source, group, effect or resource.`

const rule: Shape<Omit<RuleOptions, 'at'>> = chosenByKey({
  allow: fields({ allow: needed(subject, answer('allow')), ...narrowing, ...placed }),
  ask: fields({ ask: needed(subject, answer('ask')), ...narrowing, ...placed }),
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
