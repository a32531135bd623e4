import { expect, test } from 'vitest'
import { FakeClock } from '../testing/fake-clock.ts'
import { Steady } from './steady.ts'

function open(burst?: number) {
  const clock = new FakeClock()
  const seen: number[] = []
  return { clock, seen, steady: new Steady<number>(50, clock, (report) => void seen.push(report), burst) }
}

test('a flood becomes a trickle: the first at once, then the newest after each pause', async () => {
  const { clock, seen, steady } = open()
  for (let step = 1; step <= 1_000; step++) steady.push(step)
  expect(seen).toEqual([1])
  await clock.advance(50)
  expect(seen).toEqual([1, 1_000])
  steady.push(1_001)
  expect(seen).toEqual([1, 1_000])
  await clock.advance(50)
  expect(seen).toEqual([1, 1_000, 1_001])
})

test('what comes slowly goes on at once, and no timer stays behind', async () => {
  const { clock, seen, steady } = open()
  steady.push(1)
  await clock.advance(50)
  steady.push(2)
  expect(seen).toEqual([1, 2])
  expect(clock.waiting).toBe(0)
})

test('the last one goes on before the end, and nothing after it', async () => {
  const { clock, seen, steady } = open()
  for (const step of [1, 2, 3]) steady.push(step)
  steady.end()
  expect(seen).toEqual([1, 3])
  steady.push(4)
  steady.end()
  await clock.advance(1_000)
  expect(seen).toEqual([1, 3])
  expect(clock.waiting).toBe(0)
})

test('a burst goes on whole; after it one more for each pause that was kept', async () => {
  const { clock, seen, steady } = open(3)
  for (const step of [1, 2, 3, 4, 5]) steady.push(step)
  expect(seen).toEqual([1, 2, 3])
  await clock.advance(50)
  expect(seen).toEqual([1, 2, 3, 5])
  await clock.advance(100)
  for (const step of [6, 7, 8]) steady.push(step)
  expect(seen).toEqual([1, 2, 3, 5, 6, 7])
  await clock.advance(10_000)
  for (const step of [9, 10, 11, 12]) steady.push(step)
  expect(seen).toEqual([1, 2, 3, 5, 6, 7, 8, 9, 10, 11])
})
