import { expect, test } from 'vitest'
import type { JsonObject } from '../../base/json-value.ts'
import { LintCache } from './lint-cache.ts'
import { FOREIGN_LIMITS } from './lint-schema.ts'

const lint = (cache: LintCache, schema: JsonObject) => cache.lint(schema, JSON.stringify(schema))
const numbered = (number: number): JsonObject => ({ type: 'object', description: `schema ${number}` })

test('an equal schema is judged once, and refused alike', () => {
  const cache = new LintCache(FOREIGN_LIMITS, 10, 1_000)
  expect(lint(cache, numbered(1))).toBe(lint(cache, numbered(1)))
  const bad = lint(cache, { $ref: '#/nowhere' })
  expect(bad).toMatchObject({ kind: 'bad' })
  expect(lint(cache, { $ref: '#/nowhere' })).toBe(bad)
})

test('a schema that differs in anything, be it the order of its keys, is judged by itself', () => {
  const cache = new LintCache(FOREIGN_LIMITS, 10, 1_000)
  const first = lint(cache, { type: 'object', title: 'a' })
  for (const other of [
    { title: 'a', type: 'object' },
    { type: 'object', title: 'b' },
  ]) {
    expect(lint(cache, other)).not.toBe(first)
    expect(lint(cache, other)).toMatchObject({ kind: 'ok', root: other })
  }
})

test('it keeps no more than its bounds, and forgets first what was not asked for the longest', () => {
  for (const cache of [new LintCache(FOREIGN_LIMITS, 2, 1_000), new LintCache(FOREIGN_LIMITS, 10, 100)]) {
    const [first, second] = [lint(cache, numbered(1)), lint(cache, numbered(2))]
    expect(lint(cache, numbered(1))).toBe(first)
    lint(cache, numbered(3))
    expect(lint(cache, numbered(1))).toBe(first)
    expect(lint(cache, numbered(2))).not.toBe(second)
  }
})

test('a schema larger than the bound is judged all the same', () => {
  const cache = new LintCache(FOREIGN_LIMITS, 10, 5)
  expect(lint(cache, numbered(1))).toMatchObject({ kind: 'ok' })
  expect(lint(cache, numbered(1))).not.toBe(lint(cache, numbered(1)))
})
