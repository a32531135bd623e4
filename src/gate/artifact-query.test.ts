// Goal: queries answer what fits, and no expression, pattern or content holds the gate up. Method: real worker threads; the
// hostile ones have to end by themselves.

import { afterAll, describe, expect, test } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { ArtifactQueries, type QueryAsk } from './artifact-query.ts'

const queries = new ArtifactQueries(systemClock, 3_000)
afterAll(() => queries.close())

type More = { from?: number; count?: number; bytesMax?: number; expression?: string; signal?: AbortSignal }

const rows = (value: unknown, { signal = new AbortController().signal, ...more }: More & { listed?: boolean } = {}) =>
  queries.run({
    ...{ kind: 'rows', content: Buffer.from(JSON.stringify(value)), from: 0, count: 1_000, bytesMax: 10_000 },
    ...{ listed: true, signal, ...more },
  } as QueryAsk)
const lines = (text: string, expression: string, more: More = {}) =>
  queries.run({
    ...{ kind: 'lines', content: Buffer.from(text), from: 0, count: 1_000, bytesMax: 10_000, expression },
    ...{ signal: new AbortController().signal, ...more },
  } as QueryAsk)

const TABLE = { rows: [{ id: 1, open: true }, { id: 2 }, { id: 3, open: true }], total: 3 }

describe('an expression that does not hold', () => {
  test('is refused with what is wrong about it', async () => {
    expect(await rows(TABLE, { expression: 'rows[?' })).toMatchObject({ kind: 'bad', code: 'query_invalid' })
    expect(await rows(TABLE, { expression: 'length(`1`)' })).toMatchObject({ kind: 'bad', code: 'query_invalid' })
    expect(await lines('a', '(?=a)')).toMatchObject({ kind: 'bad', code: 'query_invalid' })
    expect(await lines('a', '(')).toMatchObject({ kind: 'bad', code: 'query_invalid' })
  })

  // 2^40 elements: there is no machine that holds them.
  const doubled = `${'[@,@]'.concat(' | [@[],@[]]'.repeat(2))}${' | [@,@][]'.repeat(40)}`
  const nested = `{ a: @ }${' | { a: [a,a] }'.repeat(60)}`

  test.each([
    ['doubles its list again and again', doubled],
    ['makes a text of a tree that shares its branches', `${nested} | to_string(@)`],
  ])(
    'and one that %s ends, and the next one is answered',
    async (_, expression) => {
      expect(await rows([1, 2, 3], { expression })).toMatchObject({ kind: 'bad', code: 'query_too_much' })
      expect(await rows(TABLE, { expression: 'rows[*].id' })).toMatchObject({ rows: ['1', '2', '3'] })
    },
    30_000,
  )

  test('one whose caller has left ends', async () => {
    const signal = AbortSignal.abort()
    expect(await rows(TABLE, { expression: 'total', signal })).toMatchObject({ kind: 'bad', code: 'query_too_much' })
  })
})

describe('rows', () => {
  test('are those that fit, and never half of one', async () => {
    const list = Array.from({ length: 10 }, (_, id) => ({ id }))
    expect(await rows(list, { from: 2, bytesMax: 20 })).toEqual({
      ...{ kind: 'rows', from: 2, to: 4, total: 10, rows: ['{"id":2}', '{"id":3}'] },
    })
    expect(await rows(list, { from: 2, bytesMax: 5 })).toEqual({ kind: 'large', row: 2, bytes: 8 })
    expect(await rows(list, { from: 99 })).toMatchObject({ from: 10, to: 10, rows: [] })
    expect(await rows(list, { count: 1 })).toMatchObject({ to: 1, rows: ['{"id":0}'] })
  })

  test('are the elements of a list or of its `rows`, and nothing else is a list', async () => {
    expect(await rows(TABLE)).toMatchObject({ total: 3 })
    expect(await rows({ items: [] })).toMatchObject({ kind: 'bad', code: 'no_rows' })
    expect(await rows('text')).toMatchObject({ kind: 'bad', code: 'no_rows' })
  })

  test('that an expression finds are read like any others, and what is no list is text', async () => {
    expect(await rows(TABLE, { expression: 'rows[?open].id', from: 1 })).toMatchObject({ total: 2, rows: ['3'] })
    expect(await rows(TABLE, { expression: 'rows[?id == `2`] | [0]' })).toEqual({ kind: 'text', text: '{"id":2}' })
    expect(await rows(TABLE, { expression: 'nothing' })).toEqual({ kind: 'text', text: 'null' })
    expect(await rows(TABLE, { expression: 'rows[*].id', listed: false })).toEqual({ kind: 'text', text: '[1,2,3]' })
  })

  test('of a foreign name are only own members', async () => {
    expect(await rows(TABLE, { expression: 'constructor' })).toEqual({ kind: 'text', text: 'null' })
  })
})

describe('lines that match', () => {
  test('come with their numbers, from the line asked for, and say where to go on', async () => {
    const text = 'ok\nerror one\nok\nerror two\nerror three\n'
    expect(await lines(text, '^error')).toEqual({
      ...{ kind: 'lines', from: 0, to: 5, total: 5 },
      lines: [
        { line: 1, text: 'error one' },
        { line: 3, text: 'error two' },
        { line: 4, text: 'error three' },
      ],
    })
    expect(await lines(text, '^error', { from: 2, count: 1 })).toMatchObject({ from: 2, to: 4, lines: [{ line: 3 }] })
    expect(await lines(text, 'nowhere', { from: 3 })).toMatchObject({ from: 3, to: 5, lines: [] })
  })

  test('a pattern that other engines choke on ends, and a huge line is cut', async () => {
    expect(await lines(`${'a'.repeat(5_000)}!`, '^(a+)+$')).toMatchObject({ lines: [] })
    const found = await lines(`x${'ü'.repeat(5_000)}`, 'x')
    if (found.kind !== 'lines') throw new Error(found.kind)
    expect(Buffer.byteLength(found.lines[0]?.text ?? '')).toBeLessThanOrEqual(2_048)
    expect(found.lines[0]?.cutFromBytes).toBe(10_001)
  })
})
