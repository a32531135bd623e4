// Goal: a guard of the host can refuse a call and see what became of it, and can neither make up an answer nor have a tool
// run twice that must not. Method: one executor with guards that behave and guards that do not.

import { describe, expect, test } from 'vitest'
import { toolFailure } from '../describe/tool-failure.ts'
import { errorOf, setUp } from './executor.fixture.ts'
import type { GuardedCall, GuardOptions } from './guard-options.ts'

type Run = (GuardOptions & { guard: 'own' })['run']

const own = (run: Run, at: 'call' | 'try' = 'call'): GuardOptions => ({
  ...{ guard: 'own', for: { tool: 'probe' }, name: 'mine', bounds: 'watches', at, run },
})

const guarded = (run: Run, more: Parameters<typeof setUp>[1] = {}, at?: 'call' | 'try') =>
  setUp(() => 'ran', { ...more, executor: { guards: [own(run, at)] } })

test('it is told of the call, and passes on what came of it', async () => {
  const told: GuardedCall[] = []
  const { start } = guarded((call, next) => {
    told.push(call)
    return next()
  })
  expect(await start()).toEqual({ kind: 'value', value: 'ran' })
  expect(told).toMatchObject([{ callId: 'call_1', tool: 'probe', args: {}, effect: 'write', attempt: 0 }])
  expect(Object.isFrozen(told[0])).toBe(true)
})

test('it may refuse: the tool is not run, and nothing was done', async () => {
  for (const refusal of [
    toolFailure({ code: 'closed', type: 'unavailable', message: 'come on Monday', effect: 'done' }),
    { kind: 'failure', error: { type: 'unavailable', message: 'come on Monday', effect: 'done' } },
  ]) {
    const { call, start } = guarded(async () => refusal as never)
    expect(errorOf(await start())).toMatchObject({ type: 'unavailable', message: 'come on Monday', effect: 'none' })
    expect(call.trail.attempts).toBe(0)
  }
})

test('`call` stands once around all tries, `try` before each of them', async () => {
  for (const [at, expected] of [
    ['call', [0]],
    ['try', [1, 2]],
  ] as const) {
    const attempts: number[] = []
    const { clock, start } = setUp(
      (_args, { attempt }) =>
        attempt === 2 ? 'second' : toolFailure({ code: 'x', message: 'y', type: 'busy', effect: 'none' }),
      {
        tool: { retry: { times: 1, backoffMs: 1 } },
        executor: {
          guards: [
            own((call, next) => {
              attempts.push(call.attempt)
              return next()
            }, at),
          ],
        },
      },
    )
    const ending = start()
    await clock.advance(1)
    expect(await ending).toEqual({ kind: 'value', value: 'second' })
    expect(attempts).toEqual(expected)
  }
})

test('it stands only before the tools that it is for', async () => {
  const { start, call } = setUp(() => 'ran', {
    executor: { guards: [{ ...own(() => Promise.reject(new Error('no'))), for: { tool: 'other_*' } }] },
  })
  expect(await start()).toEqual({ kind: 'value', value: 'ran' })
  expect(call.trail.attempts).toBe(1)
})

describe('one that does not behave', () => {
  test('an answer that no tool gave is a fault, and what the tool did is said all the same', async () => {
    const forged = { kind: 'value', value: 'forged' } as const
    const before = guarded(async () => forged)
    expect(errorOf(await before.start())).toMatchObject({ type: 'internal', effect: 'none', help: 'stack' })
    const after = guarded(async (_call, next) => {
      await next()
      return forged
    })
    expect(errorOf(await after.start())).toMatchObject({ type: 'internal', effect: 'done' })
    const changed = guarded(async (_call, next) => ({ ...(await next()), value: 'forged' }) as never)
    expect(errorOf(await changed.start())).toMatchObject({ type: 'internal', effect: 'done' })
    for (const { crashes } of [before, after, changed]) expect(crashes).toHaveLength(1)
  })

  test('what it is given cannot be changed', async () => {
    const { start } = guarded(async (_call, next) => {
      const ending = await next()
      expect(Object.isFrozen(ending)).toBe(true)
      return ending
    })
    expect(await start()).toEqual({ kind: 'value', value: 'ran' })
  })

  test('a throw ends the call, and its text stays with the operator', async () => {
    const { start } = guarded(() => Promise.reject(new Error('secret')))
    const error = errorOf(await start())
    expect(error).toMatchObject({ type: 'internal', effect: 'none', help: 'stack' })
    expect(error?.message).not.toContain('secret')
    const sync = guarded(() => {
      throw new Error('secret')
    })
    expect(errorOf(await sync.start())).toMatchObject({ type: 'internal', effect: 'none' })
  })

  test('a refusal after the tool ran does not undo what it did', async () => {
    const { start } = guarded(async (_call, next) => {
      await next()
      return { kind: 'failure', error: { type: 'permission_denied', message: 'no', effect: 'none' } } as never
    })
    expect(errorOf(await start())).toMatchObject({ type: 'permission_denied', effect: 'done' })
  })

  test('G42: a second run of what must not be repeated is a fault, of what may be repeated it is none', async () => {
    const twice: Run = async (_call, next) => {
      await next()
      return next()
    }
    const never = guarded(twice)
    expect(errorOf(await never.start())).toMatchObject({ type: 'internal', effect: 'done' })
    expect(never.call.trail.attempts).toBe(1)
    const safe = guarded(twice, { tool: { repeat: 'safe' } })
    expect(await safe.start()).toEqual({ kind: 'value', value: 'ran' })
    expect(safe.call.trail.attempts).toBe(2)
  })

  test('of several passes that act each, the effect of all is said, whichever it gives on', async () => {
    const busy = toolFailure({ code: 'x', message: 'y', type: 'busy', effect: 'none' })
    for (const [second, expected, run] of [
      ['ran', 'done', async (_call, next) => [await next(), await next()][0] as never],
      [new Promise(() => {}), 'unknown', (_call, next) => Promise.race([next(), next()])],
      [busy, 'none', async (_call, next) => [await next(), await next()][0] as never],
    ] as const satisfies readonly (readonly [unknown, string, Run])[]) {
      let runs = 0
      const { start } = setUp(() => (++runs === 1 ? busy : second), {
        tool: { repeat: 'keyed' },
        executor: { guards: [own(run)] },
      })
      const advice = expected === 'none' ? 'later' : 'never'
      expect(errorOf(await start())).toMatchObject({ type: 'busy', effect: expected, retry: { advice } })
      expect(runs).toBe(2)
    }
  })

  test('no other try begins once it has answered', async () => {
    const refusal = { kind: 'failure', error: { type: 'busy', message: 'too slow', effect: 'none' } } as never
    const { call, clock, start } = setUp(() => toolFailure({ code: 'x', message: 'y', type: 'busy', effect: 'none' }), {
      tool: { retry: { times: 3, backoffMs: 10 } },
      executor: { guards: [own((_call, next) => Promise.race([next(), clockAfter(5)]))] },
    })
    const clockAfter = (ms: number): Promise<never> => new Promise((resolve) => clock.after(ms, () => resolve(refusal)))
    const ending = start()
    await clock.advance(5)
    expect(errorOf(await ending)).toMatchObject({ type: 'busy', effect: 'none' })
    await clock.advance(500)
    expect(call.trail.attempts).toBe(1)
  })

  test('one that never answers is ended with the call, and its signal says so', async () => {
    let signal: AbortSignal | undefined
    const { clock, start } = guarded((call) => {
      signal = call.signal
      return new Promise(() => {})
    })
    const ending = start()
    await clock.advance(1_000)
    expect(errorOf(await ending)).toMatchObject({ type: 'timeout', effect: 'none' })
    expect(signal?.aborted).toBe(true)
  })

  test('`next` of a call that is over starts nothing', async () => {
    let late: (() => Promise<unknown>) | undefined
    const { clock, call, start } = guarded((_call, next) => {
      late = next
      return new Promise(() => {})
    })
    const ending = start()
    await clock.advance(1_000)
    await ending
    await late?.()
    expect(call.trail.attempts).toBe(0)
  })
})
