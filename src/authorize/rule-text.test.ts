// Goal: an operator can read each rule on one line, and is told which rules and patterns speak of no tool.

import { describe, expect, test } from 'vitest'
import { ANA, entry, input, policyOf } from './policy.fixture.ts'
import type { RuleOptions } from './policy-options.ts'

/** The text of a rule, as the decision carries it. */
function textOf(rule: RuleOptions): string | undefined {
  const touches = ['read file:/ws/.env']
  return policyOf({ rules: [rule] }).decide(
    ANA,
    entry('read_file', { effect: 'read', source: 'files' }),
    input({ path: '.env', n: 5 }, { effect: 'read', touches }),
  ).rule?.text
}

describe('a rule as one line', () => {
  test.each<[rule: RuleOptions, text: string]>([
    [{ deny: 'read_file' }, 'deny read_file'],
    [{ ask: ['read_*', 'b'] }, 'ask read_*|b'],
    [
      { deny: { tool: 'read_file', source: ['files', 'x'], effect: 'read' } },
      'deny read_file source=files|x effect=read',
    ],
    [{ deny: { resource: ['read file:**/.env*', '* file:x'] } }, 'deny resource="read file:**/.env*"|"* file:x"'],
    [{ deny: 'read_file', for: { user: 'ana', role: ['dev', 'a b'] } }, 'deny read_file for user=ana role=dev|"a b"'],
    [{ deny: 'read_file', where: { path: '**/.env*', n: 5 } }, 'deny read_file where path=**/.env* n=5'],
    [{ deny: 'read_file', because: 'x', at: { file: 'f', line: 1, column: 1 } }, 'deny read_file'],
    [
      { deny: 'read_file', where: { path: ['.env', 'a\nb', '\u202ec'] } },
      'deny read_file where path=.env|"a\\nb"|"\\u{202e}c"',
    ],
  ])('%j', (rule, text) => {
    expect(textOf(rule)).toBe(text)
  })

  test('a very long one is cut, and says so', () => {
    const text = textOf({
      deny: ['read_file', ...Array.from({ length: 100 }, (_, index) => `some_other_tool_${index}`)],
    })
    expect(text).toMatch(/^deny read_file\|some_other_tool_0\|.*… \(\d+ characters\)$/)
    expect(text?.length).toBeLessThan(530)
  })
})

describe('L12: every rule can be asked what it matches', () => {
  const known = [
    entry('read_file', { source: 'files' }),
    entry('write_file', { source: 'files' }),
    entry('mcp__github__delete_repo', { source: 'github' }),
  ]
  const warnings = (...rules: RuleOptions[]): readonly string[] => policyOf({ rules }).warnings(known)

  test('a pattern that matches no known tool is told, also beside one that does', () => {
    expect(warnings({ deny: 'read_fil' })).toEqual(['rule `deny read_fil`: `read_fil` matches no known tool'])
    expect(warnings({ deny: ['read_file', 'writ_*'] })).toEqual([
      'rule `deny read_file|writ_*`: `writ_*` matches no known tool',
    ])
    expect(warnings({ deny: 'mcp_*_delete', at: { file: 'r.yaml', line: 3, column: 1 } })).toEqual([
      'rule `deny mcp_*_delete` (r.yaml:3): `mcp_*_delete` matches no known tool',
    ])
    expect(warnings({ deny: { source: 'gitlab' } })).toEqual([
      'rule `deny source=gitlab`: `gitlab` matches no known source',
    ])
  })

  test('a rule whose parts match tools, but no tool together, is told', () => {
    expect(warnings({ deny: { tool: 'read_file', source: 'github' } })).toEqual([
      'rule `deny read_file source=github`: it matches no known tool',
    ])
  })

  test('a rule that can never hold is told', () => {
    for (const rule of [
      { deny: [] },
      { deny: { resource: [] } },
      { deny: 'read_file', where: { path: [] } },
      { deny: 'read_file', for: { user: [] } },
    ])
      expect(warnings(rule)).toContainEqual(expect.stringContaining('never holds'))
  })

  test('a rule that matches is not told', () => {
    expect(
      warnings(
        { deny: 'mcp_*_delete_*' },
        { ask: '*' },
        { deny: { resource: 'read file:**' } },
        { allow: { source: 'git*', effect: 'read' } },
      ),
    ).toEqual([])
  })
})
