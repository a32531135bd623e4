// Goal: whoever holds the state folder makes and ends credentials on the command line, and none of them can both call and
// answer. Method: the command itself, and a server's own look at what it left.

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../src/base/clock.ts'
import { openTokens, type Tokens } from '../src/server/tokens.ts'
import { CliProject } from './cli-project.ts'

let project: CliProject
beforeEach(() => {
  project = new CliProject('version: 1\nsteps: { analyse: { effects: [read] } }\n')
})
afterEach(() => project.remove())

const stateFolder = (): string => {
  const root = project.path('state')
  const name = readdirSync(root).find((entry) => statSync(join(root, entry)).isDirectory())
  return join(root, name ?? '')
}
const served = (): Promise<Tokens> => openTokens({ folder: stateFolder(), clock: systemClock, log: () => {} })
type Made = { readonly token: string; readonly id: string }
const create = async (...options: readonly string[]) => {
  const { code, value, stderr } = await project.json(['tokens', 'create', ...options])
  return { code, stderr, value: value as Made & { readonly error?: { readonly message: string } } }
}

describe('`lockgate tokens create`', () => {
  test('makes a token that is shown once, and says who calls with it and what for', async () => {
    const { code, value } = await create(
      ...['--name', 'cursor', '--scope', 'call,audit', '--user', 'ana', '--agent', 'cursor', '--role', 'dev'],
      ...['--tenant', 'acme', '--task', 'triage:read_*,list_dir', '--step', 'analyse', '--elicitation'],
      ...['--layer', 'builtin', '--expires', '30d'],
    )
    expect(code).toBe(0)
    const tokens = await served()
    const verified = await tokens.verify(value.token)
    expect(verified).toMatchObject({
      kind: 'ok',
      row: {
        name: 'cursor',
        scopes: ['call', 'audit'],
        elicitation: true,
        caller: {
          tenant: 'acme',
          user: 'ana',
          agent: 'cursor',
          roles: ['dev'],
          step: 'analyse',
          layers: ['builtin'],
          task: { name: 'triage', allow: ['read_*', 'list_dir'] },
        },
      },
    })
    const [row] = tokens.list()
    expect((row?.expiresAt ?? 0) - (row?.createdAt ?? 0)).toBeGreaterThan(29.9 * 86_400_000)
    const listed = await project.run(['tokens', 'list'])
    expect(listed.stdout).toContain('cursor')
    expect(listed.stdout + listed.stderr).not.toContain(value.token)
    expect(JSON.stringify((await project.json(['tokens', 'list'])).value)).not.toContain(row?.hash)
  })

  test.each([
    ['no name', ['--scope', 'call'], '--name'],
    ['no scope', ['--name', 'a'], '--scope'],
    ['a scope that does not exist', ['--name', 'a', '--scope', 'calls'], 'calls'],
    ['L31: a scope that calls beside one that answers', ['--name', 'a', '--scope', 'call,approve'], 'cannot answer'],
    ['a mark on a token that does not call', ['--name', 'a', '--scope', 'approve', '--elicitation'], '--elicitation'],
    ['a name of `serve` itself', ['--name', 'operator', '--scope', 'approve'], 'operator'],
    ['a name that hides something', ['--name', 'a\u202eb', '--scope', 'call'], '--name'],
    ['no duration', ['--name', 'a', '--scope', 'call', '--expires', 'soon'], '--expires'],
    ['no time at all', ['--name', 'a', '--scope', 'call', '--expires', '0s'], '--expires'],
    ['a layer that does not exist', ['--name', 'a', '--scope', 'call', '--layer', 'all'], 'layer'],
    ['a task without a name', ['--name', 'a', '--scope', 'call', '--task', ':read_*'], 'task'],
  ])('refuses %s, and makes nothing', async (_name, options, word) => {
    const { code, value } = await create(...options)
    expect(code).toBe(2)
    expect(value.error?.message).toContain(word)
    expect((await project.json(['tokens', 'list'])).value).toEqual([])
  })

  test('a name is given once', async () => {
    expect((await create('--name', 'a', '--scope', 'call')).code).toBe(0)
    expect((await create('--name', 'a', '--scope', 'audit')).code).toBe(2)
  })

  test('a task with nothing after its colon allows nothing, and without one is not narrowed', async () => {
    await create('--name', 'none', '--scope', 'call', '--task', 'triage:')
    await create('--name', 'all', '--scope', 'call', '--task', 'triage')
    expect((await served()).list().map(({ caller }) => caller?.task)).toEqual([
      { name: 'triage', allow: [] },
      { name: 'triage' },
    ])
  })

  test('a step that the configuration does not know is warned about, and one that it knows is not', async () => {
    const unknown = await create('--name', 'a', '--scope', 'call', '--step', 'publish')
    expect(unknown.stderr).toContain('publish')
    expect(unknown.code).toBe(0)
    expect((await create('--name', 'b', '--scope', 'call', '--step', 'analyse')).stderr).not.toContain('warning')
  })
})

describe('`lockgate tokens revoke` and `rotate`', () => {
  test('end the token that was there; rotating gives the credential another one', async () => {
    const { value: first } = await create('--name', 'a', '--scope', 'call')
    const rotated = await project.json(['tokens', 'rotate', first.id])
    const second = rotated.value as Made
    expect([rotated.code, second.id]).toEqual([0, first.id])
    expect((await (await served()).verify(first.token)).kind).toBe('unknown')
    expect((await (await served()).verify(second.token)).kind).toBe('ok')
    expect((await project.run(['tokens', 'revoke', first.id])).code).toBe(0)
    expect((await (await served()).verify(second.token)).kind).toBe('unknown')
    expect((await project.run(['tokens', 'revoke', first.id])).code).toBe(1)
    expect((await project.run(['tokens', 'rotate', first.id])).code).toBe(1)
  })

  test.each([['revoke'], ['rotate'], ['list', 'tok_1'], ['make']])('`%s %s` is no command', async (...words) => {
    const given = words.filter((word) => typeof word === 'string')
    expect((await project.run(['tokens', ...given])).code).toBe(2)
  })
})

describe('records of credentials', () => {
  test('each change is recorded before it is made, with who changed it, and never with the token', async () => {
    const { value } = await create('--name', 'cursor', '--scope', 'call', '--user', 'ana')
    const rotated = (await project.json(['tokens', 'rotate', value.id])).value as Made
    await project.run(['tokens', 'revoke', value.id])
    await project.run(['tokens', 'revoke', 'tok_none'])
    const records = (await project.json(['audit', 'query', '--kind', 'credential'])).value as { records: object[] }
    const by = 'operator (command line)'
    expect(records.records).toMatchObject(
      ['created', 'rotated', 'revoked'].map((what) => ({
        body: { what, credential: value.id, name: 'cursor', scopes: ['call'], user: 'ana', by },
      })),
    )
    expect(JSON.stringify(records)).not.toContain(value.token)
    expect(JSON.stringify(records)).not.toContain(rotated.token)
  })
})
