import { mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FakeClock } from '../testing/fake-clock.ts'
import { openTokens } from './tokens.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lockgate-tokens-'))
})
afterEach(() => rm(folder, { recursive: true }))

const clock = new FakeClock()
const logged: string[] = []
const open = (at = folder) => openTokens({ folder: at, clock, log: (message) => logged.push(message) })

describe('tokens', () => {
  test('a token that was not made is unknown, however near it comes', async () => {
    const tokens = await open()
    const { token, row } = await tokens.create({ name: 'a', scopes: ['call'] })
    const near = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`
    for (const wrong of [
      '',
      'lg_',
      token.slice(0, -1),
      `${token}x`,
      near,
      ` ${token}`,
      row.hash,
      row.id,
      token.toUpperCase(),
    ]) {
      expect(await tokens.verify(wrong)).toEqual({ kind: 'unknown' })
    }
    expect(await tokens.verify(token)).toEqual({ kind: 'ok', row })
  })

  test('the file holds digests and never a token, and only its owner can read it', async () => {
    const tokens = await open()
    const { token } = await tokens.create({
      name: 'a',
      scopes: ['call', 'admin'],
      caller: { user: 'ana', roles: ['dev'] },
    })
    const file = join(folder, 'tokens.json')
    expect(await readFile(file, 'utf8')).not.toContain(token.slice(3))
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  test('an expired token is unknown', async () => {
    const tokens = await open()
    const { token } = await tokens.create({ name: 'a', scopes: ['call'], expiresAt: clock.now() + 1_000 })
    expect((await tokens.verify(token)).kind).toBe('ok')
    await clock.advance(1_000)
    expect((await tokens.verify(token)).kind).toBe('unknown')
  })

  test('a token that another process makes is known here a moment later, and one that it ends is not', async () => {
    const serving = await open()
    const { token } = await (await open()).create({ name: 'new', scopes: ['call'] })
    await clock.advance(1_000)
    expect((await serving.verify(token)).kind).toBe('ok')
    await writeFile(join(folder, 'tokens.json'), '{"version":1,"tokens":[]}')
    await clock.advance(1_000)
    expect((await serving.verify(token)).kind).toBe('unknown')
  })

  test.each([
    '',
    '{',
    '[]',
    '{"version":2,"tokens":[]}',
    '{"version":1,"tokens":[{"id":"tok_1"}]}',
    '{"version":1,"tokens":[null]}',
  ])('a file that holds %j stops the start', async (text) => {
    await writeFile(join(folder, 'tokens.json'), text)
    await expect(open()).rejects.toMatchObject({ name: 'GateConfigError' })
  })

  test('a row with a scope or a key that does not exist is no row', async () => {
    const tokens = await open()
    await tokens.create({ name: 'a', scopes: ['call'] })
    const file = join(folder, 'tokens.json')
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replace('"call"', '"everything"'))
    await expect(open()).rejects.toThrow('no token')
    await writeFile(file, text.replace('"name"', '"admin": true, "name"'))
    await expect(open()).rejects.toThrow('no token')
  })

  test('a file that comes not to hold while it is used lets nobody in, and says so', async () => {
    const tokens = await open()
    const { token } = await tokens.create({ name: 'a', scopes: ['call'] })
    const file = join(folder, 'tokens.json')
    await writeFile(file, 'broken')
    await utimes(file, 1, 1)
    await clock.advance(1_000)
    expect((await tokens.verify(token)).kind).toBe('unknown')
    expect(logged.at(-1)).toContain('nobody is let in')
  })

  test('the token in a file is made once, shown again, and made anew when its file is deleted', async () => {
    const tokens = await open()
    const first = await tokens.ensure('call-token', { name: 'local clients', scopes: ['call'] })
    expect(await (await open()).ensure('call-token', { name: 'local clients', scopes: ['call'] })).toBe(first)
    expect((await stat(join(folder, 'call-token'))).mode & 0o777).toBe(0o600)
    await rm(join(folder, 'call-token'))
    const second = await tokens.ensure('call-token', { name: 'local clients', scopes: ['call'] })
    expect(second).not.toBe(first)
    expect((await tokens.verify(first)).kind).toBe('unknown')
    expect((await tokens.verify(second)).kind).toBe('ok')
  })

  test('a token in a file that may do less than asked is not taken for it', async () => {
    const tokens = await open()
    const { token } = await tokens.create({ name: 'small', scopes: ['call'] })
    await writeFile(join(folder, 'operator-token'), token)
    expect(await tokens.ensure('operator-token', { name: 'operator', scopes: ['call', 'admin'] })).not.toBe(token)
  })

  test('G29: every row is compared, whichever comes first', async () => {
    const tokens = await open()
    const made = []
    for (let index = 0; index < 5; index++) made.push(await tokens.create({ name: `t${index}`, scopes: ['call'] }))
    for (const { token, row } of made) expect(await tokens.verify(token)).toEqual({ kind: 'ok', row })
  })
})
