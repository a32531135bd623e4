// Goal: a deadline of each try and one of all tries together are two things, and both end what they bound. Method: one
// executor on a fake clock, with tools that never answer, answer late, or fall silent.

import { describe, expect, test } from 'vitest'
import type { RunContext } from '../describe/tool.ts'
import { errorOf, setUp } from './executor.fixture.ts'

const never = () => new Promise<never>(() => {})

describe('a deadline of each try', () => {
  test('each try gets its own time and its own signal, and one that is given up is followed by another', async () => {
    const signals: AbortSignal[] = []
    const { clock, call, start } = setUp(
      (_args, { signal, attempt }) => {
        signals.push(signal)
        return attempt === 3 ? 'third' : never()
      },
      { effect: 'read', tool: { attemptMs: 100, retry: { times: 2, backoffMs: 10 } } },
    )
    const ending = start()
    await clock.advance(100)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    await clock.advance(10)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    await clock.advance(120)
    expect(await ending).toEqual({ kind: 'value', value: 'third' })
    expect(call.trail.attempts).toBe(3)
  })

  test('without retries it ends the call, sooner than the deadline', async () => {
    const { clock, start } = setUp(never, { tool: { attemptMs: 100 } })
    const ending = start()
    await clock.advance(100)
    expect(errorOf(await ending)).toMatchObject({
      type: 'timeout',
      effect: 'unknown',
      retry: { advice: 'never' },
      details: { limit: 'attemptMs' },
    })
  })

  test('a try that answers in time leaves no timer behind', async () => {
    const { clock, start } = setUp(() => 'quick', { tool: { attemptMs: 100, idleMs: 50 } })
    expect(await start()).toEqual({ kind: 'value', value: 'quick' })
    await clock.advance(40)
    expect(clock.waiting).toBe(0)
  })

  test('L50: what a try answers after it was given up is recorded once, and another try answers the call', async () => {
    const answers: ((value: string) => void)[] = []
    const { clock, late, start } = setUp(() => new Promise<string>((resolve) => answers.push(resolve)), {
      effect: 'read',
      tool: { attemptMs: 100, retry: { times: 1, backoffMs: 1 } },
    })
    const ending = start()
    await clock.advance(150)
    answers[0]?.('late')
    await clock.advance(0)
    expect(late).toEqual([{ kind: 'value', value: 'late' }])
    answers[1]?.('in time')
    expect(await ending).toEqual({ kind: 'value', value: 'in time' })
    expect(late).toHaveLength(1)
  })

  test('the deadline of the call holds over all tries: what comes after it goes to nobody and no further try begins', async () => {
    const { clock, call, start } = setUp(never, {
      effect: 'read',
      tool: { attemptMs: 400, deadlineMs: 900, retry: { times: 10, backoffMs: 1 } },
    })
    const ending = start()
    await clock.advance(900)
    expect(errorOf(await ending)).toMatchObject({ type: 'timeout', effect: 'none' })
    const { attempts } = call.trail
    await clock.advance(5_000)
    expect(attempts).toBe(3)
    expect(call.trail.attempts).toBe(3)
  })

  test('a try that was given up and still runs is recorded when it ends, also after the deadline, and nothing else is', async () => {
    const answers: ((value: string) => void)[] = []
    const { clock, late, start } = setUp(() => new Promise<string>((resolve) => answers.push(resolve)), {
      effect: 'read',
      tool: { attemptMs: 100, retry: { times: 5, backoffMs: 900 } },
    })
    const ending = start()
    await clock.advance(1_000)
    expect(errorOf(await ending)?.type).toBe('timeout')
    await clock.advance(1_000)
    expect(late).toEqual([])
    answers[0]?.('late')
    await clock.advance(0)
    expect(late).toEqual([{ kind: 'value', value: 'late' }])
    expect(answers).toHaveLength(1)
  })

  test('the operator may set it for tools that say nothing, and what is shorter than that answers', async () => {
    const guards = [{ guard: 'attempt', for: { tool: 'probe' }, ms: 100 }] as const
    const slow = setUp(never, { executor: { guards } })
    const ending = slow.start()
    await slow.clock.advance(100)
    expect(errorOf(await ending)).toMatchObject({ type: 'timeout', details: { limit: 'attemptMs' } })
    const other = setUp(never, { executor: { guards: [{ guard: 'attempt', for: { tool: 'other' }, ms: 100 }] } })
    const waits = other.start()
    await other.clock.advance(100)
    expect(other.clock.waiting).toBeGreaterThan(0)
    await other.clock.advance(900)
    expect(errorOf(await waits)?.details).toBeUndefined()
  })
})

describe('a deadline around all tries', () => {
  test('it counts the tries together, where a deadline of each try would let all of them run', async () => {
    const tool = { attemptMs: 100, retry: { times: 5, backoffMs: 1 } } as const
    const around = setUp(never, {
      ...{ effect: 'read', tool },
      executor: { guards: [{ guard: 'tries', for: { tool: '*' }, ms: 250 }] },
    })
    const ending = around.start()
    await around.clock.advance(250)
    expect(errorOf(await ending)).toMatchObject({ type: 'timeout', details: { limit: 'triesMs' } })
    expect(around.call.trail.attempts).toBe(3)
    const each = setUp(never, { effect: 'read', tool })
    const later = each.start()
    await each.clock.advance(900)
    expect(errorOf(await later)).toMatchObject({ type: 'timeout', details: { limit: 'attemptMs' } })
    expect(each.call.trail.attempts).toBe(6)
  })

  test('a try that runs when it ends is told to stop, and none follows', async () => {
    let context: RunContext | undefined
    const { clock, call, start } = setUp(
      (_args, given) => {
        context = given
        expect(given.signal.aborted).toBe(false)
        return never()
      },
      {
        tool: { repeat: 'safe', retry: { times: 5 } },
        executor: { guards: [{ guard: 'tries', for: { tool: '*' }, ms: 250 }] },
      },
    )
    const ending = start()
    await clock.advance(250)
    expect(errorOf(await ending)).toMatchObject({ type: 'timeout', effect: 'unknown' })
    expect(context?.signal.aborted).toBe(true)
    await clock.advance(5_000)
    expect(call.trail.attempts).toBe(1)
  })
})

describe('a tool that falls silent', () => {
  test('ends after its idle time, while one that says how far it is may take longer', async () => {
    const silent = setUp(never, { tool: { idleMs: 100 } })
    const ending = silent.start()
    await silent.clock.advance(100)
    expect(errorOf(await ending)).toMatchObject({ type: 'timeout', details: { limit: 'idleMs' } })

    const talking = setUp(
      (_args, { progress, clock }) =>
        new Promise((resolve) => {
          const talk = (step: number): void => {
            progress({ message: `step ${step}` })
            if (step === 5) resolve('done')
            else clock.after(60, () => talk(step + 1))
          }
          talk(1)
        }),
      { tool: { idleMs: 100 } },
    )
    const other = talking.start()
    await talking.clock.advance(300)
    expect(await other).toEqual({ kind: 'value', value: 'done' })
  })

  test('is not tried again: the call is ended, and not one of its tries', async () => {
    const { clock, call, start } = setUp(never, {
      effect: 'read',
      tool: { idleMs: 100, retry: { times: 3, backoffMs: 1 } },
    })
    const ending = start()
    await clock.advance(500)
    expect(errorOf(await ending)?.details).toEqual({ limit: 'idleMs' })
    expect(call.trail.attempts).toBe(1)
  })
})
