import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson, type JsonBounds, jsonPath, refusalMessage, takeJson } from './json-value.ts'

const BOUNDS: JsonBounds = { bytesMax: 1_048_576, depthMax: 64, keysMax: 10_000 }

const take = (value: unknown, bounds: Partial<JsonBounds> = {}) => takeJson(value, { ...BOUNDS, ...bounds })

function nested(depth: number): unknown {
  let value: unknown = []
  for (let level = 1; level < depth; level++) value = [value]
  return value
}

describe('what is no JSON is refused with its path', () => {
  class Account {
    name = 'x'
  }
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  const twoStep: { a: { b?: unknown } } = { a: {} }
  twoStep.a.b = twoStep
  const withHiddenTwin = JSON.parse('{"a":{"__proto__":{"admin":true}}}')
  const sparse: unknown[] = [1]
  sparse[2] = 3
  const cases: readonly (readonly [string, unknown, string, string])[] = [
    ['nothing', undefined, '', 'undefined'],
    ['an undefined member', { a: { b: undefined } }, 'a.b', 'undefined'],
    ['an undefined item', { a: [1, undefined] }, 'a[1]', 'undefined'],
    ['a hole', { a: sparse }, 'a[1]', 'undefined'],
    ['a function', { run: () => 1 }, 'run', 'a function'],
    ['a toJSON that would speak for the object', { a: { toJSON: () => 'x' } }, 'a.toJSON', 'a function'],
    ['a symbol', [Symbol('s')], '[0]', 'a symbol'],
    ['a symbol key', { a: { [Symbol('s')]: 1 } }, 'a', 'an object with symbol keys'],
    ['a bigint', { n: 1n }, 'n', 'a bigint'],
    ['NaN', { n: Number.NaN }, 'n', 'NaN'],
    ['Infinity', [[Number.NEGATIVE_INFINITY]], '[0][0]', '-Infinity'],
    ['an integer past 2^53 - 1', { n: 2 ** 53 }, 'n', '9007199254740992'],
    ['the largest that JavaScript writes without an exponent', [999999999999999900000], '[0]', '999999999999999900000'],
    ['a negative one', { n: -(2 ** 53) }, 'n', '-9007199254740992'],
    ['a date', { at: new Date(0) }, 'at', 'an instance of a class'],
    ['a map', { m: new Map() }, 'm', 'an instance of a class'],
    ['an instance', { a: new Account() }, 'a', 'an instance of a class'],
    ['a boxed string', { a: Object('x') }, 'a', 'an instance of a class'],
    ['bytes', { a: new Uint8Array(2) }, 'a', 'an instance of a class'],
    ['an accessor', { a: Object.defineProperty({}, 'b', { enumerable: true, get: () => 1 }) }, 'a.b', 'an accessor'],
    ['a setter', { a: Object.defineProperty({}, 'b', { enumerable: true, set: () => {} }) }, 'a.b', 'an accessor'],
    ['own __proto__', withHiddenTwin, 'a.__proto__', 'one'],
    ['constructor with a prototype', { constructor: { prototype: { admin: true } } }, 'constructor', 'one'],
    ['a cycle', cycle, 'self.self', 'a value that contains itself'],
    ['a longer cycle', twoStep, 'a.b.a', 'a value that contains itself'],
    ['half of a surrogate pair', { a: ['x\ud800'] }, 'a[0]', 'half of a surrogate pair'],
    ['half of one in a key', { a: { 'x\udc00': 1 } }, 'a["x\\udc00"]', 'half of a surrogate pair'],
  ]
  test.each(cases)('%s', (_title, value, path, came) => {
    expect(take(value)).toMatchObject({ kind: 'refused', code: 'invalid_args', came })
    // A cycle is only known once it has been walked to the bound.
    if (!came.includes('itself')) expect(take(value)).toMatchObject({ path })
  })

  test('a value that throws when it is read', () => {
    const hostile = new Proxy({}, { ownKeys: () => { throw new Error('no') } }) // biome-ignore format: one line
    expect(take({ a: hostile })).toMatchObject({ kind: 'refused', code: 'invalid_args' })
  })

  test('a message names the path, what was expected and what came', () => {
    const taken = take({ items: [{}, { name: 5n }] })
    expect(taken.kind === 'refused' && refusalMessage(taken, 'the arguments')).toBe(
      '`items[1].name`: expected JSON data, came a bigint',
    )
  })
})

describe('bounds hold before a copy is made', () => {
  test('depth: 64 levels pass, 65 do not, whatever they are made of', () => {
    expect(take(nested(64)).kind).toBe('ok')
    expect(take(nested(65))).toMatchObject({ kind: 'refused', code: 'oversized' })
    let objects: unknown = 1
    for (let level = 0; level < 65; level++) objects = { a: objects }
    expect(take(objects)).toMatchObject({ kind: 'refused', code: 'oversized' })
    expect(take(nested(100_000))).toMatchObject({ kind: 'refused', code: 'oversized' })
  })

  test('keys are counted over all objects', () => {
    const rows = Array.from({ length: 100 }, () => ({ a: 1, b: 2 }))
    expect(take(rows, { keysMax: 200 }).kind).toBe('ok')
    expect(take(rows, { keysMax: 199 })).toMatchObject({ kind: 'refused', code: 'oversized', path: '' })
  })

  test('bytes are those of UTF-8: the last one that fits, and one more', () => {
    expect(take('é'.repeat(4), { bytesMax: 10 }).kind).toBe('ok')
    expect(take('é'.repeat(4), { bytesMax: 9 })).toMatchObject({ kind: 'refused', code: 'oversized' })
    expect(take([true, false, null, 1.5, ''], { bytesMax: 24 }).kind).toBe('ok')
    expect(take([true, false, null, 1.5, ''], { bytesMax: 23 })).toMatchObject({ kind: 'refused', code: 'oversized' })
  })

  test('a shared value that is small in memory and endless as text stops early', () => {
    let bomb: unknown = 'x'
    for (let level = 0; level < 60; level++) bomb = [bomb, bomb]
    expect(take(bomb)).toMatchObject({ kind: 'refused', code: 'oversized' })
  })
})

describe('what comes out', () => {
  test('is a frozen copy all the way down, and the original may change', () => {
    const original = { list: [{ a: 1 }] }
    const taken = take(original)
    original.list.push({ a: 2 })
    expect(taken).toMatchObject({ kind: 'ok', value: { list: [{ a: 1 }] } })
    const value = taken.kind === 'ok' ? (taken.value as { list: readonly object[] }) : undefined
    expect([value, value?.list, value?.list[0]].map((part) => Object.isFrozen(part))).toEqual([true, true, true])
  })

  test('has the prototype of a plain object, whatever the keys are called', () => {
    const taken = take({ constructor: 'Ferrari', toString: 1, hasOwnProperty: null, valueOf: [] })
    const value: unknown = taken.kind === 'ok' ? taken.value : undefined
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.entries(value as object)).toEqual([
      ['constructor', 'Ferrari'],
      ['hasOwnProperty', null],
      ['toString', 1],
      ['valueOf', []],
    ])
  })

  test('an object without a prototype and one of another realm are plain objects', () => {
    expect(take(Object.assign(Object.create(null), { a: 1 }))).toMatchObject({ kind: 'ok', text: '{"a":1}' })
    expect(take(runInNewContext('({ a: [1, { b: 2 }] })'))).toMatchObject({ kind: 'ok', text: '{"a":[1,{"b":2}]}' })
    expect(take(runInNewContext('new (class A { constructor() { this.a = 1 } })()'))).toMatchObject({ kind: 'refused' })
  })

  test('words that only resemble the special keys pass', () => {
    for (const text of ['{"proto":1,"prototype":"x"}', '{"constructor":{"name":"x"}}', '{"":1}', '{"a":null}']) {
      expect(take(JSON.parse(text))).toMatchObject({ kind: 'ok', text })
    }
    expect(take({ n: 2 ** 53 - 1, m: -(2 ** 53 - 1), f: 1e-300 }).kind).toBe('ok')
    expect(take({ emoji: '🚀', escaped: '\\ud800' })).toMatchObject({ kind: 'ok' })
  })

  test('-0 is 0, as its text says', () => {
    const taken = take({ n: -0 })
    expect(taken.kind === 'ok' && Object.is((taken.value as { n: number }).n, 0)).toBe(true)
  })

  test('the text is canonical: keys in UTF-16 order, also those that look like numbers', () => {
    const taken = take({
      '10': 1,
      '9': 2,
      '-': 3,
      b: 4,
      a: { z: 1, y: [] },
      '€': 5,
      '\r': 6,
      '😂': 7,
      '\ufb33': 8,
      '1': 9,
    })
    const text = '{"\\r":6,"-":3,"1":9,"10":1,"9":2,"a":{"y":[],"z":1},"b":4,"€":5,"😂":7,"\ufb33":8}'
    expect(taken).toMatchObject({ kind: 'ok', text })
    expect(taken.kind === 'ok' && canonicalJson(taken.value)).toBe(taken.kind === 'ok' && taken.text)
  })

  test('numbers are written as RFC 8785 says', () => {
    const numbers = [4.5, 2e-3, 1e-27, 333333333.3333333, 0.000001, 1e-7, 123456789012345]
    expect(canonicalJson(numbers)).toBe('[4.5,0.002,1e-27,333333333.3333333,0.000001,1e-7,123456789012345]')
  })
})

describe('options', () => {
  test('the given order is kept on demand', () => {
    expect(takeJson({ b: 1, a: 2 }, BOUNDS, { keyOrder: 'given' })).toMatchObject({ text: '{"b":1,"a":2}' })
    expect(takeJson({ b: 1, a: 2 }, BOUNDS)).toMatchObject({ text: '{"a":2,"b":1}' })
  })

  test('undefined members are left out on demand, undefined items never', () => {
    expect(takeJson({ a: undefined, b: 1 }, BOUNDS, { undefinedMembers: 'drop' })).toMatchObject({ text: '{"b":1}' })
    expect(takeJson([undefined], BOUNDS, { undefinedMembers: 'drop' }).kind).toBe('refused')
    const accessor = Object.defineProperty({}, 'a', { enumerable: true, get: () => undefined })
    expect(takeJson(accessor, BOUNDS, { undefinedMembers: 'drop' }).kind).toBe('refused')
  })

  test('large integers are kept on demand, Infinity never', () => {
    expect(takeJson([1e300], BOUNDS, { unsafeIntegers: 'keep' })).toMatchObject({ text: '[1e+300]' })
    expect(takeJson([Number.POSITIVE_INFINITY], BOUNDS, { unsafeIntegers: 'keep' }).kind).toBe('refused')
  })
})

test('any JSON value is taken as it is, and its text does not depend on the order of keys', () => {
  const json = fc.jsonValue({ maxDepth: 6 }).filter((value) => !JSON.stringify(value).includes('__proto__'))
  fc.assert(
    fc.property(json, (value) => {
      const taken = take(value)
      const reversed = take(reverseKeys(value))
      const isSafe = !/\d{16}|e\+/.test(JSON.stringify(value))
      if (isSafe) expect(taken.kind).toBe('ok')
      if (taken.kind === 'refused' || reversed.kind === 'refused') return
      expect(JSON.parse(taken.text)).toEqual(JSON.parse(JSON.stringify(value)))
      expect(reversed.text).toBe(taken.text)
      expect(taken.bytes).toBe(Buffer.byteLength(taken.text))
    }),
  )
})

function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).reverse().map(([key, below]) => [key, reverseKeys(below)])) // biome-ignore format: one line
}

test('a path is short and readable', () => {
  expect(jsonPath(['items', 3, 'name', 'a.b/c', ''])).toBe('items[3].name["a.b/c"][""]')
  expect(jsonPath([0])).toBe('[0]')
  expect(jsonPath(['x'.repeat(5_000)]).length).toBeLessThan(250)
})

test('a number that JavaScript writes with an exponent is taken, as a measurement', () => {
  const taken = takeJson(
    { mole: 6.022e23, least: 1e21, most: -Number.MAX_VALUE, small: 5e-324 },
    { bytesMax: 1_000, depthMax: 2, keysMax: 9 },
  )
  expect(taken).toMatchObject({
    kind: 'ok',
    text: '{"least":1e+21,"mole":6.022e+23,"most":-1.7976931348623157e+308,"small":5e-324}',
  })
})
