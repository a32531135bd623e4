// Every single change of a kept row is found. Method: a real SQLite file is written through the store, changed behind its
// back by another connection, one column of one row at a time, and verified; then put back, and verified again.

import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { readerOf, StoreFiles } from '../stores/conformance-files.ts'
import type { RecordRow } from './store.ts'
import { type Verification, verifyRecords } from './verify.ts'

const ROWS = 12
const files = new StoreFiles()
const { root } = files
const pristine = join(root, 'pristine.db')
let copies = 0
let chains: readonly string[] = []

beforeAll(async () => {
  for (const process of [1, 2]) {
    const store = await files.open(pristine)
    for (let number = 1; number <= ROWS; number += 1) {
      const callId = number === 1 ? null : `call-${number}`
      store.append({
        kind: number === 1 ? 'gate' : 'end',
        at: 1_000 + number,
        callId,
        body: JSON.stringify({ process, number }),
      })
    }
    await store.flush()
    chains = await store.chains()
    await store.close()
  }
})
/** Verifies a copy of the file after a change made in SQL, through the code that the store reads with. */
async function verifyAfter(change: (sql: (text: string) => void) => void): Promise<Verification> {
  // A file for each: a driver may keep one open for a while after its close.
  const copy = join(root, `copy-${++copies}.db`)
  copyFileSync(pristine, copy)
  const database = await files.connect(copy)
  try {
    change((text) => database.exec(text))
    return await verifyRecords(readerOf(database), { pageRows: 5 })
  } finally {
    database.close()
  }
}

const rowAt = (seq: number) => `chain = '${chains[0]}' AND seq = ${seq}`

describe('chain: what verifies', () => {
  test('chain: untouched rows of several chains, in pages of any size', async () => {
    const store = await files.open(pristine)
    for (const pageRows of [1, 5, ROWS, 10_000]) {
      const verified = await verifyRecords(store, { pageRows })
      expect(verified).toMatchObject({ kind: 'ok', rows: 2 * ROWS, chains: 2 })
    }
    await store.close()
  })

  test('a page size out of bounds throws', async () => {
    const store = await files.open(pristine)
    for (const pageRows of [0, 1.5, 10_001])
      await expect(verifyRecords(store, { pageRows })).rejects.toThrow(RangeError)
    await store.close()
  })

  test('no rows at all verify, and the note says what cannot be seen', async () => {
    const store = await files.open(join(root, 'empty.db'))
    const verified = await verifyRecords(store)
    expect(verified).toMatchObject({ kind: 'ok', rows: 0, chains: 0 })
    expect(verified.kind === 'ok' && verified.notes.join()).toMatch(/end of a chain.*checkpoint/)
    await store.close()
  })

  test('a tail that was cut off verifies, and only the note tells', async () => {
    const verified = await verifyAfter((sql) => sql(`DELETE FROM records WHERE chain = '${chains[0]}' AND seq > 9`))
    expect(verified).toMatchObject({ kind: 'ok', rows: 2 * ROWS - 3 })
  })
})

describe('chain: one change in one row is found', () => {
  const changes = [
    ['a byte of the body', `body = replace(body, 'number', 'numbe2')`],
    ['a space added to the body', `body = body || ' '`],
    ['the body emptied', `body = ''`],
    ['the kind', `kind = 'late'`],
    ['the time', 'at = at + 1'],
    ['the call id', `call_id = 'call-x'`],
    ['the digest of the body', `body_digest = '0' || substr(body_digest, 2, 62) || 'g'`],
    ['the hash', `hash = upper(hash)`],
    [
      'a byte of the hash',
      `hash = CASE WHEN hash LIKE '%0' THEN substr(hash, 1, 63) || '1' ELSE substr(hash, 1, 63) || '0' END`,
    ],
    [
      'body and digest together',
      `body = '{}', body_digest = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'`,
    ],
    ['the position', 'seq = seq + 100'],
    ['the position, to below the first', 'seq = -seq'],
    ['bytes that are no text', `body = CAST(x'ff' AS TEXT)`],
    ['a time past all numbers', 'at = 9223372036854775807'],
    ['the person under whom it is found', `subject = '${'0'.repeat(32)}'`],
  ] as const

  for (const seq of [1, 6, ROWS]) {
    test.each(changes)(`row ${seq}: %s`, async (_name, change) => {
      const verified = await verifyAfter((sql) => sql(`UPDATE records SET ${change} WHERE ${rowAt(seq)}`))
      // A last row moved past the end leaves a gap before it; all others show at the row itself.
      expect(verified).toMatchObject({ kind: 'broken', chain: chains[0] })
    })
  }

  test('the call id taken away, or put where none was', async () => {
    expect(await verifyAfter((sql) => sql(`UPDATE records SET call_id = NULL WHERE ${rowAt(6)}`))).toMatchObject({
      kind: 'broken',
      seq: 6,
    })
    for (const callId of ['', 'x']) {
      const verified = await verifyAfter((sql) => sql(`UPDATE records SET call_id = '${callId}' WHERE ${rowAt(1)}`))
      expect(verified).toMatchObject({ kind: 'broken', seq: 1, rows: 0 })
    }
  })

  test.each([1, 6, ROWS])('row %i moved to a chain of its own, or into the other', async (seq) => {
    const own = await verifyAfter((sql) => sql(`UPDATE records SET chain = 'zzz' WHERE ${rowAt(seq)}`))
    expect(own).toMatchObject({ kind: 'broken' })
    const other = await verifyAfter((sql) =>
      sql(`UPDATE records SET chain = '${chains[1]}', seq = ${ROWS + 1} WHERE ${rowAt(seq)}`),
    )
    expect(other).toMatchObject({ kind: 'broken' })
  })
})

describe('chain: rows missing, moved or added are found', () => {
  test.each([1, 2, 5, 6, ROWS - 1])('row %i missing', async (seq) => {
    const verified = await verifyAfter((sql) => sql(`DELETE FROM records WHERE ${rowAt(seq)}`))
    expect(verified).toMatchObject({ kind: 'broken', chain: chains[0], seq: seq + 1, rows: seq - 1 })
    expect(verified.kind === 'broken' && verified.reason).toContain('missing')
  })

  test('a row missing and the rest moved up', async () => {
    const verified = await verifyAfter((sql) => {
      sql(`DELETE FROM records WHERE ${rowAt(6)}`)
      for (let seq = 7; seq <= ROWS; seq += 1) sql(`UPDATE records SET seq = ${seq - 1} WHERE ${rowAt(seq)}`)
    })
    expect(verified).toMatchObject({ kind: 'broken', seq: 6 })
  })

  test('two rows that changed places', async () => {
    const verified = await verifyAfter((sql) => {
      sql(`UPDATE records SET seq = 99 WHERE ${rowAt(4)}`)
      sql(`UPDATE records SET seq = 4 WHERE ${rowAt(5)}`)
      sql(`UPDATE records SET seq = 5 WHERE ${rowAt(99)}`)
    })
    expect(verified).toMatchObject({ kind: 'broken', seq: 4 })
  })

  test('a row copied to the end, or pushed in between', async () => {
    const columns = 'kind, at, call_id, body, body_digest, hash'
    const copy = (to: number) =>
      `INSERT INTO records (chain, seq, ${columns}) SELECT chain, ${to}, ${columns} FROM records WHERE ${rowAt(6)}`
    expect(await verifyAfter((sql) => sql(copy(ROWS + 1)))).toMatchObject({ kind: 'broken', seq: ROWS + 1 })
    const pushed = await verifyAfter((sql) => {
      for (let seq = ROWS; seq >= 7; seq -= 1) sql(`UPDATE records SET seq = ${seq + 1} WHERE ${rowAt(seq)}`)
      sql(copy(7))
    })
    expect(pushed).toMatchObject({ kind: 'broken', seq: 7 })
  })

  test('a duplicate that the database lets through', async () => {
    const store = await files.open(pristine)
    const rows = await store.records({ chain: chains[0] ?? '', limit: 100 })
    const doubled = rows.flatMap((row) => (row.seq === 4 ? [row, row] : [row]))
    const forged = { chains: async () => [chains[0] ?? ''], records: async () => doubled, recordCount: async () => 13 }
    expect(await verifyRecords(forged)).toMatchObject({ kind: 'broken', seq: 4, rows: 4 })
    await store.close()
  })
})

describe('chain: rows added behind the keys of a rebuilt table are found', () => {
  const columns = 'id, chain, seq, kind, at, call_id, body, body_digest, hash, subject, session'
  /** The same rows in a table that holds anything, any number of times. */
  const rebuild = `CREATE TABLE loose (${columns}); INSERT INTO loose SELECT ${columns} FROM records;
    DROP TABLE records; ALTER TABLE loose RENAME TO records`
  const add = (change: Readonly<Record<string, string>>, seq: number): string => {
    const values = columns.split(', ').map((column) => change[column] ?? (column === 'id' ? 'id + 1000' : column))
    return `INSERT INTO records (${columns}) SELECT ${values.join(', ')} FROM records WHERE ${rowAt(seq)} LIMIT 1`
  }

  test('a rebuilt table with no row more verifies', async () => {
    expect(await verifyAfter((sql) => sql(rebuild))).toMatchObject({ kind: 'ok', rows: 2 * ROWS })
  })

  // Pages hold 5 rows here.
  test.each([1, 4, 5, 6, 10, ROWS])('a second row %i, equal or forged', async (seq) => {
    for (const change of [{}, { body: `'{}'` }, { hash: `'${'0'.repeat(64)}'` }, { kind: `'late'` }]) {
      const verified = await verifyAfter((sql) => {
        sql(rebuild)
        sql(add(change, seq))
      })
      expect(verified, JSON.stringify(change)).toMatchObject({ kind: 'broken', chain: chains[0] })
    }
  })

  test.each([
    ['bytes', 'CAST(chain AS BLOB)'],
    ['bytes of another name', `CAST('zzz' AS BLOB)`],
    ['a number', '5'],
    ['nothing', 'NULL'],
    ['text that is no text', `CAST(x'ff41' AS TEXT)`],
  ])('a row whose chain is %s', async (_name, chain) => {
    for (const seq of ['seq', '1', '99']) {
      const verified = await verifyAfter((sql) => {
        sql(rebuild)
        sql(add({ chain, seq }, 5))
      })
      expect(verified).toMatchObject({ kind: 'broken' })
    }
  })

  test('a row that no look-up meets, because its id or its number is none', async () => {
    for (const change of [{ id: 'NULL' }, { seq: 'NULL' }, { seq: 'CAST(seq AS TEXT)' }, { seq: 'seq + 0.5' }]) {
      const verified = await verifyAfter((sql) => {
        sql(rebuild)
        sql(add(change, 5))
      })
      expect(verified, JSON.stringify(change)).toMatchObject({ kind: 'broken' })
    }
  })
})

describe('chain: a byte of the file changed on disk is found', () => {
  test.each(['body', 'kind', 'callId', 'bodyDigest', 'hash', 'chain'] as const)('in the %s of a row', async (field) => {
    const store = await files.open(pristine)
    const row = (await store.records({ chain: chains[0] ?? '', limit: 100 }))[6]
    await store.close()
    if (row === undefined) throw new Error('the row is missing')
    const bytes = readFileSync(pristine)
    const places = placesOf(bytes, row, field)
    expect(places.length).toBeGreaterThan(0)
    for (const mask of [0x01, 0x80]) {
      const file = join(root, `bytes-${field}-${mask}.db`)
      const changed = Buffer.from(bytes)
      for (const at of places) changed[at] = (changed[at] ?? 0) ^ mask
      writeFileSync(file, changed)
      const reopened = await files.open(file)
      expect(await verifyRecords(reopened)).toMatchObject({ kind: 'broken', chain: row.chain })
      await reopened.close()
    }
  })

  /** Where the field begins in the file. Free parts of pages may hold older copies of a row, which nobody reads. */
  function placesOf(
    bytes: Buffer,
    row: RecordRow,
    field: 'body' | 'kind' | 'callId' | 'bodyDigest' | 'hash' | 'chain',
  ) {
    const places: number[] = []
    const digests = row.bodyDigest + row.hash
    for (let end = bytes.indexOf(digests); end >= 0; end = bytes.indexOf(digests, end + 1)) {
      const body = end - row.body.length
      const callId = body - (row.callId ?? '').length
      const { kind, chain } = row
      const before = { kind: bytes.lastIndexOf(kind, end), chain: bytes.lastIndexOf(chain, end) }
      places.push({ ...before, callId, body, bodyDigest: end, hash: end + 64 }[field])
    }
    return places
  }
})

test('records that cannot be read do not hold', async () => {
  const unreadable = { recordCount: () => Promise.reject(new Error('database disk image is malformed')) }
  const verified = await verifyRecords(unreadable as never)
  expect(verified).toMatchObject({
    kind: 'broken',
    reason: 'the records cannot be read: database disk image is malformed',
  })
})
