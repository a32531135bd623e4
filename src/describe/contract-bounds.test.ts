// enforced: every setting of a contract that nothing would hold to is refused when the tool is defined.

import { describe, expect, test } from 'vitest'
import { contractProblems, defineTool } from './define-tool.ts'
import { GateConfigError } from './gate-config-error.ts'

const TOOL = {
  name: 'probe',
  version: '1.0.0',
  description: 'A tool for tests.',
  input: { type: 'object' },
  effect: 'read',
  run: () => 1,
} as const
const WORKER = { module: '/tools/own.js', export: 'run' }

const problems = (more: object): string => contractProblems({ ...TOOL, ...more }).join('\n')

describe('times', () => {
  test.each(['deadlineMs', 'attemptMs', 'idleMs'])(
    'L51: `%s` is a whole number of milliseconds, and never moved',
    (key) => {
      for (const value of [0, -1, 1.5, '500', Number.NaN, 86_400_001])
        expect(problems({ [key]: value })).toContain(`\`${key}\``)
      expect(problems({ [key]: 500 })).toBe('')
      expect(defineTool({ ...TOOL, [key]: 500 } as never)).toMatchObject({ [key]: 500 })
    },
  )

  test('one that would never come before the deadline is refused', () => {
    expect(problems({ deadlineMs: 100, attemptMs: 100 })).toContain('`attemptMs` must be less than `deadlineMs`')
    expect(problems({ deadlineMs: 100, idleMs: 200 })).toContain('`idleMs` must be less than `deadlineMs`')
    expect(problems({ deadlineMs: 100, idleMs: 99, attemptMs: 50 })).toBe('')
  })
})

describe('retry', () => {
  test.each([
    [null],
    [3],
    [{}],
    [{ times: 0 }],
    [{ times: 11 }],
    [{ times: 1, backoffMs: 0 }],
    [{ times: 1, backOff: 5 }],
  ])('%j is no retry', (retry) => {
    expect(problems({ retry })).toContain('`retry` must be')
  })

  test('a tool that must never be repeated cannot ask for it; others can', () => {
    expect(problems({ retry: { times: 1 }, repeat: 'never' })).toContain('`repeat` is never')
    for (const repeat of [undefined, 'safe', 'keyed'])
      expect(problems({ retry: { times: 10, backoffMs: 5 }, repeat })).toBe('')
  })
})

describe('cache', () => {
  test.each([
    [{ forMs: 0 }, '`cache.forMs`'],
    [{}, '`cache.forMs`'],
    [{ forMs: 5, shared: 'yes' }, '`cache.shared`'],
    [{ forMs: 5, validator: 'mtime' }, '`cache.validator`'],
    [{ forMs: 5, ttl: 5 }, '`cache` must be'],
    [true, '`cache` must be'],
  ])('%j does not hold', (cache, expected) => {
    expect(problems({ cache })).toContain(expected)
  })

  test('only of tools that read, and shared only where all see the same', () => {
    expect(problems({ cache: { forMs: 5 }, effect: 'write' })).toContain('`cache` is only for tools that read')
    expect(problems({ cache: { forMs: 5 }, effect: 'undeclared' })).toContain('`cache` is only for tools that read')
    expect(problems({ cache: { forMs: 5, shared: true }, walks: true })).toContain(
      '`cache.shared` is not for a tool that walks',
    )
    expect(problems({ cache: { forMs: 5, shared: true, validator: () => 'x' } })).toBe('')
    expect(problems({ cache: { forMs: 5 }, effect: { most: 'write', of: () => 'read' } })).toBe('')
  })
})

describe('places', () => {
  test('a place that nothing can choose, or that only the gate chooses, is refused', () => {
    for (const place of ['sandbox', 'docker', '', 5]) expect(problems({ place })).toContain('`place` must be')
    for (const place of ['process', 'child', 'upstream']) expect(problems({ place })).toBe('')
  })

  test('a sandbox is for commands', () => {
    for (const place of ['process', 'upstream'])
      expect(problems({ place, sandbox: 'off' })).toContain('only for `place: child`')
    expect(problems({ sandbox: 'preferred' })).toContain('only for `place: child`')
    expect(problems({ place: 'child', sandbox: 'yes' })).toContain('`sandbox` must be')
    for (const sandbox of ['required', 'preferred', 'off']) expect(problems({ place: 'child', sandbox })).toBe('')
  })

  test('a module is for a worker, and a worker for a module', () => {
    expect(problems({ run: WORKER })).toContain('`run` must be a function')
    expect(problems({ place: 'worker' })).toContain('`run` of a tool in a worker')
    for (const run of [
      {},
      { ...WORKER, module: './own.js' },
      { ...WORKER, module: 'node:fs' },
      { ...WORKER, export: '' },
      { ...WORKER, x: 1 },
    ])
      expect(problems({ place: 'worker', run })).toContain('`run` of a tool in a worker')
    expect(problems({ place: 'worker', run: WORKER })).toBe('')
    expect(problems({ place: 'worker', run: { ...WORKER, module: 'file:///tools/own.js' } })).toBe('')
  })
})

describe('limits', () => {
  test('one of processes is refused for a tool that is none', () => {
    for (const limit of ['cpuMs', 'processes', 'fileBytes', 'openFiles', 'outputBytes', 'memoryBytes']) {
      expect(problems({ limits: { [limit]: 5 } })).toContain(
        `\`limits.${limit}\` is not enforced for \`place: process\``,
      )
      expect(problems({ place: 'upstream', limits: { [limit]: 5 } })).toContain('is not enforced')
      expect(problems({ place: 'child', limits: { [limit]: 5 } })).toBe('')
    }
  })

  test('a worker has a bound on its heap and no other', () => {
    expect(problems({ place: 'worker', run: WORKER, limits: { memoryBytes: 50_000_000 } })).toBe('')
    expect(problems({ place: 'worker', run: WORKER, limits: { cpuMs: 5 } })).toContain('`limits.cpuMs` is not enforced')
  })

  test('unknown ones, and ones that bound nothing, are refused', () => {
    expect(problems({ limits: { memory: 5 } })).toContain('`limits.memory` is unknown')
    for (const value of [0, 1.5, '5', null])
      expect(problems({ limits: { resultBytes: value } })).toContain('`limits.resultBytes`')
    expect(problems({ limits: { resultBytes: 600, argumentBytes: 20 } })).toBe('')
  })
})

test('lanes: only what a tool says that it touches can be its lane', () => {
  expect(problems({ lane: 'touches' })).toContain('`lane: touches` needs `touches`')
  expect(problems({ lane: 'free' })).toContain('`lane` must be')
  expect(problems({ lane: 'touches', touches: () => [] })).toBe('')
  expect(problems({ lane: 'barrier' })).toBe('')
})

test('what must be a function is one', () => {
  for (const key of ['command', 'binds', 'happened', 'touches'])
    expect(problems({ [key]: 'x' })).toContain(`\`${key}\` must be a function`)
})

test('what does not hold is thrown, and what was checked cannot be moved afterwards', () => {
  expect(() => defineTool({ ...TOOL, idleMs: 0 })).toThrow(GateConfigError)
  const retry = { times: 1 }
  const limits = { resultBytes: 600 }
  const cache = { forMs: 5 }
  const tool = defineTool({ ...TOOL, retry, limits, cache })
  Object.assign(retry, { times: 99 })
  Object.assign(limits, { resultBytes: 1 })
  Object.assign(cache, { shared: true })
  expect(tool).toMatchObject({ retry: { times: 1 }, limits: { resultBytes: 600 }, cache: { forMs: 5 } })
  expect(tool.cache).not.toHaveProperty('shared')
  for (const part of [tool.retry, tool.limits, tool.cache]) expect(Object.isFrozen(part)).toBe(true)
})
