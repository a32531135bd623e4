// Head and tail, for every way in which a stream can be cut into chunks.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CapturedStream } from './captured-stream.ts'

describe('head and tail of a stream', () => {
  test('however it comes in pieces, the two ends are those of the whole, and nothing is kept twice or lost', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 })), fc.integer({ min: 0, max: 200 }), (chunks, bytesMax) => {
        const captured = new CapturedStream(bytesMax)
        for (const chunk of chunks) captured.push(Buffer.from(chunk))
        const whole = Buffer.concat(chunks)
        const { head, tail, totalBytes } = captured.take()
        expect(totalBytes).toBe(whole.length)
        if (whole.length <= bytesMax) {
          expect(head).toEqual(whole)
          expect(tail.length).toBe(0)
        } else {
          expect(head).toEqual(whole.subarray(0, Math.ceil(bytesMax / 2)))
          expect(tail).toEqual(whole.subarray(whole.length - Math.floor(bytesMax / 2)))
        }
      }),
    )
  })

  test('a long stream does not pile up', () => {
    const captured = new CapturedStream(1_000)
    const chunk = Buffer.alloc(65_536, 'x')
    for (let count = 0; count < 2_000; count++) captured.push(chunk)
    const { head, tail, totalBytes } = captured.take()
    expect([head.length, tail.length, totalBytes]).toEqual([500, 500, 131_072_000])
    expect(tail.buffer.byteLength).toBeLessThan(100_000)
  })
})
