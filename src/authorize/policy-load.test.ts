// Goal: a policy with a fault is no policy, and whoever wrote it learns where and what. Method: one fault at a time, each
// beside a twin that loads.

import { describe, expect, test } from 'vitest'
import { ANA, entry, input, policyOf, ROOTS } from './policy.fixture.ts'
import { type LoadedPolicy, loadPolicy } from './policy.ts'
import type { PolicyOptions } from './policy-options.ts'

const load = (options: unknown): LoadedPolicy => loadPolicy(options as PolicyOptions, { roots: ROOTS })

const loadRule = (rule: unknown): LoadedPolicy => load({ rules: [rule] })

describe('closed: a rule that does not hold is a problem with its key, never ignored', () => {
  test.each<[what: string, rule: unknown, key: string, message: string]>([
    ['no answer', { because: 'x' }, 'policy.rules[0]', 'exactly one'],
    ['two answers', { allow: 'a', deny: 'a' }, 'policy.rules[0]', 'exactly one'],
    ['an answer of nothing', { deny: undefined }, 'policy.rules[0].deny', 'not nothing'],
    ['an answer of null', { deny: null }, 'policy.rules[0].deny', 'not null'],
    ['an answer of a number', { deny: 7 }, 'policy.rules[0].deny', 'not a number'],
    ['a rule that is a text', 'deny a', 'policy.rules[0]', 'must be an object'],
    ['a rule that is a list', [], 'policy.rules[0]', 'must be an object'],
    ['an unknown key', { deny: 'a', wher: { path: 'x' } }, 'policy.rules[0].wher', 'unknown key'],
    ['a key of another case', { deny: 'a', Where: { path: 'x' } }, 'policy.rules[0].Where', 'unknown key'],
    ['a subject of a later issue', { deny: { tool: 'a', host: 'x' } }, 'policy.rules[0].deny.host', 'unknown key'],
    ['an unknown subject key', { deny: { tools: 'a' } }, 'policy.rules[0].deny.tools', 'unknown key'],
    ['a subject that says nothing', { allow: {} }, 'policy.rules[0].allow', 'says nothing'],
    ['a list with something else', { deny: ['a', 7] }, 'policy.rules[0].deny[1]', 'must be a text'],
    ['a hole in a list', { deny: ['a', undefined] }, 'policy.rules[0].deny[1]', 'must be a text'],
    ['an empty name', { deny: '' }, 'policy.rules[0].deny', 'empty'],
    ['a bad glob', { deny: 'read_[' }, 'policy.rules[0].deny', 'no `]`'],
    ['L12: a pattern that no name can match', { deny: 'Bash(rm *)' }, 'policy.rules[0].deny', 'no tool name'],
    ['L12: a character that no name has', { deny: { tool: 'a.b' } }, 'policy.rules[0].deny.tool', 'no tool name'],
    ['L40: two names in one text', { deny: 'Bash,PowerShell' }, 'policy.rules[0].deny', 'no tool name'],
    ['L40: two names in one text of a list', { deny: ['{a,b}', '{a,b},c'] }, 'policy.rules[0].deny', 'no tool name'],
    ['L12: a negation of a name', { deny: { tool: '!read_*' } }, 'policy.rules[0].deny.tool', 'no tool name'],
    ['L12: the start of a regular expression', { deny: '^read_' }, 'policy.rules[0].deny', 'no tool name'],
    ['an unknown effect', { deny: { effect: 'reads' } }, 'policy.rules[0].deny.effect', 'no effect'],
    ['an effect of a prototype', { deny: { effect: 'constructor' } }, 'policy.rules[0].deny.effect', 'no effect'],
    ['a resource without a verb', { deny: { resource: 'file:**' } }, 'policy.rules[0].deny.resource', 'verb kind:glob'],
    [
      'a resource without a kind',
      { deny: { resource: 'read **/.env' } },
      'policy.rules[0].deny.resource',
      'verb kind:glob',
    ],
    [
      'a resource without a key',
      { deny: { resource: 'read file:' } },
      'policy.rules[0].deny.resource',
      'verb kind:glob',
    ],
    [
      'a verb of another case',
      { deny: { resource: 'Read file:**' } },
      'policy.rules[0].deny.resource',
      'verb kind:glob',
    ],
    ['a program by its path', { deny: { program: '/usr/bin/git' } }, 'policy.rules[0].deny.program', 'bare program'],
    ['a program of a wrong type', { deny: { program: 7 } }, 'policy.rules[0].deny.program', 'not a number'],
    [
      'a program with its arguments',
      { allow: { program: 'git log' } },
      'policy.rules[0].allow.program',
      'bare program',
    ],
    ['a reading that is neither', { allow: { reads: 'true' } }, 'policy.rules[0].allow.reads', 'true or false'],
    ['two blanks', { deny: { resource: 'read  file:**' } }, 'policy.rules[0].deny.resource', 'verb kind:glob'],
    ['a bad glob of a resource', { deny: { resource: 'read file:[' } }, 'policy.rules[0].deny.resource', 'no `]`'],
    [
      'L12: a slash at the end',
      { deny: { resource: 'read file:secret/' } },
      'policy.rules[0].deny.resource',
      'folder/**',
    ],
    [
      'L12: a `./` at the start',
      { deny: { resource: 'read file:./secret/**' } },
      'policy.rules[0].deny.resource',
      'segment',
    ],
    ['L12: a step up', { deny: { resource: 'read file:a/../b' } }, 'policy.rules[0].deny.resource', 'segment'],
    ['L12: a negation', { deny: { resource: 'read file:!a' } }, 'policy.rules[0].deny.resource', 'negates nothing'],
    [
      'mixed alternatives',
      { deny: { resource: 'read file:{docs/**,/etc/**}' } },
      'policy.rules[0].deny.resource',
      'two patterns',
    ],
    ['an unknown key of callers', { deny: 'a', for: { agents: 'x' } }, 'policy.rules[0].for.agents', 'unknown key'],
    ['callers that say nothing', { allow: 'a', for: {} }, 'policy.rules[0].for', 'narrows nothing'],
    ['callers that are not there', { allow: 'a', for: undefined }, 'policy.rules[0].for', 'not nothing'],
    ['callers of a wrong type', { allow: 'a', for: 'ana' }, 'policy.rules[0].for', 'must be an object'],
    ['a caller of a wrong type', { allow: 'a', for: { user: 7 } }, 'policy.rules[0].for.user', 'not a number'],
    ['conditions that say nothing', { allow: 'a', where: {} }, 'policy.rules[0].where', 'narrows nothing'],
    ['conditions that are not there', { allow: 'a', where: undefined }, 'policy.rules[0].where', 'not nothing'],
    [
      'conditions in a map',
      { allow: 'a', where: new Map([['path', 'x']]) },
      'policy.rules[0].where',
      'must be an object',
    ],
    ['an unknown test', { allow: 'a', where: { n: { maxi: 5 } } }, 'policy.rules[0].where.n.maxi', 'unknown key'],
    ['a test that says nothing', { allow: 'a', where: { n: {} } }, 'policy.rules[0].where.n', 'says nothing'],
    ['a test of a wrong type', { allow: 'a', where: { n: { min: '5' } } }, 'policy.rules[0].where.n.min', 'a number'],
    ['an empty range', { allow: 'a', where: { n: { min: 5, max: 4 } } }, 'policy.rules[0].where.n', 'no number'],
    ['a prefix of nothing', { allow: 'a', where: { n: { prefix: '' } } }, 'policy.rules[0].where.n.prefix', 'empty'],
    ['a set that is no list', { allow: 'a', where: { n: { in: 'x' } } }, 'policy.rules[0].where.n.in', 'a list'],
    ['a set of something else', { allow: 'a', where: { n: { in: [{}] } } }, 'policy.rules[0].where.n.in[0]', 'a text'],
    ['a condition of null', { allow: 'a', where: { n: null } }, 'policy.rules[0].where.n', 'not null'],
    [
      'a condition that is no number',
      { allow: 'a', where: { n: Number.NaN } },
      'policy.rules[0].where.n',
      'must be a glob',
    ],
    ['a bad glob of an argument', { allow: 'a', where: { n: '{' } }, 'policy.rules[0].where.n', 'no `}`'],
    [
      'L12: a path with a slash at its end',
      { allow: 'a', where: { path: 'docs/' } },
      'policy.rules[0].where.path',
      'folder/**',
    ],
    ['an empty reason', { deny: 'a', because: ' ' }, 'policy.rules[0].because', 'says why'],
    ['a reason of a wrong type', { deny: 'a', because: 7 }, 'policy.rules[0].because', 'says why'],
    ['a place of a wrong type', { deny: 'a', at: { line: 1 } }, 'policy.rules[0].at', 'file, line, column'],
  ])('%s', (_what, rule, key, message) => {
    const loaded = loadRule(rule)
    expect(loaded.kind).toBe('bad')
    if (loaded.kind === 'ok') return
    expect(loaded.problems).toContainEqual(expect.objectContaining({ key, message: expect.stringContaining(message) }))
  })

  test.each<[what: string, options: unknown, key: string]>([
    ['no object', 'deny', 'policy'],
    ['null', null, 'policy'],
    ['an unknown key', { rule: [] }, 'policy.rule'],
    ['rules that are no list', { rules: { deny: 'a' } }, 'policy.rules'],
    ['rules that are null', { rules: null }, 'policy.rules'],
    ['defaults that are no object', { defaults: 'ask' }, 'policy.defaults'],
    ['an unknown effect', { defaults: { reads: 'deny' } }, 'policy.defaults.reads'],
    ['an unknown answer', { defaults: { read: 'never' } }, 'policy.defaults.read'],
    ['an answer that is not there', { defaults: { read: undefined } }, 'policy.defaults.read'],
    ['an answer of a prototype', { defaults: { read: 'toString' } }, 'policy.defaults.read'],
    ['a key of a prototype', { defaults: JSON.parse('{"__proto__":"allow"}') }, 'policy.defaults.__proto__'],
  ])('a policy with %s', (_what, options, key) => {
    const loaded = load(options)
    expect(loaded).toMatchObject({ kind: 'bad', problems: [expect.objectContaining({ key })] })
  })

  test('every problem is told at once, with the place of its rule', () => {
    const at = { file: 'team.yaml', line: 7, column: 3 }
    const loaded = load({ rules: [{ deny: 'ok' }, { deny: '[', at }, { allow: 'x', nope: 1, at: { ...at, line: 9 } }] })
    expect(loaded).toEqual({
      kind: 'bad',
      problems: [
        expect.objectContaining({ file: 'team.yaml', line: 7, column: 3, key: 'policy.rules[1].deny' }),
        expect.objectContaining({ file: 'team.yaml', line: 9, column: 3, key: 'policy.rules[2].nope' }),
      ],
    })
  })

  test('a rule without a place of its own is told with the file of the policy', () => {
    const loaded = loadPolicy({ rules: [{ deny: '[' }] }, { roots: ROOTS, file: 'lockgate.yaml' })
    expect(loaded).toMatchObject({ kind: 'bad', problems: [{ file: 'lockgate.yaml', key: 'policy.rules[0].deny' }] })
  })
})

describe('L04: names of prototype members are ordinary names', () => {
  test.each(['toString', 'constructor', '__proto__', 'hasOwnProperty', 'valueOf'])(
    'a rule and a tool called %s',
    (name) => {
      const policy = policyOf({ defaults: { write: 'allow' }, rules: [{ deny: name }] })
      expect(policy.decide(ANA, entry(name), input()).kind).toBe('deny')
      expect(policy.admit(ANA, entry(name)).kind).toBe('deny')
      expect(policy.decide(ANA, entry('other'), input()).kind).toBe('allow')
    },
  )

  test.each(['toString', 'constructor', '__proto__'])('an argument called %s counts only where it is there', (name) => {
    const where = JSON.parse(`{ "${name}": "**" }`)
    const policy = policyOf({ defaults: { write: 'allow' }, rules: [{ deny: 'a', where }] })
    expect(policy.decide(ANA, entry('a'), input({ other: 'x' })).kind).toBe('allow')
    expect(policy.decide(ANA, entry('a'), input(JSON.parse(`{ "${name}": "x" }`))).kind).toBe('deny')
  })

  test('one bad rule is one problem; what the others say is still checked', () => {
    const loaded = load({ rules: [{ deny: 'toString' }, { deny: 7 }, { deny: 'a' }] })
    expect(loaded.kind === 'bad' && loaded.problems.length).toBe(1)
  })

  test('what an object inherits is not read', () => {
    const rule = Object.create({ allow: 'a' })
    expect(loadRule(rule).kind).toBe('bad')
  })
})

describe('what loads', () => {
  test('nothing at all, with the closed defaults', () => {
    expect(policyOf({}).defaults).toEqual({
      read: 'allow',
      write: 'ask',
      execute: 'ask',
      external: 'ask',
      destructive: 'deny',
      undeclared: 'ask',
    })
  })

  test('every form of a rule', () => {
    const loaded = load({
      defaults: { read: 'ask' },
      rules: [
        { deny: 'read_*' },
        { ask: ['a', 'b_{c,d}'] },
        { allow: { tool: ['a'], source: 'github', effect: ['read', 'write'], resource: '* repo:acme/*' } },
        { deny: 'a', for: { agent: 'x', user: ['a@b.c', '*'], role: 'dev', tenant: 't', task: 'triage' } },
        { deny: 'a', where: { path: ['docs{,/**}', '/etc/**', '.'], all: true, count: 5, 'author.name': '*' } },
        { deny: [], because: 'nothing yet', at: { file: 'a.yaml', line: 1, column: 1 } },
      ],
    })
    expect(loaded.kind).toBe('ok')
  })
})

describe('the version of a policy', () => {
  const one = { deny: ['a', 'b'], where: { path: 'x', name: ['p', 'q'] } }
  const other = { allow: { source: 's', effect: ['read', 'write'] as const } }

  test('is equal for the same meaning in another order or at another place', () => {
    const version = policyOf({ rules: [one, other] }).version
    expect(version).toMatch(/^[0-9a-f]{64}$/)
    const turned = { deny: ['b', 'a'], where: { name: ['q', 'p'], path: 'x' }, at: { file: 'f', line: 2, column: 1 } }
    expect(policyOf({ rules: [other, turned] }).version).toBe(version)
    expect(policyOf({ defaults: { read: 'allow' }, rules: [one, other] }).version).toBe(version)
  })

  test('is another one for anything that can change a decision', () => {
    const versions = [
      policyOf({}),
      policyOf({ defaults: { read: 'ask' } }),
      policyOf({ rules: [one] }),
      policyOf({ rules: [one, other] }),
      policyOf({ rules: [{ ...one, deny: ['a'] }, other] }),
      policyOf({ rules: [{ ask: ['a', 'b'], where: one.where }, other] }),
      policyOf({ rules: [{ ...one, where: { path: 'x' } }, other] }),
      policyOf({ rules: [{ ...one, for: { user: 'ana' } }, other] }),
      policyOf({ rules: [{ deny: { tool: ['a', 'b'], resource: [] }, where: one.where }, other] }),
    ].map(({ version }) => version)
    expect(new Set(versions).size).toBe(versions.length)
  })
})
