// The narrowest rule that answered questions would justify: what was the same each time stays exactly that, paths become the
// folder that holds them all, and where people approved anything else there is no rule. It proposes and applies nothing;
// whoever asks has to hold what is proposed against every answer, the declined ones above all.

import type { JsonObject, JsonValue } from '../base/json-value.ts'
import type { Caller } from '../describe/caller.ts'
import type { DeclaredEffect } from '../describe/effect.ts'
import type { ArgumentGlob, ArgumentTest, RuleCallers, RuleOptions } from './policy-options.ts'
import { isFreeText, type Narrowed, narrowArgument } from './suggest-argument.ts'

/** One call that a person approved. */
export type AnsweredCall = { readonly caller: Caller; readonly args: JsonObject; readonly effect: DeclaredEffect }

export type ProposedRule = {
  /** Without `miss` examples. */
  readonly rule: RuleOptions
  /** Neighbours that the rule should not hold for, the nearest first. */
  readonly neighbours: readonly JsonObject[]
  /** What of the calls the rule keeps to, in words. */
  readonly keeps: readonly string[]
}

const EXAMPLES_MAX = 2
const EXAMPLE_TEXT_MAX = 80

/** Calls of one tool that one rule might answer: of the same agent with the same roles, task and step, with the same arguments given. */
export function shapeOf({ caller, args, effect }: AnsweredCall): string {
  const { agent, roles, task, step } = caller
  return JSON.stringify([
    agent,
    roles.toSorted(),
    task?.name ?? null,
    step ?? null,
    effect,
    Object.keys(args).toSorted(),
  ])
}

/**
 * A rule for calls of one shape, or undefined where none would be narrow enough. `argumentNames`: all that the tool takes;
 * undefined where it may take any.
 */
export function proposeRule(
  tool: string,
  calls: readonly AnsweredCall[],
  argumentNames: readonly string[] | undefined,
): ProposedRule | undefined {
  const [first] = calls
  // INVARIANT suggest-narrow: what cannot be brought back, and of what nobody knows what it does, is asked about each time.
  if (first === undefined || first.effect === 'destructive' || first.effect === 'undeclared') return undefined
  if (first.effect === 'external' && calls.some(({ args }) => holdsFreeText(args))) return undefined
  const names = Object.keys(first.args)
  const narrowed = names.map((name) =>
    narrowArgument(
      name,
      calls.map(({ args }) => args[name] ?? null),
    ),
  )
  if (narrowed.some((one) => one === undefined)) return undefined
  const known = narrowed.flatMap((one) => one ?? [])
  const isOpen = known.some(({ kind }) => kind === 'free')
  // Free text is left open only where something else says what the call is about, and what it does can be changed back.
  if (isOpen && !(mayLeaveOpen(first.effect) && known.some(({ kind }) => kind !== 'free'))) return undefined
  return assemble(tool, calls, known, onlyThese(names, argumentNames))
}

const mayLeaveOpen = (effect: DeclaredEffect): boolean => effect === 'read' || effect === 'write'

const holdsFreeText = (value: JsonValue): boolean => {
  if (typeof value === 'string') return isFreeText(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsFreeText)
}

/** Expressions that hold where no argument is given besides these. `name`: one that could be. */
type OnlyThese = { readonly name: string | undefined; readonly conditions: readonly string[] }

/** A rule would otherwise hold for calls with more arguments than anybody approved. */
function onlyThese(names: readonly string[], all: readonly string[] | undefined): OnlyThese {
  const others = all?.filter((name) => !names.includes(name))
  if (others === undefined || !others.every((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)))
    return { name: 'neighbour', conditions: [`size(args) == ${names.length}`] }
  return { name: others[0], conditions: others.map((name) => `!has(args.${name})`) }
}

function assemble(
  tool: string,
  calls: readonly AnsweredCall[],
  narrowed: readonly Narrowed[],
  only: OnlyThese,
): ProposedRule {
  const where: Record<string, ArgumentGlob | ArgumentTest> = {}
  const when: string[] = []
  for (const one of narrowed) {
    if (one.kind === 'where') where[one.name] = one.test
    if (one.kind === 'when') when.push(one.expression)
  }
  when.push(...only.conditions)
  const examples = distinct(calls.map(({ args }) => shortened(args, narrowed))).slice(0, EXAMPLES_MAX)
  return {
    rule: {
      allow: tool,
      for: callersOf(calls),
      ...(Object.keys(where).length === 0 ? {} : { where }),
      ...(when.length === 0 ? {} : { when: when.join(' && ') }),
      examples: { match: examples },
    },
    neighbours: neighboursOf(examples[0] ?? {}, narrowed, only),
    keeps: narrowed.flatMap(({ keeps }) => keeps ?? []),
  }
}

/** As narrow as the calls: by name, never by glob. */
function callersOf(calls: readonly AnsweredCall[]): RuleCallers {
  const [first] = calls
  const named = (pick: (caller: Caller) => string | undefined): string | readonly string[] | undefined => {
    const names = [...new Set(calls.flatMap(({ caller }) => pick(caller) ?? []))].sort().map(escapeGlob)
    return names.length < 2 ? names[0] : names
  }
  const role = first?.caller.roles.toSorted()[0]
  const fields = {
    agent: named(({ agent }) => agent),
    user: named(({ user }) => user),
    tenant: named(({ tenant }) => tenant),
    role: role === undefined ? undefined : escapeGlob(role),
    task: named(({ task }) => task?.name),
    step: named(({ step }) => step),
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

const escapeGlob = (text: string): string => text.replace(/[*?[\]{}\\]/g, '\\$&')

/** Free text stands in an example as far as a person needs it. */
const shortened = (args: JsonObject, narrowed: readonly Narrowed[]): JsonObject =>
  Object.fromEntries(
    narrowed.map(({ name, kind }) => {
      const value = args[name] ?? null
      return [name, kind === 'free' && typeof value === 'string' ? value.slice(0, EXAMPLE_TEXT_MAX) : value]
    }),
  )

const distinct = (examples: readonly JsonObject[]): readonly JsonObject[] => [
  ...new Map(examples.map((example) => [JSON.stringify(example), example])).values(),
]

function neighboursOf(example: JsonObject, narrowed: readonly Narrowed[], { name }: OnlyThese): readonly JsonObject[] {
  const changed = narrowed.flatMap((one) => (one.beside ?? []).map((value) => ({ ...example, [one.name]: value })))
  return name === undefined ? changed : [...changed, { ...example, [name]: 'neighbour' }]
}
