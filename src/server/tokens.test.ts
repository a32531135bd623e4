import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
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

  test('of what several processes change at once nothing is lost: what was ended stays ended, what was made is there', async () => {
    const first = await open()
    const ended = await Promise.all(['a', 'b', 'c'].map((name) => first.create({ name, scopes: ['call'] })))
    const made = Array.from({ length: 6 }, (_, index) => `made ${index}`)
    await Promise.all([
      ...ended.map(async ({ row }) => (await open()).revoke(row.id)),
      ...made.map(async (name) => (await open()).create({ name, scopes: ['call'] })),
      open().then((tokens) => tokens.ensure('call-token', { name: 'call', scopes: ['call'] })),
    ])
    const names = (await open()).list().map(({ name }) => name)
    expect(names.sort()).toEqual(['call', ...made])
    expect((await readdir(folder)).sort()).toEqual(['call-token', 'tokens.json'])
  })

  test('a lock that a process left behind when it died holds nothing up', async () => {
    const lock = join(folder, 'tokens.json.lock')
    await writeFile(lock, '')
    const longAgo = Date.now() / 1000 - 60
    await utimes(lock, longAgo, longAgo)
    const { row } = await (await open()).create({ name: 'a', scopes: ['call'] })
    expect((await open()).list()).toEqual([row])
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

  test('answers-apart: L31: one that can call cannot answer: both scopes make no token, and no row of a file', async () => {
    const tokens = await open()
    await expect(tokens.create({ name: 'a', scopes: ['call', 'approve'] })).rejects.toThrow('cannot answer')
    await expect(tokens.create({ name: 'a', scopes: [] })).rejects.toThrow('good for nothing')
    const { token } = await tokens.create({ name: 'b', scopes: ['call', 'audit'] })
    expect((await tokens.verify(token)).kind).toBe('ok')
    const file = join(folder, 'tokens.json')
    await writeFile(file, (await readFile(file, 'utf8')).replace('"audit"', '"approve"'))
    await expect(open()).rejects.toThrow('cannot answer')
  })

  test('a row of the old form still reads; task, step, layers and the mark of the operator are kept', async () => {
    const old = { id: `tok_${'0'.repeat(16)}`, name: 'old', scopes: ['call'], hash: '0'.repeat(64), createdAt: 1 }
    await writeFile(join(folder, 'tokens.json'), JSON.stringify({ version: 1, tokens: [old] }))
    const tokens = await open()
    expect(tokens.list()).toEqual([old])
    const caller = { task: { name: 'triage', allow: ['read_*'] }, step: 'analyse', layers: ['builtin'] } as const
    const { row } = await tokens.create({ name: 'new', scopes: ['call'], caller, elicitation: true })
    expect((await open()).list()).toEqual([old, row])
    expect(row).toMatchObject({ caller, elicitation: true })
  })

  test.each([
    ['a task without a name', { task: { allow: [] } }],
    ['a task of another shape', { task: 'triage' }],
    ['a step that is no text', { step: 7 }],
    ['a layer that does not exist', { layers: ['everything'] }],
    ['a conversation', { session: 's' }],
    ['somebody that it works for', { parent: {} }],
  ])('a row that says %s is no row', async (_name, caller) => {
    const row = { id: `tok_${'0'.repeat(16)}`, name: 'x', scopes: ['call'], hash: '0'.repeat(64), createdAt: 1, caller }
    await writeFile(join(folder, 'tokens.json'), JSON.stringify({ version: 1, tokens: [row] }))
    await expect(open()).rejects.toThrow('no token')
  })

  test('a mark that is not exactly true is no row', async () => {
    const tokens = await open()
    await tokens.create({ name: 'a', scopes: ['call'], elicitation: true })
    const file = join(folder, 'tokens.json')
    for (const other of ['"true"', '1', 'false', 'null']) {
      const text = await readFile(file, 'utf8')
      await writeFile(file, text.replace('"elicitation": true', `"elicitation": ${other}`))
      await expect(open()).rejects.toThrow('no token')
      await writeFile(file, text)
    }
  })

  test('a token that was revoked, rotated or has expired no longer stands', async () => {
    const tokens = await open()
    const kept = await tokens.create({ name: 'a', scopes: ['call'] })
    const ended = await tokens.create({ name: 'b', scopes: ['call'] })
    const short = await tokens.create({ name: 'c', scopes: ['call'], expiresAt: clock.now() + 1 })
    expect(await tokens.current(ended.row)).toEqual(ended.row)
    expect(await tokens.revoke(ended.row.id)).toEqual(ended.row)
    expect(await tokens.revoke(ended.row.id)).toBeUndefined()
    const turned = await tokens.rotate(kept.row.id)
    expect(turned?.row).toEqual({ ...kept.row, hash: turned?.row.hash })
    expect(await tokens.rotate(ended.row.id)).toBeUndefined()
    await clock.advance(1)
    for (const { row, token } of [kept, ended, short]) {
      expect(await tokens.current(row)).toBeUndefined()
      expect((await tokens.verify(token)).kind).toBe('unknown')
    }
    expect((await tokens.verify(turned?.token ?? '')).kind).toBe('ok')
  })

  test('rotating a token that is kept in a file keeps the new one there, and only there', async () => {
    const tokens = await open()
    await tokens.ensure('call-token', { name: 'call', scopes: ['call'] })
    const operator = await tokens.ensure('operator-token', { name: 'operator', scopes: ['approve'] })
    const [row] = tokens.list()
    const turned = await tokens.rotate(row?.id ?? '')
    expect((await readFile(join(folder, 'call-token'), 'utf8')).trim()).toBe(turned?.token)
    expect((await readFile(join(folder, 'operator-token'), 'utf8')).trim()).toBe(operator)
    expect(await tokens.ensure('call-token', { name: 'call', scopes: ['call'] })).toBe(turned?.token)
  })
})

describe('records of changes', () => {
  const recording = (told: string[], fails = false) =>
    openTokens({
      folder,
      clock,
      log: (message) => logged.push(message),
      record: async ({ what, row }) => {
        told.push(`${what} ${row.name}`)
        if (fails) throw new Error('the disk is full')
      },
    })

  test('each change is told before it is made, also those of tokens that a server keeps', async () => {
    const told: string[] = []
    const tokens = await recording(told)
    const { row } = await tokens.create({ name: 'a', scopes: ['call'] })
    await tokens.rotate(row.id)
    await tokens.revoke(row.id)
    await tokens.revoke(row.id)
    await tokens.rotate(row.id)
    await tokens.ensure('kept', { name: 'kept', scopes: ['call'] })
    await tokens.ensure('kept', { name: 'kept', scopes: ['call'] })
    await rm(join(folder, 'kept'))
    await tokens.ensure('kept', { name: 'kept', scopes: ['call'] })
    expect(told).toEqual(['created a', 'rotated a', 'revoked a', 'created kept', 'revoked kept', 'created kept'])
  })

  test('what cannot be recorded is not made or renewed, and is ended all the same', async () => {
    const { token, row } = await (await open()).create({ name: 'a', scopes: ['call'] })
    const tokens = await recording([], true)
    await expect(tokens.create({ name: 'b', scopes: ['call'] })).rejects.toThrow('the disk is full')
    await expect(tokens.rotate(row.id)).rejects.toThrow('the disk is full')
    expect(tokens.list()).toEqual([row])
    expect(await tokens.verify(token)).toEqual({ kind: 'ok', row })
    expect(await tokens.revoke(row.id)).toEqual(row)
    expect(await tokens.verify(token)).toEqual({ kind: 'unknown' })
    expect(logged.at(-1)).toContain('not recorded')
  })
})
