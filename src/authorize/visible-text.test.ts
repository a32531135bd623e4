// Goal: a person sees every character that stands in a text, in the order in which it stands there. Method: what hides is
// written out, what people write is left alone, and what is written out cannot be forged.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { visibleLine, visibleText } from './visible-text.ts'

describe('what hides, reorders or passes for something else is written out', () => {
  test.each<[what: string, text: string, shown: string]>([
    ['a null character', 'a\0b', 'a\\u{0}b'],
    ['an escape sequence', '\u001b[2Jx', '\\u{1b}[2Jx'],
    ['a line break', 'a\nb', 'a\\u{a}b'],
    ['a carriage return', 'safe\rrm', 'safe\\u{d}rm'],
    ['a C1 control', 'a\u009bb', 'a\\u{9b}b'],
    ['a backspace', 'a\bb', 'a\\u{8}b'],
    ['a right-to-left override', 'exe\u202egpj', 'exe\\u{202e}gpj'],
    ['an isolate', '\u2066a\u2069', '\\u{2066}a\\u{2069}'],
    ['a zero-width blank', 'a\u200bb', 'a\\u{200b}b'],
    ['a zero-width joiner', 'a\u200db', 'a\\u{200d}b'],
    ['a byte order mark', '\ufeffa', '\\u{feff}a'],
    ['a soft hyphen', 'a\u00adb', 'a\\u{ad}b'],
    ['a Hangul filler', 'a\u3164b', 'a\\u{3164}b'],
    ['a braille blank', 'a\u2800b', 'a\\u{2800}b'],
    ['a no-break blank', 'a\u00a0b', 'a\\u{a0}b'],
    ['an ideographic blank', 'a\u3000b', 'a\\u{3000}b'],
    ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
    ['a tag', 'a\u{e0041}b', 'a\\u{e0041}b'],
    ['a variation selector', 'a\ufe0fb', 'a\\u{fe0f}b'],
    ['a supplementary selector', 'a\u{e0100}b', 'a\\u{e0100}b'],
    ['half a character', 'a\ud800b', 'a\\u{d800}b'],
    ['a private character', 'a\ue000b', 'a\\u{e000}b'],
    ['a Cyrillic letter in a Latin word', 'p\u0430ypal', 'p\\u{430}ypal'],
    ['a Cyrillic letter at the start', '\u0430pple', '\\u{430}pple'],
    ['a Greek letter after a dot', 'read.\u03bfrg', 'read.\\u{3bf}rg'],
    ['full width letters', '\uff52\uff4d', '\\u{ff52}\\u{ff4d}'],
    ['mathematical letters', '\u{1d5ee}b', '\\u{1d5ee}b'],
    ['another slash', 'a\u2215b\u2044c', 'a\\u{2215}b\\u{2044}c'],
    ['marks piled up', 'a\u0300\u0301\u0302\u0303\u0304', 'a\u0300\u0301\u0302\\u{303}\\u{304}'],
  ])('%s', (_what, text, shown) => {
    const read = visibleText(text)
    expect(read.text).toBe(shown)
    expect(read.hidden).toBeGreaterThan(0)
    expect(visibleLine(text)).toBe(shown)
  })
})

test.each([
  'rm -rf /',
  'docs/a b.md',
  'C:\\users\\ana',
  'Größe, naïve',
  'Привет мир',
  'Ελληνικά',
  '日本語 text',
  'العربية',
  'a “quoted” – word…',
  '\u{1f600}',
  'v1.2-β',
])('what people write is left alone: %s', (text) => {
  expect(visibleText(text)).toEqual({
    text: text === 'v1.2-β' ? 'v1.2-\\u{3b2}' : text,
    hidden: text === 'v1.2-β' ? 1 : 0,
  })
})

test('a typed escape is not taken for a character that was written out', () => {
  expect(visibleText('a\\u{202e}b')).toEqual({ text: 'a\\\\u{202e}b', hidden: 0 })
  expect(visibleText('a\\\\u{202e}b').text).toBe('a\\\\\\\\u{202e}b')
  expect(visibleText('a\\n').text).toBe('a\\n')
  expect(visibleText('\\\0').text).not.toBe(visibleText('\\u{0}').text)
})

test('no two texts are shown alike, and nothing that is shown hides', () => {
  const unit = fc.constantFrom('a', '\\', 'u', '{', '}', '2', '0', '\u202e', '\u200b', '\0', 'u{202e}', '\\u{0}')
  const texts = fc.array(unit, { maxLength: 8 }).map((units) => units.join(''))
  fc.assert(
    fc.property(texts, texts, (one, other) => {
      fc.pre(one !== other)
      expect(visibleText(one).text).not.toBe(visibleText(other).text)
    }),
    { numRuns: 5_000 },
  )
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(visibleText(text).text).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
    }),
    { numRuns: 2_000 },
  )
})

test('long texts of one kind do not take for ever', () => {
  for (const text of [
    'a'.repeat(500_000),
    '.'.repeat(200_000),
    `${'1'.repeat(200_000)}\u0430`,
    '\u0430.'.repeat(50_000),
    '\u0300'.repeat(100_000),
  ])
    expect(visibleText(text).text.length).toBeGreaterThanOrEqual(text.length)
})
