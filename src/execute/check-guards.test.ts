// Goal: guards that mean something else than they say are refused before anything starts.

import { describe, expect, test } from 'vitest'
import { guardMisfits, guardProblems } from './check-guards.ts'
import { setUp } from './executor.fixture.ts'
import type { GuardOptions } from './guard-options.ts'

const messages = (guards: unknown): string =>
  guardProblems(guards, 60_000)
    .map(({ message }) => message)
    .join('\n')
const FOR = { tool: 'x' }

describe('shape', () => {
  test.each([
    ['no list', { guard: 'retry' }, 'expected a list'],
    ['no object', [null], 'expected an object'],
    ['a hole', new Array(1), 'expected an object'],
    ['an unknown guard', [{ guard: 'settle', for: FOR }], '`guard` must be one of'],
    ['a guard that is called like a property of every object', [{ guard: 'constructor', for: FOR }], '`guard` must be'],
    ['no subject', [{ guard: 'retry', times: 1 }], '`for` names tools'],
    ['an empty subject', [{ guard: 'retry', times: 1, for: {} }], '`for` is empty'],
    ['an unknown subject', [{ guard: 'retry', times: 1, for: { kind: 'x' } }], '`for.kind` is unknown'],
    ['an empty list of tools', [{ guard: 'retry', times: 1, for: { tool: [] } }], 'empty list'],
    ['a bad glob', [{ guard: 'retry', times: 1, for: { tool: '[' } }], 'no glob'],
    ['a missing bound', [{ guard: 'attempt', for: FOR }], '`ms` is missing'],
    ['no tries at all', [{ guard: 'retry', times: 0, for: FOR }], '`times` must be a whole number from 1 to 10'],
    ['too many tries', [{ guard: 'retry', times: 11, for: FOR }], '`times` must be'],
    ['a part of a millisecond', [{ guard: 'tries', ms: 1.5, for: FOR }], '`ms` must be'],
    ['a misspelt key', [{ guard: 'retry', times: 1, backOffMs: 5, for: FOR }], 'unknown key `backOffMs`'],
    ['no place', [{ guard: 'own', name: 'a', bounds: 'b', run: () => {}, for: FOR }], '`at` must be call or try'],
    ['no run', [{ guard: 'own', name: 'a', bounds: 'b', at: 'try', for: FOR }], '`run` must be a function'],
    [
      'no word of what it bounds',
      [{ guard: 'own', name: 'a', bounds: ' ', at: 'try', run: () => {}, for: FOR }],
      '`bounds`',
    ],
  ])('%s', (_title, guards, expected) => {
    expect(messages(guards)).toContain(expected)
  })

  test('what holds is taken', () => {
    expect(
      messages([
        { guard: 'breaker', for: { source: ['one', 'two'] } },
        { guard: 'tries', ms: 1_000, for: FOR },
        { guard: 'own', name: 'a', bounds: 'b', at: 'call', run: () => {}, for: FOR },
        { guard: 'retry', times: 10, backoffMs: 1, for: FOR },
        { guard: 'attempt', ms: 100, for: FOR },
      ]),
    ).toBe('')
    expect(messages([])).toBe('')
  })
})

describe('order', () => {
  test('a deadline of each try that is written around the retries is refused, and the one that is meant is named', () => {
    const guards = [
      { guard: 'attempt', ms: 5_000, for: FOR },
      { guard: 'retry', times: 2, for: FOR },
    ]
    expect(messages(guards)).toContain('`retry` must stand outside `attempt`: a deadline around all tries is `tries`')
    expect(messages([...guards].reverse())).toBe('')
  })

  test('a deadline of all tries inside them is refused, and a breaker too', () => {
    const retry = { guard: 'retry', times: 2, for: FOR }
    expect(messages([retry, { guard: 'tries', ms: 5_000, for: FOR }])).toContain('a deadline of each try is `attempt`')
    expect(messages([retry, { guard: 'breaker', for: FOR }])).toContain('`breaker` must stand outside `retry`')
  })

  test('guards of different tools have no order between them', () => {
    expect(
      messages([
        { guard: 'attempt', ms: 5_000, for: { tool: 'y' } },
        { guard: 'retry', times: 2, for: FOR },
      ]),
    ).toBe('')
  })

  test('two of a kind for the same tools are refused', () => {
    const retry = { guard: 'retry', times: 2, for: FOR }
    expect(messages([retry, { ...retry, times: 3 }])).toContain('there are two `retry` guards for the same tools')
  })
})

describe('what could never hold', () => {
  test('L51: a bound that never comes before the deadline of the call is refused and not moved', () => {
    expect(messages([{ guard: 'attempt', ms: 60_000, for: FOR }])).toContain('never comes before the deadline')
    expect(messages([{ guard: 'tries', ms: 60_001, for: FOR }])).toContain('never comes before the deadline')
    expect(messages([{ guard: 'attempt', ms: 59_999, for: FOR }])).toBe('')
  })

  test('retry of a tool that must never be repeated', () => {
    const { entry } = setUp(() => '', { tool: { repeat: 'never' } })
    const guards = (tool: string): readonly GuardOptions[] => [{ guard: 'retry', times: 1, for: { tool } }]
    expect(guardMisfits(guards('pro*'), [entry], 60_000)).toEqual([
      { key: 'guards[0]', message: '`retry` of `probe`, which must never be repeated' },
    ])
    expect(guardMisfits(guards('other'), [entry], 60_000)).toEqual([])
    const { entry: safe } = setUp(() => '', { tool: { repeat: 'safe' } })
    expect(guardMisfits(guards('pro*'), [safe], 60_000)).toEqual([])
  })

  test('a bound that never comes before the deadline of the very tool', () => {
    const { entry } = setUp(() => '', { tool: { deadlineMs: 500 } })
    const guards: readonly GuardOptions[] = [{ guard: 'attempt', ms: 500, for: { tool: '*' } }]
    expect(guardMisfits(guards, [entry], 60_000)).toMatchObject([{ message: expect.stringContaining('`probe`') }])
    expect(guardMisfits([{ guard: 'attempt', ms: 499, for: { tool: '*' } }], [entry], 60_000)).toEqual([])
  })
})
