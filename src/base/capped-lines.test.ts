import { describe, expect, test } from 'vitest'
import { CappedLines, type OversizedLine } from './capped-lines.ts'
import { decodeUtf8 } from './decode-utf8.ts'

function collect(lineBytesMax: number, discardBytesMax = 1_000) {
  const lines: string[] = []
  const oversized: OversizedLine[] = []
  let endless = 0
  const reader = new CappedLines({
    lineBytesMax,
    discardBytesMax,
    onLine: (line) => lines.push(line.toString('utf8')),
    onOversized: (line) => oversized.push(line),
    onEndless: () => {
      endless += 1
    },
  })
  return { lines, oversized, endless: () => endless, push: (text: string) => reader.push(Buffer.from(text)) }
}

describe('lines of a bounded length', () => {
  test('a line over the bound is thrown away with its ends told, and the next line is read', () => {
    const { lines, oversized, push } = collect(10)
    push(`{"id":7,${'x'.repeat(40)}`)
    push('y'.repeat(30))
    push('"end":1}\nshort\n')
    expect(lines).toEqual(['short'])
    expect(oversized).toMatchObject([{ bytes: 86 }])
    expect(oversized[0]?.head.startsWith('{"id":7,')).toBe(true)
    expect(oversized[0]?.tail.endsWith('"end":1}')).toBe(true)
  })

  test('a line of exactly the bound is a line; one byte more is not', () => {
    const { lines, oversized, push } = collect(10)
    push(`${'a'.repeat(10)}\n${'b'.repeat(11)}\n`)
    expect(lines).toEqual(['a'.repeat(10)])
    expect(oversized).toHaveLength(1)
  })

  test('a line without an end is told once, and nothing after it is read', () => {
    const { lines, endless, push } = collect(10, 100)
    for (let time = 0; time < 50; time++) push('z'.repeat(20))
    push('\nlate\n')
    expect(endless()).toBe(1)
    expect(lines).toEqual([])
  })

  test('lines come out whole however the bytes are cut, with either line end', () => {
    const text = 'one\r\ntwo\n\nüber\n'
    const bytes = Buffer.from(text)
    for (let cut = 0; cut <= bytes.length; cut++) {
      const seen: string[] = []
      const reader = new CappedLines({
        lineBytesMax: 50,
        discardBytesMax: 50,
        onLine: (line) => seen.push(line.toString()),
        onOversized: () => {},
        onEndless: () => {},
      })
      reader.push(bytes.subarray(0, cut))
      reader.push(bytes.subarray(cut))
      expect(seen).toEqual(['one', 'two', '', 'über'])
    }
  })
})

describe('UTF-8', () => {
  test.each([[[0xff]], [[0xc3]], [[0xed, 0xa0, 0x80]], [[0xc0, 0x80]]])('bytes %j are no text', (bytes) => {
    expect(decodeUtf8(Uint8Array.from(bytes))).toBeUndefined()
  })

  test('well-formed bytes are their text, a byte order mark included', () => {
    expect(decodeUtf8(Buffer.from('\ufeffgrün 🚀'))).toBe('\ufeffgrün 🚀')
  })
})
