// The journal table: what is known under each idempotency key. What writes runs inside the caller's write transaction. Keys
// of calls that were done long ago go now and then, with a claim.

import { JOURNAL_MS, type JournalEnd, type JournalKey, type JournalRow } from '../observe/store.ts'
import { chooseKey, type KeyHeld } from './journal-choice.ts'
import type { JournalFilter } from './memory-journal.ts'
import type { SqlDatabase, SqlRow, SqlStatement, SqlValue } from './sqlite-driver.ts'
import { asBytes, numberOf, numberOrNull, textOf, textOrNull } from './sqlite-values.ts'
import type { SubjectKeys } from './subject-keys.ts'

const OF_KEY = 'tenant = ? AND user = ? AND agent = ? AND tool = ? AND key = ?'
const OF_CALL = `${OF_KEY} AND call_id = ?`

/** How often old keys go, and how many at once: faster than a database takes new ones. */
const FORGET_MS = 1_000
const FORGOTTEN_AT_ONCE = 1_000

export class SqliteJournal {
  readonly #database: SqlDatabase
  readonly #keys: SubjectKeys
  readonly #seals: boolean
  readonly #held: SqlStatement
  readonly #answer: SqlStatement
  readonly #claim: SqlStatement
  readonly #end: SqlStatement
  readonly #free: SqlStatement
  readonly #forget: SqlStatement
  readonly #lists = new Map<string, SqlStatement>()
  #forgotAt = Number.NEGATIVE_INFINITY

  constructor(database: SqlDatabase, keys: SubjectKeys, seals: boolean) {
    this.#database = database
    this.#keys = keys
    this.#seals = seals
    this.#held = database.prepare(
      `SELECT ${asBytes('digest', 'state', 'call_id')}, ended_at FROM journal WHERE ${OF_KEY}`,
    )
    this.#answer = database.prepare(`SELECT ${asBytes('answer', 'subject')} FROM journal WHERE ${OF_KEY}`)
    this.#claim = database.prepare(
      `INSERT INTO journal (tenant, user, agent, tool, key, digest, state, call_id, claimed_at)
       VALUES (?, ?, ?, ?, ?, ?, 'running', ?, ?)
       ON CONFLICT (tenant, user, agent, tool, key) DO UPDATE SET digest = excluded.digest, state = 'running',
         call_id = excluded.call_id, claimed_at = excluded.claimed_at, ended_at = NULL, answer = NULL, subject = NULL
       WHERE state = 'done' AND ended_at <= ?`,
    )
    this.#end = database.prepare(`UPDATE journal SET state = ?, ended_at = ?, answer = ?, subject = ? WHERE ${OF_CALL}`)
    this.#free = database.prepare(`DELETE FROM journal WHERE ${OF_CALL}`)
    this.#forget = database.prepare(
      `DELETE FROM journal WHERE rowid IN
       (SELECT rowid FROM journal WHERE state = 'done' AND ended_at <= ? ORDER BY ended_at LIMIT ${FORGOTTEN_AT_ONCE})`,
    )
  }

  /** What the key says; undefined where it is free. */
  held(key: JournalKey, now: number): KeyHeld | undefined {
    const values = partsOf(key)
    const [row] = this.#held.all(values)
    if (row === undefined) return undefined
    const endedAt = numberOrNull(row, 'ended_at')
    const held = {
      ...{ digest: textOf(row, 'digest'), state: stateOf(row), callId: textOf(row, 'call_id') },
      ...(endedAt === null ? {} : { endedAt }),
    }
    return chooseKey(key, held, now, () => {
      const [kept] = this.#answer.all(values)
      return kept === undefined ? null : this.#opened(kept)
    })
  }

  /** False, and nothing written, where the key is not free. */
  claim(key: JournalKey, callId: string, at: number, now: number): boolean {
    const before = now - JOURNAL_MS
    if (Math.abs(now - this.#forgotAt) >= FORGET_MS) {
      this.#forgotAt = now
      this.#forget.run([before])
    }
    return this.#claim.run([...partsOf(key), key.digest, callId, at, before]) > 0
  }

  /** Nothing where another call has the key by now. */
  end(end: JournalEnd, at: number): void {
    const ofCall = [...partsOf(end.key), end.callId]
    if (end.kind === 'free') this.#free.run(ofCall)
    else this.#end.run([end.kind, at, ...this.#sealed(end.key, end.kind === 'done' ? end.answer : null), ...ofCall])
  }

  /** An answer says as much as a record does. */
  #sealed({ tenant, user }: JournalKey, answer: string | null): SqlValue[] {
    if (answer === null || !this.#seals) return [answer, null]
    const { subject, sealed } = this.#keys.seal({ tenant, user }, 'journal', answer)
    return [sealed.toString('base64'), subject]
  }

  /** An answer that cannot be opened is lost, and its call is still known to be done. */
  #opened(row: SqlRow): string | null {
    const [answer, subject] = [textOrNull(row, 'answer'), textOrNull(row, 'subject')]
    if (answer === null || subject === null) return answer
    return this.#keys.open(subject, 'journal', Buffer.from(answer, 'base64'))?.toString() ?? null
  }

  /** Newest first. */
  list({ callId, state, limit }: JournalFilter): JournalRow[] {
    const where: string[] = []
    const values: SqlValue[] = []
    for (const [condition, value] of [
      ['call_id = ?', callId],
      ['state = ?', state],
    ] as const) {
      if (value === undefined) continue
      where.push(condition)
      values.push(value)
    }
    const sql = `SELECT ${asBytes('tenant', 'user', 'agent', 'tool', 'key', 'digest', 'state', 'call_id')}, claimed_at, ended_at
      FROM journal ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`} ORDER BY claimed_at DESC, rowid DESC LIMIT ?`
    const statement = this.#lists.get(sql) ?? this.#database.prepare(sql)
    this.#lists.set(sql, statement)
    return statement.all([...values, limit]).map(rowOf)
  }
}

const partsOf = ({ tenant, user, agent, tool, key }: JournalKey): SqlValue[] => [tenant, user, agent, tool, key]

/** INVARIANT closed: a state that somebody has written into the file, and that is none, lets nothing run. */
function stateOf(row: SqlRow): JournalRow['state'] {
  const state = textOf(row, 'state')
  return state === 'running' || state === 'done' ? state : 'unknown'
}

function rowOf(row: SqlRow): JournalRow {
  const endedAt = numberOrNull(row, 'ended_at')
  return {
    tenant: textOf(row, 'tenant'),
    user: textOf(row, 'user'),
    agent: textOf(row, 'agent'),
    tool: textOf(row, 'tool'),
    key: textOf(row, 'key'),
    digest: textOf(row, 'digest'),
    callId: textOf(row, 'call_id'),
    state: stateOf(row),
    claimedAt: numberOf(row, 'claimed_at'),
    ...(endedAt === null ? {} : { endedAt }),
  }
}
