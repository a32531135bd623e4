// Says in words what a schema asks of one value: "an integer from 1 to 14", "one of `"a"`, `"b"`". It reads only the
// constraints on the value itself, and cuts what is long.

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../base/json-value.ts'
import { countOf, listValues, shorten } from './describe-value.ts'

const TYPE_NAMES: ReadonlyMap<JsonValue, string> = new Map<JsonValue, string>([
  ['string', 'a string'],
  ['number', 'a number'],
  ['integer', 'an integer'],
  ['boolean', 'true or false'],
  ['null', 'null'],
  ['array', 'an array'],
  ['object', 'an object'],
])

export function expectedText(schema: JsonValue): string {
  if (!isJsonObject(schema)) return schema === false ? 'nothing' : 'a value'
  const { const: literal, enum: literals } = schema
  if (literal !== undefined) return listValues([literal])
  if (literals !== undefined && isJsonArray(literals))
    return literals.length === 1 ? listValues(literals) : `one of ${listValues(literals)}`
  const types = typesOf(schema)
  const details = [numberText(schema), stringText(schema), arrayText(schema), objectText(schema)].filter(
    (text) => text !== '',
  )
  const named = types.length === 0 ? 'a value' : types.map((type) => TYPE_NAMES.get(type) ?? 'a value').join(' or ')
  return [named, ...details].join(' ')
}

function typesOf({ type }: JsonObject): readonly JsonValue[] {
  if (type === undefined) return []
  return isJsonArray(type) ? type : [type]
}

function numberText({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject): string {
  const parts: string[] = []
  if (minimum !== undefined && maximum !== undefined) parts.push(`from ${minimum} to ${maximum}`)
  else if (minimum !== undefined) parts.push(`of at least ${minimum}`)
  else if (maximum !== undefined) parts.push(`of at most ${maximum}`)
  if (exclusiveMinimum !== undefined) parts.push(`above ${exclusiveMinimum}`)
  if (exclusiveMaximum !== undefined) parts.push(`below ${exclusiveMaximum}`)
  if (multipleOf !== undefined) parts.push(`that is a multiple of ${multipleOf}`)
  return parts.join(' ')
}

function stringText({ minLength, maxLength, pattern, format }: JsonObject): string {
  const parts: string[] = []
  const length = rangeText(minLength, maxLength, 'character', 'characters')
  if (length !== '') parts.push(`of ${length}`)
  if (typeof format === 'string') parts.push(`in the format \`${shorten(format)}\``)
  if (typeof pattern === 'string') parts.push(`that matches \`${shorten(pattern)}\``)
  return parts.join(' ')
}

function arrayText({ minItems, maxItems, uniqueItems }: JsonObject): string {
  const count = rangeText(minItems, maxItems, 'item', 'items')
  return [count === '' ? '' : `of ${count}`, uniqueItems === true ? 'without equal items' : '']
    .filter((text) => text !== '')
    .join(' ')
}

function objectText({ minProperties, maxProperties }: JsonObject): string {
  const count = rangeText(minProperties, maxProperties, 'property', 'properties')
  return count === '' ? '' : `with ${count}`
}

function rangeText(least: JsonValue | undefined, most: JsonValue | undefined, one: string, many: string): string {
  if (typeof least === 'number' && typeof most === 'number')
    return least === most ? countOf(least, one, many) : `${least} to ${most} ${many}`
  if (typeof least === 'number') return `at least ${countOf(least, one, many)}`
  return typeof most === 'number' ? `at most ${countOf(most, one, many)}` : ''
}
