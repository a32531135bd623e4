// Rules that match no known tool. A tool may appear later, so this is a warning and no error; a misspelled name shows here.

import type { Entry } from '../describe/entry.ts'
import type { NameCondition } from './name-condition.ts'
import { type Rule, speaksOfTool } from './rule.ts'

export type KnownTool = { readonly tool: Pick<Entry['tool'], 'name'>; readonly source: string }

/** One line for each pattern, or else each rule, that speaks of none of these tools. */
export function warningsOf(rules: readonly Rule[], known: readonly KnownTool[]): readonly string[] {
  return rules.flatMap((rule) => {
    const idle = [
      ...idlePatterns(
        rule.tools,
        known.map(({ tool }) => tool.name),
      ).map((pattern) => `\`${pattern}\` matches no known tool`),
      ...idlePatterns(
        rule.sources,
        known.map(({ source }) => source),
      ).map((pattern) => `\`${pattern}\` matches no known source`),
      ...(isEmpty(rule) ? ['an empty list matches nothing, so the rule never holds'] : []),
    ]
    if (idle.length === 0 && !known.some(({ tool, source }) => speaksOfTool(rule, tool.name, source)))
      idle.push('it matches no known tool')
    return idle.map((warning) => `rule \`${rule.reference.text}\`${placeOf(rule)}: ${warning}`)
  })
}

const idlePatterns = (condition: NameCondition | undefined, names: readonly string[]): readonly string[] =>
  (condition?.globs ?? []).filter((glob) => !names.some((name) => glob.matches(name))).map(({ pattern }) => pattern)

const isEmpty = ({ tools, sources, effects, resources, callers, where }: Rule): boolean =>
  [
    tools?.globs,
    sources?.globs,
    effects,
    resources,
    ...callers.map(({ names }) => names.globs),
    ...where.map(({ patterns }) => patterns),
  ].some((list) => list?.length === 0)

const placeOf = ({ reference: { file, line } }: Rule): string =>
  file === undefined ? '' : ` (${[file, line].filter((part) => part !== undefined).join(':')})`
