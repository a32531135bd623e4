// What a configuration that holds is read as: exactly what is written, with every path, rule and reference in its place.
// What must not be read stands in `read-config-broken.test.ts`.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { environmentOf } from './environment.ts'
import type { LockgateConfig } from './lockgate-config.ts'
import { type ConfigReading, readConfig } from './read-config.ts'

let folder = ''
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-config-')))
  mkdirSync(join(folder, 'docs'))
  writeFileSync(join(folder, 'tools.js'), 'export const tools = []\n')
  writeFileSync(join(folder, 'server.js'), '// a server\n')
  writeFileSync(join(folder, 'data.db'), 'data')
  writeFileSync(join(folder, 'rules.yaml'), 'rules:\n  - deny: a_tool\n')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const VARIABLES = { SET: 'value', EMPTY: '', DEADLINE: '45s', INJECTED: '1\nversion: 2', NESTED: '${SET}' }

function read(text: string | Uint8Array, name = 'lockgate.yaml'): ConfigReading {
  writeFileSync(join(folder, name), text)
  return readConfig(join(folder, name), environmentOf(VARIABLES))
}

function configOf(text: string): LockgateConfig {
  const reading = read(text)
  if (reading.kind === 'bad') throw new Error(JSON.stringify(reading.problems))
  return reading.config
}

describe('what holds is read', () => {
  it('the least that a configuration can be has closed defaults', () => {
    expect(configOf('version: 1')).toEqual({
      file: join(folder, 'lockgate.yaml'),
      workspace: {},
      store: { kind: 'state' },
      tools: { files: false, shell: undefined, commands: {} },
      guards: [],
      sources: [],
      caller: {},
      policy: { rules: [], trustProject: true },
      approvals: {},
      limits: {},
      audit: {},
      telemetry: false,
      log: {},
      listen: { host: '127.0.0.1', port: 7420 },
      names: [],
      projectFiles: [],
      policyPaths: [join(folder, 'lockgate.yaml')],
      files: [{ path: join(folder, 'lockgate.yaml'), digest: expect.stringMatching(/^[0-9a-f]{64}$/) }],
      ownFiles: [join(folder, 'lockgate.yaml')],
    })
  })

  it('JSON is a configuration as well, also with tabs and a byte order mark', () => {
    const json = `\ufeff${JSON.stringify({ version: 1, workspace: '.', limits: { deadline: '2m' } }, undefined, '\t')}`
    expect(configOf(json)).toMatchObject({ workspace: { main: folder }, limits: { deadlineMs: 120_000 } })
  })

  it('paths count from the folder of the file, links followed', () => {
    mkdirSync(join(folder, 'elsewhere'), { recursive: true })
    symlinkSync(join(folder, 'lockgate.yaml'), join(folder, 'elsewhere', 'linked.yaml'))
    read('version: 1\nworkspace: { main: ., docs: docs }')
    const reading = readConfig(join(folder, 'elsewhere', 'linked.yaml'), environmentOf({}))
    expect(reading).toMatchObject({
      kind: 'ok',
      config: { file: join(folder, 'lockgate.yaml'), workspace: { main: folder, docs: join(folder, 'docs') } },
    })
    if (reading.kind === 'ok')
      expect(reading.config.ownFiles).toEqual([
        join(folder, 'elsewhere', 'linked.yaml'),
        join(folder, 'lockgate.yaml'),
        join(folder, 'lockgate.rules.yaml'),
        join(folder, 'docs', 'lockgate.rules.yaml'),
      ])
  })

  it('L51: a limit is taken exactly as it is written, however small', () => {
    const config = configOf(
      'version: 1\nsources: { a: { command: x, deadline: 500ms } }\nlimits: { deadline: 1ms, result: 512B, arguments: 2B }',
    )
    expect(config.sources).toMatchObject([{ deadlineMs: 500 }])
    expect(config.limits).toEqual({ deadlineMs: 1, resultBytes: 512, argumentBytes: 2 })
  })

  it('L04: a rule, a source, an argument and an effect may be named like a member of every object', () => {
    const config = configOf(`version: 1
sources: { constructor: { command: x, effects: { toString: write, __proto__: destructive } } }
policy: { rules: [{ deny: toString }, { deny: [constructor, __proto__], where: { __proto__: x, hasOwnProperty: y } }] }`)
    expect(config.sources.map(({ name }) => name)).toEqual(['constructor'])
    const [source] = config.sources
    expect(source?.kind === 'stdio' && Object.entries(source.effects)).toEqual([
      ['toString', 'write'],
      ['__proto__', 'destructive'],
    ])
    const [first, second] = config.policy.rules ?? []
    expect(first).toMatchObject({ deny: 'toString' })
    expect(Object.entries(second?.where ?? {})).toEqual([
      ['__proto__', 'x'],
      ['hasOwnProperty', 'y'],
    ])
  })

  it('every rule carries the place where it stands, also one of another file', () => {
    const config = configOf('version: 1\npolicy:\n  files: [rules.yaml]\n  rules:\n    - deny: x\n    - ask: y')
    expect(config.policy.rules?.map(({ at }) => at)).toEqual([
      { file: join(folder, 'lockgate.yaml'), line: 5, column: 7 },
      { file: join(folder, 'lockgate.yaml'), line: 6, column: 7 },
      { file: join(folder, 'rules.yaml'), line: 2, column: 5 },
    ])
  })

  it('variables come in as text: they bring no keys, and are not expanded again', () => {
    const config = configOf(
      'version: 1\nsources: { a: { command: x, args: ["${SET}-${env:SET}", "${GONE:-d}", "${EMPTY:-d}", "${EMPTY}", "$${SET}", "${INJECTED}", "${NESTED}", "a$b"], deadline: "${DEADLINE}" } }',
    )
    expect(config.sources).toMatchObject([
      { args: ['value-value', 'd', 'd', '', '${SET}', '1\nversion: 2', '${SET}', 'a$b'], deadlineMs: 45_000 },
    ])
  })

  it('a pasted block of a client stands beside other sources', () => {
    const config = configOf(`version: 1
sources: { own: { module: ./tools.js } }
mcpServers: { "local": { "type": "stdio", "command": "npx", "args": ["-y", "x"], "env": { "A": "" } }, "far": { "type": "http", "url": "https://x.y/mcp", "headers": { "X-Key": "k" } } }`)
    expect(config.sources).toMatchObject([
      { kind: 'module', name: 'own', file: join(folder, 'tools.js') },
      {
        kind: 'stdio',
        name: 'local',
        command: 'npx',
        args: ['-y', 'x'],
        env: { A: '' },
        cwd: folder,
        effects: {},
        trustAnnotations: false,
      },
      { kind: 'http', name: 'far', url: 'https://x.y/mcp', headers: { 'X-Key': 'k' } },
    ])
  })

  it('own-files: everything that is referred to is out of reach, and everything that can be code is digested', () => {
    const config = configOf(`version: 1
workspace: .
store: ./data.db
sources: { own: { module: ./tools.js }, up: { command: node, args: [./server.js, --db, data.db, docs, --flag=./tools.js] } }
policy: { files: [rules.yaml] }`)
    const own = [
      'lockgate.yaml',
      'lockgate.rules.yaml',
      'tools.js',
      'rules.yaml',
      'server.js',
      'data.db',
      'data.db-wal',
      'data.db-shm',
      'data.db-journal',
    ]
    expect([...config.ownFiles].sort()).toEqual(own.map((name) => join(folder, name)).sort())
    expect(config.files.map(({ path }) => path.slice(folder.length + 1)).sort()).toEqual([
      'lockgate.yaml',
      'rules.yaml',
      'server.js',
      'tools.js',
    ])
  })
})
