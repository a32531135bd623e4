import { statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { verifyRecords } from '../observe/verify.ts'
import { intentOf, rowOf, StoreFiles, until } from './conformance-files.ts'
import { lengthenLog, openDatabase } from './sqlite-database.ts'

const files = new StoreFiles()

test('a commit reaches the disk before it returns, and processes share the file by a log', async () => {
  const opened = await openDatabase(files.file)
  if (opened.kind === 'failed') throw new Error(opened.reason)
  const { database } = opened
  expect(database.prepare('PRAGMA journal_mode').all([])).toMatchObject([{ journal_mode: 'wal' }])
  // 2 is FULL: the log is synced at every commit.
  expect(database.prepare('PRAGMA synchronous').all([])).toMatchObject([{ synchronous: 2 }])
  expect(database.prepare('PRAGMA busy_timeout').all([])).toMatchObject([{ timeout: 5_000 }])
  database.close()
})

test('the log is given its length without keeping anything, and not while another connection writes', async () => {
  const opened = await openDatabase(files.file)
  if (opened.kind === 'failed') throw new Error(opened.reason)
  const { database } = opened
  database.prepare('PRAGMA busy_timeout = 10').all([])
  const other = await files.connect()
  const size = () => statSync(`${files.file}-wal`).size
  other.exec('BEGIN IMMEDIATE')
  expect(() => lengthenLog(database, files.file)).toThrow(/locked/)
  other.exec('COMMIT')
  expect(size()).toBeLessThan(1_000_000)
  lengthenLog(database, files.file)
  expect(size()).toBeGreaterThan(4_000_000)
  expect(other.prepare('SELECT key FROM meta').all([])).toMatchObject([{ key: 'schema_version' }])
  expect(other.prepare('PRAGMA integrity_check').all([])).toMatchObject([{ integrity_check: 'ok' }])
  other.close()
  database.close()
})

test('a store that stays lengthens its log, and keeps what is written before, meanwhile and after', async () => {
  const store = await files.open()
  store.append(rowOf('before'))
  const meanwhile = store.intend(intentOf('meanwhile'))
  await until(() => statSync(`${files.file}-wal`).size > 4_000_000)
  expect(await meanwhile).toEqual({ kind: 'recorded' })
  store.append(rowOf('after'))
  expect((await store.records({ limit: 10 })).map(({ callId }) => callId)).toEqual(['before', 'meanwhile', 'after'])
  expect(await verifyRecords(store)).toMatchObject({ kind: 'ok', rows: 3 })
  await store.close()
})
