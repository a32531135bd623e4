// What a check costs is paid for in steps, whatever keyword makes the work. Method: schemas that ask one large value many
// times; each has to end as `oversized`, and small values of the same schemas still pass. Steps are counted, not time.

import { describe, expect, test } from 'vitest'
import { type JsonObject, type JsonValue, takeJson } from '../../base/json-value.ts'
import { CheckRun } from './check-run.ts'
import { compileCheck } from './compile-check.ts'
import { compileSchema } from './compile-schema.ts'
import { lintSchema, TRUSTED_LIMITS } from './lint-schema.ts'

const BOUNDS = { bytesMax: 1_048_576, depthMax: 64, keysMax: 10_000 }

function kindOf(schema: JsonObject, value: JsonValue): string {
  const compiled = compileCheck(schema, { trusted: false })
  if (compiled.kind === 'bad') throw new Error(compiled.reason)
  const taken = takeJson(value, BOUNDS)
  if (taken.kind === 'refused') throw new Error(`the test needs arguments: ${taken.expected}`)
  const result = compiled.check(taken.value, taken.text)
  if ('then' in result) throw new Error('a plain schema checks synchronously')
  return result.kind === 'ok' ? 'ok' : result.code
}

function stepsOf(schema: JsonObject, value: JsonValue): number {
  const linted = lintSchema(schema, TRUSTED_LIMITS, false)
  if (linted.kind === 'bad') throw new Error(linted.reason)
  const run = new CheckRun(1_000_000_000)
  compileSchema(linted)(value, run)
  return 1_000_000_000 - run.stepsLeft
}

const nested = (depth: number, leaf: JsonValue): JsonValue =>
  depth === 0 ? leaf : { anyOf: [nested(depth - 1, leaf)] }
const many = (count: number, schema: JsonValue): JsonValue[] => Array<JsonValue>(count).fill(schema)
const members = (count: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]))
const a = (schema: JsonObject): JsonObject => ({ type: 'object', properties: { a: schema } })
const ones = (count: number): JsonObject => ({ a: Array<number>(count).fill(1) })
const literals = (count: number): JsonObject =>
  Object.fromEntries(Object.keys(members(count)).map((name) => [name, { const: 1 }]))
/** One definition asked by so many branches of which none fits: the references are what a small schema can be full of. */
const asked = (count: number, definition: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...more,
  anyOf: many(count, { $ref: '#/$defs/d' }),
  $defs: { d: { ...definition, not: true } },
})

describe('closed: work that a schema repeats over a large value ends as oversized', () => {
  const names = Object.keys(members(9_000))
  test.each<[string, JsonObject, JsonObject]>([
    [
      'contains below many forms',
      a({ anyOf: many(60, nested(25, { contains: true })), unevaluatedItems: false }),
      ones(40_000),
    ],
    ['contains that finds nothing', a({ anyOf: many(300, { contains: false }) }), ones(100_000)],
    [
      'all properties judged, at each of many forms',
      { ...a({ anyOf: many(60, nested(25, { additionalProperties: true })), unevaluatedProperties: false }) },
      { a: members(9_999) },
    ],
    [
      'accounts inside accounts',
      a({
        anyOf: many(500, { additionalProperties: true, unevaluatedProperties: false }),
        unevaluatedProperties: false,
      }),
      { a: members(9_999) },
    ],
    [
      'items judged by a list of forms each',
      a({ items: { anyOf: many(1_000, true), unevaluatedProperties: false } }),
      ones(500_000),
    ],
    ['items of any kind', a({ allOf: many(1_500, { items: true }) }), ones(200_000)],
    ['names', asked(600, { propertyNames: false }), members(9_999)],
    ['counts of properties', asked(600, { minProperties: 10_001 }), members(9_999)],
    ['required names', asked(600, { required: names.slice(0, 4_000) }), members(9_999)],
    ['literals that are objects', { enum: many(4_900, {}) }, members(9_999)],
    [
      'literal members that are not there',
      { ...a({ items: { $ref: '#/$defs/d' } }), $defs: { d: { properties: literals(400) } } },
      { a: many(300_000, {}) },
    ],
  ])('%s', (_name, schema, value) => {
    expect(kindOf(schema, value)).toBe('oversized')
  })
})

describe('what a check costs grows with the value, not with what asks', () => {
  test('contains and boolean subschemas pay for each item', () => {
    const value = Array<number>(1_000).fill(1)
    for (const schema of [{ contains: false }, { contains: true, minContains: 1_000 }, { items: true }])
      expect(stepsOf(schema, value), JSON.stringify(schema)).toBeGreaterThanOrEqual(1_000)
  })

  test('forms inside forms share one account: the depth adds a few steps, not the size of the value', () => {
    const closed = (depth: number) => ({
      ...(nested(depth, { additionalProperties: true }) as JsonObject),
      unevaluatedProperties: false,
    })
    const value = members(1_000)
    expect(stepsOf(closed(30), value) - stepsOf(closed(1), value)).toBeLessThan(100)
  })

  test('what a form judged that did not fit is taken back', () => {
    const schema = {
      anyOf: [
        { properties: { x: { type: 'number' }, y: true }, required: ['z'] },
        { properties: { x: { type: 'number' } } },
      ],
      unevaluatedProperties: false,
    }
    expect(kindOf(schema, { x: 1 })).toBe('ok')
    expect(kindOf(schema, { x: 1, y: 2 })).toBe('invalid_args')
    expect(kindOf(schema, { x: 1, y: 2, z: 3 })).toBe('invalid_args')
    expect(kindOf({ ...schema, properties: { z: true } }, { x: 1, y: 2, z: 3 })).toBe('ok')
  })

  test('ordinary schemas that ask for the rest pass, on values of many members and items', () => {
    const person = { properties: { name: { type: 'string' } }, required: ['name'] }
    const open = { ...person, additionalProperties: { type: 'integer' }, unevaluatedProperties: false }
    expect(kindOf({ allOf: [open], unevaluatedProperties: false }, { name: 'a', ...members(9_000) })).toBe('ok')
    expect(kindOf({ ...person, unevaluatedProperties: false }, { name: 'a', ...members(9_000) })).toBe('invalid_args')
    const numbers = {
      type: 'object',
      anyOf: [{ additionalProperties: { type: 'integer' } }, { additionalProperties: { type: 'string' } }],
      unevaluatedProperties: false,
    }
    expect(kindOf(numbers, members(9_999))).toBe('ok')
    const list = a({
      type: 'array',
      items: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
      contains: { const: 1 },
      unevaluatedItems: false,
    })
    expect(kindOf(list, ones(100_000))).toBe('ok')
  })
})
