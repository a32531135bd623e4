import { expect, test } from 'vitest'
import { readProgress } from './read-progress.ts'

test('words and numbers come through, and nothing else that is beside them', () => {
  const said = { message: 'half', progress: 1, total: 2, secret: 'x' }
  expect(readProgress(said)).toEqual({ message: 'half', progress: 1, total: 2 })
  expect(readProgress({ message: 'words alone' })).toEqual({ message: 'words alone' })
})

test.each([undefined, null, 'text', 7, {}, [], { message: 7, progress: Number.NaN, total: Number.POSITIVE_INFINITY }])(
  '%j says nothing',
  (said) => {
    expect(readProgress(said)).toBeUndefined()
  },
)

test('of a long message the newest part is kept, in whole characters', () => {
  const message = readProgress({ message: `${'😀'.repeat(3_000)}!` })?.message ?? ''
  expect(message.length).toBeLessThanOrEqual(4_096)
  expect(message.endsWith('😀!')).toBe(true)
  expect(message.isWellFormed()).toBe(true)
})
