// What checkpoints add to a chain of hashes. Method: a real SQLite file with the checkpoints of two openings is changed behind
// its back by somebody who can write every row and recompute every hash, but has neither the key nor the copies; then verified.

import { generateKeyPairSync } from 'node:crypto'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { sha256 } from '../base/digest.ts'
import { CHAIN_START, linkHash } from '../base/hash-chain.ts'
import { readerOf, StoreFiles } from '../stores/conformance-files.ts'
import type { SqlDatabase } from '../stores/sqlite-driver.ts'
import { SqliteRecords } from '../stores/sqlite-records.ts'
import { SubjectKeys } from '../stores/subject-keys.ts'
import { CheckpointMaker } from './checkpoints/checkpoint-maker.ts'
import { noteBody } from './checkpoints/note-body.ts'
import { planFloors } from './checkpoints/plan-floors.ts'
import type { ChainFloor, RecordRow, Store } from './store.ts'
import { type VerifiableStore, type Verification, type VerifyOptions, verifyRecords } from './verify.ts'

const files = new StoreFiles()
const pristine = join(files.root, 'signed.db')
const keyPair = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, pem: String(publicKey.export({ type: 'spki', format: 'pem' })) }
}
const ours = keyPair()
const theirs = keyPair()
const tampered: string[] = []
const makerFor = (store: Store, { privateKey, pem } = ours) =>
  new CheckpointMaker({
    ...{ store, clock: { now: () => 5_000 }, publicKey: pem },
    signer: { name: 'lockgate/abc123', privateKey },
    tampered: (chain, what) => void tampered.push(`${chain} ${what}`),
  })

const ROWS = 6
let chains: readonly string[] = []
const notes: string[] = []
let copies = 0

/** Two openings of one file: each writes rows, a checkpoint, more rows, a checkpoint, and a row that none covers. */
beforeAll(async () => {
  for (const opening of [1, 2]) {
    const store = await files.open(pristine)
    const maker = makerFor(store)
    for (const half of [1, 2]) {
      for (let number = 1; number <= ROWS; number += 1)
        store.append({
          kind: 'end',
          at: 1_000 * opening + number,
          callId: `c-${opening}-${half}-${number}`,
          body: `{"n":${number}}`,
        })
      notes.push((await maker.make()) ?? 'none')
    }
    store.append({ kind: 'end', at: 1_500, callId: `last-${opening}`, body: '{}' })
    await store.flush()
    chains = await store.chains()
    await store.close()
  }
})

const first = () => chains[0] ?? ''
const second = () => chains[1] ?? ''

async function verifyAfter(
  change: (database: SqlDatabase) => void | Promise<void>,
  options: VerifyOptions = {},
): Promise<Verification> {
  const copy = join(files.root, `signed-${++copies}.db`)
  copyFileSync(pristine, copy)
  const database = await files.connect(copy)
  try {
    await change(database)
    return await verifyRecords(readerOf(database), { pageRows: 5, ...options })
  } finally {
    database.close()
  }
}

const rowsOf = (database: SqlDatabase, chain: string): RecordRow[] =>
  new SqliteRecords(database, 'reader', new SubjectKeys(database), true).query({ chain, limit: 100 })

/** Recomputes all hashes of a chain, as anybody can who has the file. */
function relink(database: SqlDatabase, chain: string): void {
  let hash = CHAIN_START
  const set = database.prepare('UPDATE records SET body_digest = ?, hash = ? WHERE chain = ? AND seq = ?')
  for (const row of rowsOf(database, chain)) {
    const bodyDigest = sha256(row.body)
    hash = linkHash(hash, { ...row, bodyDigest })
    set.run([bodyDigest, hash, chain, row.seq])
  }
}

describe('chain: what is signed and unchanged verifies', () => {
  test('with and without copies, and with the key that is known', async () => {
    const nothing = (): void => undefined
    for (const options of [{}, { publicKey: ours.pem }, { notes }, { notes, publicKey: `${theirs.pem}${ours.pem}` }])
      expect(await verifyAfter(nothing, options)).toMatchObject({ kind: 'ok', checkpoints: 4, chains: 2 })
    expect(tampered).toEqual([])
  })

  test('what it cannot show is said: no copies, no key', async () => {
    const said = async (options: VerifyOptions) => {
      const verified = await verifyAfter(() => undefined, options)
      return verified.kind === 'ok' ? verified.notes.join('\n') : ''
    }
    expect(await said({})).toMatch(/only against a copy[\s\S]*keys that the records themselves name/)
    expect(await said({ notes, publicKey: ours.pem })).toBe('')
  })
})

describe('chain: rows that were changed and linked anew are found', () => {
  test.each([1, 3, ROWS, ROWS + 1, ROWS + 3])('row %i of a chain that is closed', async (seq) => {
    const verified = await verifyAfter((database) => {
      database.prepare(`UPDATE records SET at = at + 1 WHERE chain = ? AND seq = ?`).run([first(), seq])
      relink(database, first())
    })
    expect(verified).toMatchObject({ kind: 'broken', chain: first() })
  })

  test('any row that a checkpoint covers, whatever is changed in it', async () => {
    const column = fc.constantFrom(`at = at + 1`, `kind = 'late'`, `call_id = 'other'`, `body = '{"n":99}'`)
    const change = fc.record({ seq: fc.integer({ min: 1, max: ROWS }), column, of: fc.constantFrom(0, 1) })
    await fc.assert(
      fc.asyncProperty(change, async ({ seq, column, of }) => {
        const chain = chains[of] ?? ''
        const verified = await verifyAfter((database) => {
          database.prepare(`UPDATE records SET ${column} WHERE chain = ? AND seq = ?`).run([chain, seq])
          relink(database, chain)
        })
        expect(verified).toMatchObject({ kind: 'broken', chain })
      }),
      { numRuns: 15 },
    )
  })

  test('a row taken out, the rest moved up and linked anew', async () => {
    const verified = await verifyAfter((database) => {
      database.prepare('DELETE FROM records WHERE chain = ? AND seq = 2').run([first()])
      for (const { seq } of rowsOf(database, first()).slice(1))
        database.prepare('UPDATE records SET seq = ? WHERE chain = ? AND seq = ?').run([seq - 1, first(), seq])
      relink(database, first())
    })
    expect(verified).toMatchObject({ kind: 'broken', chain: first() })
  })
})

describe('chain: what is gone is found', () => {
  test('a tail that another chain has signed, without any copy', async () => {
    const verified = await verifyAfter((database) => {
      database.prepare('DELETE FROM records WHERE chain = ? AND seq > 9').run([first()])
    })
    expect(verified).toMatchObject({ kind: 'broken', chain: first(), seq: 10 })
    expect(verified.kind === 'broken' && verified.reason).toContain('cut from the end')
  })

  test('a whole chain that another one has signed, without any copy', async () => {
    const verified = await verifyAfter((database) => {
      database.prepare('DELETE FROM records WHERE chain = ?').run([first()])
    })
    expect(verified).toMatchObject({ kind: 'broken', chain: first() })
    expect(verified.kind === 'broken' && verified.reason).toContain('missing')
  })

  test.each([
    [
      'the end of the newest chain',
      (database: SqlDatabase) => database.prepare('DELETE FROM records WHERE chain = ? AND seq > 3').run([second()]),
    ],
    [
      'the newest chain',
      (database: SqlDatabase) => database.prepare('DELETE FROM records WHERE chain = ?').run([second()]),
    ],
    ['everything', (database: SqlDatabase) => database.exec('DELETE FROM records')],
    [
      'the last checkpoint alone',
      (database: SqlDatabase) =>
        database.prepare('DELETE FROM records WHERE chain = ? AND seq > ?').run([second(), 2 * ROWS + 1]),
    ],
  ])('%s: only against a copy', async (_name, cut) => {
    expect(await verifyAfter((database) => void cut(database))).toMatchObject({ kind: 'ok' })
    expect(await verifyAfter((database) => void cut(database), { notes })).toMatchObject({ kind: 'broken' })
    // One copy is enough.
    const newest = notes.slice(-1)
    expect(await verifyAfter((database) => void cut(database), { notes: newest, publicKey: ours.pem })).toMatchObject({
      kind: 'broken',
    })
  })

  test('rows at the beginning, whoever claims that they were dropped', async () => {
    const verified = await verifyAfter((database) => {
      const rows = rowsOf(database, first())
      const { hash = '' } = rows[2] ?? {}
      database.prepare('DELETE FROM records WHERE chain = ? AND seq <= 3').run([first()])
      const last = rowsOf(database, second()).at(-1)
      if (last === undefined) throw new Error('no last row')
      const body = JSON.stringify({ before: 9, floors: [{ chain: first(), seq: 3, hash }] })
      const forged = {
        kind: 'retention',
        at: 9,
        callId: null,
        chain: second(),
        seq: last.seq + 1,
        bodyDigest: sha256(body),
      }
      database
        .prepare(
          'INSERT INTO records (chain, seq, kind, at, call_id, body, body_digest, hash) VALUES (?, ?, ?, ?, NULL, ?, ?, ?)',
        )
        .run([second(), forged.seq, 'retention', 9, body, forged.bodyDigest, linkHash(last.hash, forged)])
    })
    expect(verified).toMatchObject({ kind: 'broken', chain: first() })
  })
})

describe('chain: forged checkpoints are found', () => {
  const insert = (database: SqlDatabase, chain: string, body: string): void => {
    const last = rowsOf(database, chain).at(-1)
    const seq = (last?.seq ?? 0) + 1
    const row = { kind: 'checkpoint', at: 9, callId: null, chain, seq, bodyDigest: sha256(body) }
    database
      .prepare(
        'INSERT INTO records (chain, seq, kind, at, call_id, body, body_digest, hash) VALUES (?, ?, ?, ?, NULL, ?, ?, ?)',
      )
      .run([chain, seq, 'checkpoint', 9, body, row.bodyDigest, linkHash(last?.hash ?? CHAIN_START, row)])
  }

  test('an old one put in again, in its chain or in another', async () => {
    for (const chain of [first(), second()]) {
      for (const note of notes) {
        const verified = await verifyAfter((database) => insert(database, chain, noteBody({ note, key: ours.pem })))
        expect(verified).toMatchObject({ kind: 'broken' })
      }
    }
  })

  test('one whose text or signature was changed', async () => {
    const [, , third = ''] = notes
    for (const note of [
      third.replace('1970', '1971'),
      third.replace(/^head.*\n/m, ''),
      third.replace(/\n— /, '\n—  '),
      '',
      'x',
    ])
      expect(
        await verifyAfter((database) => insert(database, first(), noteBody({ note, key: ours.pem }))),
      ).toMatchObject({
        kind: 'broken',
      })
  })

  /** Everything written anew, by somebody with a key of their own. */
  async function rewritten(database: SqlDatabase): Promise<void> {
    database.prepare(`DELETE FROM records WHERE kind = 'checkpoint' OR chain = ?`).run([second()])
    for (const [index, { seq }] of rowsOf(database, first()).entries())
      database.prepare('UPDATE records SET seq = ? WHERE chain = ? AND seq = ?').run([index + 1, first(), seq])
    database.prepare(`UPDATE records SET body = '{"n":0}' WHERE seq = 2`).run([])
    relink(database, first())
    const table = new SqliteRecords(database, 'reader', new SubjectKeys(database), true)
    const store = {
      ...{ chain: first(), heads: async () => table.heads(), flush: async () => undefined },
      records: async (query: Parameters<Store['records']>[0]) => table.query(query),
      append: ({ body }: { body: string }) => insert(database, first(), body),
    } as unknown as Store
    await makerFor(store, theirs).make()
  }

  test('records rewritten and signed with another key: found by the known key, or by a copy, and by nothing else', async () => {
    expect(await verifyAfter(rewritten)).toMatchObject({ kind: 'ok', checkpoints: 1 })
    expect(await verifyAfter(rewritten, { publicKey: ours.pem })).toMatchObject({ kind: 'broken' })
    expect(await verifyAfter(rewritten, { notes })).toMatchObject({ kind: 'broken' })
    expect(await verifyAfter(rewritten, { notes, publicKey: `${theirs.pem}${ours.pem}` })).toMatchObject({
      kind: 'broken',
    })
  })

  test('a copy of other records, or one that was changed', async () => {
    const [note = ''] = notes
    for (const copy of ['', 'nothing', note.replace('1970', '1971')])
      expect(await verifyAfter(() => undefined, { notes: [copy] })).toMatchObject({ kind: 'broken' })
    expect(await verifyAfter(() => undefined, { notes, publicKey: theirs.pem })).toMatchObject({ kind: 'broken' })
  })
})

describe('chain: old rows that were dropped as signed', () => {
  async function retained(file: string): Promise<readonly string[]> {
    copyFileSync(pristine, file)
    const store = await files.open(file)
    const maker = makerFor(store)
    const before = 2_000
    const planned = await planFloors(store, before)
    const made = [await maker.make({ full: true, floors: planned })]
    const floors = await store.dropBefore(before)
    made.push(await maker.make({ full: true, floors }))
    store.append({ kind: 'end', at: 9_000, callId: 'later', body: '{}' })
    made.push(await maker.make())
    await store.close()
    return made.flatMap((note) => note ?? [])
  }

  test('verify, without copies and with those of before and after', async () => {
    const file = join(files.root, 'retained.db')
    const later = await retained(file)
    const store = await files.open(file)
    for (const options of [{}, { notes }, { notes: [...notes, ...later], publicKey: ours.pem }])
      expect(await verifyRecords(store, options)).toMatchObject({ kind: 'ok' })
    expect((await store.records({ chain: first(), limit: 1 }))[0]?.seq).toBe(ROWS + 1)
    await store.close()
  })

  test('dropped while they are verified, which finds nothing that is not so', async () => {
    const file = join(files.root, 'retained-meanwhile.db')
    copyFileSync(pristine, file)
    const store = await files.open(file)
    let floors: readonly ChainFloor[] | undefined
    const meanwhile: VerifiableStore = {
      chains: () => store.chains(),
      recordCount: () => store.recordCount(),
      records: async (query) => {
        // What was signed has been read when the first chain is.
        if (query.chain !== undefined && floors === undefined) {
          const maker = makerFor(store)
          await maker.make({ full: true, floors: await planFloors(store, 2_000) })
          floors = await store.dropBefore(2_000)
          await maker.make({ full: true, floors })
        }
        return await store.records(query)
      },
    }
    expect(await verifyRecords(meanwhile, { notes, publicKey: ours.pem })).toMatchObject({ kind: 'ok' })
    expect(floors?.length).toBeGreaterThan(0)
    await store.close()
  })

  test('one row more is found', async () => {
    const file = join(files.root, 'retained-more.db')
    await retained(file)
    const database = await files.connect(file)
    database.prepare('DELETE FROM records WHERE id = (SELECT min(id) FROM records)').run([])
    database.close()
    const store = await files.open(file)
    expect(await verifyRecords(store)).toMatchObject({ kind: 'broken' })
    await store.close()
  })

  test('a gate that ended between signing and dropping leaves records that hold', async () => {
    const file = join(files.root, 'planned.db')
    copyFileSync(pristine, file)
    const store = await files.open(file)
    await makerFor(store).make({ full: true, floors: await planFloors(store, 2_000) })
    expect(await verifyRecords(store, { notes })).toMatchObject({ kind: 'ok' })
    await store.close()
  })

  test('a gate that ended between dropping and signing again leaves records that hold', async () => {
    const file = join(files.root, 'dropped.db')
    copyFileSync(pristine, file)
    const store = await files.open(file)
    await makerFor(store).make({ full: true, floors: await planFloors(store, 2_000) })
    expect((await store.dropBefore(2_000)).length).toBeGreaterThan(0)
    expect(await verifyRecords(store, { notes })).toMatchObject({ kind: 'ok' })
    await store.close()
  })
})

test('a maker says aloud that what it has signed was changed behind it', async () => {
  const file = join(files.root, 'behind.db')
  copyFileSync(pristine, file)
  const store = await files.open(file)
  const maker = makerFor(store)
  await maker.make()
  const database = await files.connect(file)
  database.prepare('DELETE FROM records WHERE chain = ? AND seq > 4').run([first()])
  database.close()
  await maker.make()
  expect(tampered).toEqual([expect.stringContaining(`${first()} the chain ends at row 4`)])
  await store.close()
})
