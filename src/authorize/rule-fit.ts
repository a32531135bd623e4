// Whether a rule fits a tool: an argument that it names has to be one that the tool can have, and an expression has to fit
// the types of its arguments. Told from the tool's schema alone; a schema that leaves room for more is no misfit.

import { didYouMean } from '../base/did-you-mean.ts'
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../base/json-value.ts'
import type { ConfigProblem } from '../describe/gate-config-error.ts'
import type { CelSchema } from './cel-language.ts'
import { type Rule, speaksOfTool } from './rule.ts'
import type { KnownTool } from './rule-warnings.ts'

/** `line`: the same with the rule and its place, for a tool that is held. */
export type Misfit = { readonly problem: ConfigProblem; readonly line: string }

/** A rule that names the tool itself, and something that the tool cannot have. */
export function misfitOf(rule: Rule, known: KnownTool): Misfit | undefined {
  const { tool, source } = known
  if (!namesLiterally(rule, tool.name) || !speaksOfTool(rule, tool.name, source)) return undefined
  const found = strangeArgument(rule, known) ?? strangeType(rule, known)
  return found === undefined ? undefined : misfit(rule, found)
}

export type Strange = { readonly key: 'where' | 'when'; readonly name: string | undefined; readonly message: string }

export function misfit({ reference: { text, file, line }, place }: Rule, { key, name, message }: Strange): Misfit {
  const at = [file, line].filter((part) => part !== undefined).join(':')
  return {
    problem: { ...place, key: `${place.key ?? ''}.${key}${name === undefined ? '' : `.${name}`}`, message },
    line: `rule \`${text}\`${at === '' ? '' : ` (${at})`}: ${message}`,
  }
}

const namesLiterally = ({ tools }: Rule, name: string): boolean =>
  tools?.globs.some(({ pattern }) => pattern === name) === true

/** The first argument that the rule names and the tool cannot have. */
export function strangeArgument(rule: Rule, { tool, listing }: KnownTool): Strange | undefined {
  const schema = listing?.inputSchema
  if (schema === undefined) return undefined
  const extra = rule.answer !== 'allow' && tool.touches !== undefined ? ['path'] : []
  for (const { key, name, way } of waysOf(rule)) {
    // Where a rule narrows, the files that a call touches stand in for a `path` that the tool does not take.
    if (key === 'where' && extra.includes(way[0] ?? '')) continue
    if (key === 'where' && way.length > 1 && mayHave(schema, [way.join('.')]) === undefined) continue
    const missing = mayHave(schema, way)
    if (missing === undefined) continue
    const meant = didYouMean(missing.step, [...missing.known, ...(missing.top ? extra : [])])
    const hint = meant === undefined ? '' : `; did you mean \`${meant}\`?`
    const takes = missing.known.length === 0 ? 'none' : missing.known.slice(0, 20).join(', ')
    return { key, name, message: `\`${tool.name}\` takes no argument \`${missing.name}\`${hint} (it takes ${takes})` }
  }
  return undefined
}

type Way = { readonly key: 'where' | 'when'; readonly name: string | undefined; readonly way: readonly string[] }

const waysOf = ({ where, when }: Rule): readonly Way[] => [
  ...where.map(({ name, way }) => ({ key: 'where', name, way }) as const),
  ...(when?.reads.ways ?? []).map((way) => ({ key: 'when', name: undefined, way }) as const),
]

type Missing = {
  readonly step: string
  /** The way to it. */
  readonly name: string
  readonly known: readonly string[]
  readonly top: boolean
}

/** Undefined where an argument that lies this way can be there, as far as the schema tells. */
function mayHave(schema: JsonObject, way: readonly string[]): Missing | undefined {
  let at: JsonValue | undefined = schema
  for (const [index, step] of way.entries()) {
    while (isJsonObject(at) && isJsonObject(at.items) && at.properties === undefined) at = at.items
    if (!isJsonObject(at)) return undefined
    const known = closedProperties(at)
    if (known === undefined) return undefined
    if (!Object.hasOwn(known, step))
      return { step, name: way.slice(0, index + 1).join('.'), known: Object.keys(known), top: index === 0 }
    at = known[step]
  }
  return undefined
}

const OPENERS = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas', 'not']

/** All members that a value can have; undefined where it can have others. */
function closedProperties(schema: JsonObject): JsonObject | undefined {
  const { properties, additionalProperties: more, patternProperties } = schema
  if (patternProperties !== undefined || !isJsonObject(properties ?? null))
    return more === false && properties === undefined && patternProperties === undefined ? {} : undefined
  if (more === false && isJsonObject(properties)) return properties
  // An author who names arguments names all of them; whoever takes any says so, or names none.
  if (more !== undefined || !isJsonObject(properties) || Object.keys(properties).length === 0) return undefined
  return OPENERS.some((name) => schema[name] !== undefined) ? undefined : properties
}

/** An expression that could never be evaluated for the types of this tool's arguments. */
function strangeType({ when }: Rule, { tool, listing }: KnownTool): Strange | undefined {
  const schema = listing?.inputSchema
  if (when === undefined || when.reads.ways.length === 0 || schema === undefined) return undefined
  const known = closedProperties(schema)
  if (known === undefined) return undefined
  const types: Record<string, string> = {}
  for (const [name, property] of Object.entries(known)) if (/^[A-Za-z_]\w*$/.test(name)) types[name] = typeOf(property)
  const reason = when.misfit(types satisfies CelSchema)
  return reason === undefined
    ? undefined
    : { key: 'when', name: undefined, message: `it does not fit the arguments of \`${tool.name}\`: ${reason}` }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'bool',
  integer: 'int',
  array: 'list<dyn>',
  object: 'map<string, dyn>',
}

function typeOf(property: JsonValue): string {
  if (!isJsonObject(property) || typeof property.type !== 'string') return 'dyn'
  if (isJsonArray(property.enum ?? null) || property.const !== undefined || property.nullable === true) return 'dyn'
  return Object.hasOwn(TYPES, property.type) ? (TYPES[property.type] ?? 'dyn') : 'dyn'
}
