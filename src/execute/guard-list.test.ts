// Goal: the guards stand in one order, an unsafe one is refused, and a tool has only the guards that concern it.

import { describe, expect, test } from 'vitest'
import { setUp } from './executor.fixture.ts'
import type { Guard } from './guard.ts'
import { GuardList, type PlacedGuard } from './guard-list.ts'
import type { GuardOptions } from './guard-options.ts'
import { GUARD_SLOTS, orderProblem } from './guard-slots.ts'

const passing = (name: string): Guard => ({ name, bounds: name, run: (job, next) => next(job) })
const placed = (...slots: readonly (typeof GUARD_SLOTS)[number][]): readonly PlacedGuard[] =>
  slots.map((slot) => ({ slot, guard: passing(slot) }))

describe('an unsafe order is refused', () => {
  test('something outside the deadline, and something inside settle', () => {
    expect(
      () => new GuardList(placed('retry', 'deadline', 'settle'), async () => ({ kind: 'value', value: 1 })),
    ).toThrow('the deadline must be the outermost guard')
    expect(orderProblem(['deadline', 'settle', 'place'])).toContain('settle must be the innermost')
    expect(orderProblem([])).toContain('deadline')
  })

  test('a guard outside one that has to stand outside it', () => {
    expect(orderProblem(['deadline', 'attempt', 'retry', 'settle'])).toBe('`retry` must stand outside `attempt`')
    expect(orderProblem(['deadline', 'retry', 'tries', 'settle'])).toBe('`tries` must stand outside `retry`')
    expect(orderProblem(['deadline', 'retry', 'breaker', 'settle'])).toBe('`breaker` must stand outside `retry`')
  })

  test('the declared order is safe, whole and in parts', () => {
    expect(orderProblem(GUARD_SLOTS)).toBeUndefined()
    expect(orderProblem(['deadline', 'settle'])).toBeUndefined()
    expect(orderProblem(['deadline', 'own at call', 'own at call', 'settle'])).toBeUndefined()
  })
})

test('every guard can be printed with what it bounds and for whom', () => {
  const { executor, entry } = setUp(() => '', {
    tool: { retry: { times: 2 }, attemptMs: 50 },
    executor: { guards: [{ guard: 'tries', for: { tool: 'other' }, ms: 500 }] },
  })
  const rows = executor.guards.all([entry])
  expect(rows.map(({ name, entries }) => [name, entries?.length])).toEqual([
    ['deadline', undefined],
    ['breaker', 0],
    ['tries', 0],
    ['retry', 1],
    ['attempt', 1],
    ['place', undefined],
    ['settle', undefined],
  ])
  expect(executor.guards.of(entry).map(({ name, bounds }) => [name, bounds])).toEqual([
    ['deadline', expect.any(String)],
    ['retry', expect.stringContaining('up to 2 more times')],
    ['attempt', expect.stringContaining('50 ms')],
    ['place', expect.stringContaining('process')],
    ['settle', expect.any(String)],
  ])
})

test('a plain tool has no guard that it has no use for, and its chain is made once', () => {
  const { executor, entry } = setUp(() => '')
  expect(executor.guards.of(entry).map(({ name }) => name)).toEqual(['deadline', 'place', 'settle'])
  expect(executor.guards.chainOf(entry)).toBe(executor.guards.chainOf(entry))
})

test('of two guards at one place the later one holds, so that a host can set other figures than a tool says itself', () => {
  const { executor, entry } = setUp(() => '', {
    tool: { retry: { times: 2 } },
    executor: {
      guards: [
        { guard: 'retry', for: { tool: '*' }, times: 3 },
        { guard: 'retry', for: { tool: 'probe' }, times: 4 },
        { guard: 'retry', for: { tool: 'other' }, times: 5 },
      ],
    },
  })
  const retries = executor.guards.of(entry).filter(({ name }) => name === 'retry')
  expect(retries.map(({ bounds }) => bounds)).toEqual([expect.stringContaining('up to 4 more times')])
})

test('a guard that throws at once is heard by those outside of it like one that rejects', async () => {
  const heard: string[] = []
  const outer: Guard = {
    ...passing('deadline'),
    run: (job, next) =>
      next(job).catch((bug: unknown) => {
        heard.push(String(bug))
        return { kind: 'value', value: 'ended' }
      }),
  }
  const broken: Guard = {
    ...passing('lane'),
    run: () => {
      throw new Error('broken')
    },
  }
  const guards = new GuardList(
    [{ slot: 'deadline', guard: outer }, { slot: 'lane', guard: broken }, ...placed('settle')],
    () => Promise.reject(new Error('nothing comes so far')),
  )
  const { call, entry, input } = setUp(() => '')
  const job = { call, entry, input, deadlineAtMs: 1 } as Parameters<ReturnType<typeof guards.chainOf>>[0]
  expect(await guards.chainOf(entry)(job)).toEqual({ kind: 'value', value: 'ended' })
  expect(heard).toEqual(['Error: broken'])
})

test('of guards of the host there may be several, in the order in which they were given', async () => {
  const order: string[] = []
  const guard = (name: string): GuardOptions => ({
    guard: 'own',
    for: { tool: '*' },
    name,
    bounds: name,
    at: 'call',
    run: (_call, next) => {
      order.push(name)
      return next()
    },
  })
  const { start } = setUp(() => '', { executor: { guards: [guard('outer'), guard('inner')] } })
  await start()
  expect(order).toEqual(['outer', 'inner'])
})
