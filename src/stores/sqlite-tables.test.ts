// What the tables keep, looked at and changed through a connection beside the store: owners and what they leave open, rows
// that somebody edited, before-images.

import { describe, expect, test } from 'vitest'
import { verifyRecords } from '../observe/verify.ts'
import { intentOf, rowOf, StoreFiles, until } from './conformance-files.ts'
import type { SqlDatabase } from './sqlite-driver.ts'
import { SqliteImages } from './sqlite-images.ts'

const files = new StoreFiles()

describe('open intents and their owners', () => {
  const owner = (database: SqlDatabase, name: string, change: string): void => {
    database.exec(
      `INSERT INTO owners SELECT '${name}', host, pid, started, lease_until, lease_uptime, closed FROM owners LIMIT 1`,
    )
    database.exec(`UPDATE owners SET ${change} WHERE chain = '${name}'`)
    database.exec(
      `INSERT INTO open_intents (call_id, chain, owner, tool, effect, arguments_text, at) VALUES ('of-${name}', '${name}', '${name}', 'write_file', 'write', '{}', 5)`,
    )
  }
  const past = 'lease_until = 0, lease_uptime = 0'

  test('an owner lives while its lease runs: nothing of it is handed out, by another opening or by itself', async () => {
    const living = await files.open()
    await living.intend(intentOf('call-1'))
    const other = await files.open()
    expect(await other.lapsedIntents()).toEqual([])
    expect(await living.lapsedIntents()).toEqual([])
    const database = await files.connect()
    owner(database, 'elsewhere', `host = 'another host', pid = 1, started = '1', lease_uptime = 0`)
    expect(await other.lapsedIntents()).toEqual([])
    database.close()
    await Promise.all([living.close(), other.close()])
  })

  test('what a closed owner left open is handed out once, and ends with a row that closes it', async () => {
    const gone = await files.open()
    await gone.intend(intentOf('call-1'))
    await gone.intend(intentOf('call-2'))
    gone.append(rowOf('call-2'), 'call-2')
    await gone.close()
    const first = await files.open()
    const second = await files.open()
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
    const database = await files.connect()
    expect(database.prepare('SELECT count(*) AS n FROM owners').all([])).toEqual([{ n: 0 }])
    database.close()
  })

  test('who took over an intent and closes without ending it leaves it to the next', async () => {
    const gone = await files.open()
    await gone.intend(intentOf('call-1'))
    await gone.close()
    const taker = await files.open()
    expect(await taker.lapsedIntents()).toHaveLength(1)
    await taker.close()
    const next = await files.open()
    expect(await next.lapsedIntents()).toMatchObject([{ callId: 'call-1', chain: gone.chain }])
    await next.close()
  })

  test.runIf(process.platform === 'linux')(
    'an owner is gone when its process is gone or another one by now, or when its lease lapsed where no process can be seen',
    async () => {
      const store = await files.open()
      const database = await files.connect()
      owner(database, 'lapsed-unseen', `started = '', ${past}`)
      owner(database, 'lives-unseen', `started = ''`)
      owner(database, 'lapsed-but-lives', past)
      owner(database, 'no-such-process', 'pid = 4194304')
      owner(database, 'reused-id', `started = '1'`)
      owner(database, 'lapsed-elsewhere', `host = 'another host', lease_until = 0`)
      owner(database, 'closed', 'closed = 1')
      owner(database, 'same-process', 'closed = 0')
      owner(database, 'lives-elsewhere', `host = 'another host', pid = 4194304, lease_uptime = 0`)
      database.exec(
        `INSERT INTO open_intents (call_id, chain, owner, tool, effect, arguments_text, at) VALUES ('of-nobody', 'nobody', 'nobody', 'write_file', 'write', '{}', 9)`,
      )
      expect((await store.lapsedIntents()).map(({ callId }) => callId)).toEqual([
        ...['of-closed', 'of-lapsed-elsewhere', 'of-lapsed-unseen', 'of-no-such-process', 'of-reused-id', 'of-nobody'],
      ])
      database.close()
      await store.close()
    },
  )

  test('an owner that was taken for gone takes its lease again before it writes', async () => {
    const store = await files.open()
    const database = await files.connect()
    database.exec('DELETE FROM owners')
    await until(() => database.prepare('SELECT chain FROM owners').all([]).length === 1)
    expect(database.prepare('SELECT chain FROM owners').all([])).toEqual([{ chain: store.chain }])
    database.close()
    await store.close()
  })
})

describe('reading what others have changed', () => {
  test('bytes that are no text do not end the process: they are read, and found', async () => {
    const store = await files.open()
    for (const number of [1, 2, 3]) store.append(rowOf(`call-${number}`, `{"text":"\ufffdx"}`))
    await store.flush()
    const database = await files.connect()
    database.exec(`UPDATE records SET body = CAST(x'7b2274657874223a22f0bfbd78227d' AS TEXT) WHERE seq = 2`)
    database.close()
    expect(await store.records({ limit: 10 })).toHaveLength(3)
    expect(await verifyRecords(store)).toMatchObject({ kind: 'broken', seq: 2, rows: 1 })
    await store.close()
  })

  test('a row whose text holds a NUL is read whole', async () => {
    const store = await files.open()
    store.append(rowOf('call\u0000-1'))
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
    const store = await files.open()
    await store.images.keep(change('call-1', 100))
    const other = await files.open()
    expect((await other.images.find('call-1'))?.files[0]?.before).toHaveLength(100)
    await Promise.all([store.close(), other.close()])
    const again = await files.open()
    expect((await again.images.find('call-1'))?.files[0]?.before).toHaveLength(100)
    await again.close()
  })

  test('the oldest go once the bound is reached, whole changes at a time; one that is too large is refused', async () => {
    await (await files.open()).close()
    const database = await files.connect()
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
