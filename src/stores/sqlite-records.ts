// The records table: rows of this process's chain are linked and inserted, many with one statement; rows of all chains are
// read. Rows are never changed or deleted here.

import type { RecordKind, RecordQuery, RecordRow } from '../observe/store.ts'
import { type ChainEnd, RecordChain } from './record-chain.ts'
import type { SqlDatabase, SqlRow, SqlStatement, SqlValue } from './sqlite-driver.ts'
import { FLAT_FIELDS, type FlatRows } from './sqlite-protocol.ts'
import { asBytes, numberOf, textOf, textOrNull } from './sqlite-values.ts'

/** Rows to one insert. Larger groups gained nothing on either driver. */
const GROUP_ROWS = 16

const TEXT_COLUMNS = ['chain', 'kind', 'call_id', 'body', 'body_digest', 'hash']

export class SqliteRecords {
  readonly #database: SqlDatabase
  readonly #chain: RecordChain
  readonly #insertOne: SqlStatement
  readonly #insertGroup: SqlStatement
  readonly #queries = new Map<string, SqlStatement>()

  constructor(database: SqlDatabase, chain: string) {
    this.#database = database
    this.#chain = new RecordChain(chain)
    this.#insertOne = database.prepare(insertSql(1))
    this.#insertGroup = database.prepare(insertSql(GROUP_ROWS))
  }

  get end(): ChainEnd {
    return this.#chain.end
  }

  /** Takes the links of a transaction back that did not commit. */
  rewind(end: ChainEnd): void {
    this.#chain.rewind(end)
  }

  insert(rows: FlatRows): void {
    const group = GROUP_ROWS * FLAT_FIELDS
    let next = 0
    for (; rows.length - next >= group; next += group) this.#insertGroup.run(this.#values(rows, next, next + group))
    for (; next < rows.length; next += FLAT_FIELDS) this.#insertOne.run(this.#values(rows, next, next + FLAT_FIELDS))
  }

  #values(rows: FlatRows, from: number, to: number): SqlValue[] {
    const values: SqlValue[] = [this.#chain.name, this.#chain.end.seq + 1]
    for (let field = from; field < to; field += FLAT_FIELDS) {
      const kind = String(rows[field])
      const at = Number(rows[field + 1])
      const callId = rows[field + 2]
      const body = String(rows[field + 3])
      const ofCall = typeof callId === 'string' ? callId : null
      const bodyDigest = this.#chain.link(kind, at, ofCall, body)
      values.push(kind, at, ofCall, body, bodyDigest, this.#chain.end.hash)
    }
    return values
  }

  query(query: RecordQuery): RecordRow[] {
    const { chain, afterSeq, callId, kind, newestFirst = false, limit } = query
    const where: string[] = []
    const values: SqlValue[] = []
    for (const [condition, value] of [
      ['chain = ?', chain],
      ['seq > ?', afterSeq],
      ['call_id = ?', callId],
      ['kind = ?', kind],
    ] as const) {
      if (value === undefined) continue
      where.push(condition)
      values.push(value)
    }
    // Within one chain by its own count; over all chains in the order of writing.
    const order = `${chain === undefined ? 'id' : 'seq'} ${newestFirst ? 'DESC' : 'ASC'}`
    const found = `SELECT id FROM records ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`} ORDER BY ${order} LIMIT ?`
    return this.#prepared(pageSql(found, order))
      .all([...values, limit])
      .map(recordOf)
  }

  /** Oldest first; one look-up for each chain, not one for each row. */
  chains(): string[] {
    const sql = `WITH RECURSIVE names (chain) AS (
        SELECT min(chain) FROM records
        UNION ALL
        SELECT (SELECT min(chain) FROM records WHERE chain > names.chain) FROM names WHERE names.chain IS NOT NULL
      ) SELECT ${asBytes('chain')} FROM names WHERE chain IS NOT NULL`
    return this.#prepared(sql)
      .all([])
      .map((row) => textOf(row, 'chain'))
  }

  /** From the rows themselves: an index may leave some out. */
  count(): number {
    const [row] = this.#prepared('SELECT count(*) AS rows_kept FROM records NOT INDEXED').all([])
    return row === undefined ? 0 : numberOf(row, 'rows_kept')
  }

  #prepared(sql: string): SqlStatement {
    const statement = this.#queries.get(sql) ?? this.#database.prepare(sql)
    this.#queries.set(sql, statement)
    return statement
  }
}

function insertSql(rows: number): string {
  const groups = Array.from({ length: rows }, (_, row) => `(?1, ?2 + ${row}, ?, ?, ?, ?, ?, ?)`)
  return `INSERT INTO records (chain, seq, kind, at, call_id, body, body_digest, hash) VALUES ${groups.join(', ')}`
}

/** Every column is read from the row itself. An index holds copies of some, and a copy would hide that the row was changed. */
const pageSql = (found: string, order: string): string =>
  `SELECT ${asBytes(...TEXT_COLUMNS)}, seq, at FROM records NOT INDEXED WHERE id IN (${found}) ORDER BY ${order}`

function recordOf(row: SqlRow): RecordRow {
  return {
    chain: textOf(row, 'chain'),
    seq: numberOf(row, 'seq'),
    // Passed on as it stands: a kind that somebody changed must reach whoever verifies.
    kind: textOf(row, 'kind') as RecordKind,
    at: numberOf(row, 'at'),
    callId: textOrNull(row, 'call_id'),
    body: textOf(row, 'body'),
    bodyDigest: textOf(row, 'body_digest'),
    hash: textOf(row, 'hash'),
  }
}
