// Looks, while somebody watches, whether another connection has changed what people decide. It reads two small numbers four
// times a second and nothing else; most of what other processes write (records, leases) wakes nobody.

import type { SqlDatabase, SqlStatement } from './sqlite-driver.ts'
import { numberOf } from './sqlite-values.ts'

const POLL_MS = 250

type Seen = { readonly version: number; readonly changes: number }

export class SqliteWatch {
  readonly #version: SqlStatement
  readonly #changes: SqlStatement
  readonly #changed: () => void
  #polling: NodeJS.Timeout | undefined
  #seen: Seen = { version: 0, changes: 0 }

  constructor(database: SqlDatabase, changed: () => void) {
    this.#version = database.prepare('PRAGMA data_version')
    this.#changes = database.prepare('SELECT count FROM desk_changes')
    this.#changed = changed
  }

  /** From now on; what was changed before is not told. */
  start(): void {
    if (this.#polling !== undefined) return
    this.#polling = setInterval(() => this.#poll(), POLL_MS)
    this.#seen = { version: this.#read(this.#version, 'data_version'), changes: this.#read(this.#changes, 'count') }
  }

  stop(): void {
    clearInterval(this.#polling)
    this.#polling = undefined
  }

  #poll(): void {
    try {
      const version = this.#read(this.#version, 'data_version')
      if (version === this.#seen.version) return
      const changes = this.#read(this.#changes, 'count')
      const isNews = changes !== this.#seen.changes
      this.#seen = { version, changes }
      if (isNews) this.#changed()
    } catch {
      // The file cannot be read now; the next look tells what has happened meanwhile.
    }
  }

  #read(statement: SqlStatement, column: string): number {
    const [row] = statement.all([])
    return row === undefined ? 0 : numberOf(row, column)
  }
}
