// Goal: no result leaves the gate above its budget, nothing is cut in silence, and no character is broken.
// Method: chosen shapes of content, then random Unicode.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ContentPart, textPart } from '../describe/content.ts'
import { fitContent, partBytes } from './fit-content.ts'

const total = (content: readonly ContentPart[]): number => content.reduce((sum, part) => sum + partBytes(part), 0)
const textOf = (content: readonly ContentPart[]): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('')

describe('fitContent', () => {
  test('what fits is left alone', () => {
    const content = [textPart('short')]
    expect(fitContent(content, 1_000)).toEqual({ content })
  })

  test('said-cut: a cut names the layer, both sizes and the digest', () => {
    const { content, truncated } = fitContent([textPart('x'.repeat(5_000))], 1_000)
    expect(total(content)).toBeLessThanOrEqual(1_000)
    expect(truncated).toMatchObject({ layer: 'result budget', originalBytes: 5_000 })
    expect(textOf(content)).toContain(`${truncated?.keptBytes} of 5000 bytes`)
    expect(textOf(content)).toContain(truncated?.digest)
  })

  test('L72: one line of 24 MB is held to the budget', () => {
    const { content } = fitContent([textPart('é'.repeat(12 * 1024 * 1024))], 48 * 1024)
    expect(total(content)).toBeLessThanOrEqual(48 * 1024)
  })

  test('L73: the budget holds for the sum of two parts of 1 MB', () => {
    const part = textPart('y'.repeat(1024 * 1024))
    const { content, truncated } = fitContent([part, part], 48 * 1024)
    expect(total(content)).toBeLessThanOrEqual(48 * 1024)
    expect(truncated?.originalBytes).toBe(2 * 1024 * 1024)
  })

  test('parts that cannot be cut are withheld whole and counted', () => {
    const image: ContentPart = { type: 'image', data: 'A'.repeat(10_000), mimeType: 'image/png' }
    const { content } = fitContent([textPart('before'), image, image], 2_000)
    expect(textOf(content)).toContain('before')
    expect(textOf(content)).toContain('2 image')
    expect(content.some(({ type }) => type === 'image')).toBe(false)
  })

  test('no grapheme is ever broken and no budget ever passed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 400 }), { maxLength: 5 }),
        fc.integer({ min: 512, max: 2_000 }),
        (texts, budget) => {
          const parts = texts.map(textPart)
          const { content, truncated } = fitContent(parts, budget)
          expect(total(content)).toBeLessThanOrEqual(budget)
          expect(textOf(content).isWellFormed()).toBe(true)
          if (truncated === undefined) expect(content).toEqual(parts)
        },
      ),
    )
  })

  test('a family emoji at the cut stays whole or goes whole', () => {
    const family = '👨‍👩‍👧‍👦'
    for (let pad = 0; pad < 30; pad++) {
      const { content } = fitContent([textPart('a'.repeat(pad) + family.repeat(200))], 1_000)
      const [first] = content
      expect(first?.type === 'text' && first.text.replace(/^a*/, '').replaceAll(family, '')).toBe('')
    }
  })
})
