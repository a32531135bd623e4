// Rules that match no known tool, or that look for something no known tool has. A tool may appear later, so this is a
// warning and no error; a misspelled name shows here.

import { isJsonObject, type JsonValue } from '../base/json-value.ts'
import type { Entry } from '../describe/entry.ts'
import { type FileGlob, type FileScope, segmentsOf } from './file-scope.ts'
import type { NameCondition } from './name-condition.ts'
import { type Rule, speaksOfPrograms, speaksOfTool } from './rule.ts'

export type KnownTool = {
  readonly tool: Pick<Entry['tool'], 'name'> & Partial<Pick<Entry['tool'], 'touches' | 'command'>>
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
      ...(rule.groups === undefined || known.some(({ tool }) => rule.groups?.tools.matches(tool.name))
        ? []
        : [`no known tool is in \`${rule.groups.names.join('`, `')}\``]),
      ...(isEmpty(rule) ? ['an empty list matches nothing, so the rule never holds'] : []),
    ]
    if (idle.length === 0 && meant.length === 0) idle.push('it matches no known tool')
    if (idle.length === 0) idle.push(...idlePrograms(rule, meant))
    return [...idle, ...strangePaths(rule, scope)].map(
      (warning) => `rule \`${rule.reference.text}\`${placeOf(rule)}: ${warning}`,
    )
  })
}

/** A rule about programs never holds for a tool that starts none. */
function idlePrograms(rule: Rule, meant: readonly KnownTool[]): readonly string[] {
  if (!speaksOfPrograms(rule)) return []
  const starting = meant.filter(({ tool }) => tool.command !== undefined)
  if (starting.length === 0) return ['no known tool that it speaks of starts programs']
  const known = starting.map(programsOf)
  const names = known.flatMap((programs) => programs ?? [])
  return known.includes(undefined)
    ? []
    : idlePatterns(rule.programs, names).map((pattern) => `\`${pattern}\` matches no program of a known tool`)
}

/** The programs that a tool's schema lists; undefined where it lists none. */
function programsOf({ listing }: KnownTool): readonly string[] | undefined {
  const program = own(own(listing?.inputSchema, 'properties'), 'program')
  const listed = own(program, 'enum')
  return Array.isArray(listed) ? listed.filter((name) => typeof name === 'string') : undefined
}

const own = (value: JsonValue | undefined, key: string): JsonValue | undefined =>
  value !== undefined && isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined

const idlePatterns = (condition: NameCondition | undefined, names: readonly string[]): readonly string[] =>
  (condition?.globs ?? []).filter((glob) => !names.some((name) => glob.matches(name))).map(({ pattern }) => pattern)

function strangePaths({ where, resources }: Rule, scope: FileScope): readonly string[] {
  const misspelt = (resources ?? []).filter(({ kind, isFile }) => !isFile && /^files?$/i.test(kind))
  const patterns = [
    ...(resources ?? []).filter(({ isFile }) => isFile),
    ...where.filter(({ name }) => name === 'path').flatMap(({ test }) => test.all.flat()),
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

const isEmpty = ({ tools, sources, groups, effects, resources, programs, callers, where }: Rule): boolean =>
  [
    tools?.globs,
    sources?.globs,
    groups?.tools.globs,
    effects,
    resources,
    programs?.globs,
    ...callers.map(({ names }) => names.globs),
    ...where.flatMap(({ test }) => test.all),
  ].some((list) => list?.length === 0)

const placeOf = ({ reference: { file, line } }: Rule): string =>
  file === undefined ? '' : ` (${[file, line].filter((part) => part !== undefined).join(':')})`
