// Goal: no cut ever breaks a grapheme or passes its bytes, from either end. Method: an oracle that segments the whole text.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cutEndToBytes, cutToBytes, utf8Bytes } from './text-cut.ts'

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
const graphemes = (text: string): readonly string[] => [...segmenter.segment(text)].map(({ segment }) => segment)

function longestStart(text: string, bytesMax: number): string {
  let kept = ''
  for (const one of graphemes(text)) {
    if (utf8Bytes(kept) + utf8Bytes(one) > bytesMax) break
    kept += one
  }
  return kept
}

function longestEnd(text: string, bytesMax: number): string {
  let kept = ''
  for (const one of graphemes(text).toReversed()) {
    if (utf8Bytes(kept) + utf8Bytes(one) > bytesMax) break
    kept = one + kept
  }
  return kept
}

const odd = fc.constantFrom(
  ...[
    '👨‍👩‍👧‍👦',
    '🇩🇪',
    '🇫🇷',
    'e\u0301',
    'é',
    '\r\n',
    '\r',
    '\n',
    '각',
    '각',
    'क्षि',
    'กำ',
    '\ud83d',
    '\ude00',
    '\u200d',
    '❤️',
    '한',
  ],
  ...['a', ' ', '字', '\u0600', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'x\u0301\u0302\u0303'],
)
const texts = fc
  .array(fc.oneof(odd, fc.string({ unit: 'grapheme', maxLength: 4 })), { maxLength: 60 })
  .map((all) => all.join(''))

describe('cutting by bytes', () => {
  test('keeps the longest start and the longest end that are whole', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 0, max: 120 }), (text, bytesMax) => {
        expect(cutToBytes(text, bytesMax)).toBe(utf8Bytes(text) <= bytesMax ? text : longestStart(text, bytesMax))
        expect(cutEndToBytes(text, bytesMax)).toBe(utf8Bytes(text) <= bytesMax ? text : longestEnd(text, bytesMax))
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['flags', '🇩🇪'],
    ['families', '👨‍👩‍👧‍👦'],
    ['marks', 'e\u0301'],
    ['syllables of jamo', '각'],
    ['conjuncts', 'क्षि'],
  ])('a long run of %s without any plain place is cut between two of them', (_name, one) => {
    const text = one.repeat(4_000)
    for (const bytesMax of [1_000, 1_001, 1_002, 1_003]) {
      expect(cutToBytes(text, bytesMax).replaceAll(one, '')).toBe('')
      expect(cutEndToBytes(text, bytesMax).replaceAll(one, '')).toBe('')
      expect(cutToBytes(text, bytesMax)).not.toBe('')
    }
  })

  test('one character larger than the bound goes whole', () => {
    const pile = `a${'\u0301'.repeat(100_000)}`
    expect(cutToBytes(`x\n${pile}`, 1_000)).toBe('x\n')
    expect(cutEndToBytes(`${pile}\nx`, 1_000)).toBe('x')
  })
})
