// Goal: the tables of what people decide come into an old file without a loss, are read with caution, and a change by one
// connection is heard of by another. Method: real files, looked at and changed through a connection beside the store.

import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ApprovalRow, Store } from '../observe/store.ts'
import { verifyRecords } from '../observe/verify.ts'
import { intentOf, StoreFiles, until } from './conformance-files.ts'
import { deskConformance } from './desk-conformance.ts'
import { FIRST_TABLES, SCHEMA_VERSION } from './migrations.ts'
import { findDriver } from './sqlite-driver.ts'
import { openSqliteStore } from './sqlite-store.ts'

const files = new StoreFiles()

deskConformance('sqlite', async (clock) => {
  const opened = await openSqliteStore({ file: files.next(), clock })
  if (opened.kind === 'failed') throw new Error(opened.reason)
  return opened.store
})

const question = (id: string, more: Partial<ApprovalRow> = {}): ApprovalRow => ({
  ...{ id, digest: `digest-${id}`, state: 'open', tenant: 't', user: 'u', agent: 'a', session: 's', tool: 'edit_file' },
  ...{ fingerprint: 'f', effect: 'write', policyVersion: 'p', reason: 'r', shown: 's', workspace: 'main=/ws' },
  askedBy: ['default write'],
  offers: [
    { reach: 'once', shown: 'once' },
    { reach: 'pattern', shown: 'all below docs', where: { path: ['docs/**'] } },
  ],
  openedAt: Date.now(),
  expiresAt: Date.now() + 600_000,
  ...more,
})
const ask = (store: Store, callId: string, open: ApprovalRow, grantId?: string) =>
  store.intend({ ...intentOf(callId), ask: { open, ...(grantId === undefined ? {} : { grantId }) } })
const record = { kind: 'approval', at: 1, callId: null, body: '{}' } as const
const approve = (store: Store, id: string, reach: 'once' | 'pattern' = 'once') =>
  store.answer(id, { decision: 'approve', by: 'boss', at: Date.now(), reach, grantUntil: Date.now() + 600_000 }, record)

describe('a file of version 1', () => {
  async function writeOld(file: string): Promise<void> {
    const found = await findDriver()
    if (found.kind === 'failed') throw new Error(found.reason)
    mkdirSync(dirname(file), { recursive: true })
    const database = found.driver.open(file)
    database.exec(FIRST_TABLES)
    database.exec('CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID')
    database.exec(`INSERT INTO meta VALUES ('schema_version', '1')`)
    const columns = `id, digest, state, tenant, user, agent, session, tool, fingerprint, effect, policy_version, reason,
      shown, opened_at, expires_at, answered_at, answered_by`
    const row = (id: string, state: string, answered: string) =>
      `('${id}', 'digest-${id}', '${state}', 't', 'u', 'a', 's', 'edit_file', 'f', 'write', 'p', 'r', 's', 1, ${Date.now() + 600_000}, ${answered})`
    database.exec(
      `INSERT INTO approvals (${columns}) VALUES ${row('a1', 'open', 'NULL, NULL')}, ${row('a2', 'approved', `2, 'boss'`)}`,
    )
    database.close()
  }

  test('opens, goes forward once, and keeps its rows: an old question takes an answer, an old yes serves its call', async () => {
    await writeOld(files.file)
    const store = await files.open()
    expect(await store.approvals({ limit: 10 })).toMatchObject([
      { id: 'a2', state: 'approved', workspace: '', offers: [{ reach: 'once' }], answeredBy: 'boss' },
      { id: 'a1', state: 'open', workspace: '', offers: [{ reach: 'once' }] },
    ])
    expect(await approve(store, 'a1', 'pattern')).toMatchObject({ kind: 'refused', why: 'reach-not-offered' })
    expect(await approve(store, 'a1')).toMatchObject({ kind: 'answered', approval: { reach: 'once' } })
    expect(await ask(store, 'call-1', question('a1'))).toEqual({ kind: 'recorded', approvalId: 'a1' })
    expect(await ask(store, 'call-2', question('a2'))).toEqual({ kind: 'recorded', approvalId: 'a2' })
    await store.close()
    const again = await files.open()
    expect(await again.approvals({ state: 'redeemed', limit: 10 })).toHaveLength(2)
    expect(await verifyRecords(again)).toMatchObject({ kind: 'ok' })
    await again.close()
    const database = await files.connect()
    expect(database.prepare('SELECT CAST(value AS INTEGER) AS version FROM meta').all([])).toEqual([
      { version: SCHEMA_VERSION },
    ])
    database.close()
  })

  test('several openings at once take the step together', async () => {
    await writeOld(files.file)
    const stores = await Promise.all([files.open(), files.open(), files.open()])
    for (const store of stores) expect(await store.approvals({ limit: 10 })).toHaveLength(2)
    await Promise.all(stores.map((store) => store.close()))
    expect(existsSync(files.file)).toBe(true)
  })
})

describe('rows that somebody edited', () => {
  test.each([`'nonsense'`, `'{"path":"docs/**"}'`, `'[]'`, `'{"path":[1]}'`])(
    'a grant that covers %s is no grant',
    async (covers) => {
      const store = await files.open()
      await ask(store, 'call-1', question('apr_1'))
      expect(await approve(store, 'apr_1', 'pattern')).toMatchObject({ kind: 'answered', grant: { id: 'grt_1' } })
      await ask(store, 'call-2', question('apr_1'))
      expect(await ask(store, 'call-3', question('apr_2'), 'grt_1')).toMatchObject({ kind: 'recorded' })
      const database = await files.connect()
      database.exec(`UPDATE grants SET covers = ${covers}`)
      database.close()
      expect(await store.grants({ limit: 10 })).toEqual([])
      expect(await ask(store, 'call-4', question('apr_3'), 'grt_1')).toMatchObject({ state: 'open' })
      await store.close()
    },
  )

  test.each([`'nonsense'`, `'[]'`, `'[{"reach":"everything","shown":"x"}]'`])(
    'offers that read %s offer once',
    async (offers) => {
      const store = await files.open()
      await ask(store, 'call-1', question('apr_1'))
      const database = await files.connect()
      database.exec(`UPDATE approvals SET offers = ${offers}`)
      database.close()
      expect(await approve(store, 'apr_1', 'pattern')).toMatchObject({ why: 'reach-not-offered' })
      expect(await approve(store, 'apr_1')).toMatchObject({ kind: 'answered' })
      await store.close()
    },
  )
})

describe('watching', () => {
  test('a question, an answer, a grant, a revocation and a stop of another connection are heard of', async () => {
    const [store, other] = await Promise.all([files.open(), files.open()])
    let told = 0
    const end = store.watch(() => {
      told += 1
    })
    await store.stops()
    const heard = async (change: () => Promise<unknown>): Promise<void> => {
      const before = told
      await change()
      await until(() => told > before)
    }
    await heard(() => ask(other, 'call-1', question('apr_1')))
    await heard(() => approve(other, 'apr_1', 'pattern'))
    await heard(() => other.revokeGrant('grt_1', 'boss', 5, { ...record, kind: 'grant' }))
    await heard(() => other.stop({ id: 'stop_1', target: {}, by: 'b', at: 1 }, { ...record, kind: 'stop' }))
    await heard(() => other.lift('stop_1', { ...record, kind: 'stop' }))
    end()
    await Promise.all([store.close(), other.close()])
  })

  test('after the end of a watch its watcher is told nothing, and the others still are', async () => {
    const [store, other] = await Promise.all([files.open(), files.open()])
    const told: string[] = []
    const endFirst = store.watch(() => told.push('first'))
    await store.stops()
    endFirst()
    store.watch(() => told.push('second'))
    await store.stops()
    await other.stop({ id: 'stop_1', target: {}, by: 'b', at: 1 }, { ...record, kind: 'stop' })
    await until(() => told.length > 0)
    expect(told).toEqual(['second'])
    await Promise.all([store.close(), other.close()])
  })
})
