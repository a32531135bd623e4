import { describe, expect, it } from 'vitest'
import { printable, printableBlock, printableJson } from './printable.ts'

const HOSTILE = 'a\u001b[2J\u0007\u009b31m\u202egnp.exe\u200b\u2028\ufeff\u007f\r\n\tend'

describe('foreign text on a terminal', () => {
  it('no control, direction or invisible character of it is left', () => {
    expect(printable(HOSTILE)).toBe(
      'a\\x1b[2J\\x07\\x9b31m\\u{202e}gnp.exe\\u{200b}\\u{2028}\\u{feff}\\x7f\\r\\n\\tend',
    )
    expect(printable('x\u2060\u00ad\u3164\u115f\u206a\ufff9y')).toBe(
      'x\\u{2060}\\xad\\u{3164}\\u{115f}\\u{206a}\\u{fff9}y',
    )
    expect(printable('tag \u{e0041}')).toBe('tag \\u{e0041}')
  })

  it('a block keeps its lines and tabs and nothing else', () => {
    expect(printableBlock('one\n\ttwo\r\n\u001b[31mthree')).toBe('one\n\ttwo\\r\n\\x1b[31mthree')
  })

  it('plain text of any language stays as it is', () => {
    for (const text of ['Grüße, 世界', 'مرحبا', '👩‍🚀 ok', 'tab-less']) expect(printable(text)).toBe(text)
  })

  it('JSON is escaped the way of JSON, and parses to the same value', () => {
    const value = { [HOSTILE]: [HOSTILE, '\u{e0041}', '👍'], n: 1 }
    const text = printableJson(value)
    expect(JSON.parse(text)).toEqual(value)
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e\u2028\ufeff]|\u{e0041}/u)
  })
})
