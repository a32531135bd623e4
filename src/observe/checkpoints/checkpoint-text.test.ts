// A checkpoint is one exact text: what reads as one is written as the same again, and a name of a chain adds no line.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkpointText, readCheckpoint } from './checkpoint-text.ts'

const hash = 'a'.repeat(64)
const head = fc.record({
  chain: fc.string({ minLength: 1, unit: 'binary' }),
  seq: fc.integer({ min: 1, max: 1e9 }),
  hash: fc.constant(hash),
})
const checkpoint = fc.record({
  origin: fc.constant('lockgate/0123456789abcdef'),
  number: fc.integer({ min: 1, max: 1e9 }),
  chain: fc.string({ minLength: 1, unit: 'binary' }),
  at: fc.integer({ min: 0, max: 4e12 }),
  before: fc.constant(hash),
  count: fc.integer({ min: 0, max: 1e6 }),
  digest: fc.constant(hash),
  isFull: fc.boolean(),
  heads: fc.uniqueArray(head, { maxLength: 3, selector: ({ chain }) => chain }),
  floors: fc.uniqueArray(head, { maxLength: 2, selector: ({ chain }) => chain }),
})

test('whatever chains are called, a text reads as what was written', () => {
  fc.assert(
    fc.property(checkpoint, (written) => {
      const text = checkpointText(written)
      const read = readCheckpoint(text)
      expect(read).toMatchObject({ chain: written.chain, number: written.number, isFull: written.isFull })
      expect(read === undefined ? '' : checkpointText(read)).toBe(text)
      expect(text.split('\n')).toHaveLength(6 + written.heads.length + written.floors.length)
    }),
  )
})

test('another line, order, number or ending is no checkpoint', () => {
  const heads = ['a', 'b'].map((chain, index) => ({ chain, seq: index + 1, hash }))
  const text = checkpointText({
    ...{ origin: 'lockgate/00', number: 2, chain: 'a', at: 0, before: hash, count: 2, digest: hash, isFull: true },
    ...{ heads, floors: [] },
  })
  expect(readCheckpoint(text)?.heads).toEqual(heads)
  const lines = text.split('\n')
  for (const changed of [
    text.slice(0, -1),
    `${text}\n`,
    `${text}more\n`,
    text.replace('checkpoint 2', 'checkpoint 02'),
    text.replace('head a 1', 'head a 01'),
    text.replace('head a', 'head %61'),
    text.replace('1970-01-01T00:00:00.000Z', '1970-01-01'),
    [...lines.slice(0, 5), lines[6], lines[5], ''].join('\n'),
    text.replaceAll('\n', '\r\n'),
  ])
    expect(readCheckpoint(changed), changed).toBeUndefined()
})
