// Goal: what may pass is tried again within the time of the call, and what may have happened is never made twice. Method: one
// executor on a fake clock, with tools that fail in every way that the table of errors knows.

import { describe, expect, test } from 'vitest'
import type { Decision } from '../describe/decision.ts'
import type { Repeat, RunContext } from '../describe/tool.ts'
import { type ToolFailureOptions, toolFailure } from '../describe/tool-failure.ts'
import { errorOf, setUp } from './executor.fixture.ts'

const RETRY = { times: 2, backoffMs: 10 } as const

const failing = (options: Partial<ToolFailureOptions>) => () =>
  Promise.reject(toolFailure({ code: 'x', message: 'y', ...options }))

async function attemptsOf(
  failure: Partial<ToolFailureOptions>,
  { repeat, effect = 'write' }: { readonly repeat?: Repeat; readonly effect?: 'read' | 'write' } = {},
): Promise<number> {
  const { clock, call, start } = setUp(failing(failure), {
    effect,
    tool: { retry: RETRY, ...(repeat === undefined ? {} : { repeat }) },
  })
  const ending = start()
  await clock.advance(500)
  await ending
  return call.trail.attempts
}

describe('what is tried again', () => {
  test('a failure that says that nothing happened, of a kind that passes', async () => {
    expect(await attemptsOf({ type: 'unavailable', effect: 'none' })).toBe(3)
    expect(await attemptsOf({ type: 'busy', effect: 'none' })).toBe(3)
    expect(await attemptsOf({ type: 'timeout', effect: 'none' })).toBe(3)
    expect(await attemptsOf({ type: 'tool_crashed', effect: 'none' })).toBe(3)
    expect(await attemptsOf({ effect: 'none', retry: 'later' })).toBe(3)
    expect(await attemptsOf({ type: 'unavailable' }, { effect: 'read' })).toBe(3)
  })

  test('G42: a change that may have happened is not made again, unless repeating it is safe or its key is honoured', async () => {
    expect(await attemptsOf({ type: 'outcome_unknown' })).toBe(1)
    expect(await attemptsOf({ type: 'tool_crashed', effect: 'unknown' })).toBe(1)
    expect(await attemptsOf({ type: 'outcome_unknown' }, { repeat: 'safe' })).toBe(3)
    expect(await attemptsOf({ type: 'outcome_unknown' }, { repeat: 'keyed' })).toBe(3)
  })

  test('what has happened is never made again, also where repeating is safe', async () => {
    expect(await attemptsOf({ type: 'tool_crashed', effect: 'done' }, { repeat: 'safe' })).toBe(1)
  })

  test('what would come again does not get another try: refusals, and failures of the call itself', async () => {
    for (const type of ['unsafe_args', 'permission_denied', 'oversized', 'output_invalid'] as const)
      expect([type, await attemptsOf({ type, effect: 'none' }, { repeat: 'safe' })]).toEqual([type, 1])
    expect(await attemptsOf({ effect: 'none' })).toBe(1)
    expect(await attemptsOf({ effect: 'none', retry: 'fix_args' }, { repeat: 'safe' })).toBe(1)
  })

  test('an answer ends the tries', async () => {
    const { clock, call, start } = setUp(
      (_args, { attempt }) =>
        attempt === 2 ? 'second' : toolFailure({ code: 'x', message: 'y', type: 'busy', effect: 'none' }),
      { tool: { retry: RETRY } },
    )
    const ending = start()
    await clock.advance(100)
    expect(await ending).toEqual({ kind: 'value', value: 'second' })
    expect(call.trail.attempts).toBe(2)
  })

  test('the host may set it for tools that say nothing; a `never` tool is not run again by anybody', async () => {
    const guards = [{ guard: 'retry', for: { tool: '*' }, times: 2, backoffMs: 10 }] as const
    for (const [repeat, attempts] of [
      [undefined, 3],
      ['never', 1],
    ] as const) {
      const { clock, call, start } = setUp(failing({ type: 'busy', effect: 'none' }), {
        tool: repeat === undefined ? {} : { repeat },
        executor: { guards },
      })
      const ending = start()
      await clock.advance(500)
      expect(errorOf(await ending)?.type).toBe('busy')
      expect(call.trail.attempts).toBe(attempts)
    }
  })
})

describe('when it is tried again', () => {
  test('each wait is at most twice as long as the one before, with jitter down to nothing', async () => {
    for (const [random, times] of [
      [1, [0, 10, 30, 70]],
      [0.5, [0, 5, 15, 35]],
      [0, [0, 0, 0, 0]],
    ] as const) {
      const at: number[] = []
      const setup = setUp(
        (_args, { clock }) => {
          at.push(clock.monotonic())
          return toolFailure({ code: 'x', message: 'y', type: 'busy', effect: 'none' })
        },
        { tool: { retry: { times: 3, backoffMs: 10 } }, executor: { random: () => random } },
      )
      const ending = setup.start()
      await setup.clock.advance(200)
      await ending
      expect(at).toEqual(times)
    }
  })

  test('what could not begin before the deadline is not waited for', async () => {
    const { clock, call, start } = setUp(failing({ type: 'busy', effect: 'none' }), {
      tool: { deadlineMs: 100, retry: { times: 9, backoffMs: 60 } },
    })
    const ending = start()
    await clock.advance(60)
    expect(errorOf(await ending)?.type).toBe('busy')
    expect(call.trail.attempts).toBe(2)
    await clock.advance(39)
    expect(clock.waiting).toBe(0)
  })

  test('nobody waits for a caller that has left', async () => {
    const leave = new AbortController()
    const { clock, call, start } = setUp(failing({ type: 'busy', effect: 'none' }), {
      signal: leave.signal,
      tool: { retry: { times: 9, backoffMs: 500 } },
    })
    const ending = start()
    await clock.advance(1)
    leave.abort()
    expect(errorOf(await ending)).toMatchObject({ type: 'cancelled', effect: 'none' })
    await clock.advance(5_000)
    expect(call.trail.attempts).toBe(1)
  })
})

describe('before it is tried again', () => {
  const DENIED: Decision = { kind: 'deny', by: 'stop', reason: 'stopped', policyVersion: 'v' }

  test('authority is asked about again, and a tool that was replaced is not run', async () => {
    let denied = false
    const run = () => {
      denied = true
      return toolFailure({ code: 'x', message: 'y', type: 'busy', effect: 'none' })
    }
    const stopped = setUp(run, { tool: { retry: RETRY }, denial: () => (denied ? DENIED : undefined) })
    const ending = stopped.start()
    await stopped.clock.advance(100)
    expect(errorOf(await ending)).toMatchObject({ type: 'permission_denied', effect: 'none' })
    expect(stopped.call.trail.attempts).toBe(1)

    const replaced = setUp(run, { tool: { retry: RETRY }, executor: { isCurrent: () => false } })
    const other = replaced.start()
    await replaced.clock.advance(100)
    expect(errorOf(await other)).toMatchObject({ type: 'unavailable', effect: 'none', retry: { advice: 'safe' } })
  })

  test('a change asks its tool whether it took effect: what did is not made again, what did not is', async () => {
    for (const [happened, attempts, expected] of [
      [true, 1, { effect: 'done', retry: { advice: 'never' } }],
      [false, 3, { effect: 'none' }],
    ] as const) {
      const { clock, call, start } = setUp(failing({ type: 'outcome_unknown' }), {
        tool: { retry: RETRY, repeat: 'keyed', happened: () => happened },
      })
      const ending = start()
      await clock.advance(100)
      expect(errorOf(await ending)).toMatchObject({ type: 'outcome_unknown', ...expected })
      expect(call.trail.attempts).toBe(attempts)
    }
  })

  test('honest-effect: a later try that did nothing does not make an earlier one undone', async () => {
    const { clock, start } = setUp(
      (_args, { attempt }) =>
        toolFailure({
          ...{ code: 'x', message: 'y' },
          ...(attempt === 1 ? { type: 'outcome_unknown' } : { type: 'busy', effect: 'none' }),
        }),
      { tool: { retry: RETRY, repeat: 'keyed' } },
    )
    const ending = start()
    await clock.advance(100)
    expect(errorOf(await ending)).toMatchObject({ type: 'busy', effect: 'unknown', retry: { advice: 'never' } })
  })

  test('every try has the same key, counts itself and has the time that is left', async () => {
    const seen: Pick<RunContext, 'attempt' | 'idempotencyKey'>[] = []
    const left: number[] = []
    const { clock, start } = setUp(
      (_args, { attempt, idempotencyKey, leftMs }) => {
        seen.push({ attempt, idempotencyKey })
        left.push(leftMs())
        return toolFailure({ code: 'x', message: 'y', type: 'busy', effect: 'none' })
      },
      { tool: { retry: { times: 1, backoffMs: 100 } } },
    )
    const ending = start()
    await clock.advance(100)
    await ending
    expect(seen).toEqual([
      { attempt: 1, idempotencyKey: 'call_1' },
      { attempt: 2, idempotencyKey: 'call_1' },
    ])
    expect(left).toEqual([1_000, 900])
  })
})
