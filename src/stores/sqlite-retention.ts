// What goes from a SQLite store: rows that are old, from the beginning of their chains, and everything that is readable
// about a person. Both leave a row that says so, in the transaction that does it, and chains that still verify.

import { withMembers } from '../base/with-members.ts'
import type { ChainFloor, Erased, RecordDraft, RecordSubject } from '../observe/store.ts'
import { memberOf } from './record-search.ts'
import type { SqlDatabase, SqlStatement } from './sqlite-driver.ts'
import { flatRow } from './sqlite-protocol.ts'
import type { SqliteRecords } from './sqlite-records.ts'
import { asBytes, numberOf, numberOrNull, textOf } from './sqlite-values.ts'
import type { SubjectKeys } from './subject-keys.ts'

/** Rows that go at once: others wait for the lock meanwhile. */
const DROPPED_MAX = 20_000

export class SqliteRetention {
  readonly #database: SqlDatabase
  readonly #records: SqliteRecords
  readonly #keys: SubjectKeys

  constructor(database: SqlDatabase, records: SqliteRecords, keys: SubjectKeys) {
    this.#database = database
    this.#records = records
    this.#keys = keys
  }

  /** Inside a write transaction. Some of what is old may be left for the next time. */
  drop(before: number, now: number): ChainFloor[] {
    const [newest] = this.#all(`SELECT max(id) AS newest FROM records WHERE kind = 'checkpoint'`)
    const upTo = (newest === undefined ? null : numberOrNull(newest, 'newest')) ?? Number.MAX_SAFE_INTEGER
    const floors: ChainFloor[] = []
    let left = DROPPED_MAX
    for (const chain of this.#records.chains()) {
      if (left <= 0) break
      const floor = this.#floorOf(chain, before, upTo, left)
      if (floor === undefined) continue
      floors.push(floor)
      left -= this.#database.prepare('DELETE FROM records WHERE chain = ? AND seq <= ?').run([chain, floor.seq])
    }
    if (floors.length > 0) {
      const body = JSON.stringify({ before, floors })
      this.#records.insert(flatRow({ kind: 'retention', at: now, callId: null, body }))
    }
    return floors
  }

  /** The last of the rows that may go, from the first one on without a gap. */
  #floorOf(chain: string, before: number, upTo: number, rowsMax: number): ChainFloor | undefined {
    const rows = this.#all(
      `SELECT seq, ${asBytes('hash')},
         at < ?2 AND id < ?3 AND (call_id IS NULL OR call_id NOT IN (SELECT call_id FROM open_intents)) AS goes
       FROM (SELECT * FROM records WHERE chain = ?1 ORDER BY seq LIMIT ?4) ORDER BY seq`,
      [chain, before, upTo, rowsMax],
    )
    const kept = rows.findIndex((row) => numberOf(row, 'goes') === 0)
    const last = rows[(kept === -1 ? rows.length : kept) - 1]
    return last === undefined ? undefined : { chain, seq: numberOf(last, 'seq'), hash: textOf(last, 'hash') }
  }

  /** After an erasure is durable: the log holds older pages, and goes where nobody reads them any more. */
  emptyLog(): void {
    this.#all('PRAGMA wal_checkpoint(TRUNCATE)')
  }

  /** Inside a write transaction. What is deleted is overwritten, here as everywhere in the database. */
  erase(subject: RecordSubject, record: RecordDraft): Erased {
    const { tenant, user } = subject
    const id = this.#keys.destroy(subject)
    const records = id === undefined ? 0 : this.#run('UPDATE records SET session = NULL WHERE subject = ?', [id])
    this.#run(`DELETE FROM image_files WHERE image IN (SELECT starts_at FROM images WHERE tenant = ? AND user = ?)`, [
      tenant,
      user,
    ])
    this.#run(
      'DELETE FROM artifact_contents WHERE place IN (SELECT place FROM artifacts WHERE tenant = ? AND user = ?)',
      [tenant, user],
    )
    const others = ['approvals', 'grants', 'journal', 'images', 'artifacts'].reduce(
      (sum, table) => sum + this.#run(`DELETE FROM ${table} WHERE tenant = ? AND user = ?`, [tenant, user]),
      0,
    )
    const unsealed = this.#count(
      `records WHERE subject IS NULL AND ${memberOf('tenant')} = ? AND ${memberOf('user')} = ?`,
      [tenant, user],
    )
    const erased = { records, others, unsealed }
    const said = withMembers(record.body, JSON.stringify({ ...erased, erased: id }).slice(1, -1))
    this.#records.insert(flatRow({ ...record, body: said }))
    return erased
  }

  #count(what: string, values: readonly (string | number)[]): number {
    const [row] = this.#all(`SELECT count(*) AS found FROM ${what}`, values)
    return row === undefined ? 0 : numberOf(row, 'found')
  }

  #all(sql: string, values: readonly (string | number)[] = []): ReturnType<SqlStatement['all']> {
    return this.#database.prepare(sql).all(values)
  }

  #run(sql: string, values: readonly (string | number)[]): number {
    return this.#database.prepare(sql).run(values)
  }
}
