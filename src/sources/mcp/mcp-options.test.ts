import { describe, expect, test } from 'vitest'
import { GateConfigError } from '../../describe/gate-config-error.ts'
import type { McpSourceOptions } from './mcp-options.ts'
import { identityOf } from './mcp-options.ts'
import { mcpSource } from './mcp-source.ts'

const refuses = (name: string, options: unknown): unknown => {
  try {
    mcpSource(name, options as McpSourceOptions)
    return 'taken'
  } catch (error) {
    return error instanceof GateConfigError ? error.problems[0]?.key : error
  }
}

describe('options of an MCP source', () => {
  test.each(['a__b', '', '_a', 'a_', 'a.b', 'builtin', 'x'.repeat(33), 'ä'])(
    "`%s` is no name: it could stand for somebody else's tools",
    (name) => {
      expect(refuses(name, { command: 'node' })).toBe(`sources.${name}`)
    },
  )

  test.each([
    [{}, 'sources.s'],
    [null, 'sources.s'],
    [{ command: 'node', url: 'http://x.test/' }, 'sources.s'],
    [{ command: '' }, 'sources.s.command'],
    [{ command: 'no\u0000de' }, 'sources.s.command'],
    [{ command: ['node', 'x'] }, 'sources.s.command'],
    [{ command: 'node', args: 'x' }, 'sources.s.args'],
    [{ command: 'node', env: { A: 1 } }, 'sources.s.env'],
    [{ command: 'node', headers: {} }, 'sources.s.headers'],
    [{ command: 'node', effects: { 'get_*': 'reads' } }, 'sources.s.effects'],
    [{ command: 'node', trust: 'all' }, 'sources.s.trust'],
    [{ command: 'node', deadlineMs: 0 }, 'sources.s.deadlineMs'],
    [{ command: 'node', idleMs: 0.5 }, 'sources.s.idleMs'],
    [{ command: 'node', idleMs: 1_000, deadlineMs: 1_000 }, 'sources.s.idleMs'],
    [{ command: 'node', restart: true }, 'sources.s.restart'],
    [{ command: 'node', sandbox: true }, 'sources.s.sandbox'],
    [{ command: 'node', sandbox: 'on' }, 'sources.s.sandbox'],
    [{ command: 'node', writable: ['/srv'] }, 'sources.s.writable'],
    [{ command: 'node', sandbox: 'off', network: false }, 'sources.s.network'],
    [{ command: 'node', sandbox: 'required', readable: '/srv' }, 'sources.s.readable'],
    [{ command: 'node', sandbox: 'required', readable: [''] }, 'sources.s.readable'],
    [{ command: 'node', sandbox: 'required', network: 'no' }, 'sources.s.network'],
    [{ command: 'node', limits: 5 }, 'sources.s.limits'],
    [{ command: 'node', limits: { cpuMs: 5 } }, 'sources.s.limits.cpuMs'],
    [{ command: 'node', limits: { memoryBytes: '1MB' } }, 'sources.s.limits.memoryBytes'],
    [{ command: 'node', limits: { processes: 0 } }, 'sources.s.limits.processes'],
    [{ url: 'http://x.test/', sandbox: 'required' }, 'sources.s.sandbox'],
    [{ url: 'http://x.test/', limits: {} }, 'sources.s.limits'],
    [{ url: 'file:///etc/passwd' }, 'sources.s.url'],
    [{ url: 'http://user:pass@x.test/' }, 'sources.s.url'],
    [{ url: 'x.test' }, 'sources.s.url'],
    [{ url: 'http://x.test/', headers: { 'a b': 'c' } }, 'sources.s.headers'],
    [{ url: 'http://x.test/', headers: { a: 'c\r\nd: e' } }, 'sources.s.headers'],
    [{ url: 'http://x.test/', env: {} }, 'sources.s.env'],
  ])('%j is refused before anything starts', (options, key) => {
    expect(refuses('s', options)).toBe(key)
  })

  test.each([
    [
      {
        command: 'node',
        args: ['server.js', '--opt=a;b'],
        env: { TOKEN: 'x' },
        cwd: '/srv',
        effects: { 'get_*': 'read' },
        trust: 'annotations',
        deadlineMs: 1,
      },
    ],
    [
      {
        ...{
          command: 'node',
          sandbox: 'preferred',
          readable: ['/srv'],
          writable: ['data'],
          network: false,
          idleMs: 5_000,
        },
        limits: { memoryBytes: 500_000_000, processes: 20, fileBytes: 1_000_000, openFiles: 100 },
      },
    ],
    [{ url: 'https://x.test/mcp', headers: { Authorization: 'Bearer x' } }],
  ])('%j is taken', (options) => {
    expect(refuses('s-1', options)).toBe('taken')
  })

  test('the identity is command or address, and no secret is in it', () => {
    expect(identityOf({ command: 'node', args: ['a'], env: { TOKEN: 'hush' } })).toBe(
      '["stdio","node",["a"],null,["TOKEN"]]',
    )
    expect(identityOf({ url: 'https://x.test/mcp', headers: { Authorization: 'hush' } })).toBe(
      '["http","https://x.test/mcp",["Authorization"]]',
    )
    expect(identityOf({ command: 'node', args: ['b'] })).not.toBe(identityOf({ command: 'node', args: ['a'] }))
  })
})
