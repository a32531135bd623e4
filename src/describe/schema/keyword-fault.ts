// Says what the value of a keyword should have been, where it is malformed. This is the meta-schema of JSON Schema, keyword
// by keyword, so that a typing error in a constraint refuses the schema instead of dropping the constraint.

import { isJsonArray, isJsonObject, type JsonValue } from '../../base/json-value.ts'
import { type Dialect, isBefore2020, type KeywordShape, TYPES } from './schema-dialect.ts'

/** What was expected, or undefined where the value is well formed. Subschemas inside are not judged here. */
export function findKeywordFault(shape: KeywordShape, value: JsonValue, dialect: Dialect): string | undefined {
  const rule = RULES[shape]
  return rule.holds(value, dialect) ? undefined : rule.expected
}

type Rule = { readonly expected: string; holds(value: JsonValue, dialect: Dialect): boolean }

const rule = (expected: string, holds: Rule['holds']): Rule => ({ expected, holds })

const isText = (value: JsonValue): value is string => typeof value === 'string'
const isNumber = (value: JsonValue): value is number => typeof value === 'number'
const isSchema = (value: JsonValue): boolean => isJsonObject(value) || typeof value === 'boolean'
const areNames = (value: JsonValue): boolean =>
  isJsonArray(value) && value.every(isText) && new Set(value).size === value.length
const areSchemas = (value: JsonValue): boolean => isJsonArray(value) && value.length > 0
const isType = (value: JsonValue): boolean => isText(value) && TYPES.has(value)
const valuesOf = (value: JsonValue): readonly JsonValue[] => (isJsonObject(value) ? Object.values(value) : [])

const ANCHOR = /^[A-Za-z_][-A-Za-z0-9._]*$/

const RULES: Readonly<Record<KeywordShape, Rule>> = {
  schema: rule('a schema', isSchema),
  'schema-list': rule('a list of at least one schema', areSchemas),
  'schema-map': rule('an object of schemas', isJsonObject),
  'pattern-map': rule('an object of schemas', isJsonObject),
  items: rule('a schema', (value, dialect) => isSchema(value) || (isBefore2020(dialect) && areSchemas(value))),
  dependencies: rule(
    'an object of schemas and lists of names',
    (value) => isJsonObject(value) && valuesOf(value).every((below) => isSchema(below) || areNames(below)),
  ),
  reference: rule('a reference', isText),
  identifier: rule(
    'a URI without a fragment',
    (value, dialect) => isText(value) && (isBefore2020(dialect) || !/#./.test(value)),
  ),
  anchor: rule('a plain name', (value) => isText(value) && ANCHOR.test(value)),
  dialect: rule('the URI of a dialect', isText),
  types: rule('a JSON type or a list of different ones', (value) =>
    isJsonArray(value) ? value.length > 0 && value.every(isType) && areNames(value) : isType(value),
  ),
  enum: rule('a list of values', isJsonArray),
  pattern: rule('a regular expression', isText),
  names: rule('a list of different names', areNames),
  'name-lists': rule(
    'an object of lists of different names',
    (value) => isJsonObject(value) && valuesOf(value).every(areNames),
  ),
  count: rule('a whole number of at least 0', (value) => isNumber(value) && Number.isInteger(value) && value >= 0),
  number: rule('a number', isNumber),
  'positive-number': rule('a number above 0', (value) => isNumber(value) && value > 0),
  boolean: rule('true or false', (value) => typeof value === 'boolean'),
  text: rule('a string', isText),
  list: rule('a list', isJsonArray),
  object: rule('an object', isJsonObject),
  anything: rule('anything', () => true),
}
