// Goal: keys outlive the process that claimed them, are shared by all that open the file, and never settle half. Method: real
// files, looked at and changed through a connection beside the store.

import { expect, test } from 'vitest'
import { JOURNAL_MS, type JournalEnd, type JournalKey } from '../observe/store.ts'
import { intentOf, rowOf as oldRowOf, StoreFiles, until } from './conformance-files.ts'
import { journalConformance } from './journal-conformance.ts'
import { openSqliteStore } from './sqlite-store.ts'

const files = new StoreFiles()

journalConformance('sqlite', async (clock) => {
  const opened = await openSqliteStore({ file: files.next(), clock })
  if (opened.kind === 'failed') throw new Error(opened.reason)
  return opened.store
})

/** An end of this very moment: a key is remembered for a day. */
const rowOf = (callId: string) => ({ ...oldRowOf(callId), at: Date.now() })

const key = (name: string): JournalKey => ({
  ...{ tenant: 't', user: 'u', agent: 'a', tool: 'write_file', key: name, digest: 'd' },
})
const keyed = (callId: string, name: string) => ({ ...intentOf(callId), journal: key(name), twin: `twin-${name}` })
const done = (callId: string, name: string, answer = '1'): JournalEnd => ({
  ...{ key: key(name), callId, kind: 'done', answer },
})

test('what an owner that is gone had claimed is handed out with its open intent, and settled with it', async () => {
  const gone = await files.open()
  await gone.intend(keyed('call-1', 'k'))
  await gone.intend(intentOf('call-2'))
  await gone.close()
  const store = await files.open()
  expect(await store.intend(keyed('call-3', 'k'))).toEqual({ kind: 'key', state: 'running', callId: 'call-1' })
  const lapsed = await store.lapsedIntents()
  expect(lapsed).toMatchObject([{ callId: 'call-1', journal: key('k'), twin: 'twin-k' }, { callId: 'call-2' }])
  expect(lapsed[1]).not.toHaveProperty('journal')
  await store.settle({ ...rowOf('call-1'), kind: 'reconciled' }, { key: key('k'), callId: 'call-1', kind: 'free' })
  expect(await store.intend(keyed('call-4', 'k'))).toEqual({ kind: 'recorded' })
  await store.close()
})

test('an answer lasts, and serves another process', async () => {
  const first = await files.open()
  const second = await files.open()
  await first.intend(keyed('call-1', 'k'))
  expect(await second.intend(keyed('call-2', 'k'))).toMatchObject({ kind: 'key', state: 'running' })
  await first.settle(rowOf('call-1'), done('call-1', 'k', '"kept"'))
  const replay = { kind: 'replay', callId: 'call-1', answer: '"kept"' }
  expect(await second.intend(keyed('call-3', 'k'))).toEqual(replay)
  await Promise.all([first.close(), second.close()])
  const third = await files.open()
  expect(await third.intend(keyed('call-4', 'k'))).toEqual(replay)
  expect(await third.lapsedIntents()).toEqual([])
  await third.close()
})

test('an end that the disk does not take stays in line, with its key, and settles both once it can', async () => {
  const store = await files.open()
  await store.intend(keyed('call-1', 'k'))
  const database = await files.connect()
  database.exec(`CREATE TRIGGER full BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
  await expect(store.settle(rowOf('call-1'), done('call-1', 'k'))).rejects.toThrow('the disk is full')
  expect(await store.journal({ limit: 1 })).toMatchObject([{ state: 'running' }])
  database.exec('DROP TRIGGER full')
  await until(() => store.failure() === undefined)
  expect(await store.journal({ limit: 1 })).toMatchObject([{ state: 'done', callId: 'call-1' }])
  expect(await store.records({ limit: 10 })).toHaveLength(2)
  expect(database.prepare('SELECT count(*) AS n FROM open_intents').all([])).toEqual([{ n: 0 }])
  database.close()
  await store.close()
})

test('an end that could not be written before the close is not taken for written: the next owner finds the call open', async () => {
  const store = await files.open()
  await store.intend(keyed('call-1', 'k'))
  const database = await files.connect()
  database.exec(`CREATE TRIGGER full BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
  await store.settle(rowOf('call-1'), done('call-1', 'k')).catch(() => undefined)
  await store.close().catch(() => undefined)
  database.exec('DROP TRIGGER full')
  database.close()
  const next = await files.open()
  expect(await next.intend(keyed('call-2', 'k'))).toMatchObject({ kind: 'key', state: 'running' })
  expect(await next.lapsedIntents()).toMatchObject([{ callId: 'call-1', journal: key('k') }])
  await next.close()
})

test('old keys go with later claims; those that run or have no known end stay', async () => {
  const store = await files.open()
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    await store.intend(keyed(`call-${name}`, name))
    if (name < 'e') await store.settle(rowOf(`call-${name}`), done(`call-${name}`, name))
  }
  await store.settle(rowOf('call-e'), { key: key('e'), callId: 'call-e', kind: 'unknown' })
  const database = await files.connect()
  database.exec(`UPDATE journal SET claimed_at = 1, ended_at = ${Date.now() - JOURNAL_MS - 1}`)
  // They go now and then; another process looks for itself.
  const other = await files.open()
  await other.intend(keyed('call-g', 'g'))
  await other.close()
  expect(
    database
      .prepare('SELECT key FROM journal ORDER BY key')
      .all([])
      .map((row) => row.key),
  ).toEqual(['e', 'f', 'g'])
  database.close()
  await store.close()
})

test('closed: what others wrote into the file lets nothing run', async () => {
  const store = await files.open()
  await store.intend(keyed('call-1', 'k'))
  const database = await files.connect()
  database.exec(`UPDATE journal SET state = 'free'`)
  expect(await store.intend(keyed('call-2', 'k'))).toMatchObject({ kind: 'key', state: 'unknown' })
  database.exec(`UPDATE open_intents SET journal = '{"tenant":1}', owner = 'nobody'`)
  const lapsed = await store.lapsedIntents()
  expect(lapsed).toMatchObject([{ callId: 'call-1' }])
  expect(lapsed[0]).not.toHaveProperty('journal')
  database.close()
  await store.close()
})

test('an answer is sealed with the key of the person, and gone with it', async () => {
  const store = await files.open()
  await store.intend({ ...intentOf('call-1'), journal: key('k') })
  await store.settle(rowOf('call-1'), done('call-1', 'k', '"the answer of eva"'))
  const database = await files.connect()
  const [row] = database.prepare('SELECT answer, subject FROM journal').all([])
  database.close()
  expect(String(row?.answer)).not.toContain('eva')
  expect(String(row?.subject)).toMatch(/^[0-9a-f]{32}$/)
  expect(await store.intend({ ...intentOf('call-2'), journal: key('k') })).toMatchObject({
    answer: '"the answer of eva"',
  })
  const { tenant, user } = key('k')
  await store.erase({ tenant, user }, { kind: 'erasure', at: 1, callId: null, body: '{}' })
  expect(await store.intend({ ...intentOf('call-3'), journal: key('k') })).toEqual({ kind: 'recorded' })
  await store.close()
})
