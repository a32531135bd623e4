// The constraints that look at one value without going into it: its type, its literal values, its bounds, its text and
// its counts. All of a schema's form one check, because they fail with one sentence: "an integer from 1 to 14".

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../base/json-value.ts'
import type { Check, CheckRun } from './check-run.ts'
import { equalJson, hasEqualItems } from './equal-json.ts'
import { expectedText } from './expected-text.ts'
import { FORMATS, stepsPerCharacter } from './formats.ts'
import { isMultipleOf } from './is-multiple-of.ts'
import type { LintedSchema } from './lint-schema.ts'

type Holds = (value: JsonValue, run: CheckRun) => boolean

/** The check of a schema's scalar constraints; empty where it has none. */
export function scalarCheck(schema: JsonObject, linted: LintedSchema): readonly Check[] {
  const rules = [
    ...typeRule(schema.type),
    ...literalRules(schema),
    ...numberRules(schema),
    ...stringRules(schema, linted),
    ...countRules(schema),
  ]
  if (rules.length === 0) return []
  const isLiteral = schema.const !== undefined || schema.enum !== undefined
  const fail = (value: JsonValue, run: CheckRun): false => run.fail(() => expectedText(schema), value, isLiteral)
  const [first, second] = rules
  if (first !== undefined && second === undefined) return [(value, run) => first(value, run) || fail(value, run)]
  return [
    (value, run) => {
      for (const rule of rules) if (!rule(value, run)) return fail(value, run)
      return true
    },
  ]
}

const TYPE_RULES: ReadonlyMap<JsonValue, Holds> = new Map<JsonValue, Holds>([
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['integer', (value) => typeof value === 'number' && Number.isInteger(value)],
  ['boolean', (value) => typeof value === 'boolean'],
  ['null', (value) => value === null],
  ['array', isJsonArray],
  ['object', isJsonObject],
])

function typeRule(type: JsonValue | undefined): readonly Holds[] {
  if (type === undefined) return []
  const types = (isJsonArray(type) ? type : [type]).flatMap((name) => TYPE_RULES.get(name) ?? [])
  return types.length === 1 ? types : [(value, run) => types.some((holds) => holds(value, run))]
}

function literalRules(schema: JsonObject): readonly Holds[] {
  const rules: Holds[] = []
  const { const: literal, enum: literals } = schema
  if (literal !== undefined) rules.push(isOneOf([literal]))
  if (literals !== undefined && isJsonArray(literals)) rules.push(isOneOf(literals))
  return rules
}

function isOneOf(literals: readonly JsonValue[]): Holds {
  const scalars = new Set<JsonValue>(literals.filter((literal) => typeof literal !== 'object' || literal === null))
  const containers = literals.filter((literal) => typeof literal === 'object' && literal !== null)
  return (value, run) => {
    if (typeof value !== 'object' || value === null) return scalars.has(value)
    return containers.some((literal) => equalJson(value, literal, run))
  }
}

function numberRules({
  minimum,
  maximum,
  exclusiveMinimum,
  exclusiveMaximum,
  multipleOf,
}: JsonObject): readonly Holds[] {
  const rules: Holds[] = []
  const add = (bound: JsonValue | undefined, holds: (value: number, bound: number) => boolean): void => {
    if (typeof bound === 'number') rules.push((value) => typeof value !== 'number' || holds(value, bound))
  }
  add(minimum, (value, bound) => value >= bound)
  add(maximum, (value, bound) => value <= bound)
  add(exclusiveMinimum, (value, bound) => value > bound)
  add(exclusiveMaximum, (value, bound) => value < bound)
  add(multipleOf, isMultipleOf)
  return rules
}

function stringRules(
  { minLength, maxLength, pattern, format }: JsonObject,
  { patterns }: LintedSchema,
): readonly Holds[] {
  const rules: Holds[] = []
  if (typeof minLength === 'number')
    rules.push((value, run) => typeof value !== 'string' || isAtLeast(value, minLength, run))
  if (typeof maxLength === 'number')
    rules.push((value, run) => typeof value !== 'string' || !isAtLeast(value, maxLength + 1, run))
  const linear = typeof pattern === 'string' ? patterns.get(pattern) : undefined
  if (linear !== undefined) rules.push((value, run) => typeof value !== 'string' || run.matches(linear, value))
  const fits = typeof format === 'string' ? FORMATS.get(format) : undefined
  if (fits !== undefined && typeof format === 'string') {
    const steps = stepsPerCharacter(format)
    rules.push((value, run) => typeof value !== 'string' || (run.payForText(value, steps) && fits(value)))
  }
  return rules
}

/** In code points, as JSON Schema counts. Most texts can be judged by their UTF-16 units, of which a code point has one or two. */
function isAtLeast(text: string, length: number, run: CheckRun): boolean {
  if (text.length < length) return false
  if (text.length >= 2 * length) return true
  if (!run.payForText(text)) return false
  let pairs = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit >= 0xd800 && unit <= 0xdbff) pairs++
  }
  return text.length - pairs >= length
}

function countRules(schema: JsonObject): readonly Holds[] {
  const rules: Holds[] = []
  const add = (
    keyword: string,
    count: (value: JsonValue, run: CheckRun) => number | undefined,
    holds: (count: number, bound: number) => boolean,
  ): void => {
    const bound = schema[keyword]
    if (typeof bound !== 'number') return
    rules.push((value, run) => {
      const counted = count(value, run)
      return counted === undefined || holds(counted, bound)
    })
  }
  add('minItems', itemsOf, (count, bound) => count >= bound)
  add('maxItems', itemsOf, (count, bound) => count <= bound)
  add('minProperties', propertiesOf, (count, bound) => count >= bound)
  add('maxProperties', propertiesOf, (count, bound) => count <= bound)
  if (schema.uniqueItems === true) rules.push((value, run) => !isJsonArray(value) || !hasEqualItems(value, run))
  return rules
}

const itemsOf = (value: JsonValue): number | undefined => (isJsonArray(value) ? value.length : undefined)

function propertiesOf(value: JsonValue, run: CheckRun): number | undefined {
  if (!isJsonObject(value)) return undefined
  return run.namesOf(value)?.length
}
