// Goal: every `schema` case of the attack corpus comes out right, and so do mutations that the corpus does not hold: what
// must be refused is refused at registration or by the check of its instance, every look-alike works. Method: each case
// goes through the judgement of schemas both as an upstream's and as an author's, and both as input and as output, since
// most hostile schemas of the corpus would already fall because they describe no object.

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { takeJson } from '../src/base/json-value.ts'
import { type CheckOptions, compileCheck } from '../src/describe/schema/compile-check.ts'
import type { ToolSchema } from '../src/describe/schema/tool-schema.ts'
import { buildInput } from './corpus/build-input.ts'

type Case = {
  readonly id: string
  readonly tool_kind: string
  readonly expect: 'reject' | 'allow'
  readonly why: string
  readonly input: { readonly schema: unknown; readonly instance?: unknown }
}

const corpus = JSON.parse(
  readFileSync(new URL('./corpus/attack-corpus.json', import.meta.url), 'utf8'),
) as readonly Case[]
const cases = corpus.filter(({ tool_kind }) => tool_kind === 'schema')

const BOUNDS = { bytesMax: 1_048_576, depthMax: 64, keysMax: 10_000 }
const WAYS: readonly CheckOptions[] = [true, false].flatMap((trusted) => [
  { trusted, purpose: 'input' as const },
  { trusted, purpose: 'output' as const },
])

/** Why a schema, or a value under it, is refused; undefined where both are taken. */
async function refusalOf(schema: unknown, instance: unknown, options: CheckOptions): Promise<string | undefined> {
  const compiled = compileCheck(schema as ToolSchema, options)
  if (compiled.kind === 'bad') return compiled.reason
  if (instance === undefined) return undefined
  const taken = takeJson(instance, BOUNDS)
  if (taken.kind === 'refused') return `${taken.path}: ${taken.expected}`
  const result = await compiled.check(taken.value, taken.text)
  return result.kind === 'ok' ? undefined : result.message
}

describe('the schema cases of the attack corpus', () => {
  test.each(cases)('$id is to $expect: $why', async ({ expect: expected, input }) => {
    const { schema, instance } = buildInput(input) as Case['input']
    for (const options of WAYS) {
      const refused = await refusalOf(schema, instance, options)
      expect(refused === undefined ? 'allow' : 'reject', `${JSON.stringify(options)}: ${refused}`).toBe(expected)
    }
  })

  test('both counts', async () => {
    const counts = { reject: [0, 0], allow: [0, 0] }
    for (const { expect: expected, input } of cases) {
      const { schema, instance } = buildInput(input) as Case['input']
      const refused = await refusalOf(schema, instance, { trusted: false })
      const count = counts[expected]
      count[1] = (count[1] ?? 0) + 1
      if ((refused === undefined) === (expected === 'allow')) count[0] = (count[0] ?? 0) + 1
    }
    const [[rejected, toReject], [allowed, toAllow]] = [counts.reject, counts.allow]
    console.log(`schema: ${rejected}/${toReject} rejected, ${allowed}/${toAllow} allowed`)
    expect([rejected, allowed]).toEqual([toReject, toAllow])
    expect(cases.length).toBeGreaterThan(30)
  })
})

/** The same hostile thing at the top, behind each kind of subschema, and behind a reference. */
function* hidden(schema: object): Generator<object> {
  yield schema
  for (const around of ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']) {
    yield { type: 'object', [around]: { a: schema } }
  }
  for (const around of [
    'items',
    'contains',
    'not',
    'if',
    'additionalProperties',
    'propertyNames',
    'unevaluatedProperties',
    'unevaluatedItems',
  ]) {
    // biome-ignore format: a list
    yield { type: 'object', [around]: schema }
  }
  for (const around of ['allOf', 'anyOf', 'oneOf', 'prefixItems']) yield { type: 'object', [around]: [{}, schema] }
  yield {
    type: 'object',
    properties: { v: { $ref: '#/components/schemas/x' } },
    components: { schemas: { x: schema } },
  }
}

const hostile: Readonly<Record<string, object>> = {
  'a network reference': { $ref: 'HTTPS://EXAMPLE.com/s.json' },
  'a network reference without a scheme': { $ref: '//example.com/s#/a' },
  'a file reference in another spelling': { $ref: 'FILE:/etc/passwd#' },
  'a reference one folder up': { $ref: '../s.json' },
  'a data reference': { $ref: 'data:application/json,{}' },
  'a dynamic network reference': { $dynamicRef: 'http://example.com#a' },
  'a recursive network reference': { $recursiveRef: 'http://example.com' },
  'a pointer to nothing, percent-encoded': { $ref: '#%2F%24defs%2Fmissing' },
  'a pointer to an inherited property': { $ref: '#/constructor' },
  'an anchor that nobody has': { $ref: '#missing-anchor' },
  'another well-known meta-schema': { $id: 'http://json-schema.org/draft-07/schema#' },
  'part of a meta-schema': { $id: 'https://json-schema.org/draft/2020-12/meta/core' },
  'a dialect of its own inside': { $id: 'urn:inner', $schema: 'https://example.com/mine' },
  'an unknown type in a list': { type: ['string', 'strnig'] },
  'malformed properties': { properties: [{ type: 'string' }] },
  'a required that is true': { required: true },
  'a $data reference as a bound': { maximum: { $data: '1/x' } },
  'a nested quantifier with a look-ahead': { pattern: 'x(?=(a+)+$)' },
  'a back-reference': { pattern: '^(a+)\\1$' },
  'a named back-reference': { pattern: '(?<a>x)\\k<a>' },
  'a huge lower bound': { pattern: 'a{99999999}' },
  'a huge product of repeats': { pattern: '((((a{9}){9}){9}){9}){9}' },
  'too long a pattern': buildInput({ pattern: { gen: 'repeat', unit: '(a|b)?', times: 5_000 } }) as object,
  'a pattern as the name of properties': { patternProperties: { '(?!a)b': {} } },
  'too many properties': buildInput({ gen: 'wide', properties: 20_000 }) as object,
  'too deep properties': buildInput({ gen: 'nested_properties', depth: 1_000 }) as object,
  'too many branches': buildInput({ gen: 'allOf', times: 50_000 }) as object,
  'doubling references': buildInput({ gen: 'ref_doubling', levels: 20 }) as object,
  'an enum of half a million': buildInput({ enum: { gen: 'array', item: 'x', times: 500_000 } }) as object,
  '__proto__ among the properties': JSON.parse('{"properties":{"__proto__":{}}}') as object,
  '__proto__ among the definitions': JSON.parse('{"$defs":{"__proto__":{}}}') as object,
}

describe('hostile schemas that the corpus does not hold, in any place', () => {
  test.each(Object.entries(hostile))('%s', async (_title, schema) => {
    for (const each of hidden(schema)) {
      for (const trusted of [true, false]) {
        expect(
          await refusalOf(each, undefined, { trusted, purpose: 'output' }),
          JSON.stringify(each).slice(0, 300),
        ).toBeDefined()
      }
    }
  })

  test('a cycle through each keyword that makes no progress, also across definitions', async () => {
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
      const schema = {
        type: 'object',
        $ref: '#/$defs/a',
        $defs: { a: { [keyword]: [{}, { $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } },
      }
      expect(await refusalOf(schema, undefined, { trusted: false })).toMatch(/never end/)
    }
  })
})

const allowed: readonly (readonly [string, object, unknown])[] = [
  [
    'a recursive schema by $dynamicRef',
    { type: 'object', $dynamicAnchor: 'node', properties: { next: { $dynamicRef: '#node' } } },
    { next: { next: {} } },
  ],
  [
    'a recursive schema by $recursiveRef',
    {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      type: 'object',
      properties: { next: { $recursiveRef: '#' } },
    },
    { next: {} },
  ],
  [
    'pointers with escapes',
    { type: 'object', properties: { v: { $ref: '#/$defs/a~1b~0c%25' } }, $defs: { 'a/b~c%': { type: 'number' } } },
    { v: 1 },
  ],
  [
    'an anchor',
    { type: 'object', properties: { v: { $ref: '#a' } }, $defs: { x: { $anchor: 'a', type: 'number' } } },
    { v: 1 },
  ],
  [
    'an embedded schema with an $id',
    { type: 'object', properties: { v: { $ref: 'inner' } }, $defs: { x: { $id: 'inner', type: 'number' } } },
    { v: 1 },
  ],
  [
    'an $id that looks like a meta-schema',
    { $id: 'https://example.com/json-schema.org/draft/2020-12/schema', type: 'object' },
    {},
  ],
  [
    'properties called like keywords',
    { type: 'object', properties: { $ref: {}, $schema: {}, $id: {}, enum: {}, allOf: {}, not: {}, prototype: {} } },
    { $ref: 'https://example.com', allOf: 1 },
  ],
  [
    'literals that look like schemas',
    { type: 'object', properties: { v: { const: { $ref: 'https://example.com', type: 'strnig' } } } },
    { v: { type: 'strnig', $ref: 'https://example.com' } },
  ],
  ['a few doubling references', { ...(buildInput({ gen: 'ref_doubling', levels: 5 }) as object) }, { v: 'x' }],
  ['modest depth', buildInput({ gen: 'nested_properties', depth: 20 }) as object, { a: { a: {} } }],
  ['modest width', buildInput({ gen: 'wide', properties: 500 }) as object, { p499: 'x' }],
  [
    'a long text under a pattern',
    { type: 'object', properties: { s: { pattern: '^(\\w+\\s?)*$' } } },
    { s: 'word '.repeat(10_000) },
  ],
  [
    'a bounded repeat',
    { type: 'object', properties: { s: { pattern: '^[a-z0-9_-]{1,255}$' } } },
    { s: 'a'.repeat(255) },
  ],
  [
    'vendor keywords and unknown formats',
    { type: 'object', nullable: true, 'x-order': 1, properties: { n: { type: 'integer', format: 'uint32' } } },
    { n: 1 },
  ],
  ['a type list with null', { type: 'object', properties: { v: { type: ['string', 'null'] } } }, { v: null }],
  [
    'draft-07 with definitions',
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $ref: '#/definitions/T',
      definitions: { T: { type: 'object', required: ['a'] } },
    },
    { a: 1 },
  ],
]

describe('look-alikes that the corpus does not hold', () => {
  test.each(allowed)('%s', async (_title, schema, instance) => {
    for (const options of WAYS) expect(await refusalOf(schema, instance, options)).toBeUndefined()
  })
})
