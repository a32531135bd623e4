// Before-images in SQLite, the oldest changes going first once the bound is reached. The key of a change is the count of
// bytes before it, so that what is past the bound is one range and nothing has to be added up.

import type { FileChange, FileImage } from '../describe/before-images.ts'
import { changeBytes, joinChanges } from './file-changes.ts'
import type { SqlDatabase, SqlRow, SqlStatement } from './sqlite-driver.ts'
import { asBytes, bytesOrNull, numberOf, numberOrNull, textOf, textOrNull } from './sqlite-values.ts'

/** All before-images together. */
const IMAGES_BYTES_MAX = 256 * 1024 * 1024

export class SqliteImages {
  readonly #bytesMax: number
  readonly #newest: SqlStatement
  readonly #byCall: SqlStatement
  readonly #filesOf: SqlStatement
  readonly #insert: SqlStatement
  readonly #insertFile: SqlStatement
  readonly #drop: readonly SqlStatement[]
  readonly #dropBefore: readonly SqlStatement[]

  constructor(database: SqlDatabase, bytesMax = IMAGES_BYTES_MAX) {
    this.#bytesMax = bytesMax
    this.#newest = database.prepare('SELECT starts_at + bytes AS ends_at FROM images ORDER BY starts_at DESC LIMIT 1')
    this.#byCall = database.prepare(
      `SELECT starts_at, at, ${asBytes('call_id', 'tenant', 'user', 'agent', 'tool')} FROM images WHERE call_id = ?`,
    )
    this.#filesOf = database.prepare(
      `SELECT ${asBytes('path', 'after_hash')}, existed, before, mode FROM image_files WHERE image = ? ORDER BY position`,
    )
    this.#insert = database.prepare(
      'INSERT INTO images (starts_at, bytes, call_id, tenant, user, agent, at, tool) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    )
    this.#insertFile = database.prepare(
      'INSERT INTO image_files (image, position, path, existed, before, after_hash, mode) VALUES (?, ?, ?, ?, ?, ?, ?)',
    )
    this.#drop = ['image_files WHERE image = ?', 'images WHERE starts_at = ?'].map((what) =>
      database.prepare(`DELETE FROM ${what}`),
    )
    this.#dropBefore = ['image_files WHERE image < ?', 'images WHERE starts_at < ?'].map((what) =>
      database.prepare(`DELETE FROM ${what}`),
    )
  }

  /** Runs inside the caller's write transaction. */
  keep(change: FileChange): void {
    const [row] = this.#byCall.all([change.callId])
    const whole = row === undefined ? change : joinChanges(this.#changeOf(row), change)
    const bytes = changeBytes(whole)
    if (bytes > this.#bytesMax) throw new Error('the change is larger than all that can be kept for undoing')
    const [newest] = this.#newest.all([])
    const startsAt = newest === undefined ? 0 : numberOf(newest, 'ends_at')
    if (row !== undefined) for (const statement of this.#drop) statement.run([numberOf(row, 'starts_at')])
    this.#write(startsAt, bytes, whole)
    // A change stands wholly within the bound, or goes.
    for (const statement of this.#dropBefore) statement.run([startsAt + bytes - this.#bytesMax])
  }

  find(callId: string): FileChange | undefined {
    const [row] = this.#byCall.all([callId])
    return row === undefined ? undefined : this.#changeOf(row)
  }

  #write(startsAt: number, bytes: number, change: FileChange): void {
    const { callId, at, tool, files } = change
    const { tenant, user, agent } = change.principal
    this.#insert.run([startsAt, bytes, callId, tenant, user, agent, at, tool])
    files.forEach(({ path, before, afterHash, mode }, position) => {
      const existed = before === undefined ? 0 : 1
      this.#insertFile.run([startsAt, position, path, existed, before ?? null, afterHash ?? null, mode ?? null])
    })
  }

  #changeOf(row: SqlRow): FileChange {
    return {
      callId: textOf(row, 'call_id'),
      principal: { tenant: textOf(row, 'tenant'), user: textOf(row, 'user'), agent: textOf(row, 'agent') },
      at: numberOf(row, 'at'),
      tool: textOf(row, 'tool'),
      files: this.#filesOf.all([numberOf(row, 'starts_at')]).map(fileOf),
    }
  }
}

function fileOf(row: SqlRow): FileImage {
  const mode = numberOrNull(row, 'mode')
  return {
    path: textOf(row, 'path'),
    // A driver may write no bytes as NULL.
    before: numberOf(row, 'existed') === 0 ? undefined : (bytesOrNull(row, 'before') ?? new Uint8Array()),
    afterHash: textOrNull(row, 'after_hash') ?? undefined,
    ...(mode === null ? {} : { mode }),
  }
}
