import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesPage, linesPage, type TextPage } from './artifact-page.ts'

const ask = (from: number, count = 1_000, bytesMax = 1_000) => ({ from, count, bytesMax })

/** Every page after the other, as a reader goes on. */
function readOn(page: (from: number) => TextPage): readonly TextPage[] {
  const pages: TextPage[] = []
  let from: number | undefined = 0
  while (from !== undefined) {
    const next: TextPage = page(from)
    if (next.next !== undefined && next.next <= from) throw new Error('it does not go on')
    pages.push(next)
    from = next.next
  }
  return pages
}

describe('a window by bytes', () => {
  test('breaks no character: it begins after a broken one and ends before the next', () => {
    const text = Buffer.from('aü\u{1f469}\u200d\u{1f469}z')
    expect(bytesPage(text, ask(2, 5))).toMatchObject({ from: 3, to: 14, text: '\u{1f469}\u200d\u{1f469}' })
  })

  test('goes on even where one character is more than what was asked for', () => {
    const text = Buffer.from('\u{1f469}\u{1f469}')
    expect(bytesPage(text, ask(0, 1))).toMatchObject({ from: 0, to: 4, next: 4 })
  })

  test('past the end is empty and says how much there is', () => {
    expect(bytesPage(Buffer.from('abc'), ask(9))).toEqual({ unit: 'bytes', from: 3, to: 3, total: 3, text: '' })
  })

  test('of bytes that are no text is base64, within its bounds', () => {
    const bytes = Uint8Array.from({ length: 100 }, (_, index) => 255 - index)
    const page = bytesPage(bytes, ask(10, 50, 20))
    expect(page).toMatchObject({ encoding: 'base64', from: 10, to: 25, next: 25, total: 100 })
    expect(Buffer.from(page.text, 'base64')).toEqual(Buffer.from(bytes.subarray(10, 25)))
  })

  test('after window gives back every text, whatever it holds and however small they are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (given, count) => {
        const content = Buffer.from(given)
        const pages = readOn((from) => bytesPage(content, ask(from, count)))
        expect(pages.map(({ text }) => text).join('')).toBe(content.toString())
        expect(pages.every((page) => page.to - page.from === Buffer.byteLength(page.text))).toBe(true)
      }),
    )
  })
})

describe('a window by lines', () => {
  test('never holds half a line but of one that alone is larger than it', () => {
    const text = Buffer.from(`one\n${'x'.repeat(50)}\nthree\n`)
    expect(linesPage(text, ask(0, 10, 20))).toMatchObject({ from: 0, to: 1, total: 3, next: 1, text: 'one\n' })
    expect(linesPage(text, ask(1, 10, 20))).toEqual({
      ...{ unit: 'lines', from: 1, to: 2, total: 3, next: 2, text: 'x'.repeat(20), cutLineBytes: 50 },
    })
    expect(linesPage(text, ask(2, 10, 20))).toEqual({ unit: 'lines', from: 2, to: 3, total: 3, text: 'three\n' })
  })

  test('past the end, and of nothing, is empty', () => {
    expect(linesPage(Buffer.from('a\nb'), ask(2))).toEqual({ unit: 'lines', from: 2, to: 2, total: 2, text: '' })
    expect(linesPage(Buffer.from(''), ask(0))).toEqual({ unit: 'lines', from: 0, to: 0, total: 0, text: '' })
  })

  test('after window gives back every text', () => {
    const line = fc.string({ maxLength: 12 })
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.integer({ min: 1, max: 4 }), (lines, count) => {
        const content = Buffer.from(lines.join('\n'))
        const pages = readOn((from) => linesPage(content, ask(from, count, 100_000)))
        expect(pages.map(({ text }) => text).join('')).toBe(content.toString())
      }),
    )
  })
})
