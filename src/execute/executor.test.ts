// Goal: a call ends when it must, whatever its tool does, and says truly whether anything may have happened.
// Method: one executor on a fake clock; tools that hang, throw, block the loop, answer late or answer nonsense.

import { describe, expect, test } from 'vitest'
import type { Decision } from '../describe/decision.ts'
import type { RunContext } from '../describe/tool.ts'
import { toolFailure } from '../describe/tool-failure.ts'
import { errorOf, setUp } from './executor.fixture.ts'

describe('what is denied while it runs', () => {
  const DENIED: Decision = {
    kind: 'deny',
    by: 'stop',
    reason: 'the operator has stopped this tool',
    policyVersion: 'v',
  }

  test('L15: a call that is denied by the time it would start never starts', async () => {
    const { call, start } = setUp(() => 'ran', { denial: () => DENIED })
    expect(errorOf(await start())).toMatchObject({ type: 'permission_denied', effect: 'none', message: DENIED.reason })
    expect(call.trail).toMatchObject({ attempts: 0, decision: DENIED })
  })

  test('honest-effect: a running change that is denied ends at once and says that nobody knows; a read has done nothing', async () => {
    for (const [effect, expected] of [
      ['write', 'unknown'],
      ['read', 'none'],
    ] as const) {
      let denied = false
      let context: RunContext | undefined
      const { executor, call, start } = setUp(
        (_args, given) => {
          context = given
          return given.signal.aborted ? 'early' : new Promise(() => {})
        },
        { effect, denial: () => (denied ? DENIED : undefined) },
      )
      const ending = start()
      executor.review()
      denied = true
      executor.review()
      expect(errorOf(await ending)).toMatchObject({ type: 'permission_denied', effect: expected })
      expect(call.trail).toMatchObject({ attempts: 1, decision: DENIED })
      expect(context?.signal.aborted).toBe(true)
    }
  })

  test('what is still allowed runs on', async () => {
    let answer = (_value: string): void => {}
    const { executor, start } = setUp(() => new Promise<string>((resolve) => (answer = resolve)))
    const ending = start()
    executor.review()
    answer('done')
    expect(await ending).toMatchObject({ kind: 'value', value: 'done' })
  })
})

describe('deadline', () => {
  test('L50: a tool that ignores its signal is raced; the late result is recorded and goes to nobody', async () => {
    let answer = (_value: string): void => {}
    const { clock, late, start } = setUp(() => new Promise<string>((resolve) => (answer = resolve)))
    const ending = start()
    await clock.advance(1_000)
    expect(errorOf(await ending)).toMatchObject({ type: 'timeout', effect: 'unknown', retry: { advice: 'never' } })
    expect(late).toEqual([])
    answer('done after all')
    await clock.advance(0)
    expect(late).toEqual([{ kind: 'value', value: 'done after all' }])
  })

  test('a read that times out has done nothing and may be repeated', async () => {
    const { clock, start } = setUp(() => new Promise(() => {}), { effect: 'read' })
    const ending = start()
    await clock.advance(1_000)
    expect(errorOf(await ending)).toMatchObject({ type: 'timeout', effect: 'none', retry: { advice: 'safe' } })
  })

  test('the deadline of a tool holds where it is shorter than that of the gate, and never where it is longer', async () => {
    const short = setUp(() => new Promise(() => {}), { tool: { deadlineMs: 100 } })
    const ending = short.start()
    await short.clock.advance(100)
    expect(errorOf(await ending)?.type).toBe('timeout')
    const long = setUp(() => new Promise(() => {}), { tool: { deadlineMs: 5_000 } })
    const other = long.start()
    await long.clock.advance(1_000)
    expect(errorOf(await other)?.type).toBe('timeout')
  })

  test('time spent before the tool counts: a call whose time is over never starts its tool', async () => {
    const { clock, call, start } = setUp(() => 'ran')
    await clock.advance(1_000)
    expect(errorOf(await start())).toMatchObject({ type: 'timeout', effect: 'none' })
    expect(call.trail.attempts).toBe(0)
  })

  test('the signal aborts at the deadline', async () => {
    let context: RunContext | undefined
    const { clock, start } = setUp((_args, given) => {
      context = given
      return new Promise(() => {})
    })
    const ending = start()
    expect(context?.signal.aborted).toBe(false)
    await clock.advance(1_000)
    await ending
    expect(context?.signal.reason).toMatchObject({ name: 'TimeoutError' })
  })

  test('a tool that blocks the event loop beyond its time is late, measured and named', async () => {
    const setup = setUp(() => {
      setup.clock.block(1_500)
      return 'finished'
    })
    const ending = await setup.start()
    expect(errorOf(ending)?.type).toBe('timeout')
    expect(setup.late).toEqual([{ kind: 'value', value: 'finished' }])
    expect(setup.call.trail.blockedMs).toBeGreaterThanOrEqual(1_500)
  })

  test('blocking after the first await is measured too', async () => {
    const setup = setUp(async () => {
      await Promise.resolve()
      setup.clock.block(300)
      return 'finished'
    })
    expect(await setup.start()).toEqual({ kind: 'value', value: 'finished' })
    expect(setup.call.trail.blockedMs).toBeGreaterThanOrEqual(250)
  })

  test('a quick call leaves no timer of its deadline behind', async () => {
    const { clock, start } = setUp(() => 'quick')
    await start()
    await clock.advance(40)
    expect(clock.waiting).toBe(0)
  })
})

describe('cancellation', () => {
  test('a caller that leaves gets its outcome at once, and the tool is told', async () => {
    const leave = new AbortController()
    let context: RunContext | undefined
    const { start } = setUp(
      (_args, given) => {
        context = given
        return new Promise(() => {})
      },
      { signal: leave.signal },
    )
    const ending = start()
    leave.abort()
    expect(errorOf(await ending)).toMatchObject({ type: 'cancelled', effect: 'unknown' })
    expect(context?.signal.aborted).toBe(true)
  })

  test('nothing runs for a caller that has left', async () => {
    const { call, start } = setUp(() => 'ran', { signal: AbortSignal.abort() })
    expect(errorOf(await start())).toMatchObject({ type: 'cancelled', effect: 'none' })
    expect(call.trail.attempts).toBe(0)
  })

  test('stop cancels every running call', async () => {
    const { executor, start } = setUp(() => new Promise(() => {}))
    const ending = start()
    executor.stop()
    expect(errorOf(await ending)?.type).toBe('cancelled')
  })
})

describe('settle', () => {
  test('honest-effect: a throw of a write is `unknown`, of a read `none`, and its text stays with the operator', async () => {
    const write = setUp(() => {
      throw new Error('ECONNREFUSED /etc/secret')
    })
    const error = errorOf(await write.start())
    expect(error).toMatchObject({ type: 'tool_crashed', effect: 'unknown', help: 'stack' })
    expect(error?.message).not.toContain('secret')
    expect(write.crashes).toHaveLength(1)
    const read = setUp(() => Promise.reject(new Error('x')), { effect: 'read' })
    expect(errorOf(await read.start())).toMatchObject({ type: 'tool_crashed', effect: 'none' })
  })

  test('a failure that the tool describes keeps its code, effect and message, returned or thrown', async () => {
    const failure = toolFailure({ code: 'stale', message: 'read it again', effect: 'none' })
    const expected = { type: 'tool_error', message: 'read it again', effect: 'none', details: { code: 'stale' } }
    expect(errorOf(await setUp(() => failure).start())).toMatchObject(expected)
    expect(errorOf(await setUp(() => Promise.reject(failure)).start())).toMatchObject(expected)
  })

  test('a failure that does not say what happened is not believed to have done nothing', async () => {
    expect(errorOf(await setUp(() => toolFailure({ code: 'x', message: 'y' })).start())?.effect).toBe('unknown')
  })

  test('a value that the output schema refuses is withheld, and the effect is done', async () => {
    const output = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    const ending = await setUp(() => ({ n: 'secret text' }), { output }).start()
    expect(errorOf(ending)).toMatchObject({ type: 'output_invalid', effect: 'done' })
    expect(errorOf(ending)?.message).not.toContain('secret')
    expect(await setUp(() => ({ n: 5 }), { output }).start()).toMatchObject({ kind: 'value', value: { n: 5 } })
  })

  test('the yields of a generator are progress, its return is the value', async () => {
    const seen: unknown[] = []
    const setup = setUp(async function* () {
      yield { message: 'half' }
      return 'whole'
    })
    Object.assign(setup.call.request, { onProgress: (progress: unknown) => seen.push(progress) })
    expect(await setup.start()).toEqual({ kind: 'value', value: 'whole' })
    expect(seen).toEqual([{ message: 'half' }])
  })

  test('the parts of the context work when they are taken out of it', async () => {
    const seen: unknown[] = []
    const setup = setUp((_args, { progress, mayTouch, log, signal }) => {
      progress({ message: 'half' })
      log('half')
      return mayTouch('read file:/x') && !signal.aborted ? 'whole' : 'nothing'
    })
    Object.assign(setup.call.request, { onProgress: (progress: unknown) => seen.push(progress) })
    expect(await setup.start()).toEqual({ kind: 'value', value: 'whole' })
    expect(seen).toEqual([{ message: 'half' }])
  })

  test('what a tool says after its call is over goes nowhere', async () => {
    const seen: unknown[] = []
    let context: RunContext | undefined
    const setup = setUp((_args, given) => {
      context = given
      return new Promise(() => {})
    })
    Object.assign(setup.call.request, { onProgress: (progress: unknown) => seen.push(progress) })
    const ending = setup.start()
    await setup.clock.advance(1_000)
    await ending
    context?.progress({ message: 'late' })
    expect(seen).toEqual([])
    expect(context?.mayTouch('read file:/x')).toBe(false)
  })
})

test('the guards are one printable list, the deadline outermost and settle innermost', () => {
  const names = setUp(() => '')
    .executor.guards.all([])
    .map(({ name }) => name)
  expect(names).toEqual(['deadline', 'breaker', 'retry', 'attempt', 'place', 'settle'])
})
