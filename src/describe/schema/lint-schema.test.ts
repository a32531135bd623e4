import { describe, expect, test } from 'vitest'
import { isJsonObject, takeJson } from '../../base/json-value.ts'
import { FOREIGN_LIMITS, lintSchema } from './lint-schema.ts'

function lint(schema: unknown, isStrict = false) {
  const taken = takeJson(
    schema,
    { bytesMax: 10_000_000, depthMax: 5_000, keysMax: 1_000_000 },
    { keyOrder: 'given', unsafeIntegers: 'keep' },
  )
  if (taken.kind === 'refused' || !isJsonObject(taken.value)) throw new Error('the test needs an object')
  return lintSchema(taken.value, FOREIGN_LIMITS, isStrict)
}

const bad = (reason: string) => ({ kind: 'bad', reason: expect.stringContaining(reason) })

const below = (depth: number, make: (inner: object) => object): object => {
  let schema: object = { type: 'string' }
  for (let level = 0; level < depth; level++) schema = make(schema)
  return schema
}

/** d0 → anyOf [d1, d1] → … : two to the power of `levels` checks of one value. */
const doubling = (levels: number, keyword = 'anyOf', defs = '$defs'): object => ({
  $ref: `#/${defs}/d0`,
  [defs]: Object.fromEntries([
    ...Array.from({ length: levels }, (_, level) => {
      const next = { $ref: `#/${defs}/d${level + 1}` }
      return [`d${level}`, { [keyword]: [next, next] }]
    }),
    [`d${levels}`, { type: 'string' }],
  ]),
})

describe('references stay inside the document', () => {
  const outside = 'points outside this document'
  const cases: readonly (readonly [object, string])[] = [
    [{ $ref: 'https://example.com/s.json' }, outside],
    [{ $ref: 'file:///etc/passwd' }, outside],
    [{ $ref: 'other.json#/a' }, outside],
    [{ $ref: '//example.com/s' }, outside],
    [{ $ref: '?q#/a' }, outside],
    [{ $dynamicRef: 'https://example.com/s#x' }, outside],
    [{ $recursiveRef: 'https://example.com/s' }, outside],
    [{ $ref: 'https://json-schema.org/draft/2020-12/schema' }, outside],
    [{ $ref: 'http://json-schema.org/draft-07/schema#' }, outside],
    [{ $id: 'https://example.com/a/', $ref: 'b' }, outside],
    [{ properties: { a: { items: { not: { $ref: 'x.json' } } } } }, outside],
    [{ contentSchema: { $ref: 'https://example.com/s' } }, outside],
    [{ $ref: '#/$defs/missing' }, 'points at nothing'],
    [{ $ref: '#missing' }, 'points at nothing'],
    [{ $dynamicRef: '#missing' }, 'points at nothing'],
    [{ $ref: '#/$defs/toString', $defs: {} }, 'points at nothing'],
    [{ $ref: '#/allOf/01', allOf: [{}, {}] }, 'points at nothing'],
    [{ $ref: '#/allOf/length', allOf: [{}, {}] }, 'points at nothing'],
    [{ $ref: '#/$defs/a~2b', $defs: { 'a~2b': {} } }, 'is not well encoded'],
    [{ $ref: '#/$defs/%zz', $defs: {} }, 'is not well encoded'],
    [{ $ref: '#/enum/0', enum: [{}] }, 'no schema'],
    [{ $ref: '#/properties', properties: { type: { type: 'string' } } }, 'no schema'],
    [{ $ref: '#/default', default: {} }, 'no schema'],
    [{ $ref: '#/x-a/b', 'x-a': { b: 5 } }, 'no schema'],
  ]
  test.each(cases)('%j', (schema, reason) => expect(lint(schema)).toEqual(bad(reason)))

  const legal: readonly object[] = [
    { $ref: '#/$defs/a~0b~1c%25d', $defs: { 'a~b/c%d': {} } },
    { $ref: '#/$defs/%C3%A9%20x', $defs: { 'é x': {} } },
    { $ref: '#/definitions/a', definitions: { a: {} } },
    { $ref: '#here', $defs: { a: { $anchor: 'here' } } },
    { $dynamicRef: '#here', $defs: { a: { $dynamicAnchor: 'here' } } },
    { $ref: '#/components/schemas/A', components: { schemas: { A: { type: 'string' } } } },
    { $id: 'https://example.com/tool', $ref: 'https://example.com/tool#/$defs/a', $defs: { a: {} } },
    { $id: 'https://example.com/tool', $ref: 'tool#/$defs/a', $defs: { a: {} } },
    { $ref: 'inner.json#/$defs/b', $defs: { a: { $id: 'inner.json', $defs: { b: {} } } } },
    { $id: 'urn:x0', $ref: '#/$defs/a', $defs: { a: {} } },
    { $schema: 'http://json-schema.org/draft-07/schema#', $ref: '#here', definitions: { a: { $id: '#here' } } },
  ]
  test.each(legal)('%j holds', (schema) => expect(lint(schema)).toMatchObject({ kind: 'ok' }))

  test('what an unknown keyword holds is judged once a reference reaches it', () => {
    expect(lint({ $ref: '#/x/a', x: { a: { type: 'strnig' } } })).toEqual(bad('JSON type'))
    expect(lint({ x: { a: { type: 'strnig' } } })).toMatchObject({ kind: 'ok' })
    expect(lint({ $ref: '#/x/a', x: { a: { properties: { b: { $ref: 'y.json' } } } } })).toEqual(bad('outside'))
  })
})

describe('a check always ends', () => {
  const endless = 'never end'
  const cases: readonly (readonly [string, object])[] = [
    ['a reference to itself', { $ref: '#' }],
    [
      'two that point at each other',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    ],
    ...['allOf', 'anyOf', 'oneOf'].map((keyword): readonly [string, object] => [
      keyword,
      { [keyword]: [{ $ref: '#' }] },
    ]),
    ...['not', 'if'].map((keyword): readonly [string, object] => [keyword, { [keyword]: { $ref: '#' } }]),
    ['then', JSON.parse('{"if":true,"then":{"$ref":"#"}}')],
    ['else', { if: false, else: { $ref: '#' } }],
    ['dependentSchemas', { dependentSchemas: { a: { $ref: '#' } } }],
    ['dependencies', { dependencies: { a: { $ref: '#' } } }],
    ['an anchor', { $ref: '#a', $defs: { x: { $anchor: 'a', allOf: [{ $ref: '#a' }] } } }],
    ['a dynamic anchor', { $dynamicAnchor: 'a', allOf: [{ $dynamicRef: '#a' }] }],
    ['a recursive reference', { $recursiveRef: '#' }],
    ['an absolute address', { $id: 'https://example.com/a', allOf: [{ $ref: 'https://example.com/a' }] }],
    ['below a property', { properties: { a: { $ref: '#/properties/a' } } }],
    ['in a definition that nobody uses', { $defs: { a: { $ref: '#/$defs/a' } } }],
  ]
  test.each(cases)('a cycle through %s is refused', (_title, schema) => expect(lint(schema)).toEqual(bad(endless)))

  const legal: readonly (readonly [string, object])[] = [
    ['properties', { properties: { next: { $ref: '#' } } }],
    ['additionalProperties', { additionalProperties: { $ref: '#' } }],
    ['patternProperties', { patternProperties: { '^x': { $ref: '#' } } }],
    ['propertyNames', { propertyNames: { $ref: '#' } }],
    ['items', { items: { $ref: '#' } }],
    ['prefixItems', { prefixItems: [{ $ref: '#' }] }],
    ['contains', { contains: { $ref: '#' } }],
    ['unevaluatedProperties', { unevaluatedProperties: { $dynamicRef: '#' } }],
    ['a tree', { $ref: '#/$defs/n', $defs: { n: { anyOf: [{ type: 'null' }, { properties: { l: { $ref: '#/$defs/n' }, r: { $ref: '#/$defs/n' } } }] } } }], // biome-ignore format: one line
  ]
  test.each(legal)('a cycle through %s is legal', (_title, schema) =>
    expect(lint(schema)).toMatchObject({ kind: 'ok' }),
  )
})

describe('budgets', () => {
  test.each(['anyOf', 'allOf', 'oneOf'])(
    'references that double through %s are refused before they cost anything',
    (keyword) => {
      for (const levels of [11, 17, 30, 60]) {
        expect(lint(doubling(levels, keyword)).kind).toBe('bad')
        expect(lint(doubling(levels, keyword, 'definitions')).kind).toBe('bad')
        expect(lint({ items: doubling(levels, keyword, 'x-shared') }).kind).toBe('bad')
      }
      expect(lint(doubling(8, keyword))).toMatchObject({ kind: 'ok' })
    },
  )

  test('depth, subschemas, enums, patterns', () => {
    const deeper = (inner: object): object => ({ properties: { a: inner } })
    expect(lint(below(32, deeper))).toMatchObject({ kind: 'ok' })
    expect(lint(below(33, deeper))).toEqual(bad('nest deeper than 32'))
    expect(lint(below(1_000, (inner) => ({ not: inner })))).toEqual(bad('nest deeper than 32'))
    const wide = (count: number): object => ({
      properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, {}])),
    })
    expect(lint(wide(1_999))).toMatchObject({ kind: 'ok' })
    expect(lint(wide(2_000))).toEqual(bad('more than 2000 subschemas'))
    expect(lint({ allOf: Array.from({ length: 50_000 }, () => ({})) })).toEqual(bad('more than 2000 subschemas'))
    expect(lint({ enum: Array.from({ length: 5_000 }, (_, index) => index) })).toMatchObject({ kind: 'ok' })
    expect(lint({ enum: Array.from({ length: 5_001 }, (_, index) => index) })).toEqual(bad('more than 5000 values'))
    expect(lint({ pattern: 'a?'.repeat(257) })).toEqual(bad('at most 512'))
    expect(lint({ patternProperties: { '(?=a)b': {} } })).toEqual(bad('linear time'))
    expect(lint({ items: { pattern: '(a)\\1' } })).toEqual(bad('linear time'))
    const large = Array.from({ length: 99 }, (_, index) => ({ pattern: `(?:[a-z]${index}){600}` }))
    expect(lint({ properties: Object.fromEntries(large.map((schema, index) => [`p${index}`, schema])) })).toEqual(
      bad('too large together'),
    )
  })

  test('a long row of references is refused before it becomes a deep stack', () => {
    const row = (length: number): object => ({
      $defs: Object.fromEntries(
        Array.from({ length }, (_, index) => [
          `d${index}`,
          index + 1 < length ? { $ref: `#/$defs/d${index + 1}` } : {},
        ]),
      ),
    })
    expect(lint(row(60))).toMatchObject({ kind: 'ok' })
    expect(lint(row(1_500))).toEqual(bad('more than 64 times'))
    const throughProperties = Array.from({ length: 900 }, (_, index) => [
      `d${index}`,
      { properties: { a: { $ref: `#/$defs/d${(index + 1) % 900}` } } },
    ])
    expect(lint({ $defs: Object.fromEntries(throughProperties) })).toMatchObject({ kind: 'ok' })
  })
})

describe('dialects', () => {
  test.each([
    'https://json-schema.org/draft/2020-12/schema',
    'https://json-schema.org/draft/2020-12/schema#',
    'https://json-schema.org/draft/2019-09/schema',
    'http://json-schema.org/draft-07/schema#',
    'http://json-schema.org/draft-06/schema',
  ])('%s is read', ($schema) => expect(lint({ $schema })).toMatchObject({ kind: 'ok' }))

  test.each([
    'https://example.com/custom-meta',
    'http://json-schema.org/draft-04/schema#',
    'https://json-schema.org/draft/next/schema',
    '',
    5,
  ])('L65: %j is refused, not skipped', ($schema) => expect(lint({ $schema, type: 'object' })).toEqual(bad('dialect')))

  test('one document has one dialect', () => {
    const draft7 = { $id: 'a', $schema: 'http://json-schema.org/draft-07/schema#' }
    expect(lint({ $defs: { a: draft7 } })).toEqual(bad('another dialect'))
    expect(lint({ $schema: 'http://json-schema.org/draft-07/schema', definitions: { a: draft7 } })).toMatchObject({
      kind: 'ok',
    })
  })

  test('a list of items belongs to dialects before 2020-12', () => {
    expect(lint({ items: [{}] })).toEqual(bad('a schema'))
    expect(lint({ $schema: 'https://json-schema.org/draft/2019-09/schema', items: [{}] })).toMatchObject({ kind: 'ok' })
  })
})

describe('identities', () => {
  test.each([
    'https://json-schema.org/draft/2020-12/schema',
    'http://json-schema.org/draft-07/schema#',
    'https://JSON-SCHEMA.org/draft/2020-12/meta/core',
    'https://json-schema.org:443/draft/../draft/2019-09/schema',
    'https://json-schema.org/schema',
  ])('%s is taken', ($id) => {
    expect(lint({ $id })).toMatchObject({ kind: 'bad' })
    expect(lint({ properties: { a: { $id } } })).toMatchObject({ kind: 'bad' })
  })

  test.each([
    'https://example.com/tool',
    'tool.json',
    'urn:x0',
    'https://json-schema.org.example.com/draft/2020-12/schema',
    '/a/b',
    '',
  ])('%j is free', ($id) => expect(lint({ $id, type: 'object' })).toMatchObject({ kind: 'ok' }))

  test('an identity or an anchor cannot be taken twice', () => {
    expect(lint({ $defs: { a: { $id: 'x' }, b: { $id: 'x' } } })).toEqual(bad('used twice'))
    expect(lint({ $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } })).toEqual(bad('used twice'))
    expect(lint({ $defs: { a: { $anchor: 'x', $dynamicAnchor: 'x' } } })).toMatchObject({ kind: 'ok' })
  })

  test('a dynamic reference that several schemas could answer is refused', () => {
    const inner = (name: string) => ({ $id: name, $dynamicAnchor: 'node' })
    expect(lint({ $dynamicRef: 'a#node', $defs: { a: inner('a'), b: inner('b') } })).toEqual(
      bad('by which the schema is reached'),
    )
    expect(lint({ $dynamicRef: 'a#node', $defs: { a: inner('a') } })).toMatchObject({ kind: 'ok' })
  })
})

describe('malformed keywords are refused', () => {
  const malformed: readonly object[] = [
    { type: 'strnig' },
    { type: 'any' },
    { type: [] },
    { type: ['string', 'string'] },
    { type: null },
    { properties: 5 },
    { properties: { a: 5 } },
    { properties: { a: null } },
    { properties: ['a'] },
    { required: 'a' },
    { required: true },
    { required: ['a', 'a'] },
    { required: [1] },
    { additionalProperties: 'no' },
    { items: 'string' },
    { enum: 'a' },
    { minLength: -1 },
    { maxLength: 1.5 },
    { maxItems: '3' },
    { minimum: '0' },
    { exclusiveMinimum: true },
    { multipleOf: 0 },
    { uniqueItems: 'true' },
    { allOf: [] },
    { anyOf: {} },
    { oneOf: [5] },
    { not: [] },
    { pattern: { $data: '1/x' } },
    { minLength: { $data: '1/x' } },
    { pattern: '(' },
    { patternProperties: { '(': {} } },
    { format: 5 },
    { title: 5 },
    { description: ['x'] },
    { readOnly: 'true' },
    { examples: {} },
    { $ref: 5 },
    { $id: 5 },
    { $id: 'a#b' },
    { $anchor: '#a' },
    { $anchor: '1a' },
    { $defs: [] },
    { dependentRequired: { a: 'b' } },
    { dependencies: { a: 'b' } },
    { dependencies: { a: [1] } },
  ]
  test.each(malformed)('%j', (schema) => {
    expect(lint(schema)).toMatchObject({ kind: 'bad' })
    expect(lint({ $defs: { deep: { items: schema } } })).toMatchObject({ kind: 'bad' })
  })
})

describe('what merely looks like a keyword is left alone', () => {
  const legal: readonly object[] = [
    {
      properties: {
        $ref: { type: 'string' },
        type: {},
        enum: {},
        $schema: {},
        $id: {},
        pattern: {},
        required: {},
        properties: {},
      },
    },
    { $defs: { $ref: {}, allOf: {} } },
    { properties: { constructor: { type: 'string' }, toString: {}, 'a.b/c~d %': { type: 'number' }, '': {} } },
    { const: { $ref: 'https://example.com' } },
    { const: { $data: '1/x' } },
    { enum: [{ $ref: 'x.json' }, { type: 'strnig' }, { $id: 'https://json-schema.org/draft/2020-12/schema' }] },
    { default: { $ref: '#/nowhere', pattern: '(' } },
    { examples: [{ $schema: 'nonsense' }] },
    { 'x-vendor': { $ref: 'https://example.com', type: 'strnig' } },
    { nullable: true, example: 1, xml: {}, toString: 1, constructor: { a: 1 } },
    { format: 'int32' },
    { maximum: Number.MAX_VALUE, minimum: -(2 ** 63) },
    { dependentRequired: { $ref: ['a'] } },
  ]
  test.each(legal)('%j', (schema) => expect(lint(schema)).toMatchObject({ kind: 'ok' }))
})

describe('a misspelt constraint of an author', () => {
  test.each([
    ['requierd', 'required'],
    ['propertes', 'properties'],
    ['additionalproperties', 'additionalProperties'],
    ['minlength', 'minLength'],
    ['pattren', 'pattern'],
    ['maxItem', 'maxItems'],
  ])('%s is refused where the schema is trusted, and is an annotation of a stranger', (keyword, meant) => {
    expect(lint({ [keyword]: 1 }, true)).toEqual(bad(`was \`${meant}\` meant?`))
    expect(lint({ [keyword]: 1 })).toMatchObject({ kind: 'ok' })
  })

  test.each([
    'x-required',
    'nullable',
    'example',
    'discriminator',
    'markdownDescription',
    'enumNames',
    'errorMessage',
    'deprecated',
    'unit',
  ])('%s is a word of its own', (keyword) => expect(lint({ [keyword]: true }, true)).toMatchObject({ kind: 'ok' }))
})
