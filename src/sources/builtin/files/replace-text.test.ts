import { describe, expect, it } from 'vitest'
import { REPLACED_MAX, replaceText } from './replace-text.ts'

const once = (text: string, find: string, replace: string) => replaceText(text, find, replace, false)
const all = (text: string, find: string, replace: string) => replaceText(text, find, replace, true)

describe('a place that is not certain is not replaced', () => {
  it('says how often and in which lines a text stands', () => {
    expect(once('a\nb a\nc', 'a', 'x')).toEqual({ kind: 'ambiguous', count: 2, lines: [1, 2] })
  })

  it('counts places that overlap, for either could be meant', () => {
    expect(once('aaa', 'aa', 'x')).toMatchObject({ kind: 'ambiguous', count: 2 })
  })

  it('says where only blanks differ', () => {
    expect(once('one\n\tif (a)  {\n\t\tb\n', 'if (a) {\n  b', 'x')).toEqual({ kind: 'no-match', nearLine: 2 })
    expect(once('one\ntwo', 'three', 'x')).toEqual({ kind: 'no-match', nearLine: undefined })
    expect(once('one', ' \n ', 'x')).toEqual({ kind: 'no-match', nearLine: undefined })
  })
})

describe('a certain place is replaced literally', () => {
  it.each(["$& $1 $' $$ $`", '\\n', '', 'a\u0000b', '\u{1f600}'])('%j', (replacement) => {
    expect(once('say hello now', 'hello', replacement)).toEqual({
      kind: 'ok',
      text: `say ${replacement} now`,
      count: 1,
      lines: [1],
    })
  })

  it('a find that looks like a pattern is a text', () => {
    expect(once('a.c abc', 'a.c', 'x')).toMatchObject({ text: 'x abc' })
    expect(once('(a+)+$', '(a+)+$', '^')).toMatchObject({ text: '^' })
  })

  it('all replaces from left to right without overlap', () => {
    expect(all('aaaa\na', 'aa', 'b')).toEqual({ kind: 'ok', text: 'bb\na', count: 2, lines: [1, 1] })
    expect(all('x', 'y', 'z')).toMatchObject({ kind: 'no-match' })
  })

  it('a replacement that holds the text is not replaced again', () => {
    expect(all('a a', 'a', 'aa')).toMatchObject({ text: 'aa aa', count: 2 })
  })

  it('the end of a file stays as it was', () => {
    expect(once('a\nb', 'b', 'c')).toMatchObject({ text: 'a\nc' })
    expect(once('a\nb\n', 'b', 'c')).toMatchObject({ text: 'a\nc\n' })
  })
})

describe('line ends of the file are kept', () => {
  it('where all are CRLF, LF in both texts means the same', () => {
    expect(once('a\r\nb\r\nc\r\n', 'a\nb', 'x\ny\nz')).toMatchObject({ text: 'x\r\ny\r\nz\r\nc\r\n' })
    expect(once('a\r\nb\r\n', 'b', 'x\r\ny')).toMatchObject({ text: 'a\r\nx\r\ny\r\n' })
  })

  it('where they are mixed, both texts are taken as given', () => {
    expect(once('a\r\nb\nc', 'b\nc', 'x\ny')).toMatchObject({ text: 'a\r\nx\ny' })
    expect(once('a\r\nb\nc', 'a\nb', 'x')).toMatchObject({ kind: 'no-match', nearLine: 1 })
  })
})

describe('all is all or nothing', () => {
  it('replaces every place, however many there are', () => {
    const replaced = all('a'.repeat(25_000), 'a', 'b')
    expect(replaced).toMatchObject({ kind: 'ok', count: 25_000, text: 'b'.repeat(25_000) })
    expect(all('a\n'.repeat(25_000), 'a', '')).toMatchObject({ count: 25_000, text: '\n'.repeat(25_000) })
  })

  it('above the bound nothing is replaced', () => {
    expect(all('a'.repeat(REPLACED_MAX), 'a', 'b')).toMatchObject({ kind: 'ok', count: REPLACED_MAX })
    expect(all('a'.repeat(REPLACED_MAX + 1), 'a', 'b')).toEqual({ kind: 'too-many', placesMax: REPLACED_MAX })
  })

  it('a text that would be too long is not built', () => {
    expect(replaceText('aaa', 'a', 'bb', true, 6)).toMatchObject({ kind: 'ok', text: 'bbbbbb' })
    expect(replaceText('aaa', 'a', 'bb', true, 5)).toEqual({ kind: 'too-long', length: 6 })
    expect(replaceText('a'.repeat(900_000), 'a', 'b'.repeat(900_000), true, 5)).toMatchObject({ kind: 'too-long' })
  })

  it('a count that was ended says so', () => {
    expect(once('a'.repeat(10_000), 'a', 'b')).not.toHaveProperty('isCut')
    expect(once('a'.repeat(10_001), 'a', 'b')).toMatchObject({ kind: 'ambiguous', count: 10_000, isCut: true })
    const long = 'a'.repeat(3_000_000)
    expect(once(long + long, long, 'b')).toMatchObject({ kind: 'ambiguous', isCut: true })
  })

  it('the work for a line does not grow with the square of its places', () => {
    // One look-up of a line end for each line, and one more: counted, not timed.
    const asked: string[] = []
    const text = new Proxy(new String(`${'ab'.repeat(900)}\nab`), {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key)
        if (typeof value !== 'function') return value
        return (...args: readonly unknown[]) => {
          if (key === 'indexOf' && args[0] === '\n') asked.push('\n')
          return value.apply(target, args)
        }
      },
    }) as unknown as string
    expect(replaceText(text, 'a', 'x', true)).toMatchObject({ kind: 'ok', count: 901 })
    expect(asked.length).toBeLessThanOrEqual(3)
  })
})
