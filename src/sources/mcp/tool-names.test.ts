import { describe, expect, test } from 'vitest'
import { isToolName } from '../../describe/define-tool.ts'
import { listedName, nameProblem, shownName, standInName } from './tool-names.ts'

describe('names of upstream tools', () => {
  test.each(['', 'a b', 'a/b', 'a:b', 'a\u0000b', '\u0430dd', 'a\u200bb', 'x'.repeat(129), 5, null, undefined, {}])(
    '%j is no name that MCP lets a tool have',
    (name) => {
      expect(nameProblem(name)).toBeDefined()
    },
  )

  test.each(['constructor', '__proto__', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'])(
    'L04: `%s` is a part of every object and no tool',
    (name) => {
      expect(nameProblem(name)).toBe('its name is that of a part of every object')
    },
  )

  test.each(['x', 'DATA_EXPORT_v2', 'admin.tools.list', 'a-b', 'x'.repeat(128), 'constructors', '_proto_'])(
    '`%s` is a name',
    (name) => {
      expect(nameProblem(name)).toBeUndefined()
      expect(isToolName(listedName('srv', name))).toBe(true)
    },
  )

  test('G31: the longest server and tool names are shortened to 64 characters, always in the same way, and stay apart', () => {
    const server = 's'.repeat(32)
    const names = Array.from({ length: 200 }, (_, index) => listedName(server, `${'t'.repeat(120)}${index}`))
    expect(names.every((name) => name.length === 64 && isToolName(name))).toBe(true)
    expect(new Set(names).size).toBe(200)
    expect(listedName(server, `${'t'.repeat(120)}7`)).toBe(names[7])
  })

  test('one that fits is not shortened, and dots become underscores', () => {
    expect(listedName('github', 'repo.issues.list')).toBe('mcp__github__repo_issues_list')
  })

  test('a name that cannot be listed has a stand-in that can be, and is shown escaped', () => {
    for (const name of ['a\u202eb', 5, '', 'ü'.repeat(300)]) expect(isToolName(standInName('srv', name, 0))).toBe(true)
    expect(shownName('a\u202eb')).toBe('"a\\u202eb"')
    expect(shownName('x'.repeat(500)).length).toBeLessThanOrEqual(120)
  })
})
