import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sealKey } from './seal-key.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lockgate-seal-'))
})
afterEach(() => rm(folder, { recursive: true }))
const file = (): string => join(folder, 'seal-key')

describe('the key of sealed states', () => {
  test('is made once, for its owner only, and is the same after a restart', async () => {
    const first = await sealKey(folder)
    expect(first).toHaveLength(32)
    expect((await stat(file())).mode & 0o777).toBe(0o600)
    expect(await sealKey(folder)).toEqual(first)
  })

  test('of several processes that start at once all have the same, and nothing else is left', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => sealKey(folder)))
    expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1)
    expect(await readdir(folder)).toEqual(['seal-key'])
  })

  test('one that others could read, that is a link, or that has another length is never used', async () => {
    const first = await sealKey(folder)
    await chmod(file(), 0o644)
    const second = await sealKey(folder)
    expect(second).not.toEqual(first)
    await writeFile(file(), Buffer.alloc(16).toString('base64url'))
    expect(await sealKey(folder)).toHaveLength(32)
    const known = join(folder, 'known')
    await writeFile(known, Buffer.alloc(32).toString('base64url'), { mode: 0o600 })
    await rm(file())
    await symlink(known, file())
    expect(await sealKey(folder)).not.toEqual(new Uint8Array(32))
    expect(await readFile(known, 'utf8')).toBe(Buffer.alloc(32).toString('base64url'))
  })
})
