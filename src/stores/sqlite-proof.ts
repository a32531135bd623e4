// Whether a stretch of a chain holds, recomputed where the rows lie: most rows of a verification need not travel. It only ever
// confirms; where anything is not exactly as it should be it says nothing, and whoever asked looks at the rows themselves.

import { sha256 } from '../base/digest.ts'
import type { ChainStretch, StretchHeld } from '../observe/store.ts'
import type { SqlDatabase, SqlRow, SqlStatement } from './sqlite-driver.ts'
import { PLACED } from './sqlite-records.ts'
import { bytesOrNull } from './sqlite-values.ts'

// Every column is read from the row itself, as `base/hash-chain.ts` links it. Rows mostly stand in the order of their ids.
const STRETCH = `SELECT seq, typeof(seq) = 'integer' AND typeof(at) = 'integer' AND call_id IS NOT '' AND ${PLACED} AS plain,
    CAST(chain || char(10) || seq || char(10) || kind || char(10) || at || char(10) || coalesce(call_id, '') || char(10)
      || body_digest AS BLOB) AS link,
    CAST(body AS BLOB) AS body, CAST(hash AS BLOB) AS hash
  FROM records NOT INDEXED
  WHERE id IN (SELECT id FROM records WHERE chain = ? AND seq >= ? ORDER BY seq LIMIT ?) ORDER BY id`

const DIGEST_BYTES = 64

export class SqliteProof {
  readonly #stretch: SqlStatement

  constructor(database: SqlDatabase) {
    this.#stretch = database.prepare(STRETCH)
  }

  /** Begins with the row before, so that a second one of its number shows. */
  held({ chain, after, wanted, limit }: ChainStretch): StretchHeld | undefined {
    const rows = this.#stretch.all([chain, after.seq, limit + 1])
    const [first] = rows
    if (first === undefined || first.seq !== after.seq || latin1(first, 'hash') !== after.hash) return undefined
    const asked = new Set(wanted)
    const hashes: string[] = []
    let { seq, hash } = after
    for (let index = 1; index < rows.length; index += 1) {
      const row = rows[index]
      const next = row === undefined ? undefined : hashOf(row, seq + 1, hash)
      if (next === undefined) return undefined
      seq += 1
      hash = next
      if (asked.has(seq)) hashes.push(hash)
    }
    return { last: { seq, hash }, hashes, isLast: rows.length <= limit }
  }
}

/** The hash of a row that holds. */
function hashOf(row: SqlRow, seq: number, before: string): string | undefined {
  const [link, body, hash] = [bytesOrNull(row, 'link'), bytesOrNull(row, 'body'), latin1(row, 'hash')]
  if (row.seq !== seq || row.plain !== 1 || link === null || body === null) return undefined
  const linked = Buffer.allocUnsafe(before.length + 1 + link.length)
  linked.write(before, 'latin1')
  linked[before.length] = 10
  linked.set(link, before.length + 1)
  const digest = linked.toString('latin1', linked.length - DIGEST_BYTES)
  return sha256(body) === digest && sha256(linked) === hash ? hash : undefined
}

function latin1(row: SqlRow, column: string): string | undefined {
  const bytes = bytesOrNull(row, column)
  return bytes === null ? undefined : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
