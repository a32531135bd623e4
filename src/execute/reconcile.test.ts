// Goal: where a tool can say what became of a call, nobody is left in the dark; where it cannot, or still runs, nothing is
// made up. Method: one executor on a fake clock.

import { describe, expect, test } from 'vitest'
import { toolFailure } from '../describe/tool-failure.ts'
import { errorOf, setUp } from './executor.fixture.ts'

describe('a change whose time is over', () => {
  const hangs = (happened: () => unknown, stops: boolean) =>
    setUp(
      (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          if (stops) signal.addEventListener('abort', () => reject(new Error('stopped')))
        }),
      { tool: { happened } as never },
    )

  test('is asked about once its tool has stopped, and the outcome says what is known', async () => {
    for (const [happened, effect, advice] of [
      [true, 'done', 'never'],
      [false, 'none', 'safe'],
    ] as const) {
      const { clock, start } = hangs(() => happened, true)
      const ending = start()
      await clock.advance(1_000)
      expect(errorOf(await ending)).toMatchObject({ type: 'timeout', effect, retry: { advice } })
    }
  })

  test('stays unknown where the tool does not stop within a second: it may act after the answer', async () => {
    let asked = 0
    const { clock, start } = hangs(() => {
      asked += 1
      return false
    }, false)
    const ending = start()
    let settled = false
    void ending.then(() => (settled = true))
    await clock.advance(1_999)
    expect(settled).toBe(false)
    await clock.advance(1)
    expect(errorOf(await ending)).toMatchObject({ type: 'timeout', effect: 'unknown' })
    expect(asked).toBe(0)
  })

  test('stays unknown where nobody knows, where the asking fails, takes too long or says nonsense', async () => {
    for (const happened of [
      () => undefined,
      () => Promise.reject(new Error('no')),
      () => new Promise(() => {}),
      () => 'yes',
    ]) {
      const { clock, start } = hangs(happened, true)
      const ending = start()
      await clock.advance(2_000)
      expect(errorOf(await ending)).toMatchObject({ effect: 'unknown' })
    }
  })
})

test('also lost contact is cleared up; what is known already is not asked about', async () => {
  let asked = 0
  const happened = () => {
    asked += 1
    return true
  }
  const lost = setUp(() => toolFailure({ code: 'x', message: 'y', type: 'outcome_unknown' }), { tool: { happened } })
  expect(errorOf(await lost.start())).toMatchObject({ type: 'outcome_unknown', effect: 'done' })
  expect(asked).toBe(1)
  for (const failure of [{ effect: 'none' }, { effect: 'done' }] as const) {
    const known = setUp(() => toolFailure({ code: 'x', message: 'y', ...failure }), { tool: { happened } })
    expect(errorOf(await known.start())).toMatchObject(failure)
  }
  const read = setUp(() => Promise.reject(new Error('x')), { effect: 'read', tool: { happened } })
  expect(errorOf(await read.start())).toMatchObject({ effect: 'none' })
  expect(asked).toBe(1)
})

test('honest-effect: a call whose tool was never started has done nothing, whatever ended it', async () => {
  const lane = { name: 'lane', bounds: '', run: () => new Promise<never>(() => {}) }
  const over = setUp(() => 'ran', { executor: { lane } })
  const ending = over.start()
  await over.clock.advance(1_000)
  expect(errorOf(await ending)).toMatchObject({ type: 'timeout', effect: 'none', retry: { advice: 'safe' } })

  const leave = new AbortController()
  const left = setUp(() => 'ran', { executor: { lane }, signal: leave.signal })
  const other = left.start()
  leave.abort()
  expect(errorOf(await other)).toMatchObject({ type: 'cancelled', effect: 'none' })

  const broken = { ...lane, run: () => Promise.reject(new Error('a bug')) }
  expect(errorOf(await setUp(() => 'ran', { executor: { lane: broken } }).start())).toMatchObject({
    type: 'internal',
    effect: 'none',
  })
})
