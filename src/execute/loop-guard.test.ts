// Goal: a conversation that goes in circles is told so, then stopped, and nobody else is. Method: calls and outcomes by hand.

import { describe, expect, test } from 'vitest'
import type { Call, CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Outcome } from '../describe/outcome.ts'
import { outcomeError } from '../describe/refused.ts'
import { LoopGuard } from './loop-guard.ts'

const CLOCK = { monotonic: () => 0 }
const CALLER: Caller = Object.freeze({ tenant: 't', user: 'u', agent: 'a', roles: [], session: 's' })
const inputOf = (text: string): CheckedInput => ({
  kind: 'ok',
  args: {},
  text,
  effect: 'read',
  touches: { kind: 'unknown' },
})
let made = 0

function callOf(name: string, text: string | undefined, caller = CALLER): Call {
  made += 1
  return {
    id: `call_${made}`,
    runId: 'r',
    request: { caller, entrance: 'library', name, arguments: text ?? '{' },
    caller,
    openedAtMs: 0,
    openedMonotonicMs: 0,
    trail: { attempts: 1, marks: {}, ...(text === undefined ? {} : { input: inputOf(text) }) },
  }
}

const meta = { callId: '', runId: '', tool: '', attempts: 1 }
const ok = (text: string): Outcome => ({
  ok: true,
  value: text,
  content: [{ type: 'text', text }],
  elapsedMs: 1,
  meta,
})
const failed = (type: Parameters<typeof outcomeError>[0], message: string): Outcome => ({
  ok: false,
  error: outcomeError(type, message),
  content: [{ type: 'text', text: message }],
  elapsedMs: 1,
  meta,
})

/** Makes calls as a gate would, and answers what became of each: `ok`, `remark` or `refused`. */
function run(guard: LoopGuard, steps: readonly (readonly [string, string, string])[], caller = CALLER): string[] {
  return steps.map(([tool, args, result]) => {
    const call = callOf(tool, args, caller)
    if (guard.refuses(call, inputOf(args)) !== undefined) {
      call.trail.decision = { kind: 'deny', by: 'loop', reason: '', policyVersion: '' }
      guard.note(call, failed('permission_denied', 'loop'))
      return 'refused'
    }
    return guard.note(call, ok(result)) === undefined ? 'ok' : 'remark'
  })
}

const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item)
const A = ['read', '{"a":1}', 'same'] as const
const B = ['read', '{"b":1}', 'same'] as const
const C = ['list', '{}', 'same'] as const

describe('the same call again and again', () => {
  test('is told from `warn` on and refused from `refuse` on, and stays refused', () => {
    const guard = new LoopGuard({ warn: 3, refuse: 5, paceMs: 0 }, CLOCK)
    expect(run(guard, times(7, A))).toEqual(['ok', 'ok', 'remark', 'remark', 'refused', 'refused', 'refused'])
  })

  test('another result resets it, other arguments or another tool too', () => {
    const guard = new LoopGuard({ warn: 2, refuse: 9, paceMs: 0 }, CLOCK)
    const changing = Array.from({ length: 20 }, (_, index) => ['read', '{}', `${index}`] as const)
    expect(run(guard, changing)).toEqual(times(20, 'ok'))
    expect(run(guard, [A, A, ['read', '{"a":1}', 'other'], A, B, A])).toEqual(['ok', 'remark', 'ok', 'ok', 'ok', 'ok'])
  })

  test('after it was refused, another call opens the way again', () => {
    const guard = new LoopGuard({ warn: 2, refuse: 3, paceMs: 0 }, CLOCK)
    expect(run(guard, [A, A, A, C, B, A])).toEqual(['ok', 'remark', 'refused', 'ok', 'ok', 'ok'])
  })

  test('long results are told apart by all of their text', () => {
    const guard = new LoopGuard({ warn: 2, refuse: 3, paceMs: 0 }, CLOCK)
    const long = 'x'.repeat(100_000)
    expect(
      run(guard, [
        ['read', '{}', `${long}1`],
        ['read', '{}', `${long}2`],
        ['read', '{}', `${long}2`],
      ]),
    ).toEqual(['ok', 'ok', 'remark'])
  })
})

describe('two calls that take turns', () => {
  test('without any change are told and refused too', () => {
    const guard = new LoopGuard({ warn: 3, refuse: 4, paceMs: 0 }, CLOCK)
    expect(run(guard, times(4, [A, B]).flat())).toEqual([
      ...['ok', 'ok', 'ok', 'ok'],
      ...['remark', 'remark', 'refused', 'refused'],
    ])
  })

  test('three that take turns are no circle of two, and a change in one of two breaks it', () => {
    const guard = new LoopGuard({ warn: 3, refuse: 4, paceMs: 0 }, CLOCK)
    expect(run(guard, times(5, [A, B, C]).flat())).toEqual(times(15, 'ok'))
    const changing = Array.from({ length: 8 }, (_, index) => [A, ['read', '{"b":1}', `${index}`] as const]).flat()
    expect(run(guard, changing)).toEqual(times(16, 'ok'))
  })
})

describe('what does not count', () => {
  test("equal calls that come faster than a model can make them are a program's, but for those of a turn", () => {
    let nowMs = 0
    const guard = new LoopGuard({ warn: 2, refuse: 3, paceMs: 50 }, { monotonic: () => nowMs })
    const make = (more: Partial<Call['request']> = {}): string => {
      const call = callOf(A[0], A[1])
      const paced = { ...call, openedMonotonicMs: nowMs, request: { ...call.request, ...more } }
      if (guard.refuses(paced, inputOf(A[1])) !== undefined) return 'refused'
      nowMs += 1
      return guard.note(paced, ok(A[2])) === undefined ? 'ok' : 'remark'
    }
    for (const _ of times(100, 0)) expect(make()).toBe('ok')
    for (const _ of times(20, 0)) {
      nowMs += 1_000
      expect(make()).toBe('remark')
      for (const _ of times(10, 0)) expect(make()).toBe('ok')
    }
    expect(make({ inTurn: true })).toBe('remark')
    expect(make()).toBe('ok')
    nowMs += 50
    expect(make()).toBe('refused')
    expect(make({ inTurn: true })).toBe('refused')
  })

  test('L30: waiting for a person, for a source or for room is no circle', () => {
    const guard = new LoopGuard({ warn: 2, refuse: 3, paceMs: 0 }, CLOCK)
    for (const type of ['approval_required', 'unavailable', 'busy', 'cancelled'] as const)
      for (const _ of times(5, 0)) expect(guard.note(callOf('w', '{}'), failed(type, 'wait'))).toBeUndefined()
    expect(guard.refuses(callOf('w', '{}'), inputOf('{}'))).toBeUndefined()
  })

  test('failures that repeat do, also where each message names its own call, or the arguments never held', () => {
    const guard = new LoopGuard({ warn: 3, refuse: 4, paceMs: 0 }, CLOCK)
    const crash = () => {
      const call = callOf('w', '{}')
      return guard.note(call, failed('tool_crashed', `broke off; see ${call.id}`))
    }
    expect([crash(), crash(), crash()]).toEqual([undefined, undefined, expect.stringContaining('3 times')])
    const invalid = () => guard.note(callOf('v', undefined), failed('invalid_args', 'not JSON'))
    expect([invalid(), invalid(), invalid()]).toEqual([undefined, undefined, expect.stringContaining('3 times')])
  })

  test('each conversation counts for itself, whichever object stands for its caller', () => {
    const guard = new LoopGuard({ warn: 2, refuse: 3, paceMs: 0 }, CLOCK)
    expect(run(guard, [A])).toEqual(['ok'])
    expect(run(guard, [A], { ...CALLER, session: 'other' })).toEqual(['ok'])
    expect(run(guard, [A], { ...CALLER })).toEqual(['remark'])
  })
})

describe('the calls of one turn', () => {
  const ticketOf = (turn: object, position: number) => ({ turn, position, whenPassed: () => {}, leave: () => {} })
  const request = (name: string, given: unknown): Call['request'] => ({
    ...{ caller: CALLER, entrance: 'library', name, arguments: given, inTurn: true },
  })
  /** Notes the ends of a turn in the order of `ends`; what is said at each, in that order. */
  const end = (guard: LoopGuard, calls: readonly (readonly [string, string, string])[], ends: readonly number[]) => {
    const turn = {}
    const made = calls.map(([name, args], position) => {
      const call = callOf(name, args)
      return { ...call, request: { ...call.request, inTurn: true as const, ticket: ticketOf(turn, position) } }
    })
    return ends.map((index) => guard.note(made[index] ?? callOf('none', '{}'), ok(calls[index]?.[2] ?? '')))
  }

  test('count in the order in which they were written, whichever ends first', () => {
    const guard = new LoopGuard({ warn: 2, refuse: 3, paceMs: 0 }, CLOCK)
    expect(end(guard, [A, C, A], [0, 2, 1])).toEqual([undefined, undefined, undefined])
    expect(guard.refuses(callOf(A[0], A[1]), inputOf(A[1]))).toBeUndefined()
    const taking = new LoopGuard({ warn: 2, refuse: 3, paceMs: 0 }, CLOCK)
    end(taking, [A, B], [0, 1])
    end(taking, [A, B], [1, 0])
    expect(taking.refuses(callOf(A[0], A[1]), inputOf(A[1]))).toBe(3)
  })

  test('one that is made anew after an answer counts where it ends, and holds nobody up', () => {
    const guard = new LoopGuard({ warn: 2, refuse: 3, paceMs: 0 }, CLOCK)
    expect(end(guard, [A, A, A], [1, 0, 0, 2])).toEqual([
      undefined,
      undefined,
      expect.stringContaining('3 times'),
      expect.stringContaining('4 times'),
    ])
  })

  test('have to come after each other where equal ones, with those before the turn, are enough to be refused', () => {
    const guard = new LoopGuard({ warn: 2, refuse: 4, paceMs: 0 }, CLOCK)
    const may = (...given: readonly unknown[]) =>
      guard.mayRefuse(
        CALLER,
        given.map((one) => request('read', one)),
      )
    expect(may({ a: 1 }, { a: 1 }, { a: 1 })).toBe(false)
    expect(may({ a: 1, b: 2 }, '{"b": 2, "a": 1}', { b: 2, a: 1 }, { a: 1, b: 2 })).toBe(true)
    expect(may(...Array.from({ length: 100 }, (_, page) => ({ page })))).toBe(false)
    expect(may(undefined, undefined, '{', '{', { a: 1n })).toBe(false)
    run(guard, [A, A])
    expect(may({ a: 1 })).toBe(false)
    expect(may({ a: 1 }, { a: 1 })).toBe(true)
    expect(may({ a: 1 }, { a: 2 })).toBe(false)
  })
})
