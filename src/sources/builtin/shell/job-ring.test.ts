import { describe, expect, it } from 'vitest'
import { JobRing } from './job-ring.ts'

const ring = (bytesMax: number, ...texts: readonly string[]): JobRing => {
  const made = new JobRing(bytesMax)
  for (const text of texts) made.push(Buffer.from(text))
  return made
}

describe('reading from an offset', () => {
  it('goes on where the last answer ended', () => {
    const made = ring(100, 'abc', 'def')
    expect(made.read(0, 4, true)).toEqual({ text: 'abcd', from: 0, next: 4 })
    expect(made.read(4, 4, true)).toEqual({ text: 'ef', from: 4, next: 6 })
    made.push(Buffer.from('g'))
    expect(made.read(6, 4, true)).toEqual({ text: 'g', from: 6, next: 7 })
  })

  it('begins later where what was asked for is gone', () => {
    const made = ring(4, 'abc', 'def')
    expect(made.read(0, 100, false)).toEqual({ text: 'cdef', from: 2, next: 6 })
    expect(made.total).toBe(6)
  })

  it('an offset past the end reads nothing', () => {
    expect(ring(10, 'abc').read(99, 5, false)).toEqual({ text: '', from: 3, next: 3 })
  })

  it('one large piece keeps its newest part', () => {
    expect(ring(3, 'abcdefgh').read(0, 100, false)).toEqual({ text: 'fgh', from: 5, next: 8 })
  })

  it('no character is cut in two, and none is lost by it', () => {
    const made = ring(100, 'aé€😀z')
    const bytes = Buffer.byteLength('aé€😀z')
    for (let step = 4; step <= bytes; step++) {
      let text = ''
      let at = 0
      while (at < bytes) {
        const read = made.read(at, step, true)
        expect(read.from).toBe(at)
        text += read.text
        at = read.next
      }
      expect(text).toBe('aé€😀z')
    }
  })

  it('a character of which the start is gone is left out', () => {
    expect(ring(4, 'a€b').read(0, 10, false)).toEqual({ text: '€b', from: 1, next: 5 })
    expect(ring(3, 'a€b').read(0, 10, false)).toEqual({ text: 'b', from: 4, next: 5 })
  })
})
