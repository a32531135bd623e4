// The records table: rows of this process's chain are linked and inserted, many with one statement; rows of all chains are
// read. Rows are never changed or deleted here.

import type { ChainHead, RecordKind, RecordQuery, RecordRow } from '../observe/store.ts'
import { type ChainEnd, RecordChain } from './record-chain.ts'
import { fitsInside } from './record-filter.ts'
import { type RecordSearch, recordSearch } from './record-search.ts'
import type { SqlDatabase, SqlRow, SqlStatement, SqlValue } from './sqlite-driver.ts'
import { bodyParts, FLAT_FIELDS, type FlatRows, sessionOf } from './sqlite-protocol.ts'
import { asBytes, numberOf, textOf, textOrNull } from './sqlite-values.ts'
import { mergedBody, sealedBody, sealedPart } from './stored-body.ts'
import type { SubjectKeys } from './subject-keys.ts'

/** Rows to one insert. Larger groups gained nothing on either driver. */
const GROUP_ROWS = 16

/** Rows that are opened at a time where a query looks into what is sealed. */
const SCANNED_ROWS = 1_000

const TEXT_COLUMNS = ['chain', 'kind', 'call_id', 'body', 'body_digest', 'hash']

/** Whether a row is found under the person whose key its body names: of that column the chain says nothing itself. */
export const PLACED = `(subject IS CASE WHEN instr(body, '","sealed":"') > 0 THEN substr(body, instr(body, '"subject":"') + 11, 32) END)`

export class SqliteRecords {
  readonly #database: SqlDatabase
  readonly #chain: RecordChain
  readonly #keys: SubjectKeys
  readonly #seals: boolean
  readonly #insertOne: SqlStatement
  readonly #insertGroup: SqlStatement
  readonly #queries = new Map<string, SqlStatement>()

  constructor(database: SqlDatabase, chain: string, keys: SubjectKeys, seals: boolean) {
    this.#database = database
    this.#keys = keys
    this.#seals = seals
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
      const parts = bodyParts(rows, field)
      const { body, subject } = this.#seals
        ? sealedBody(parts, this.#keys)
        : { body: mergedBody(parts, this.#keys), subject: null }
      const ofCall = typeof callId === 'string' ? callId : null
      const session = sessionOf(rows, field)
      const tag = session === undefined ? null : this.#keys.tag(session)
      const bodyDigest = this.#chain.link(kind, at, ofCall, body)
      values.push(kind, at, ofCall, body, bodyDigest, this.#chain.end.hash, subject, tag)
    }
    return values
  }

  query(query: RecordQuery): RecordRow[] {
    this.#keys.lookAgain()
    const search = recordSearch(query, (session) => this.#keys.tag(session))
    if (query.session === undefined && query.agent === undefined) return this.#page(query, search, query.limit)
    const found: RecordRow[] = []
    // What is sealed is looked at when it is open. Pages of the table go on where the last one ended.
    for (let at: RecordRow | undefined; ; ) {
      const after = at === undefined ? { where: search.where, values: search.values } : goOn(query, search, at)
      const page = this.#page(query, after, SCANNED_ROWS)
      for (const row of page) {
        if (fitsInside(query, row)) found.push(row)
        if (found.length === query.limit) return found
      }
      at = page.at(-1)
      if (at === undefined || page.length < SCANNED_ROWS) return found
    }
  }

  #page(query: RecordQuery, search: RecordSearch, limit: number): RecordRow[] {
    // Within one chain by its own count; over all chains in the order of writing.
    const order = `${query.chain === undefined ? 'id' : 'seq'} ${query.newestFirst === true ? 'DESC' : 'ASC'}`
    const sql = pageSql(`SELECT id FROM records ${search.where} ORDER BY ${order} LIMIT ?`, order)
    return this.#prepared(sql)
      .all([...search.values, limit])
      .map((row) => (query.unopened === true ? recordOf(row) : this.#opened(recordOf(row))))
  }

  /** With what was sealed, where it can be opened. */
  #opened(row: RecordRow): RecordRow {
    const part = sealedPart(row.body)
    const text = part === undefined ? undefined : this.#keys.open(part.subject, 'record', part.sealed)
    return text === undefined ? row : { ...row, personal: text.toString() }
  }

  /** The last row of each chain. */
  heads(): ChainHead[] {
    const last = this.#prepared(`SELECT seq, ${asBytes('hash')} FROM records WHERE chain = ? ORDER BY seq DESC LIMIT 1`)
    return this.chains().flatMap((chain) =>
      last.all([chain]).map((row) => ({ chain, seq: numberOf(row, 'seq'), hash: textOf(row, 'hash') })),
    )
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

/** The same search from behind a row on. */
function goOn(
  { chain, newestFirst = false }: RecordQuery,
  { where, values }: RecordSearch,
  at: RecordRow,
): RecordSearch {
  const column = chain === undefined ? 'id' : 'seq'
  const after = `${column} ${newestFirst ? '<' : '>'} ?`
  return {
    where: `${where === '' ? 'WHERE' : `${where} AND`} ${after}`,
    values: [...values, chain === undefined ? at.position : at.seq],
  }
}

function insertSql(rows: number): string {
  const groups = Array.from({ length: rows }, (_, row) => `(?1, ?2 + ${row}, ?, ?, ?, ?, ?, ?, ?, ?)`)
  return `INSERT INTO records (chain, seq, kind, at, call_id, body, body_digest, hash, subject, session) VALUES ${groups.join(', ')}`
}

/** Every column is read from the row itself. An index holds copies of some, and a copy would hide that the row was changed. */
const pageSql = (found: string, order: string): string =>
  `SELECT ${asBytes(...TEXT_COLUMNS)}, id, seq, at, ${PLACED} AS placed FROM records NOT INDEXED WHERE id IN (${found}) ORDER BY ${order}`

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
    position: numberOf(row, 'id'),
    ...(numberOf(row, 'placed') === 1 ? {} : { misplaced: true }),
  }
}
