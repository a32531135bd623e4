// The SQLite store on real files. What only several processes show is in sqlite-processes.test.ts.

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../base/clock.ts'
import type { Store } from '../observe/store.ts'
import { verifyRecords } from '../observe/verify.ts'
import { intentOf, rowOf, StoreFiles, until } from './conformance-files.ts'
import { SCHEMA_VERSION } from './migrations.ts'
import type { SqlDatabase } from './sqlite-driver.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { storeConformance } from './store-conformance.ts'

const files = new StoreFiles()

storeConformance('sqlite', async (clock) => {
  const opened = await openSqliteStore({ file: files.next(), clock })
  if (opened.kind === 'failed') throw new Error(opened.reason)
  return opened.store
})

describe('opening', () => {
  const reason = async (path: string) => {
    const opened = await openSqliteStore({ file: path, clock: systemClock })
    if (opened.kind === 'ok') await opened.store.close()
    return opened.kind === 'failed' ? opened.reason : 'it opened'
  }

  test('a place that cannot be written is refused, and the reason names the file', async () => {
    writeFileSync(join(files.root, 'plain'), 'x')
    expect(await reason(join(files.root, 'plain', 'below.db'))).toMatch(/cannot use `.*below\.db`/)
    expect(await reason(files.root)).toMatch(/cannot use/)
  })

  test('a file that is no database, or one of another program, is refused and left as it is', async () => {
    const junk = join(files.root, 'junk.db')
    writeFileSync(junk, 'these are the notes of somebody\n'.repeat(200))
    const before = readFileSync(junk)
    expect(await reason(junk)).toMatch(/not a database/)
    expect(readFileSync(junk).equals(before)).toBe(true)

    const foreign = join(files.root, 'foreign.db')
    const database = await files.connect(foreign)
    database.exec('CREATE TABLE bookmarks (url TEXT)')
    database.close()
    const bytes = readFileSync(foreign)
    expect(await reason(foreign)).toMatch(/another program/)
    expect(readFileSync(foreign).equals(bytes)).toBe(true)
  })

  test('a file of a newer version is refused and left as it is', async () => {
    await (await files.open()).close()
    const database = await files.connect()
    database.exec(`UPDATE meta SET value = '${SCHEMA_VERSION + 1}'`)
    expect(await reason(files.file)).toMatch(
      new RegExp(`schema version ${SCHEMA_VERSION + 1}.*knows ${SCHEMA_VERSION}`),
    )
    expect(database.prepare('SELECT count(*) AS n FROM owners').all([])).toEqual([{ n: 0 }])
    database.exec(`UPDATE meta SET value = '${SCHEMA_VERSION}'`)
    database.close()
    expect(await reason(files.file)).toBe('it opened')
  })

  test.skipIf(process.platform === 'win32')('folder, file and logs are for their owner only', async () => {
    const store = await files.open()
    store.append(rowOf('call-1'))
    await store.flush()
    expect(statSync(join(files.file, '..')).mode & 0o777).toBe(0o700)
    for (const path of [files.file, `${files.file}-wal`, `${files.file}-shm`])
      expect(statSync(path).mode & 0o777).toBe(0o600)
    await store.close()
  })

  test('several openings of a new file at once all succeed, each with a chain of its own', async () => {
    const stores = await Promise.all([1, 2, 3, 4, 5, 6].map(() => files.open()))
    for (const store of stores) store.append(rowOf('call-1'))
    await Promise.all(stores.map((store) => store.flush()))
    const [first] = stores
    expect(new Set(await first?.chains()).size).toBe(6)
    await Promise.all(stores.map((store) => store.close()))
  })

  test('chain: each opening begins a chain, older ones are still read and verify', async () => {
    for (const opening of [1, 2, 3]) {
      const store = await files.open()
      for (let number = 0; number < opening; number += 1) store.append(rowOf(`call-${opening}-${number}`))
      await store.close()
    }
    const store = await files.open()
    expect(await verifyRecords(store)).toMatchObject({ kind: 'ok', rows: 6, chains: 3 })
    const [oldest] = await store.chains()
    expect((await store.records({ limit: 1 }))[0]).toMatchObject({ chain: oldest, callId: 'call-1-0' })
    expect((await store.records({ limit: 1, newestFirst: true }))[0]).toMatchObject({ callId: 'call-3-2', seq: 3 })
    await store.close()
  })
})

describe('durability', () => {
  const count = (database: SqlDatabase) => Number(database.prepare('SELECT count(*) AS n FROM records').all([])[0]?.n)

  test('intent-first: another connection sees the intent and that it is open as soon as the promise resolves', async () => {
    const store = await files.open()
    const database = await files.connect()
    expect(await store.intend(intentOf('call-1'))).toEqual({ kind: 'recorded' })
    expect(count(database)).toBe(1)
    expect(database.prepare('SELECT call_id, owner FROM open_intents').all([])).toEqual([
      { call_id: 'call-1', owner: store.chain },
    ])
    store.append(rowOf('call-1'), 'call-1')
    await store.flush()
    expect(database.prepare('SELECT call_id FROM open_intents').all([])).toEqual([])
    database.close()
    await store.close()
  })

  test('rows reach the file by themselves', async () => {
    const store = await files.open()
    const database = await files.connect()
    store.append(rowOf('call-1'))
    await until(() => count(database) === 1)
    database.close()
    await store.close()
  })

  test('of ten thousand rows none is lost at the close, and their order is kept', async () => {
    const store = await files.open()
    for (let number = 0; number < 10_000; number += 1) store.append(rowOf(`call-${number}`, JSON.stringify({ number })))
    await store.close()
    const again = await files.open()
    const rows = await again.records({ limit: 10_000 })
    expect(rows.map(({ callId }) => callId)).toEqual(Array.from({ length: 10_000 }, (_, number) => `call-${number}`))
    expect(await verifyRecords(again)).toMatchObject({ kind: 'ok', rows: 10_000 })
    await again.close()
  })

  test('a caller that never lets the event loop turn is slowed to the disk and loses nothing', async () => {
    const store = await files.open()
    for (let number = 0; number < 120_000; number += 1) store.append(rowOf('call'))
    expect(store.failure()).toBeUndefined()
    await store.flush()
    const database = await files.connect()
    expect(count(database)).toBe(120_000)
    database.close()
    await store.close()
  })
})

describe('what cannot be written', () => {
  /** As a full disk: every insert of a row fails until the trigger is gone. */
  async function withFailingDisk(work: (store: Store, mend: () => void, database: SqlDatabase) => Promise<void>) {
    const store = await files.open()
    store.append(rowOf('before'))
    await store.flush()
    const database = await files.connect()
    database.exec(`CREATE TRIGGER full BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
    try {
      await work(store, () => database.exec('DROP TRIGGER full'), database)
    } finally {
      database.close()
      await store.close().catch(() => undefined)
    }
  }

  test('closed: rows that cannot be written set the failure, and an intent fails without being written', () =>
    withFailingDisk(async (store, _mend, database) => {
      store.append(rowOf('call-1'))
      await expect(store.flush()).rejects.toThrow('the disk is full')
      expect(store.failure()).toMatch(/cannot be written: .*the disk is full/)
      expect(await store.intend(intentOf('call-2'))).toMatchObject({ kind: 'failed' })
      expect(database.prepare('SELECT count(*) AS n FROM open_intents').all([])).toEqual([{ n: 0 }])
      expect(await store.records({ limit: 10 })).toHaveLength(1)
      await expect(store.close()).rejects.toThrow('1 records were not written')
    }))

  test('rows wait and are written in their order once the disk takes them; the failure lasts until then', () =>
    withFailingDisk(async (store, mend) => {
      for (const number of [1, 2, 3]) store.append(rowOf(`call-${number}`))
      await until(() => store.failure() !== undefined)
      store.append(rowOf('call-4'))
      expect(await store.intend(intentOf('refused'))).toMatchObject({ kind: 'failed' })
      mend()
      await until(() => store.failure() === undefined)
      const rows = await store.records({ limit: 10 })
      expect(rows.map(({ callId }) => callId)).toEqual(['before', 'call-1', 'call-2', 'call-3', 'call-4'])
      expect(await store.intend(intentOf('accepted'))).toEqual({ kind: 'recorded' })
      expect(await verifyRecords(store)).toMatchObject({ kind: 'ok', rows: 6 })
    }))

  test('closed: while another process holds the file, an intent waits, then fails; the failure ends with the lock', async () => {
    const store = await files.open()
    const database = await files.connect()
    database.exec('BEGIN IMMEDIATE')
    expect(await store.intend(intentOf('call-1'))).toEqual({ kind: 'failed', reason: expect.stringMatching(/locked/) })
    expect(store.failure()).toMatch(/locked/)
    database.exec('COMMIT')
    await until(() => store.failure() === undefined)
    expect(await store.intend(intentOf('call-2'))).toEqual({ kind: 'recorded' })
    expect(await store.records({ limit: 10 })).toMatchObject([{ callId: 'call-2' }])
    database.close()
    await store.close()
  })

  test('one request that cannot be carried out takes none of those beside it along', async () => {
    const store = await files.open()
    await store.intend(intentOf('call-1'))
    const all = await Promise.all([
      store.intend(intentOf('call-2')),
      store.intend(intentOf('call-1')),
      store.intend(intentOf('call-3')),
    ])
    expect(all).toMatchObject([{ kind: 'recorded' }, { kind: 'failed' }, { kind: 'recorded' }])
    expect(await verifyRecords(store)).toMatchObject({ kind: 'ok', rows: 3 })
    await store.close()
  })

  test('a request that cannot be sent fails alone', async () => {
    const store = await files.open()
    store.append(rowOf('call-1'))
    const unsendable = { ...intentOf('call-2'), extra: () => 1 }
    const all = await Promise.all([store.intend(unsendable), store.intend(intentOf('call-3'))])
    expect(all).toMatchObject([{ kind: 'failed' }, { kind: 'recorded' }])
    expect((await store.records({ limit: 10 })).map(({ callId }) => callId)).toEqual(['call-1', 'call-3'])
    await store.close()
  })
})

test('nothing but the database is left in the folder after the close', async () => {
  await (await files.open()).close()
  expect(existsSync(files.file)).toBe(true)
  expect(existsSync(`${files.file}-wal`)).toBe(false)
})
