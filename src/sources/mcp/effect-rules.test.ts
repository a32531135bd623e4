import { describe, expect, test } from 'vitest'
import { effectProblems, effectRules } from './effect-rules.ts'

describe('what an upstream tool may do', () => {
  test('without a word of the operator it is undeclared, whatever the server claims', () => {
    expect(effectRules({}, false).effectOf('search', { readOnlyHint: true })).toBe('undeclared')
  })

  test('an exact name beats every glob, and of several globs the strictest holds', () => {
    const { effectOf } = effectRules(
      { 'get_*': 'read', '*_secret': 'destructive', '*': 'external', get_key_secret: 'write' },
      false,
    )
    expect(effectOf('get_issue', undefined)).toBe('external')
    expect(effectOf('get_secret', undefined)).toBe('destructive')
    expect(effectOf('get_key_secret', undefined)).toBe('write')
  })

  test('undeclared is the strictest of all', () => {
    expect(effectRules({ '*': 'destructive', 'x*': 'undeclared' }, true).effectOf('x1', { readOnlyHint: true })).toBe(
      'undeclared',
    )
  })

  test('a name of every object is only found where the operator wrote it', () => {
    expect(effectRules({}, false).effectOf('toString', undefined)).toBe('undeclared')
  })

  test.each([
    [undefined, 'undeclared'],
    [{}, 'undeclared'],
    ['readOnlyHint', 'undeclared'],
    [{ title: 'x' }, 'undeclared'],
    [{ readOnlyHint: true }, 'read'],
    [{ readOnlyHint: true, destructiveHint: true }, 'destructive'],
    [{ readOnlyHint: 'true' }, 'destructive'],
    [{ readOnlyHint: false }, 'destructive'],
    [{ destructiveHint: false }, 'external'],
    [{ readOnlyHint: false, destructiveHint: false, openWorldHint: true }, 'external'],
    [{ readOnlyHint: false, destructiveHint: false, openWorldHint: false }, 'write'],
  ])('trusted annotations %j are read on their strict side: %s', (annotations, effect) => {
    expect(effectRules({}, true).effectOf('t', annotations)).toBe(effect)
  })

  test('the operator beats trusted annotations', () => {
    expect(effectRules({ 't*': 'write' }, true).effectOf('tool', { readOnlyHint: true })).toBe('write')
  })

  test('keys that fit no tool are named', () => {
    expect(effectRules({ 'get_*': 'read', put_x: 'write', search: 'read' }, false).unused(['search', 'put_y'])).toEqual(
      ['get_*', 'put_x'],
    )
  })

  test('what is no effect and what is no glob is refused', () => {
    expect(effectProblems({ 'a[': 'read' })).toHaveLength(1)
    expect(effectProblems({ a: 'reads' })).toHaveLength(1)
    expect(effectProblems([])).toHaveLength(1)
    expect(effectProblems({ a: 'read', 'b*': 'undeclared' })).toEqual([])
  })
})
