import { describe, expect, test } from 'vitest'
import type { Ending } from '../../describe/call.ts'
import { type ContentPart, textPart } from '../../describe/content.ts'
import type { Entry } from '../../describe/entry.ts'
import { fitBody, textBytes } from '../fit-content.ts'
import { fitDisplay } from './fit-display.ts'
import { defaultShape, shownOf } from './present.ts'

const fitted = (value: unknown, bytesMax = 48 * 1024) =>
  fitBody(defaultShape(value).body, { bytesMax, noticeBytes: 200, layer: 'result budget' })
const textOf = (content: readonly ContentPart[]): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
const read = (value: unknown): string => textOf(fitted(value).content)

describe('the default shape', () => {
  test('of rows: a line each for the model, a table for a person, the value complete', () => {
    const rows = Array.from({ length: 5_000 }, (_, id) => ({ id, name: `n${id}`, gone: null }))
    const value = { rows, total: 12_000, nextCursor: 'after=5000' }
    const { content, cut } = fitted(value)
    const lines = textOf(content).split('\n')
    expect(lines.slice(0, 2)).toEqual(['id | name | gone', '0 | n0 | null'])
    expect(lines).toHaveLength(22)
    expect(lines.at(-1)).toBe('[12000 rows in all; next cursor: after=5000]')
    expect(cut).toMatchObject({
      layer: 'presentation',
      unit: 'rows',
      originalUnits: 5_000,
      kept: [{ from: 0, to: 20 }],
    })
    expect(cut?.whole).toEqual({ mediaType: 'application/json', content: JSON.stringify(value) })
    expect(defaultShape(value).display).toMatchObject({ kind: 'table', columns: ['id', 'name', 'gone'], total: 12_000 })
    const { display } = defaultShape(value)
    expect(display?.kind === 'table' && display.rows.length).toBe(1_000)
  })

  test('of a list of flat objects is a table too, and one that is short is no cut', () => {
    expect(
      read([
        { a: 1, b: 'x|y\nz' },
        { a: 2, c: true },
      ]),
    ).toBe('a | b | c\n1 | x\\|y\\nz | \n2 |  | true')
    expect(fitted([{ a: 1 }]).cut).toBeUndefined()
    expect(read({ rows: [], total: 0 })).toBe('no rows')
    expect(read({ rows: [{ a: { b: 1 } }], page: 2 })).toBe('a\n{"b":1}\n[{"page":2}]')
  })

  test('of rows that do not fit shows whole rows only', () => {
    const rows = Array.from({ length: 15 }, (_, id) => ({ id, text: 'x'.repeat(90) }))
    const { content, cut } = fitted(rows, 800)
    expect(textBytes(content)).toBeLessThanOrEqual(600)
    expect(cut).toMatchObject({ layer: 'result budget', unit: 'rows', kept: [{ from: 0, to: 6 }] })
    expect(textOf(content).split('\n')).toHaveLength(7)
  })

  test('of a row that alone is too large shows its beginning', () => {
    const { content, cut } = fitted([{ text: 'é'.repeat(2_000) }], 800)
    expect(textBytes(content)).toBeLessThanOrEqual(600)
    expect(textOf(content)).toContain('éé')
    expect(cut?.kept).toEqual([])
  })

  test.each([
    ['a text', 'plain', 'plain'],
    ['a small value', { a: 1 }, '{"a":1}'],
    ['a list of numbers', [1, 2], '[1,2]'],
    ['an empty list', [], '[]'],
    ['a list of lists', [[1], [2]], '[[1],[2]]'],
    ['a list that is only partly of objects', [{ a: 1 }, 2], '[{"a":1},2]'],
    ['a list of objects that are not flat', [{ a: { b: 1 } }], '[{"a":{"b":1}}]'],
    ['an object whose rows are no objects', { rows: [1] }, '{"rows":[1]}'],
    ['nothing', undefined, 'done'],
    ['what is no JSON', { big: 1n }, 'done; the value cannot be shown as JSON'],
    ['half a pair of surrogates', 'a\ud83d', 'a\ufffd'],
    ['half a pair in a cell', [{ 'k\ud83d': 'a\ud83d' }], 'k\ufffd\na\ufffd'],
  ])('of %s', (_name, value, text) => expect(read(value)).toBe(text))

  test('of a value of a few lines is easy to read, and the same value', () => {
    const value = { name: 'a'.repeat(60), list: [1, 2, 3], more: { yes: true, no: false } }
    expect(read(value)).toContain('\n  "list": [')
    expect(JSON.parse(read(value))).toEqual(value)
  })

  test('of output of a program: no control sequence for the model, only colours for a person', () => {
    const shown = defaultShape('\u001b[31mred\u001b[0m\u001b]0;title\u0007 10%\r\u001b[2Kdone\n')
    expect(shown.body).toMatchObject({ parts: [textPart('done\n')], keeps: 'ends' })
    expect(shown.display?.kind === 'terminal' && fitDisplay(shown.display)).toMatchObject({
      kind: 'terminal',
      text: 'done\n',
    })
  })
})

describe('what a tool makes of its value', () => {
  const entry = (present: unknown): Entry => ({ tool: { present } }) as unknown as Entry
  const of = (present: unknown, value: unknown = { a: 1 }) =>
    shownOf({ kind: 'value', value } as Ending, { entry: entry(present), text: undefined, clean: (shown) => shown })

  test.each([
    [
      'a throw',
      () => {
        throw new Error('bug')
      },
    ],
    ['no content', () => ({})],
    ['content that is none', () => ({ content: [{ type: 'text' }] })],
    ['nothing', () => undefined],
    ['no function', 3],
  ])('%s falls back to the default shape', (_name, present) => {
    expect(of(present).body).toMatchObject({ kind: 'json', text: '{"a":1}' })
  })

  test('a terminal for a person is plain text for the model', () => {
    const shown = of(() => ({
      content: [textPart('\u001b[1mbold')],
      display: { kind: 'terminal', text: '\u001b[1mbold' },
    }))
    expect(shown.body).toMatchObject({ parts: [textPart('bold')], keeps: 'ends' })
  })

  test('its own way to more is said where its text is cut', () => {
    const { body } = of(() => ({
      content: [textPart('a\n'.repeat(600))],
      more: (lines: number) => `ask from ${lines}`,
    }))
    const { cut } = fitBody(body, { bytesMax: 600, noticeBytes: 200, layer: 'result budget' })
    expect(cut?.more).toBe('ask from 200')
  })
})

describe('L80: a display has caps of its own', () => {
  test.each(['text', 'diff', 'file', 'terminal'] as const)('%s', (kind) => {
    const display = { kind, path: 'a', fromLine: 1, text: 'line\n'.repeat(200_000) } as never
    const fit = fitDisplay(display) as { readonly text: string }
    expect(Buffer.byteLength(fit.text)).toBeLessThanOrEqual(256 * 1024)
    expect(fit.text).toContain('of 1000000 bytes')
  })

  test('a table by rows, columns and bytes', () => {
    const columns = Array.from({ length: 100 }, (_, at) => `c${at}`)
    const fit = fitDisplay({ kind: 'table', columns, rows: Array.from({ length: 3_000 }, () => columns) })
    expect(fit).toMatchObject({ total: 3_000 })
    expect(fit.kind === 'table' && [fit.columns.length, fit.rows[0]?.length, fit.rows.length]).toEqual([64, 64, 1_000])
    const wide = fitDisplay({
      kind: 'table',
      columns: ['a'],
      rows: Array.from({ length: 50 }, () => ['x'.repeat(100_000)]),
    })
    expect(wide.kind === 'table' && wide.rows.length).toBe(10)
  })

  test('an image that is too large, or of another kind, is named', () => {
    expect(fitDisplay({ kind: 'image', data: 'A'.repeat(5_000_000), mimeType: 'image/png' }).kind).toBe('text')
    expect(fitDisplay({ kind: 'image', data: 'AAAA', mimeType: 'text/html' }).kind).toBe('text')
    expect(fitDisplay({ kind: 'image', data: 'AAAA', mimeType: 'image/png' }).kind).toBe('image')
  })

  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'https://a b',
    `https://${'a'.repeat(5_000)}`,
  ])('a link to %.30s cannot be followed', (uri) => expect(fitDisplay({ kind: 'link', uri }).kind).toBe('text'))

  test('a link to a page can', () => {
    const link = { kind: 'link', uri: 'https://example.com/a', title: 'A' } as const
    expect(fitDisplay(link)).toEqual(link)
  })
})
