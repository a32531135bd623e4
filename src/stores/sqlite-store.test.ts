// The SQLite store on real files. What only several processes show is in sqlite-processes.test.ts.

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../base/clock.ts'
import type { IntentDraft, RecordDraft, Store } from '../observe/store.ts'
import { verifyRecords } from '../observe/verify.ts'
import { SCHEMA_VERSION } from './migrations.ts'
import { findDriver, type SqlDatabase } from './sqlite-driver.ts'
import { SqliteImages } from './sqlite-images.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { storeConformance } from './store-conformance.ts'

const root = mkdtempSync(join(tmpdir(), 'lockgate-store-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let file = ''
let files = 0
beforeEach(() => {
  files += 1
  file = join(root, `state-${files}`, 'lockgate.db')
})

async function open(path = file): Promise<Store> {
  const opened = await openSqliteStore({ file: path, clock: systemClock })
  if (opened.kind === 'failed') throw new Error(opened.reason)
  return opened.store
}

async function raw(path = file): Promise<SqlDatabase> {
  const found = await findDriver()
  if (found.kind === 'failed') throw new Error(found.reason)
  const database = found.driver.open(path)
  database.exec('PRAGMA busy_timeout = 5000')
  return database
}

async function until(condition: () => unknown): Promise<void> {
  const end = performance.now() + 15_000
  while (!condition()) {
    if (performance.now() > end) throw new Error('what was waited for did not come')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const row = (callId: string, body = '{}'): RecordDraft => ({ kind: 'end', at: 1_700_000_000_000, callId, body })
const intent = (callId: string): IntentDraft => ({
  ...{ callId, tool: 'write_file', effect: 'write', argumentsText: '{"path":"a"}' },
  record: { kind: 'intent', at: 1_700_000_000_000, callId, body: '{"tool":"write_file"}' },
})

storeConformance('sqlite', async (clock) => {
  const opened = await openSqliteStore({ file: join(root, `conformance-${++files}`, 'lockgate.db'), clock })
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
    writeFileSync(join(root, 'plain'), 'x')
    expect(await reason(join(root, 'plain', 'below.db'))).toMatch(/cannot use `.*below\.db`/)
    expect(await reason(root)).toMatch(/cannot use/)
  })

  test('a file that is no database, or one of another program, is refused and left as it is', async () => {
    const junk = join(root, 'junk.db')
    writeFileSync(junk, 'these are the notes of somebody\n'.repeat(200))
    const before = readFileSync(junk)
    expect(await reason(junk)).toMatch(/not a database/)
    expect(readFileSync(junk).equals(before)).toBe(true)

    const foreign = join(root, 'foreign.db')
    const database = await raw(foreign)
    database.exec('CREATE TABLE bookmarks (url TEXT)')
    database.close()
    const bytes = readFileSync(foreign)
    expect(await reason(foreign)).toMatch(/another program/)
    expect(readFileSync(foreign).equals(bytes)).toBe(true)
  })

  test('a file of a newer version is refused and left as it is', async () => {
    await (await open()).close()
    const database = await raw()
    database.exec(`UPDATE meta SET value = '${SCHEMA_VERSION + 1}'`)
    expect(await reason(file)).toMatch(new RegExp(`schema version ${SCHEMA_VERSION + 1}.*knows ${SCHEMA_VERSION}`))
    expect(database.prepare('SELECT count(*) AS n FROM owners').all([])).toEqual([{ n: 0 }])
    database.exec(`UPDATE meta SET value = '${SCHEMA_VERSION}'`)
    database.close()
    expect(await reason(file)).toBe('it opened')
  })

  test.skipIf(process.platform === 'win32')('folder, file and logs are for their owner only', async () => {
    const store = await open()
    store.append(row('call-1'))
    await store.flush()
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700)
    for (const path of [file, `${file}-wal`, `${file}-shm`]) expect(statSync(path).mode & 0o777).toBe(0o600)
    await store.close()
  })

  test('several openings of a new file at once all succeed, each with a chain of its own', async () => {
    const stores = await Promise.all([1, 2, 3, 4, 5, 6].map(() => open()))
    for (const store of stores) store.append(row('call-1'))
    await Promise.all(stores.map((store) => store.flush()))
    const [first] = stores
    expect(new Set(await first?.chains()).size).toBe(6)
    await Promise.all(stores.map((store) => store.close()))
  })

  test('chain: each opening begins a chain, older ones are still read and verify', async () => {
    for (const opening of [1, 2, 3]) {
      const store = await open()
      for (let number = 0; number < opening; number += 1) store.append(row(`call-${opening}-${number}`))
      await store.close()
    }
    const store = await open()
    expect(await verifyRecords(store)).toMatchObject({ kind: 'ok', rows: 6, chains: 3 })
    const [oldest] = await store.chains()
    expect((await store.records({ limit: 1 }))[0]).toMatchObject({ chain: oldest, callId: 'call-1-0' })
    expect((await store.records({ limit: 1, newestFirst: true }))[0]).toMatchObject({ callId: 'call-3-2', seq: 3 })
    await store.close()
  })
})

describe('durability', () => {
  const count = (database: SqlDatabase) => Number(database.prepare('SELECT count(*) AS n FROM records').all([])[0]?.n)

  test('the file is synced at every commit and shared by a log', async () => {
    const store = await open()
    const database = await raw()
    expect(database.prepare('PRAGMA journal_mode').all([])).toEqual([{ journal_mode: 'wal' }])
    database.close()
    await store.close()
  })

  test('intent-first: another connection sees the intent and that it is open as soon as the promise resolves', async () => {
    const store = await open()
    const database = await raw()
    expect(await store.intend(intent('call-1'))).toEqual({ kind: 'recorded' })
    expect(count(database)).toBe(1)
    expect(database.prepare('SELECT call_id, owner FROM open_intents').all([])).toEqual([
      { call_id: 'call-1', owner: store.chain },
    ])
    store.append(row('call-1'), 'call-1')
    await store.flush()
    expect(database.prepare('SELECT call_id FROM open_intents').all([])).toEqual([])
    database.close()
    await store.close()
  })

  test('rows reach the file by themselves', async () => {
    const store = await open()
    const database = await raw()
    store.append(row('call-1'))
    await until(() => count(database) === 1)
    database.close()
    await store.close()
  })

  test('of ten thousand rows none is lost at the close, and their order is kept', async () => {
    const store = await open()
    for (let number = 0; number < 10_000; number += 1) store.append(row(`call-${number}`, JSON.stringify({ number })))
    await store.close()
    const again = await open()
    const rows = await again.records({ limit: 10_000 })
    expect(rows.map(({ callId }) => callId)).toEqual(Array.from({ length: 10_000 }, (_, number) => `call-${number}`))
    expect(await verifyRecords(again)).toMatchObject({ kind: 'ok', rows: 10_000 })
    await again.close()
  })

  test('a caller that never lets the event loop turn is slowed to the disk and loses nothing', async () => {
    const store = await open()
    for (let number = 0; number < 120_000; number += 1) store.append(row('call'))
    expect(store.failure()).toBeUndefined()
    await store.flush()
    const database = await raw()
    expect(count(database)).toBe(120_000)
    database.close()
    await store.close()
  })
})

describe('what cannot be written', () => {
  /** As a full disk: every insert of a row fails until the trigger is gone. */
  async function withFailingDisk(work: (store: Store, mend: () => void, database: SqlDatabase) => Promise<void>) {
    const store = await open()
    store.append(row('before'))
    await store.flush()
    const database = await raw()
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
      store.append(row('call-1'))
      await expect(store.flush()).rejects.toThrow('the disk is full')
      expect(store.failure()).toMatch(/cannot be written: .*the disk is full/)
      expect(await store.intend(intent('call-2'))).toMatchObject({ kind: 'failed' })
      expect(database.prepare('SELECT count(*) AS n FROM open_intents').all([])).toEqual([{ n: 0 }])
      expect(await store.records({ limit: 10 })).toHaveLength(1)
      await expect(store.close()).rejects.toThrow('1 records were not written')
    }))

  test('rows wait and are written in their order once the disk takes them; the failure lasts until then', () =>
    withFailingDisk(async (store, mend) => {
      for (const number of [1, 2, 3]) store.append(row(`call-${number}`))
      await until(() => store.failure() !== undefined)
      store.append(row('call-4'))
      expect(await store.intend(intent('refused'))).toMatchObject({ kind: 'failed' })
      mend()
      await until(() => store.failure() === undefined)
      const rows = await store.records({ limit: 10 })
      expect(rows.map(({ callId }) => callId)).toEqual(['before', 'call-1', 'call-2', 'call-3', 'call-4'])
      expect(await store.intend(intent('accepted'))).toEqual({ kind: 'recorded' })
      expect(await verifyRecords(store)).toMatchObject({ kind: 'ok', rows: 6 })
    }))

  test('past the bound rows are counted as lost, and the chain says how many once it can', () =>
    withFailingDisk(async (store, mend) => {
      store.append(row('first'))
      await until(() => store.failure() !== undefined)
      for (let number = 0; number < 50_010; number += 1) store.append(row('call'))
      expect(store.failure()).toMatch(/11 records were lost/)
      mend()
      await until(() => store.failure() === undefined)
      await store.flush()
      const [last] = await store.records({ limit: 1, newestFirst: true })
      expect(last).toMatchObject({ kind: 'gate', body: '{"event":"records-lost","count":11}', seq: 50_002 })
      expect(await verifyRecords(store, { pageRows: 10_000 })).toMatchObject({ kind: 'ok', rows: 50_002 })
    }))

  test('one request that cannot be carried out takes none of those beside it along', async () => {
    const store = await open()
    await store.intend(intent('call-1'))
    const all = await Promise.all([
      store.intend(intent('call-2')),
      store.intend(intent('call-1')),
      store.intend(intent('call-3')),
    ])
    expect(all).toMatchObject([{ kind: 'recorded' }, { kind: 'failed' }, { kind: 'recorded' }])
    expect(await verifyRecords(store)).toMatchObject({ kind: 'ok', rows: 3 })
    await store.close()
  })

  test('a request that cannot be sent fails alone', async () => {
    const store = await open()
    store.append(row('call-1'))
    const unsendable = { ...intent('call-2'), extra: () => 1 }
    const all = await Promise.all([store.intend(unsendable), store.intend(intent('call-3'))])
    expect(all).toMatchObject([{ kind: 'failed' }, { kind: 'recorded' }])
    expect((await store.records({ limit: 10 })).map(({ callId }) => callId)).toEqual(['call-1', 'call-3'])
    await store.close()
  })
})

describe('open intents and their owners', () => {
  const owner = (database: SqlDatabase, name: string, change: string): void => {
    database.exec(
      `INSERT INTO owners SELECT '${name}', host, pid, started, lease_until, lease_uptime, closed FROM owners LIMIT 1`,
    )
    database.exec(`UPDATE owners SET ${change} WHERE chain = '${name}'`)
    database.exec(
      `INSERT INTO open_intents VALUES ('of-${name}', '${name}', '${name}', 'write_file', 'write', '{}', 5)`,
    )
  }
  const past = 'lease_until = 0, lease_uptime = 0'

  test('an owner lives while its lease runs: nothing of it is handed out, by another opening or by itself', async () => {
    const living = await open()
    await living.intend(intent('call-1'))
    const other = await open()
    expect(await other.lapsedIntents()).toEqual([])
    expect(await living.lapsedIntents()).toEqual([])
    const database = await raw()
    owner(database, 'elsewhere', `host = 'another host', pid = 1, started = '1', lease_uptime = 0`)
    expect(await other.lapsedIntents()).toEqual([])
    database.close()
    await Promise.all([living.close(), other.close()])
  })

  test('what a closed owner left open is handed out once, and ends with a row that closes it', async () => {
    const gone = await open()
    await gone.intend(intent('call-1'))
    await gone.intend(intent('call-2'))
    gone.append(row('call-2'), 'call-2')
    await gone.close()
    const first = await open()
    const second = await open()
    const found = await Promise.all([first.lapsedIntents(), second.lapsedIntents()])
    expect(found.flat()).toEqual([
      {
        ...{ callId: 'call-1', chain: gone.chain, tool: 'write_file', effect: 'write' },
        ...{ argumentsText: '{"path":"a"}', at: 1_700_000_000_000 },
      },
    ])
    expect(await first.lapsedIntents()).toEqual([])
    const [taker, other] = found[0].length === 1 ? [first, second] : [second, first]
    taker.append({ kind: 'reconciled', at: 1, callId: 'call-1', body: '{}' }, 'call-1')
    await taker.close()
    expect(await other.lapsedIntents()).toEqual([])
    await other.close()
    const database = await raw()
    expect(database.prepare('SELECT count(*) AS n FROM owners').all([])).toEqual([{ n: 0 }])
    database.close()
  })

  test('who took over an intent and closes without ending it leaves it to the next', async () => {
    const gone = await open()
    await gone.intend(intent('call-1'))
    await gone.close()
    const taker = await open()
    expect(await taker.lapsedIntents()).toHaveLength(1)
    await taker.close()
    const next = await open()
    expect(await next.lapsedIntents()).toMatchObject([{ callId: 'call-1', chain: gone.chain }])
    await next.close()
  })

  test.runIf(process.platform === 'linux')(
    'an owner is gone when its lease lapsed, its process is gone, or is another one by now',
    async () => {
      const store = await open()
      const database = await raw()
      owner(database, 'lapsed', past)
      owner(database, 'no-such-process', 'pid = 4194304')
      owner(database, 'reused-id', `started = '1'`)
      owner(database, 'lapsed-elsewhere', `host = 'another host', lease_until = 0`)
      owner(database, 'closed', 'closed = 1')
      owner(database, 'same-process', 'closed = 0')
      owner(database, 'lives-elsewhere', `host = 'another host', pid = 4194304, lease_uptime = 0`)
      database.exec(`INSERT INTO open_intents VALUES ('of-nobody', 'nobody', 'nobody', 'write_file', 'write', '{}', 9)`)
      expect((await store.lapsedIntents()).map(({ callId }) => callId)).toEqual([
        ...['of-closed', 'of-lapsed', 'of-lapsed-elsewhere', 'of-no-such-process', 'of-reused-id', 'of-nobody'],
      ])
      database.close()
      await store.close()
    },
  )

  test('an owner that was taken for gone takes its lease again before it writes', async () => {
    const store = await open()
    const database = await raw()
    database.exec('DELETE FROM owners')
    await until(() => database.prepare('SELECT chain FROM owners').all([]).length === 1)
    expect(database.prepare('SELECT chain FROM owners').all([])).toEqual([{ chain: store.chain }])
    database.close()
    await store.close()
  })
})

describe('reading what others have changed', () => {
  test('bytes that are no text do not end the process: they are read, and found', async () => {
    const store = await open()
    for (const number of [1, 2, 3]) store.append(row(`call-${number}`, `{"text":"\ufffdx"}`))
    await store.flush()
    const database = await raw()
    database.exec(`UPDATE records SET body = CAST(x'7b2274657874223a22f0bfbd78227d' AS TEXT) WHERE seq = 2`)
    database.close()
    expect(await store.records({ limit: 10 })).toHaveLength(3)
    expect(await verifyRecords(store)).toMatchObject({ kind: 'broken', seq: 2, rows: 1 })
    await store.close()
  })

  test('a row whose text holds a NUL is read whole', async () => {
    const store = await open()
    store.append(row('call\u0000-1'))
    expect(await store.records({ limit: 1 })).toMatchObject([{ callId: 'call\u0000-1' }])
    expect(await verifyRecords(store)).toMatchObject({ kind: 'ok' })
    await store.close()
  })
})

describe('before-images in the file', () => {
  const change = (callId: string, bytes: number) => ({
    ...{ callId, principal: { tenant: 't', user: 'u', agent: 'a' }, at: 1, tool: 'w' },
    files: [{ path: '/a', before: new Uint8Array(bytes).fill(1), afterHash: 'x' }],
  })

  test('they last over openings, and are there for another connection when keeping resolves', async () => {
    const store = await open()
    await store.images.keep(change('call-1', 100))
    const other = await open()
    expect((await other.images.find('call-1'))?.files[0]?.before).toHaveLength(100)
    await Promise.all([store.close(), other.close()])
    const again = await open()
    expect((await again.images.find('call-1'))?.files[0]?.before).toHaveLength(100)
    await again.close()
  })

  test('the oldest go once the bound is reached, whole changes at a time; one that is too large is refused', async () => {
    await (await open()).close()
    const database = await raw()
    const images = new SqliteImages(database, 10_000)
    const kept = () => ['one', 'two', 'three'].filter((callId) => images.find(callId) !== undefined)
    images.keep(change('one', 3_000))
    images.keep(change('two', 3_000))
    expect(kept()).toEqual(['one', 'two'])
    images.keep(change('three', 3_000))
    expect(kept()).toEqual(['two', 'three'])
    expect(() => images.keep(change('four', 9_500))).toThrow('larger than')
    images.keep({ ...change('two', 1), files: [{ path: '/b', before: new Uint8Array(2_000), afterHash: 'y' }] })
    expect(kept()).toEqual(['two'])
    expect(images.find('two')?.files.map(({ path }) => path)).toEqual(['/a', '/b'])
    expect(database.prepare('SELECT count(*) AS n FROM image_files').all([])).toEqual([{ n: 2 }])
    database.close()
  })
})

test('nothing but the database is left in the folder after the close', async () => {
  await (await open()).close()
  expect(existsSync(file)).toBe(true)
  expect(existsSync(`${file}-wal`)).toBe(false)
})
