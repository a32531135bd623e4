import { describe, expect, test } from 'vitest'
import { type JsonValue, takeJson } from '../../base/json-value.ts'
import type { CheckResult } from './check-result.ts'
import { compileCheck } from './compile-check.ts'
import type { ToolSchema } from './tool-schema.ts'

function check(schema: object, value: unknown): CheckResult {
  const compiled = compileCheck(schema as ToolSchema, { trusted: false, purpose: 'output' })
  if (compiled.kind === 'bad') throw new Error(compiled.reason)
  const taken = takeJson(value, { bytesMax: 4_000_000, depthMax: 64, keysMax: 100_000 })
  if (taken.kind === 'refused') throw new Error(`the test needs JSON: ${taken.path}`)
  const result = compiled.check(taken.value, taken.text)
  if ('then' in result) throw new Error('a plain schema checks synchronously')
  return result
}

const fits = (schema: object, value: unknown): boolean => check(schema, value).kind === 'ok'

function messageOf(schema: object, value: unknown): string {
  const result = check(schema, value)
  return result.kind === 'invalid' ? result.message : 'ok'
}

describe('nothing is coerced, filled in or left out', () => {
  test.each<[object, unknown]>([
    [{ type: 'integer' }, '5'],
    [{ type: 'integer' }, 1.5],
    [{ type: 'number' }, '1'],
    [{ type: 'boolean' }, 'true'],
    [{ type: 'boolean' }, 0],
    [{ type: 'string' }, 5],
    [{ type: 'null' }, ''],
    [{ type: 'array' }, {}],
    [{ type: 'object' }, []],
    [{ type: 'object' }, null],
    [{ type: 'array', items: { type: 'string' } }, 'a'],
    [{ enum: ['a', 'b'] }, 'A'],
    [{ enum: [1] }, '1'],
    [{ enum: [0] }, false],
    [{ const: null }, false],
  ])('%j refuses %j', (schema, value) => expect(fits(schema, value)).toBe(false))

  test('the value and its text come back as they went in', () => {
    const schema = { type: 'object', properties: { a: { type: 'integer', default: 5 }, b: { type: 'number' } } }
    const value: JsonValue = { b: 1 }
    const compiled = compileCheck(schema, { trusted: true })
    const result = compiled.kind === 'ok' ? compiled.check(value, '{"b":1}') : undefined
    expect(result).toEqual({ kind: 'ok', value: { b: 1 }, text: '{"b":1}' })
    expect(result !== undefined && 'value' in result && result.value).toBe(value)
  })

  test('1.0 is an integer, code points are counted, null is present', () => {
    expect(fits({ type: 'integer' }, 1.0)).toBe(true)
    expect(fits({ type: 'string', maxLength: 3 }, '🚀🚀🚀')).toBe(true)
    expect(fits({ type: 'string', maxLength: 3 }, '🚀🚀🚀🚀')).toBe(false)
    expect(fits({ type: 'string', minLength: 3 }, '🚀🚀')).toBe(false)
    expect(fits({ required: ['a'] }, { a: null })).toBe(true)
  })
})

describe('only own properties count', () => {
  test.each(['toString', 'constructor', 'hasOwnProperty', 'valueOf', 'isPrototypeOf'])(
    '`required: ["%s"]` is not satisfied by {}',
    (name) => {
      const schema = { type: 'object', required: [name] }
      expect(fits(schema, {})).toBe(false)
      expect(fits(schema, { [name]: 1 })).toBe(true)
    },
  )

  test('a property called constructor is judged like any other, and never when it is absent', () => {
    const schema = {
      properties: { constructor: { type: 'string' }, toString: { type: 'integer' } },
      additionalProperties: false,
    }
    expect(fits(schema, {})).toBe(true)
    expect(fits(schema, { constructor: 'Ferrari', toString: 1 })).toBe(true)
    expect(fits(schema, { constructor: 5 })).toBe(false)
    expect(fits(schema, { valueOf: 1 })).toBe(false)
  })

  test('literals are compared member by member, whatever the members are called', () => {
    const schema = { const: { a: [1, { b: null }] } }
    expect(fits(schema, { a: [1, { b: null }] })).toBe(true)
    for (const value of [{ a: [1, { b: null, valueOf: 1 }] }, { toString: 1 }, { constructor: 'x' }, { a: [1, {}] }]) {
      expect(fits(schema, value)).toBe(false)
    }
    expect(fits({ const: { valueOf: 1, toString: 2 } }, { toString: 2, valueOf: 1 })).toBe(true)
  })
})

describe('patterns', () => {
  test('two patterns in one schema are two patterns', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { pattern: '^[a-z]+$' },
        b: { pattern: '^[0-9]+$' },
        c: { pattern: '^(x|y)+$' },
        d: { pattern: '^(z|w)+$' },
      },
    }
    expect(fits(schema, { a: 'abc', b: '123', c: 'xyx', d: 'zwz' })).toBe(true)
    for (const value of [{ a: '123' }, { b: 'abc' }, { c: 'zwz' }, { d: 'xyx' }])
      expect(fits(schema, value)).toBe(false)
  })

  test('patternProperties and additionalProperties divide the members between them', () => {
    const schema = {
      patternProperties: { '^s_': { type: 'string' }, _n$: { type: 'number' } },
      additionalProperties: false,
    }
    expect(fits(schema, { s_a: 'x', b_n: 1 })).toBe(true)
    expect(fits(schema, { s_a: 1 })).toBe(false)
    expect(fits(schema, { s_n: 'x' })).toBe(false)
    expect(fits(schema, { other: 1 })).toBe(false)
  })
})

describe('what a check may cost is bounded', () => {
  test('recursion that makes progress and still doubles at each level ends', () => {
    const branch = (name: string) => ({
      properties: { left: { $ref: '#/$defs/e' }, op: { pattern: name } },
      required: ['op', 'left'],
    })
    const schema = { $ref: '#/$defs/e', $defs: { e: { anyOf: [branch('a'), branch('b'), branch('c')] } } }
    let value: unknown = { op: 'zzz' }
    for (let level = 0; level < 62; level++) value = { left: value, op: 'c' }
    expect(check(schema, value)).toMatchObject({ kind: 'invalid', code: 'oversized' })
    expect(check(schema, { left: { op: 'zzz' }, op: 'c' })).toMatchObject({ kind: 'invalid', code: 'invalid_args' })
  })

  test('variants that a literal tells apart do not double, however deep they are', () => {
    const variant = (op: string) => ({
      properties: { left: { $ref: '#/$defs/e' }, op: { const: op } },
      required: ['op'],
    })
    const schema = { $ref: '#/$defs/e', $defs: { e: { anyOf: ['a', 'b', 'c'].map(variant) } } }
    let value: unknown = { op: 'b' }
    for (let level = 0; level < 62; level++) value = { left: value, op: 'c' }
    expect(fits(schema, value)).toBe(true)
  })

  test('a definition that doubles over properties ends too', () => {
    const twice = (level: number) => [
      { properties: { a: { $ref: `#/$defs/d${level + 1}` } } },
      { properties: { a: { $ref: `#/$defs/d${level + 1}` } } },
    ]
    const $defs = Object.fromEntries([
      ...Array.from({ length: 60 }, (_, level) => [`d${level}`, { allOf: twice(level) }]),
      ['d60', { type: 'string' }],
    ])
    let value: unknown = 'x'
    for (let level = 0; level < 60; level++) value = { a: value }
    expect(check({ $ref: '#/$defs/d0', $defs }, value)).toMatchObject({ kind: 'invalid', code: 'oversized' })
  })

  test('many judgements of a long text, a large list or a large literal end', () => {
    const text = 'x'.repeat(100_000) + '😀'.repeat(150_000)
    const lengths = { allOf: Array.from({ length: 900 }, () => ({ minLength: 240_000 })) }
    const list = Array.from({ length: 3_000 }, (_, index) => ({ a: index, b: 'x' }))
    const unique = { allOf: Array.from({ length: 900 }, () => ({ uniqueItems: true })) }
    const numbers = Array.from({ length: 9_000 }, (_, index) => index % 10)
    const literals = {
      items: { allOf: Array.from({ length: 800 }, () => ({ $ref: '#/$defs/c' })) },
      $defs: { c: { const: numbers } },
    }
    for (const [schema, value] of [
      [lengths, text],
      [unique, list],
      [literals, Array.from({ length: 40 }, () => numbers)],
    ] as const) {
      // biome-ignore format: one line
      expect(check(schema, value)).toMatchObject({ kind: 'invalid', code: 'oversized' })
    }
  })

  test('a pattern that needs many states is not tried on a text too long for it', () => {
    const schema = { pattern: 'a[ab]{500}[cd]' }
    expect(check(schema, 'ab'.repeat(500_000))).toMatchObject({ kind: 'invalid', code: 'oversized' })
    expect(check(schema, 'ab'.repeat(500))).toMatchObject({ kind: 'invalid', code: 'invalid_args' })
  })

  test('large values of ordinary schemas pass: a megabyte of rows, of text, of different objects', () => {
    const rows = Array.from({ length: 8_000 }, (_, id) => ({
      id,
      name: `name ${id}`,
      kind: id % 2 === 0 ? 'even' : 'odd',
      tags: ['a', 'b'],
    }))
    const row = {
      type: 'object',
      properties: {
        id: { type: 'integer', minimum: 0 },
        name: { type: 'string', pattern: '^name \\d+$' },
        kind: { enum: ['even', 'odd'] },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: ['id', 'name'],
      additionalProperties: false,
    }
    expect(fits({ type: 'array', items: row, uniqueItems: true }, rows)).toBe(true)
    expect(
      fits(
        { type: 'array', items: { anyOf: [{ type: 'null' }, { type: 'string' }, { type: 'integer' }] } },
        Array.from({ length: 150_000 }, (_, index) => index),
      ),
    ).toBe(true)
    expect(fits({ type: 'string', minLength: 1, maxLength: 1_000_000, pattern: '\\S' }, 'x'.repeat(1_000_000))).toBe(
      true,
    )
    expect(fits({ type: 'string', pattern: '^(?:[^\\n]*\\n?)*$' }, 'line of text\n'.repeat(5_000))).toBe(true)
  })

  test('equal items are found at any place, by value and not by key order', () => {
    const list: unknown[] = Array.from({ length: 5_000 }, (_, index) => ({ a: index, b: 'x' }))
    expect(fits({ uniqueItems: true }, list)).toBe(true)
    expect(fits({ uniqueItems: true }, [...list, { b: 'x', a: 17 }])).toBe(false)
    expect(fits({ uniqueItems: true }, [1, '1', true, null, [1], ['1'], { a: 1 }])).toBe(true)
    expect(fits({ uniqueItems: true }, [1, 1.0])).toBe(false)
  })
})

describe('unevaluatedProperties and unevaluatedItems', () => {
  const schema = {
    type: 'object',
    allOf: [{ properties: { a: { type: 'string' } } }, { $ref: '#/$defs/b' }],
    anyOf: [
      { properties: { kind: { const: 'x' }, x: true }, required: ['kind'] },
      { properties: { kind: { const: 'y' }, y: true }, required: ['kind'] },
    ],
    if: { required: ['c'] },
    $defs: { b: { properties: { b: { type: 'number' } } } },
    unevaluatedProperties: false,
  }
  test('see through allOf, $ref, the branches that fit and if', () => {
    expect(fits(schema, { a: 's', b: 1, kind: 'x', x: 1 })).toBe(true)
    expect(fits(schema, { a: 's', kind: 'x', y: 1 })).toBe(false)
    expect(fits(schema, { kind: 'y', extra: 1 })).toBe(false)
    expect(messageOf(schema, { kind: 'y', extra: 1 })).toContain('`extra`: expected no further property')
  })

  test('count items, also those that contains found', () => {
    const items = { prefixItems: [{ type: 'string' }], contains: { type: 'number' }, unevaluatedItems: false }
    expect(fits(items, ['a', 1, 2])).toBe(true)
    expect(fits(items, ['a', 1, 'b'])).toBe(false)
  })
})

describe('older dialects', () => {
  test('L65: a tool of draft 2019-09 is checked, not waved through', () => {
    const $schema = 'https://json-schema.org/draft/2019-09/schema'
    const tree = {
      $schema,
      type: 'object',
      properties: { n: { type: 'integer' }, children: { type: 'array', items: { $recursiveRef: '#' } } },
      required: ['n'],
    }
    expect(fits(tree, { n: 1, children: [{ n: 2 }] })).toBe(true)
    expect(fits(tree, { n: 1, children: [{ n: 'two' }] })).toBe(false)
    const pair = { $schema, type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false }
    expect(fits(pair, ['a', 1])).toBe(true)
    expect(fits(pair, ['a', 'b'])).toBe(false)
    expect(fits(pair, ['a', 1, 2])).toBe(false)
  })

  test('draft-07: dependencies of both kinds, and definitions behind a reference at the top', () => {
    const $schema = 'http://json-schema.org/draft-07/schema#'
    const schema = {
      $schema,
      $ref: '#/definitions/T',
      definitions: { T: { type: 'object', dependencies: { a: ['b'], c: { required: ['d'] } } } },
    }
    expect(fits(schema, { a: 1, b: 1, c: 1, d: 1 })).toBe(true)
    expect(fits(schema, { a: 1 })).toBe(false)
    expect(fits(schema, { c: 1 })).toBe(false)
  })
})

describe('messages say the path, what was expected and what came', () => {
  const forecast = {
    type: 'object',
    properties: {
      city: { type: 'string', minLength: 1, maxLength: 40 },
      days: { type: 'integer', minimum: 1, maximum: 14 },
      unit: { enum: ['c', 'f'] },
      tags: { type: 'array', items: { type: 'string' }, maxItems: 2 },
    },
    required: ['city'],
    additionalProperties: false,
  }
  test.each<[string, unknown, string]>([
    ['a wrong type', { city: 'x', days: '3' }, '`days`: expected an integer from 1 to 14, came the string `"3"`'],
    ['a value out of range', { city: 'x', days: 15 }, '`days`: expected an integer from 1 to 14, came the number `15`'],
    ['a missing property', {}, '`city`: expected a string of 1 to 40 characters (required), came nothing'],
    [
      'an unknown property',
      { city: 'x', town: 1 },
      '`town`: expected one of the properties `city`, `days`, `unit`, `tags`, came an unknown property',
    ],
    ['a wrong literal', { city: 'x', unit: 'K' }, '`unit`: expected one of `"c"`, `"f"`, came the string `"K"`'],
    ['an item', { city: 'x', tags: ['a', 5] }, '`tags[1]`: expected a string, came the number `5`'],
    [
      'too many items',
      { city: 'x', tags: ['a', 'b', 'c'] },
      '`tags`: expected an array of at most 2 items, came an array of 3 items',
    ],
    ['another kind of value', [], 'the value: expected an object, came an empty array'],
  ])('%s', (_title, value, message) => expect(messageOf(forecast, value)).toBe(message))

  test('several faults come together, five at most, and the rest are counted', () => {
    expect(messageOf(forecast, { days: 0, unit: 'x' })).toBe(
      '`city`: expected a string of 1 to 40 characters (required), came nothing; `days`: expected an integer from 1 to 14, came the number `0`; `unit`: expected one of `"c"`, `"f"`, came the string `"x"`',
    )
    const eight = check(
      { additionalProperties: false },
      Object.fromEntries('abcdefgh'.split('').map((name) => [name, 1])),
    )
    expect(eight).toMatchObject({ kind: 'invalid', issues: { length: 5 } })
    expect(eight.kind === 'invalid' && eight.message).toMatch(/; and 3 more$/)
    const thousand = check(
      { items: { type: 'string' } },
      Array.from({ length: 1_000 }, () => 1),
    )
    expect(thousand.kind === 'invalid' && thousand.message).toMatch(/; and many more$/)
  })

  test('what is long is cut, and an object is never poured out', () => {
    const secret = check({ properties: { a: { type: 'number' } } }, { a: { password: 'hunter2' } })
    expect(secret.kind === 'invalid' && secret.message).toBe('`a`: expected a number, came an object with 1 property')
    const long = check(
      { enum: Array.from({ length: 250 }, (_, index) => `value ${index} ${'x'.repeat(200)}`) },
      'y'.repeat(5_000),
    )
    expect(long.kind === 'invalid' && long.message.length).toBeLessThan(900)
    const deep = check({ type: 'object', additionalProperties: { type: 'number' } }, { ['k'.repeat(5_000)]: 'x' })
    expect(deep.kind === 'invalid' && deep.message.length).toBeLessThan(400)
  })

  test('an excerpt holds no control characters', () => {
    expect(messageOf({ type: 'number' }, 'a\u001b[8m\n\u202e')).not.toMatch(/[\p{Cc}]/u)
  })

  test('of several forms, the one that was meant is explained', () => {
    const shape = {
      oneOf: [
        {
          type: 'object',
          properties: { kind: { const: 'circle' }, radius: { type: 'number' } },
          required: ['kind', 'radius'],
        },
        {
          type: 'object',
          properties: { kind: { const: 'square' }, side: { type: 'number' } },
          required: ['kind', 'side'],
        },
      ],
    }
    expect(messageOf(shape, { kind: 'square', side: 'x' })).toBe('`side`: expected a number, came the string `"x"`')
    expect(messageOf(shape, { kind: 'line' })).toBe(
      '`kind`: expected `"circle"` or `"square"`, came the string `"line"`',
    )
    expect(messageOf({ anyOf: [{ type: 'string' }, { type: 'null' }] }, 5)).toBe(
      'the value: expected a string or null, came the number `5`',
    )
    expect(messageOf({ oneOf: [{ type: 'number' }, { minimum: 1 }] }, 5)).toContain('exactly one of 2 forms')
    expect(messageOf({ not: { type: 'string' } }, 'x')).toBe(
      'the value: expected anything but a string, came the string `"x"`',
    )
    expect(messageOf({ properties: { a: false } }, { a: 1 })).toBe('`a`: expected nothing here, came the number `1`')
    expect(messageOf({ anyOf: [false, { not: true }] }, 1)).toContain('the value')
    expect(messageOf({ contains: { type: 'string' } }, [1])).toBe(
      'the value: expected an array in which at least 1 of the items are a string, came an array of 1 item',
    )
    expect(messageOf({ propertyNames: { maxLength: 2 } }, { abc: 1 })).toBe(
      '`abc`: expected a property whose name is a value of at most 2 characters, came another name',
    )
    expect(messageOf({ dependentRequired: { a: ['b'] } }, { a: 1 })).toBe(
      '`b`: expected a value, because `a` is given, came nothing',
    )
  })
})

test('decimal multiples are decimal', () => {
  expect(fits({ multipleOf: 0.1 }, 0.3)).toBe(true)
  expect(fits({ multipleOf: 0.01 }, 19.99)).toBe(true)
  expect(fits({ multipleOf: 1e-7 }, 0.1234567)).toBe(true)
  expect(fits({ multipleOf: 0.1 }, 0.35)).toBe(false)
  expect(fits({ multipleOf: 1 }, 1.00000000001)).toBe(false)
  expect(fits({ multipleOf: 3 }, -9)).toBe(true)
  expect(fits({ multipleOf: 2.5 }, 0)).toBe(true)
})
