import { expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { steadyProgress } from './steady-progress.ts'

test('a flood of progress becomes a trickle, and the report that completes goes on once', async () => {
  const clock = new FakeClock()
  const seen: number[] = []
  const report = steadyProgress(({ progress = -1 }) => seen.push(progress), clock)
  for (let step = 1; step <= 1_000; step++) report({ progress: step, total: 2_000 })
  expect(seen).toEqual([1])
  await clock.advance(50)
  report({ progress: 1_001, total: 2_000 })
  report({ progress: 2_000, total: 2_000 })
  for (let step = 0; step < 100; step++) report({ progress: 2_000, total: 2_000 })
  expect(seen).toEqual([1, 1_001, 2_000])
})
