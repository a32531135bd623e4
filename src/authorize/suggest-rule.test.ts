// What is proposed from approved calls is exactly as wide as what they have in common.

import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../base/json-value.ts'
import type { DeclaredEffect } from '../describe/effect.ts'
import { caller, policyOf } from './policy.fixture.ts'
import { redactedArguments } from './redacted-arguments.ts'
import { proposeRule, shapeOf } from './suggest-rule.ts'

const calls = (all: readonly JsonObject[], effect: DeclaredEffect = 'write') =>
  all.map((args) => ({ caller: caller(), args, effect }))

const whereOf = (all: readonly JsonObject[], effect?: DeclaredEffect, names = Object.keys(all[0] ?? {})) =>
  proposeRule('tool', calls(all, effect), names)?.rule.where

describe('refusals', () => {
  test.each<[string, readonly JsonObject[], DeclaredEffect]>([
    ['destructive calls', [{ path: 'a' }], 'destructive'],
    ['calls of which nobody knows what they do', [{ path: 'a' }], 'undeclared'],
    ['free text that goes outside', [{ body: 'a text of more than three words' }], 'external'],
    ['free text that goes outside, deep in the arguments', [{ of: [{ body: 'two\nlines' }] }], 'external'],
    [
      'programs with another text each time',
      [
        { a: 'x '.repeat(99), b: 'b' },
        { a: 'y '.repeat(99), b: 'b' },
      ],
      'execute',
    ],
    ['nothing but free text', [{ a: 'x '.repeat(99) }, { a: 'y '.repeat(99) }], 'write'],
    ['an exact text that is too long to be read', [{ a: 'x'.repeat(501) }], 'write'],
    ['more values than a list that anybody reads', [...Array(9).keys()].map((n) => ({ id: `id${n}` })), 'write'],
    ['paths that only the root holds', [...Array(9).keys()].map((n) => ({ path: `${n}.md`, content: 'x' })), 'write'],
    [
      'addresses, whose rest can carry anything',
      [...Array(9).keys()].map((n) => ({ url: `https://a.test/x/${n}` })),
      'read',
    ],
    ['no calls', [], 'write'],
  ])('nothing is proposed for %s', (_what, all, effect) => {
    expect(proposeRule('tool', calls(all, effect), ['path', 'content', 'body'])).toBeUndefined()
  })
})

describe('what is proposed', () => {
  test('what was the same stays the same, letter by letter, and no glob comes of it', () => {
    expect(whereOf([{ id: 'a*[b]' }])).toEqual({ id: { in: ['a*[b]'] } })
    expect(whereOf([{ id: 'b' }, { id: 'a' }])).toEqual({ id: { in: ['a', 'b'] } })
    expect(
      whereOf([
        { n: 2, ok: true },
        { n: 1, ok: true },
      ]),
    ).toEqual({ n: { in: [1, 2] }, ok: { in: [true] } })
    expect(whereOf([...Array(20).keys()].map((n) => ({ n })))).toEqual({ n: { min: 0, max: 19 } })
  })

  test('paths become the deepest folder that holds them all, its name taken as it is', () => {
    expect(whereOf([{ path: 'a/b/c.md' }, { path: 'a/b/d/e.md' }])).toEqual({ path: 'a/b/**' })
    expect(
      whereOf([
        { from: 'x[1]/a', to: 'y/a' },
        { from: 'x[1]/b', to: 'y/b' },
      ]),
    ).toEqual({
      from: 'x\\[1\\]/**',
      to: 'y/**',
    })
    expect(whereOf([{ path: 'a/x' }, { path: 'b/x' }])).toEqual({ path: { in: ['a/x', 'b/x'] } })
    expect(whereOf([{ path: 'a/../x' }, { path: 'a/y' }])).toEqual({ path: { in: ['a/../x', 'a/y'] } })
  })

  test('lists, objects and nothing are compared whole', () => {
    const rule = proposeRule('tool', calls([{ tags: ['a', 'b'], of: { n: 1 }, at: null }]), ['tags', 'of', 'at'])?.rule
    expect(rule?.when).toBe('args.tags == ["a", "b"] && args.of == {"n": 1} && args.at == null')
  })

  test('arguments that were not given may not be given', () => {
    expect(proposeRule('tool', calls([{ a: 'x' }]), ['a', 'b', 'c'])?.rule.when).toBe('!has(args.b) && !has(args.c)')
    expect(proposeRule('tool', calls([{ a: 'x' }]), undefined)?.rule.when).toBe('size(args) == 1')
    expect(proposeRule('tool', calls([{ a: 'x' }]), ['a'])?.rule.when).toBeUndefined()
  })

  test('callers are named, never matched by a glob', () => {
    const odd = [
      { caller: caller({ agent: 'c*', task: { name: '{t}' }, step: 's' }), args: { a: 'x' }, effect: 'write' as const },
    ]
    expect(proposeRule('tool', odd, ['a'])?.rule.for).toEqual({
      ...{ agent: 'c\\*', user: 'ana', tenant: 'acme', role: 'dev', task: '\\{t\\}', step: 's' },
    })
  })

  test('calls of another agent, role, task, step, effect or set of arguments have another shape', () => {
    const base = { caller: caller(), args: { a: 'x' }, effect: 'write' as const }
    const others = [
      { ...base, caller: caller({ agent: 'other' }) },
      { ...base, caller: caller({ roles: ['ops'] }) },
      { ...base, caller: caller({ task: { name: 't' } }) },
      { ...base, caller: caller({ step: 's' }) },
      { ...base, effect: 'read' as const },
      { ...base, args: { a: 'x', b: 'y' } },
    ]
    expect(new Set([base, ...others].map(shapeOf)).size).toBe(7)
    expect(shapeOf({ ...base, caller: caller({ user: 'ben', session: 's2' }), args: { a: 'z' } })).toBe(shapeOf(base))
  })

  test('each loads with its examples, and the nearest neighbour misses', () => {
    for (const all of [
      [{ id: 'a' }],
      [{ path: 'a/b' }, { path: 'a/c' }],
      [{ n: 1 }],
      [{ ok: true }],
      [{ tags: ['a'] }],
      [{ text: 'quo"te \\ back\nline', path: 'ä/ö x/[1]' }],
    ] as readonly (readonly JsonObject[])[]) {
      const proposed = proposeRule('tool', calls(all), Object.keys(all[0] ?? {}))
      const [neighbour] = proposed?.neighbours ?? []
      if (proposed === undefined || neighbour === undefined) throw new Error(JSON.stringify(all))
      const { rule } = proposed
      policyOf({ rules: [{ ...rule, examples: { ...rule.examples, miss: [neighbour] } }] })
      expect(() => policyOf({ rules: [{ ...rule, examples: { match: [neighbour] } }] })).toThrow()
    }
  })
})

describe('redacted arguments', () => {
  test('L82: a value that is a marker, and nothing that only mentions one', () => {
    const args = {
      a: '[redacted]',
      b: '[redacted: api key]',
      c: 'x [redacted]',
      d: { e: ['[REDACTED 12]'] },
      f: '[redactedx]',
      g: 1,
      h: 'Bearer [redacted:jwt] and more',
    }
    expect(redactedArguments(args)).toEqual(['a', 'b', 'd', 'h'])
  })
})
