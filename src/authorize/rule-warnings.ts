// Rules that match no known tool, or that look for something no known tool has. A tool may appear later, so this is a
// warning and no error; a misspelled name shows here.

import type { Entry } from '../describe/entry.ts'
import { type FileGlob, type FileScope, segmentsOf } from './file-scope.ts'
import type { NameCondition } from './name-condition.ts'
import { type Rule, speaksOfTool } from './rule.ts'

export type KnownTool = {
  readonly tool: Pick<Entry['tool'], 'name'> & Partial<Pick<Entry['tool'], 'touches'>>
  readonly source: string
  readonly listing?: Entry['listing']
}

/** One line for each pattern or condition, or else each rule, that speaks of none of these tools. */
export function warningsOf(rules: readonly Rule[], known: readonly KnownTool[], scope: FileScope): readonly string[] {
  return rules.flatMap((rule) => {
    const meant = known.filter(({ tool, source }) => speaksOfTool(rule, tool.name, source))
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
    if (idle.length === 0 && meant.length === 0) idle.push('it matches no known tool')
    return [...idle, ...strangeArguments(rule, meant), ...strangePaths(rule, scope)].map(
      (warning) => `rule \`${rule.reference.text}\`${placeOf(rule)}: ${warning}`,
    )
  })
}

const idlePatterns = (condition: NameCondition | undefined, names: readonly string[]): readonly string[] =>
  (condition?.globs ?? []).filter((glob) => !names.some((name) => glob.matches(name))).map(({ pattern }) => pattern)

/** Conditions on arguments that none of the tools takes. A schema that names no arguments may take any. */
function strangeArguments({ answer, where }: Rule, meant: readonly KnownTool[]): readonly string[] {
  if (meant.length === 0) return []
  const taken = new Set<string>()
  for (const { tool, listing } of meant) {
    const schema = listing?.inputSchema
    const properties = schema?.properties
    if (typeof properties !== 'object' || properties === null) return []
    if (schema?.additionalProperties === true || typeof schema?.additionalProperties === 'object') return []
    for (const name of Object.keys(properties)) taken.add(name)
    // Where a rule narrows, the files that a call touches stand in for a `path` that the tool does not take.
    if (answer !== 'allow' && tool.touches !== undefined) taken.add('path')
  }
  return where.flatMap(({ name, way: [first = name] }) => {
    if (taken.has(name) || taken.has(first)) return []
    const close = [...taken].find((other) => isClose(other, first))
    const hint = close === undefined ? '' : `; did you mean \`${close}\`?`
    return [`no known tool that it speaks of takes an argument \`${first}\`${hint}`]
  })
}

/** Whether two names differ by letter case, one letter, or two letters that changed places. */
function isClose(one: string, other: string): boolean {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()]
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  const [restA, restB] = [a.slice(start), b.slice(start)]
  if (restA === restB || restA.slice(1) === restB || restA === restB.slice(1)) return true
  if (restA.slice(1) === restB.slice(1)) return a.length > 1
  return restA[0] === restB[1] && restA[1] === restB[0] && restA.slice(2) === restB.slice(2)
}

function strangePaths({ where, resources }: Rule, scope: FileScope): readonly string[] {
  const misspelt = (resources ?? []).filter(({ kind, isFile }) => !isFile && /^files?$/i.test(kind))
  const patterns = [
    ...(resources ?? []).filter(({ isFile }) => isFile),
    ...where.filter(({ name }) => name === 'path').flatMap((condition) => condition.patterns),
  ]
  const kinds = misspelt.map(({ text, kind }) => `\`${text}\` speaks of the kind \`${kind}\`; did you mean \`file\`?`)
  const paths = patterns.flatMap((pattern) => {
    const text = `\`${pattern.text}\``
    if (pattern.glob.pattern.startsWith('~/'))
      return [`${text} names no home folder: \`~\` is an ordinary name; write the absolute path`]
    return isElsewhere(pattern, scope)
      ? [`${text} lies in no root of the workspace; a root that is a link counts by where it leads`]
      : []
  })
  return [...kinds, ...paths]
}

const isElsewhere = ({ glob, absolute }: FileGlob, { roots }: FileScope): boolean =>
  absolute &&
  roots.length > 0 &&
  !roots.some((root) => glob.matches(root) || glob.concernsBelow(segmentsOf(root, true)))

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
