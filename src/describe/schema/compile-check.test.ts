import { type } from 'arktype'
import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../../base/json-value.ts'
import { compileCheck } from './compile-check.ts'
import type { InferInput, InferSchema, ToolSchema } from './tool-schema.ts'

const TRUSTED = { trusted: true } as const
const FOREIGN = { trusted: false } as const

/** A schema as code that knows no types would pass it. */
const loose = (schema: unknown): ToolSchema => schema as ToolSchema

describe('what is no schema is bad and says why', () => {
  test.each([false, true, null, undefined, 5, 'string', [], [{ type: 'object' }], () => ({}), new Map(), new Date(0)])(
    '%j',
    (schema) => {
      for (const options of [TRUSTED, FOREIGN, { ...TRUSTED, purpose: 'output' as const }]) {
        expect(compileCheck(loose(schema), options)).toEqual({
          kind: 'bad',
          reason: expect.stringMatching(/^the schema/),
        })
      }
    },
  )

  test('a schema that throws when it is read', () => {
    const hostile = new Proxy({}, { has: () => { throw new Error('no') }, ownKeys: () => { throw new Error('no') } }) // biome-ignore format: one line
    expect(compileCheck(hostile, TRUSTED)).toMatchObject({ kind: 'bad' })
    expect(compileCheck(hostile, FOREIGN)).toMatchObject({ kind: 'bad' })
  })

  test('__proto__ as the name of a property, a cycle in memory, too many bytes', () => {
    expect(
      compileCheck(JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'), FOREIGN),
    ).toMatchObject({ kind: 'bad' })
    const cycle: Record<string, unknown> = { type: 'object' }
    cycle.properties = { a: cycle }
    expect(compileCheck(loose(cycle), FOREIGN)).toEqual({
      kind: 'bad',
      reason: expect.stringContaining('contains itself'),
    })
    const wordy = { type: 'object', description: 'x'.repeat(70_000) }
    expect(compileCheck(wordy, FOREIGN)).toEqual({
      kind: 'bad',
      reason: 'the schema: expected at most 65536 bytes of JSON, came more',
    })
    expect(compileCheck(wordy, TRUSTED)).toMatchObject({ kind: 'ok' })
  })

  test('an input schema that admits no object', () => {
    const none: readonly JsonObject[] = [
      { type: 'string' },
      { type: 'array' },
      { type: ['string', 'null'] },
      { const: 5 },
      { enum: ['a', 1] },
      { $ref: '#/$defs/s', $defs: { s: { type: 'string' } } },
      { anyOf: [{ type: 'string' }, false] },
      { allOf: [{}, { type: 'number' }] },
    ]
    for (const schema of none) {
      expect(compileCheck(schema, FOREIGN), JSON.stringify(schema)).toMatchObject({ kind: 'bad' })
      expect(compileCheck(schema, { ...FOREIGN, purpose: 'output' })).toMatchObject({ kind: 'ok' })
    }
  })
})

test('two tools with one $id do not meet', () => {
  const schemaOf = (type: string): JsonObject => ({
    $id: 'https://example.com/tool',
    type: 'object',
    properties: { v: { $ref: 'https://example.com/tool#/$defs/v' } },
    $defs: { v: { type } },
  })
  const [texts, numbers] = ['string', 'number'].map((type) => compileCheck(schemaOf(type), FOREIGN))
  expect(texts?.kind === 'ok' && texts.check({ v: 'x' })).toMatchObject({ kind: 'ok' })
  expect(numbers?.kind === 'ok' && numbers.check({ v: 'x' })).toMatchObject({ kind: 'invalid' })
  expect(numbers?.kind === 'ok' && numbers.check({ v: 1 })).toMatchObject({ kind: 'ok' })
})

describe('what models are shown', () => {
  test('is the schema in the order in which it was written, frozen, and no longer the caller’s', () => {
    const schema = { type: 'object', properties: { zeta: { type: 'string' }, alpha: {} }, required: ['zeta'] }
    const compiled = compileCheck(schema, FOREIGN)
    const shown = compiled.kind === 'ok' ? compiled.jsonSchema : {}
    expect(JSON.stringify(shown)).toBe(JSON.stringify(schema))
    expect(Object.isFrozen(shown) && Object.isFrozen(shown.properties)).toBe(true)
    expect(shown).not.toBe(schema)
  })

  test('is an object at the top, because arguments are', () => {
    for (const schema of [{}, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }, { type: ['object', 'null'] }]) {
      expect(compileCheck(schema, FOREIGN)).toMatchObject({ kind: 'ok', jsonSchema: { type: 'object' } })
    }
    const union = z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })])
    expect(compileCheck(union, TRUSTED)).toMatchObject({ kind: 'ok', jsonSchema: { type: 'object' } })
  })

  test('arguments that are no object are refused whatever the schema says', async () => {
    for (const schema of [{}, { type: ['object', 'array'] }, z.object({})]) {
      const compiled = compileCheck(loose(schema), TRUSTED)
      const result = compiled.kind === 'ok' ? await compiled.check([]) : undefined
      expect(result).toMatchObject({
        kind: 'invalid',
        message: 'the arguments: expected an object, came an empty array',
      })
    }
  })
})

describe('Standard Schemas', () => {
  const zodSchema = z.object({ name: z.string().min(1), count: z.number().int().default(3) })
  const arkSchema = type({ name: 'string > 0', 'count?': 'number.integer' })

  test('zod and arktype are read as they are', () => {
    for (const schema of [zodSchema, arkSchema]) {
      const compiled = compileCheck(schema, TRUSTED)
      expect(compiled).toMatchObject({
        kind: 'ok',
        jsonSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      })
      const result =
        compiled.kind === 'ok' ? compiled.check({ count: 1, name: 'x' }, '{"count":1,"name":"x"}') : undefined
      expect(result).toMatchObject({ kind: 'ok', value: { name: 'x', count: 1 }, text: '{"count":1,"name":"x"}' })
      const wrong = compiled.kind === 'ok' ? compiled.check({ name: 5 }) : undefined
      expect(wrong).toMatchObject({
        kind: 'invalid',
        code: 'invalid_args',
        issues: [{ path: 'name', came: 'the number `5`' }],
      })
    }
  })

  test('valibot needs its JSON Schema companion, and says so', () => {
    const schema = v.object({ name: v.string() })
    expect(compileCheck(schema, TRUSTED)).toEqual({
      kind: 'bad',
      reason: expect.stringContaining('`valibot` schema has no JSON Schema'),
    })
    const write = () => ({ type: 'object', properties: { name: { type: 'string' } }, required: ['name'] })
    const faced = { '~standard': { ...schema['~standard'], jsonSchema: { input: write, output: write } } }
    const compiled = compileCheck(faced, TRUSTED)
    expect(compiled.kind === 'ok' && compiled.check({ name: 'x' })).toMatchObject({ kind: 'ok', text: '{"name":"x"}' })
    expect(compiled.kind === 'ok' && compiled.check({})).toMatchObject({ kind: 'invalid' })
  })

  test('defaults and transformations are kept, as canonical frozen JSON', () => {
    const compiled = compileCheck(
      z.object({ name: z.string().trim().toLowerCase(), count: z.number().default(3) }),
      TRUSTED,
    )
    const result = compiled.kind === 'ok' ? compiled.check({ name: ' Ada ' }) : undefined
    expect(result).toMatchObject({ kind: 'ok', value: { count: 3, name: 'ada' }, text: '{"count":3,"name":"ada"}' })
    expect(result !== undefined && 'value' in result && Object.isFrozen(result.value)).toBe(true)
  })

  test('the JSON Schema is that of the side in question', () => {
    const schema = z.object({ count: z.number().default(3) })
    expect(compileCheck(schema, TRUSTED)).not.toMatchObject({ jsonSchema: { required: ['count'] } })
    expect(compileCheck(schema, { ...TRUSTED, purpose: 'output' })).toMatchObject({
      jsonSchema: { required: ['count'] },
    })
  })

  test('a schema without a JSON Schema is bad with the library’s reason', () => {
    expect(compileCheck(z.object({ at: z.date() }), TRUSTED)).toEqual({
      kind: 'bad',
      reason: expect.stringContaining('Date cannot be represented'),
    })
  })

  test('of an upstream, a Standard Schema is not run', () => {
    let ran = false
    const schema = { '~standard': { version: 1, vendor: 'x', validate: () => { ran = true; return { value: {} } } } } // biome-ignore format: one line
    expect(compileCheck(loose(schema), FOREIGN)).toMatchObject({ kind: 'bad' })
    expect(ran).toBe(false)
  })

  test('a message carries the library’s words, the path and what came', () => {
    const compiled = compileCheck(z.strictObject({ list: z.array(z.object({ n: z.number() })) }), TRUSTED)
    const check = (value: JsonObject) => (compiled.kind === 'ok' ? compiled.check(value) : undefined)
    expect(check({ list: [{ n: 1 }, { n: 'x' }] })).toMatchObject({
      message: '`list[1].n`: invalid input: expected number, received string, came the string `"x"`',
    })
    expect(check({ list: [], extra: 1 })).toMatchObject({ message: expect.stringContaining('"extra"') })
    expect(check({})).toMatchObject({ message: expect.stringMatching(/^`list`: .*came nothing$/) })
  })
})

describe('a Standard Schema that breaks the rules is unavailable, with help for its author', () => {
  const face = () => ({ type: 'object' })
  const schemaOf = (validate: (value: unknown) => unknown) =>
    loose({ '~standard': { version: 1, vendor: 'test', validate, jsonSchema: { input: face, output: face } } })
  const unavailable = (help: string) => ({ kind: 'invalid', code: 'unavailable', help: expect.stringContaining(help) })

  const cases: readonly (readonly [string, ToolSchema, string])[] = [
    ['changes its own output', z.object({ n: z.number().transform((n) => n + 1) }), 'stable'],
    ['does not take its own output', z.object({ n: z.string().transform((text) => text.length) }), 'stable'],
    ['gives something that is no JSON', z.object({ n: z.number().transform((n) => new Date(n)) }), 'no JSON'],
    ['gives a function', schemaOf(() => ({ value: { run: () => 1 } })), 'no JSON'],
    ['throws', schemaOf(() => { throw new Error('boom') }), 'boom'], // biome-ignore format: one line
    ['answers nothing', schemaOf(() => undefined), 'threw'],
    ['rejects', schemaOf(() => Promise.reject(new Error('boom'))), 'boom'],
  ]
  test.each(cases)('one that %s', async (_title, schema, help) => {
    const compiled = compileCheck(schema, TRUSTED)
    const result = compiled.kind === 'ok' ? await compiled.check({ n: 1 }) : undefined
    const other = compiled.kind === 'ok' ? await compiled.check({ n: 'abc' }) : undefined
    expect([result, other]).toContainEqual(expect.objectContaining(unavailable(help)))
  })

  test('one that is stable the second time passes', () => {
    const compiled = compileCheck(z.object({ n: z.coerce.number() }), TRUSTED)
    expect(compiled.kind === 'ok' && compiled.check({ n: '3' })).toMatchObject({ kind: 'ok', text: '{"n":3}' })
  })
})

describe('a check is a promise only where the schema is asynchronous', () => {
  test('plain schemas and ordinary ones answer at once', () => {
    for (const schema of [{ type: 'object' }, z.object({}), type({})]) {
      const compiled = compileCheck(loose(schema), TRUSTED)
      expect(compiled.kind === 'ok' && compiled.check({})).toMatchObject({ kind: 'ok' })
    }
  })

  test('an asynchronous one answers later, by the same rules', async () => {
    const known = z.object({ name: z.string().refine(async (name) => name === 'ada', 'nobody of that name') })
    const compiled = compileCheck(known, TRUSTED)
    const check = (name: string) => (compiled.kind === 'ok' ? compiled.check({ name }) : undefined)
    expect(check('ada')).toBeInstanceOf(Promise)
    expect(await check('ada')).toMatchObject({ kind: 'ok', text: '{"name":"ada"}' })
    expect(await check('bob')).toMatchObject({
      kind: 'invalid',
      message: '`name`: nobody of that name, came the string `"bob"`',
    })
  })
})

describe('types follow from the schema', () => {
  test('zod, arktype, valibot and plain JSON Schema are accepted and inferred', () => {
    const zodSchema = z.object({ n: z.number().default(1) })
    const arkSchema = type({ n: 'number' })
    const valibotSchema = v.object({ n: v.number() })
    const plain = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const
    expectTypeOf<InferSchema<typeof zodSchema>>().toEqualTypeOf<{ n: number }>()
    expectTypeOf<InferInput<typeof zodSchema>>().toEqualTypeOf<{ n?: number | undefined }>()
    expectTypeOf<InferSchema<typeof arkSchema>>().toEqualTypeOf<{ n: number }>()
    expectTypeOf<InferSchema<typeof valibotSchema>>().toEqualTypeOf<{ n: number }>()
    expectTypeOf<InferSchema<typeof plain>>().toEqualTypeOf<JsonObject>()
    for (const schema of [zodSchema, arkSchema, valibotSchema, plain] satisfies readonly ToolSchema[])
      expect(schema).toBeDefined()
  })
})

test('no JSON whatever makes compileCheck or its check throw or hang', () => {
  const name = fc.constantFrom(...['a', 'b', '$ref', 'type', 'constructor', 'toString', '~1', '%25', '__proto__'])
  const keyword = fc.constantFrom(...['type', 'properties', 'items', 'allOf', 'anyOf', 'not', 'if', 'then', '$ref', '$dynamicRef', '$anchor', '$dynamicAnchor', '$id', '$defs', 'definitions', 'pattern', 'enum', 'const', 'required', 'additionalProperties', 'unevaluatedProperties', 'dependentSchemas', 'multipleOf', 'maxLength', 'uniqueItems', 'contains', '$schema', 'format', 'x-a']) // biome-ignore format: a list
  const target = fc.constantFrom(...['#', '#/', '#/$defs/a', '#/properties/a', '#/definitions/b/items', '#a', 'a', 'a#b', '#/%', '#/~2', '#/allOf/0', '#/x-a/a', 'urn:x', 'http://[', '//', '#/$defs/~01', '#/$defs/%2525']) // biome-ignore format: a list
  const { schema } = fc.letrec<{ schema: unknown; value: unknown }>((tie) => ({
    schema: fc.dictionary(fc.oneof({ weight: 5, arbitrary: keyword }, name), tie('value'), { maxKeys: 4 }),
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom(
        'string',
        'object',
        'array',
        'a',
        '',
        0,
        1,
        -1,
        2.5,
        true,
        false,
        null,
        '(a+)+$',
        '(?=a)',
        'date',
        1e21,
      ),
      target,
      tie('schema'),
      fc.dictionary(name, tie('schema'), { maxKeys: 3 }),
      fc.array(tie('schema'), { maxLength: 3 }),
      fc.array(name, { maxLength: 2 }),
    ),
  }))
  fc.assert(
    fc.property(schema, fc.jsonValue(), fc.boolean(), (given, value, trusted) => {
      const compiled = compileCheck(loose(given), { trusted, purpose: 'output' })
      if (compiled.kind === 'bad') expect(compiled.reason.length).toBeGreaterThan(5)
      else expect(compiled.check(value as JsonObject)).toHaveProperty('kind')
    }),
    { numRuns: 3_000 },
  )
})
