// What was cut out of results, in SQLite. Contents and arguments are encrypted with the key of the person whose they are
// where the store seals; they go with that key, with their time, or, the oldest first, for lack of room. What does not come
// out as it was put in is not handed out.

import { sha256 } from '../base/digest.ts'
import type { Artifact, ArtifactBounds, ArtifactKept, ArtifactRow, ArtifactStore } from '../observe/store.ts'
import { heldBy, inVain } from './artifact-bounds.ts'
import type { SqlDatabase, SqlRow, SqlStatement } from './sqlite-driver.ts'
import { asBytes, bytesOrNull, numberOf, textOf, textOrNull } from './sqlite-values.ts'
import type { SubjectKeys } from './subject-keys.ts'

export type ArtifactFilter = Parameters<ArtifactStore['list']>[0]

const TEXTS = ['id', 'digest', 'tenant', 'user', 'agent', 'call_id', 'session', 'tool', 'fingerprint', 'policy_version']
const COLUMNS = `place, ${asBytes(...TEXTS, 'media_type', 'subject')}, approved, bytes, at, expires_at, arguments`
const THEIRS = 'tenant = ? AND user = ? AND agent = ?'

type Statement =
  | 'insert'
  | 'content'
  | 'find'
  | 'place'
  | 'list'
  | 'theirs'
  | 'sizes'
  | 'theirSizes'
  | 'oldest'
  | 'theirOldest'
  | 'expired'
  | 'drop'
  | 'dropContent'

export class SqliteArtifacts {
  readonly #keys: SubjectKeys
  readonly #seals: boolean
  readonly #sql: Readonly<Record<Statement, SqlStatement>>

  constructor(database: SqlDatabase, keys: SubjectKeys, seals: boolean) {
    this.#keys = keys
    this.#seals = seals
    const oldest = (where: string): string => `SELECT place, bytes FROM artifacts ${where} ORDER BY place LIMIT 1`
    this.#sql = {
      insert: database.prepare(
        `INSERT INTO artifacts (${TEXTS.join(', ')}, media_type, subject, approved, bytes, at, expires_at, arguments)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      content: database.prepare(
        'INSERT INTO artifact_contents (place, content) SELECT place, ? FROM artifacts WHERE id = ?',
      ),
      find: database.prepare(
        `SELECT ${COLUMNS}, content FROM artifacts JOIN artifact_contents USING (place) WHERE id = ?`,
      ),
      place: database.prepare('SELECT place FROM artifacts WHERE id = ?'),
      list: database.prepare(`SELECT ${COLUMNS} FROM artifacts ORDER BY place DESC LIMIT ?`),
      theirs: database.prepare(`SELECT ${COLUMNS} FROM artifacts WHERE ${THEIRS} ORDER BY place DESC LIMIT ?`),
      sizes: database.prepare('SELECT coalesce(sum(bytes), 0) AS bytes FROM artifacts'),
      theirSizes: database.prepare(`SELECT coalesce(sum(bytes), 0) AS bytes FROM artifacts WHERE ${THEIRS}`),
      oldest: database.prepare(oldest('')),
      theirOldest: database.prepare(oldest(`WHERE ${THEIRS}`)),
      expired: database.prepare('SELECT place FROM artifacts WHERE expires_at <= ?'),
      drop: database.prepare('DELETE FROM artifacts WHERE place = ?'),
      dropContent: database.prepare('DELETE FROM artifact_contents WHERE place = ?'),
    }
  }

  /** Runs inside the caller's write transaction. */
  keep({ row, content }: Artifact, bounds: ArtifactBounds): ArtifactKept {
    const why = inVain(row, bounds)
    if (why !== undefined) return { kind: 'refused', why }
    this.dropExpired(row.at)
    this.#dropOne(row.id)
    const { tenant, user, agent } = row.principal
    const theirs = [tenant, user, agent]
    this.#dropUntil(this.#sql.theirSizes, this.#sql.theirOldest, theirs, bounds.principalBytesMax - row.bytes)
    this.#dropUntil(this.#sql.sizes, this.#sql.oldest, [], bounds.bytesMax - row.bytes)
    this.#insert(row, content)
    return { kind: 'kept' }
  }

  find(id: string, principal: ArtifactRow['principal'], now: number): Artifact | undefined {
    this.#keys.lookAgain()
    const [found] = this.#sql.find.all([id])
    if (found === undefined) return undefined
    const row = this.#rowOf(found)
    if (row === undefined || row.expiresAt <= now || !heldBy(row, principal)) return undefined
    const content = this.#opened(found, 'content')
    return content === undefined || sha256(content) !== row.digest ? undefined : { row, content }
  }

  list({ principal, limit }: ArtifactFilter): ArtifactRow[] {
    this.#keys.lookAgain()
    const found =
      principal === undefined
        ? this.#sql.list.all([limit])
        : this.#sql.theirs.all([principal.tenant, principal.user, principal.agent, limit])
    return found.flatMap((row) => this.#rowOf(row) ?? [])
  }

  /** Inside a write transaction. */
  dropExpired(now: number): void {
    for (const row of this.#sql.expired.all([now])) this.#drop(numberOf(row, 'place'))
  }

  #insert({ call, principal, ...row }: ArtifactRow, content: Uint8Array): void {
    const { tenant, user, agent } = principal
    const subject = { tenant, user }
    const bytes = Buffer.from(call.argumentsText)
    const args = this.#seals ? this.#keys.seal(subject, 'artifact', bytes) : undefined
    const kept = this.#seals ? this.#keys.seal(subject, 'artifact', content).sealed : content
    this.#sql.insert.run([
      ...[row.id, row.digest, tenant, user, agent, call.id, call.session, call.tool, call.fingerprint],
      ...[call.policyVersion, row.mediaType, args?.subject ?? null, call.approved ? 1 : 0, row.bytes, row.at],
      ...[row.expiresAt, args?.sealed ?? bytes],
    ])
    this.#sql.content.run([kept, row.id])
  }

  /** Undefined where the key of the person is gone, or is another person's than the row says. */
  #rowOf(row: SqlRow): ArtifactRow | undefined {
    const argumentsText = this.#opened(row, 'arguments')
    if (argumentsText === undefined) return undefined
    const subject = textOrNull(row, 'subject')
    const person = { tenant: textOf(row, 'tenant'), user: textOf(row, 'user') }
    if (subject !== null && this.#keys.idOf(person) !== subject) return undefined
    return {
      id: textOf(row, 'id'),
      digest: textOf(row, 'digest'),
      principal: { ...person, agent: textOf(row, 'agent') },
      call: {
        id: textOf(row, 'call_id'),
        session: textOf(row, 'session'),
        tool: textOf(row, 'tool'),
        fingerprint: textOf(row, 'fingerprint'),
        argumentsText: Buffer.from(argumentsText).toString(),
        policyVersion: textOf(row, 'policy_version'),
        approved: numberOf(row, 'approved') === 1,
      },
      mediaType: textOf(row, 'media_type'),
      bytes: numberOf(row, 'bytes'),
      at: numberOf(row, 'at'),
      expiresAt: numberOf(row, 'expires_at'),
    }
  }

  #opened(row: SqlRow, column: 'arguments' | 'content'): Uint8Array | undefined {
    // A driver may write no bytes as NULL.
    const bytes = bytesOrNull(row, column) ?? new Uint8Array()
    const subject = textOrNull(row, 'subject')
    return subject === null ? bytes : this.#keys.open(subject, 'artifact', bytes)
  }

  #dropUntil(sizes: SqlStatement, oldest: SqlStatement, values: readonly string[], bytesMax: number): void {
    const [sum] = sizes.all(values)
    let bytes = sum === undefined ? 0 : numberOf(sum, 'bytes')
    while (bytes > bytesMax) {
      const [row] = oldest.all(values)
      if (row === undefined) return
      this.#drop(numberOf(row, 'place'))
      bytes -= numberOf(row, 'bytes')
    }
  }

  #dropOne(id: string): void {
    const [row] = this.#sql.place.all([id])
    if (row !== undefined) this.#drop(numberOf(row, 'place'))
  }

  #drop(place: number): void {
    this.#sql.drop.run([place])
    this.#sql.dropContent.run([place])
  }
}
