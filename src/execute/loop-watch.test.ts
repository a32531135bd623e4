// Goal: watching a tool holds nothing up. Method: a clock that notes how its timers were asked for.

import { expect, test } from 'vitest'
import type { Clock } from '../base/clock.ts'
import { LoopWatch } from './loop-watch.ts'

test('no process stays for a tool that never ends', () => {
  const kinds: string[] = []
  const timers: (() => void)[] = []
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    after: (_delayMs, action, kind = 'awaited') => {
      kinds.push(kind)
      timers.push(action)
      return () => {}
    },
  }
  new LoopWatch(clock).enter()
  timers.shift()?.()
  expect(kinds).toEqual(['background', 'background'])
})
