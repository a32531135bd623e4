// The stops table: what is stopped now. What writes runs inside the caller's write transaction.

import type { StopRow } from '../observe/store.ts'
import type { SqlDatabase, SqlRow, SqlStatement } from './sqlite-driver.ts'
import { asBytes, numberOf, textOf, textOrNull } from './sqlite-values.ts'

export class SqliteStops {
  readonly #all: SqlStatement
  readonly #insert: SqlStatement
  readonly #delete: SqlStatement

  constructor(database: SqlDatabase) {
    this.#all = database.prepare(
      `SELECT ${asBytes('id', 'tool', 'source', 'session', 'stopped_by', 'reason')}, at FROM stops ORDER BY at, rowid`,
    )
    this.#insert = database.prepare(
      'INSERT INTO stops (id, tool, source, session, stopped_by, at, reason) VALUES (?, ?, ?, ?, ?, ?, ?)',
    )
    this.#delete = database.prepare('DELETE FROM stops WHERE id = ?')
  }

  add({ id, target, by, at, reason }: StopRow): void {
    this.#insert.run([id, target.tool ?? null, target.source ?? null, target.session ?? null, by, at, reason ?? null])
  }

  /** False where nothing is stopped under this id. */
  lift(id: string): boolean {
    return this.#delete.run([id]) > 0
  }

  /** Oldest first. */
  list(): StopRow[] {
    return this.#all.all([]).map(stopOf)
  }
}

function stopOf(row: SqlRow): StopRow {
  const tool = textOrNull(row, 'tool')
  const source = textOrNull(row, 'source')
  const session = textOrNull(row, 'session')
  const reason = textOrNull(row, 'reason')
  return {
    id: textOf(row, 'id'),
    target: {
      ...(tool === null ? {} : { tool }),
      ...(source === null ? {} : { source }),
      ...(session === null ? {} : { session }),
    },
    by: textOf(row, 'stopped_by'),
    at: numberOf(row, 'at'),
    ...(reason === null ? {} : { reason }),
  }
}
