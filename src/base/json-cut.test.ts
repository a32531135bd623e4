// Goal: what is left of cut JSON is JSON, within its bound, and no element of it is half. Method: chosen texts, then random ones.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cutJsonText } from './json-cut.ts'
import { utf8Bytes } from './text-cut.ts'

const parsed = (text: string, bytesMax: number): unknown => {
  const cut = cutJsonText(text, bytesMax)
  return cut === undefined ? undefined : JSON.parse(cut.text)
}

describe('cutting JSON', () => {
  test('ends after a whole element', () => {
    const text = JSON.stringify([
      { a: 1, b: 2 },
      { a: 3, b: 4 },
      { a: 5, b: 6 },
    ])
    expect(cutJsonText(text, text.length - 1)).toEqual({
      text: '[{"a":1,"b":2},{"a":3,"b":4}]',
      keptUnits: 28,
      rows: 2,
    })
    expect(parsed(JSON.stringify({ a: 1, b: 'x'.repeat(20), c: 2 }), 30)).toEqual({ a: 1 })
  })

  test('goes inside an element that alone is larger than the bound', () => {
    const rows = Array.from({ length: 100 }, (_, id) => ({ id }))
    const cut = cutJsonText(JSON.stringify({ ok: true, rows, more: 1 }), 60)
    expect(JSON.parse(cut?.text ?? '')).toEqual({ ok: true, rows: rows.slice(0, cut?.rows) })
    expect(cut?.rows).toBeGreaterThan(2)
    expect(parsed(JSON.stringify(['x'.repeat(100)]), 20)).toEqual([`${'x'.repeat(13)}…`])
  })

  test('splits no escape and no character of a text', () => {
    const text = JSON.stringify([`\ud83d"\\\n\u0001${'👨‍👩‍👧‍👦'.repeat(10)}`]).replaceAll('👧', '\\ud83d\\udc67')
    for (let bytes = 8; bytes < 120; bytes++) {
      const [kept = ''] = (parsed(text, bytes) ?? []) as string[]
      expect(kept.slice(1).isWellFormed()).toBe(true)
    }
    expect(parsed('["ab\\n\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301"]', 14)).toEqual(['ab…'])
  })

  test.each([
    '',
    'text',
    '"a"',
    '[1,',
    '{"a"}',
    '[1 2 3 4 5 6 7 8 9 0]',
    '[,,,,,,,,,,,,,,,,]',
    '}{',
    '[tru, 1, 2, 3, 4, 5, 6]',
    '{"a":1}\n{"a":2}\n',
  ])('%j is no JSON to cut', (text) => expect(cutJsonText(text, 10)).toBeUndefined())

  test('any JSON stays JSON within its bound', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ stringUnit: 'binary', maxDepth: 6 }),
        fc.integer({ min: 2, max: 300 }),
        fc.constantFrom(undefined, 2, '\t'),
        (value, bytesMax, indent) => {
          const text = JSON.stringify([value, { value }, value], undefined, indent)
          const cut = cutJsonText(text, bytesMax)
          if (cut === undefined) return expect(bytesMax).toBeLessThan(2)
          JSON.parse(cut.text)
          expect(utf8Bytes(cut.text)).toBeLessThanOrEqual(Math.max(bytesMax, 2))
          expect(text.startsWith(cut.text.slice(0, cut.keptUnits))).toBe(true)
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('however deep it is nested, it ends', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    expect(parsed(deep, 1_000)).toEqual([])
  })
})
