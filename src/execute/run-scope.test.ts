// Goal: what is told to a call reaches every try of it, what is told to a try stays there, and whether anything may have
// happened is known at every moment.

import { describe, expect, test } from 'vitest'
import type { Call } from '../describe/call.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { RunContext } from '../describe/tool.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { setUp } from './executor.fixture.ts'
import { LastingWork } from './lasting-work.ts'
import { RunScope, type ScopeParts } from './run-scope.ts'

function scopeOf(effect: 'read' | 'write' = 'write', more: Partial<ScopeParts> = {}) {
  const clock = new FakeClock()
  const parts: ScopeParts = {
    clock,
    mayTouch: () => true,
    callNested: () => Promise.reject(new Error('no')),
    lasts: () => () => {},
    progress: () => {},
    log: () => {},
    ...more,
  }
  const call = { id: 'call_1', request: {}, trail: { attempts: 0 } } as unknown as Call
  return { clock, call, scope: new RunScope(parts, call, {} as never, { effect } as never, 1_000) }
}

describe('signals', () => {
  test('the end of a call is the end of every try, and the end of a try is not that of the call', () => {
    const { scope } = scopeOf()
    const [first, second] = [scope.fork(500, 1), scope.fork(5_000, 2)]
    first.abort(new Error('over'))
    expect([first.signal.aborted, second.signal.aborted, scope.signal.aborted]).toEqual([true, false, false])
    scope.abort(new Error('deadline'))
    expect(second.signal.reason).toMatchObject({ message: 'deadline' })
    expect(first.signal.reason).toMatchObject({ message: 'over' })
    expect([first.deadlineAtMs, second.deadlineAtMs]).toEqual([500, 1_000])
  })

  test('a try that is over hears nothing more, and one of a call that is over hears at once', () => {
    const { scope } = scopeOf()
    const over = scope.fork()
    over.end()
    const seen: string[] = []
    over.onAbort(() => seen.push('over'))
    scope.abort(new Error('deadline'))
    scope.onAbort(() => seen.push('late'))
    expect(seen).toEqual(['late'])
    expect(scope.fork().signal.aborted).toBe(true)
  })
})

describe('what may have happened', () => {
  test('a run that begins may act, until it says that it did not; what only reads never does', () => {
    const { scope } = scopeOf()
    expect(scope.mayHaveActed).toBe(false)
    const one = scope.fork()
    one.begin()
    expect([one.mayHaveActed, scope.mayHaveActed]).toEqual([true, true])
    one.stop()
    expect(scope.mayHaveActed).toBe(true)
    one.actedNot()
    one.actedNot()
    expect(scope.mayHaveActed).toBe(false)
    const read = scopeOf('read').scope
    read.begin()
    expect(read.mayHaveActed).toBe(false)
  })

  test('one try that did nothing does not speak for another', () => {
    const { scope } = scopeOf()
    const [first, second] = [scope.fork(), scope.fork()]
    first.begin()
    second.begin()
    second.actedNot()
    second.actedNot()
    expect(scope.mayHaveActed).toBe(true)
    first.actedNot()
    expect(scope.mayHaveActed).toBe(false)
  })

  test('it is known when all runs have really ended', async () => {
    const { scope } = scopeOf()
    expect(scope.whenStopped()).toBeUndefined()
    const [first, second] = [scope.fork(), scope.fork()]
    first.begin()
    second.begin()
    let stopped = false
    const waiting = scope.whenStopped()?.then(() => (stopped = true))
    first.stop()
    await Promise.resolve()
    expect([stopped, scope.running]).toEqual([false, true])
    second.stop()
    await waiting
    expect(scope.running).toBe(false)
  })
})

describe('limits', () => {
  test('each is noted once, of both kinds, and not after the call', () => {
    const { scope, call } = scopeOf()
    for (const limit of ['memoryBytes', 'memoryBytes', 'cpuMs']) scope.noteLimit(limit, 'hit')
    scope.noteLimit('processes', 'unenforced')
    scope.end()
    scope.noteLimit('openFiles', 'hit')
    expect(call.trail).toMatchObject({ limitsHit: ['memoryBytes', 'cpuMs'], limitsUnenforced: ['processes'] })
  })
})

describe('calls inside a call', () => {
  const nested = () => {
    const signals: AbortSignal[] = []
    const setup = scopeOf('write', {
      callNested: async (_parent, _request, signal) => {
        signals.push(signal)
        return {} as Outcome
      },
    })
    return { ...setup, signals }
  }

  test('child-within-parent: they end with the call that makes them', async () => {
    const { scope, signals } = nested()
    await scope.call({ name: 'x' })
    expect(signals[0]?.aborted).toBe(false)
    scope.end()
    expect(signals[0]?.aborted).toBe(true)
  })

  test('who is over makes none that would run', async () => {
    const { scope, signals } = nested()
    scope.end()
    await scope.call({ name: 'x' })
    expect(signals[0]?.aborted).toBe(true)
  })
})

test('a person who let a call happen is known to its tool', async () => {
  const seen: boolean[] = []
  const { call, start } = setUp((_args, { approved }) => void seen.push(approved))
  await start()
  call.trail.grantId = 'grant_1'
  await start()
  expect(seen).toEqual([false, true])
})

describe('work that goes on', () => {
  const denial = { kind: 'deny', by: 'stop', reason: 'stopped', policyVersion: 'v' } as const

  test('is ended when it would not be allowed any more, once, and otherwise with the gate', async () => {
    let denied = false
    const ends: string[] = []
    let context: RunContext | undefined
    const { executor, start } = setUp(
      (_args, given) => {
        context = given
        given.goesOn((reason) => ends.push(reason.message))
        given.goesOn(() => ends.push('taken out'))()
        return 'began'
      },
      { denial: () => (denied ? denial : undefined) },
    )
    await start()
    executor.review()
    expect(ends).toEqual([])
    denied = true
    executor.review()
    executor.review()
    expect(ends).toEqual(['stopped'])
    denied = false
    await start()
    executor.stop()
    executor.stop()
    expect(ends).toEqual(['stopped', 'the gate is closing'])
    context?.goesOn((reason) => ends.push(reason.message))
    expect(ends).toHaveLength(3)
  })

  test('one that cannot be ended keeps none of the others running', () => {
    const lasting = new LastingWork(() => denial)
    const ends: string[] = []
    const work = {} as never
    lasting.add(work, () => {
      throw new Error('no')
    })
    lasting.add(work, () => ends.push('ended'))
    lasting.review()
    expect(ends).toEqual(['ended'])
  })
})
