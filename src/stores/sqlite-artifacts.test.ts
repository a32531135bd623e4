// Goal: contents are unreadable in the file where the store seals, are handed out by no file that was tampered with, and
// last. Method: real files, looked at and changed through a connection beside the store.

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { sha256 } from '../base/digest.ts'
import type { Artifact, Store } from '../observe/store.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { artifactConformance } from './artifact-conformance.ts'
import { StoreFiles } from './conformance-files.ts'
import { findDriver } from './sqlite-driver.ts'
import { openSqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'

const files = new StoreFiles()

const opened = async (options: SqliteStoreOptions): Promise<Store> => {
  const done = await openSqliteStore(options)
  if (done.kind === 'failed') throw new Error(done.reason)
  return done.store
}

artifactConformance('sqlite', (clock) => opened({ file: files.next(), clock }))
artifactConformance('sqlite, unsealed', (clock) => opened({ file: files.next(), clock, seal: false }))

const principal = { tenant: 'acme', user: 'ana', agent: 'helper' }
const bounds = { bytesMax: 100_000, principalBytesMax: 100_000 }
const SECRET = 'a text that must not be found in the file'
const artifact = (clock: FakeClock, text = SECRET, id = 'art_1'): Artifact => ({
  row: {
    ...{ id, digest: sha256(text), principal, mediaType: 'text/plain', bytes: Buffer.byteLength(text) },
    call: {
      ...{
        id: 'call_1',
        session: 's',
        tool: 'read_it',
        fingerprint: 'f',
        argumentsText: '{"what":"an argument of ana"}',
      },
      ...{ policyVersion: 'p', approved: true },
    },
    ...{ at: clock.now(), expiresAt: clock.now() + 1_000 },
  },
  content: Buffer.from(text),
})

const inFile = (file: string): string =>
  ['', '-wal'].map((suffix) => readFileSync(`${file}${suffix}`, { encoding: 'latin1', flag: 'a+' })).join('')

async function change(file: string, sql: string): Promise<void> {
  const found = await findDriver()
  if (found.kind === 'failed') throw new Error(found.reason)
  const database = found.driver.open(file)
  database.exec('PRAGMA busy_timeout = 5000')
  database.exec(sql)
  database.close()
}

describe('a sealed file', () => {
  const clock = new FakeClock()

  test('shows neither content nor arguments; one that is not sealed shows both', async () => {
    const [sealedFile, openFile] = [files.next(), files.next()]
    for (const [file, seal] of [
      [sealedFile, true],
      [openFile, false],
    ] as const) {
      const store = await opened({ file, clock, seal })
      expect(await store.artifacts.keep(artifact(clock), bounds)).toEqual({ kind: 'kept' })
      await store.close()
    }
    for (const text of [SECRET, 'an argument of ana']) {
      expect(inFile(sealedFile)).not.toContain(text)
      expect(inFile(openFile)).toContain(text)
    }
  })

  test('outlives its process, and opens with the key that it was kept with', async () => {
    const file = files.next()
    const key = Buffer.alloc(32, 7).toString('base64')
    const store = await opened({ file, clock, key })
    await store.artifacts.keep(artifact(clock), bounds)
    await store.close()
    expect(await openSqliteStore({ file, clock })).toMatchObject({ kind: 'failed' })
    const again = await opened({ file, clock, key })
    const found = await again.artifacts.find('art_1', principal, clock.now())
    expect(found?.row).toEqual(artifact(clock).row)
    expect(Buffer.from(found?.content ?? []).toString()).toBe(SECRET)
    await again.close()
  })

  test('hands out nothing that was moved to another person', async () => {
    const file = files.next()
    const store = await opened({ file, clock })
    expect(await store.artifacts.keep(artifact(clock), bounds)).toEqual({ kind: 'kept' })
    const bob = { ...principal, user: 'bob' }
    const own = artifact(clock, 'of bob', 'art_2')
    expect(await store.artifacts.keep({ ...own, row: { ...own.row, principal: bob } }, bounds)).toEqual({
      kind: 'kept',
    })
    await change(file, `UPDATE artifacts SET user = 'bob' WHERE id = 'art_1'`)
    expect(await store.artifacts.find('art_1', bob, clock.now())).toBeUndefined()
    expect(await store.artifacts.find('art_2', bob, clock.now())).toBeDefined()
    expect((await store.artifacts.list({ limit: 9 })).map(({ id }) => id)).toEqual(['art_2'])
    await store.close()
  })

  test('hands out nothing that was changed, moved to another id, or whose key is gone', async () => {
    const file = files.next()
    const store = await opened({ file, clock })
    await store.artifacts.keep(artifact(clock), bounds)
    await store.artifacts.keep(artifact(clock, 'another text', 'art_2'), bounds)
    await store.artifacts.keep(artifact(clock, 'a third text', 'art_3'), bounds)
    const find = async (id: string) => await store.artifacts.find(id, principal, clock.now())
    await change(file, `UPDATE artifact_contents SET content = zeroblob(60) WHERE place = 1`)
    expect(await find('art_1')).toBeUndefined()
    await change(
      file,
      `UPDATE artifact_contents SET content = (SELECT content FROM artifact_contents WHERE place = 3) WHERE place = 2`,
    )
    expect(await find('art_2')).toBeUndefined()
    expect((await find('art_3'))?.row.id).toBe('art_3')
    await change(
      file,
      `DELETE FROM subjects; UPDATE sealing SET value = '99' WHERE name = 'erasures';
      INSERT OR IGNORE INTO sealing VALUES ('erasures', '99')`,
    )
    expect(await find('art_3')).toBeUndefined()
    expect(await store.artifacts.list({ limit: 10 })).toEqual([])
    await store.close()
  })
})
