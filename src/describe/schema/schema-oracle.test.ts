// Goal: the checks say what JSON Schema 2020-12 says. Method: random schemas and values are judged here and by ajv, an
// independent validator, and the verdicts must agree; so must the verdicts on which schemas are well formed. Left out is
// what ajv 8 itself gets wrong: `contains` on empty lists, `unevaluated…` below `oneOf`, and literals compared with values
// that have members such as `toString`.

import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type JsonValue, takeJson } from '../../base/json-value.ts'
import { compileCheck } from './compile-check.ts'
import type { ToolSchema } from './tool-schema.ts'

const BOUNDS = { bytesMax: 1_048_576, depthMax: 64, keysMax: 10_000 }
const LENIENT = { strict: false, logger: false } as const
const FOREIGN_OUTPUT = { trusted: false, purpose: 'output' } as const

const name = fc.constantFrom('a', 'b', 'c', 'aa', 'constructor', '10')
const CONSEQUENCE = 'then'
const scalar = fc.constantFrom<unknown>('', 'a', 'ab', 'b1', '😀', 0, 1, 2, 3, -1, 1.5, 0.3, true, false, null)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 3, arbitrary: scalar },
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  ),
}))

const count = fc.integer({ min: 0, max: 3 })
const number = fc.constantFrom(-1, 0, 1, 1.5, 2, 3)
const names = fc.uniqueArray(name, { maxLength: 2 })
const typeName = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object')
const references = fc.constantFrom('#/$defs/s', '#/$defs/n', '#/$defs/tree', '#named', '#')

const { schema } = fc.letrec<{ schema: unknown; list: unknown; map: unknown }>((tie) => ({
  list: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
  map: fc.dictionary(name, tie('schema'), { maxKeys: 3 }),
  schema: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.boolean(),
    fc.record({ type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 })) }),
    fc.record({ enum: fc.array(value, { minLength: 1, maxLength: 3 }) }),
    fc.record({ const: value }),
    fc.record(
      { minimum: number, maximum: number, exclusiveMinimum: number, multipleOf: fc.constantFrom(1, 2, 0.1) },
      { requiredKeys: [] },
    ),
    fc.record(
      { minLength: count, maxLength: count, pattern: fc.constantFrom('^a', 'b$', '^[a-z]\\d$', '(a|b)+', '^.$') },
      { requiredKeys: [] },
    ),
    fc.record(
      { minItems: count, maxItems: count, uniqueItems: fc.boolean(), minProperties: count, maxProperties: count },
      { requiredKeys: [] },
    ),
    fc.record(
      {
        properties: tie('map'),
        patternProperties: fc.dictionary(fc.constantFrom('^a', 'b', '^c$', '\\d'), tie('schema'), { maxKeys: 2 }),
        additionalProperties: tie('schema'),
        required: names,
        propertyNames: tie('schema'),
        dependentRequired: fc.dictionary(name, names, { maxKeys: 2 }),
        dependentSchemas: tie('map'),
      },
      { requiredKeys: [] },
    ),
    fc.record({ prefixItems: tie('list'), items: tie('schema') }, { requiredKeys: [] }),
    fc.record(
      {
        allOf: tie('list'),
        anyOf: tie('list'),
        oneOf: tie('list'),
        not: tie('schema'),
        if: tie('schema'),
        [CONSEQUENCE]: tie('schema'),
        else: tie('schema'),
      },
      { requiredKeys: [] },
    ),
    fc.record({ $ref: references, properties: tie('map') }, { requiredKeys: ['$ref'] }),
  ),
}))

const document = fc
  .record({ root: fc.dictionary(fc.constant('x'), schema), body: schema, named: schema })
  .map(({ body, named }) => ({
    ...(typeof body === 'boolean' ? { allOf: [body] } : (body as object)),
    $defs: {
      s: { type: 'string' },
      n: { type: ['number', 'null'] },
      tree: { type: 'object', properties: { a: { $ref: '#/$defs/tree' }, b: { $ref: '#named' } }, required: ['a'] },
      named:
        typeof named === 'boolean'
          ? { $anchor: 'named', not: { not: named } }
          : { $anchor: 'named', properties: { c: named } },
    },
  }))

test('values are judged as an independent validator judges them', () => {
  let judged = 0
  let fitting = 0
  fc.assert(
    fc.property(document, fc.array(value, { minLength: 4, maxLength: 8 }), (given, values) => {
      const compiled = compileCheck(given as unknown as ToolSchema, FOREIGN_OUTPUT)
      if (compiled.kind === 'bad') {
        expect(compiled.reason).toMatch(/never end/)
        return
      }
      const oracle = oracleOf(given)
      for (const each of values) {
        const taken = takeJson(each, BOUNDS)
        if (taken.kind === 'refused') continue
        const result = compiled.check(taken.value, taken.text)
        const verdict = oracle(taken.text)
        if (verdict === 'broken') continue
        expect('kind' in result && result.kind === 'ok', JSON.stringify({ given, each })).toBe(verdict)
        judged++
        if ('kind' in result && result.kind === 'ok') fitting++
        if ('kind' in result && result.kind === 'invalid') expect(result.issues.length).toBeGreaterThan(0)
      }
    }),
    { numRuns: 300 },
  )
  expect(judged).toBeGreaterThan(400)
  expect(fitting / judged).toBeGreaterThan(0.1)
})

/** Some compositions make ajv write code that does not run (`props0 is not defined`); such a verdict is none. */
function oracleOf(given: unknown): (text: string) => boolean | 'broken' {
  const ajv = new Ajv2020({
    ...LENIENT,
    meta: false,
    validateSchema: false,
    ownProperties: true,
    multipleOfPrecision: 9,
  })
  const validate = ajv.compile(JSON.parse(JSON.stringify(given)))
  return (text) => {
    try {
      return validate(JSON.parse(text))
    } catch (error) {
      if (error instanceof ReferenceError) return 'broken'
      throw error
    }
  }
}

test('a keyword of the wrong form is refused exactly where the meta-schema refuses it', () => {
  const oracle = new Ajv2020(LENIENT)
  const keyword = fc.constantFrom(...['type', 'enum', 'const', 'multipleOf', 'maximum', 'minimum', 'exclusiveMaximum', 'maxLength', 'minItems', 'uniqueItems', 'maxContains', 'required', 'dependentRequired', 'allOf', 'anyOf', 'oneOf', 'prefixItems', 'items', 'contains', 'additionalProperties', 'properties', 'propertyNames', 'not', 'if', 'else', '$defs', 'dependentSchemas', 'title', 'description', 'default', 'examples', 'readOnly', 'deprecated', 'format', 'contentEncoding', '$comment', 'unevaluatedItems', 'definitions', 'dependencies']) // biome-ignore format: a list
  const anything = fc.oneof(value, typeName, fc.array(typeName, { maxLength: 3 }), schema, fc.dictionary(name, schema), fc.array(schema), fc.array(name)) // biome-ignore format: one line
  fc.assert(
    fc.property(keyword, anything, (word, given) => {
      const text = JSON.stringify({ [word]: given })
      fc.pre(!text.includes('$ref') && !text.includes('pattern'))
      const isWellFormed = oracle.validateSchema(JSON.parse(text) as object) === true
      expect(compileCheck(JSON.parse(text) as ToolSchema, FOREIGN_OUTPUT).kind, text).toBe(isWellFormed ? 'ok' : 'bad')
    }),
    { numRuns: 3_000 },
  )
})

test('references are followed as an independent validator follows them, however they are spelt', () => {
  const place = fc.constantFrom('$defs', 'definitions', 'properties', 'x-shared')
  const key = fc.constantFrom('a', 'a/b', 'a~b', 'a%b', 'a b', 'é', '~1', '%25', '', '0', '"', '#')
  fc.assert(
    fc.property(place, key, scalar, (where, called, each) => {
      const pointer = `#/${where}/${encodeURIComponent(called.replaceAll('~', '~0').replaceAll('/', '~1'))}`
      const target = { type: 'string', minLength: 1 }
      const root =
        where === 'properties'
          ? { properties: { v: { $ref: pointer }, [called]: target } }
          : { properties: { v: { $ref: pointer } }, [where]: { [called]: target } }
      const compiled = compileCheck(root as unknown as ToolSchema, FOREIGN_OUTPUT)
      const value: JsonValue = { v: each as JsonValue }
      const result = compiled.kind === 'ok' ? compiled.check(value) : compiled
      const fits = typeof each === 'string' && each !== ''
      expect('kind' in result ? result.kind : 'promise', JSON.stringify(root)).toBe(fits ? 'ok' : 'invalid')
    }),
  )
})
