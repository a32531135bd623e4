// Open intents and who answers for them. What an owner that is gone has left open is handed to whoever asks first, once.
// On one host the process itself shows whether it lives, even while it is stopped; anywhere else the lease that it renews
// does. Nothing of an owner that lives on this host is ever handed out. Every method that
// writes runs inside the caller's write transaction.

import type { IntentDraft, OpenIntent } from '../observe/store.ts'
import { isSurelyGone, type OwnerIdentity, processStart, thisProcess, uptimeMs } from './owner-identity.ts'
import type { SqlDatabase, SqlRow, SqlStatement } from './sqlite-driver.ts'
import { journalKeyOf } from './sqlite-kept-json.ts'
import { asBytes, numberOf, textOf, textOrNull } from './sqlite-values.ts'

const LEASE_MS = 10_000
export const RENEW_MS = 3_000

export class SqliteIntents {
  readonly #chain: string
  readonly #me: OwnerIdentity = thisProcess()
  readonly #insert: SqlStatement
  readonly #delete: SqlStatement
  readonly #mine: SqlStatement
  readonly #claim: SqlStatement
  readonly #left: SqlStatement
  readonly #owners: SqlStatement
  readonly #renew: SqlStatement
  readonly #forget: SqlStatement

  constructor(database: SqlDatabase, chain: string) {
    this.#chain = chain
    this.#insert = database.prepare(
      `INSERT INTO open_intents (call_id, chain, owner, tool, effect, arguments_text, at, journal, twin)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#delete = database.prepare('DELETE FROM open_intents WHERE call_id = ?')
    this.#mine = database.prepare('SELECT 1 FROM open_intents WHERE owner = ? LIMIT 1')
    this.#claim = database.prepare('UPDATE open_intents SET owner = ? WHERE call_id = ?')
    this.#left = database.prepare(
      `SELECT ${asBytes('call_id', 'chain', 'owner', 'tool', 'effect', 'arguments_text', 'journal', 'twin')}, at FROM open_intents
       WHERE owner <> ? ORDER BY at, call_id`,
    )
    this.#owners = database.prepare(
      `SELECT ${asBytes('chain', 'host', 'started')}, pid, lease_until, lease_uptime, closed FROM owners WHERE chain <> ?`,
    )
    // Inserted anew where another process took this owner for gone, for example after a long stop of this process.
    this.#renew = database.prepare(
      `INSERT INTO owners (chain, host, pid, started, lease_until, lease_uptime, closed) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (chain) DO UPDATE SET lease_until = excluded.lease_until, lease_uptime = excluded.lease_uptime,
         closed = excluded.closed`,
    )
    this.#forget = database.prepare('DELETE FROM owners WHERE chain = ?')
  }

  open(draft: IntentDraft): void {
    const { callId, tool, effect, argumentsText, record, journal, twin = null } = draft
    const key = journal === undefined ? null : JSON.stringify(journal)
    this.#insert.run([callId, this.#chain, this.#chain, tool, effect, argumentsText, record.at, key, twin])
  }

  end(callId: string): void {
    this.#delete.run([callId])
  }

  /** Takes the lease, or makes it longer. */
  renew(): void {
    this.#writeLease(LEASE_MS, 0)
  }

  /** Gives the lease back. An owner that leaves nothing open is forgotten. */
  close(): void {
    if (this.#mine.all([this.#chain]).length === 0) this.#forget.run([this.#chain])
    else this.#writeLease(0, 1)
  }

  #writeLease(forMs: number, closed: 0 | 1): void {
    const { host, pid, started } = this.#me
    this.#renew.run([this.#chain, host, pid, started, Date.now() + forMs, uptimeMs() + forMs, closed])
  }

  /** Takes over what owners that are gone have left open, oldest first, and forgets those owners. */
  claimLapsed(): OpenIntent[] {
    const owners = this.#owners.all([this.#chain])
    const living = new Set(owners.filter((owner) => !this.#isGone(owner)).map((owner) => textOf(owner, 'chain')))
    const lapsed = this.#left.all([this.#chain]).filter((intent) => !living.has(textOf(intent, 'owner')))
    for (const intent of lapsed) this.#claim.run([this.#chain, textOf(intent, 'call_id')])
    for (const owner of owners) {
      const chain = textOf(owner, 'chain')
      if (!living.has(chain)) this.#forget.run([chain])
    }
    return lapsed.map(intentOf)
  }

  #isGone(owner: SqlRow): boolean {
    if (numberOf(owner, 'closed') !== 0) return true
    if (this.#me.host === '' || textOf(owner, 'host') !== this.#me.host) {
      return numberOf(owner, 'lease_until') <= Date.now() || isSurelyGone(numberOf(owner, 'pid'))
    }
    const started = textOf(owner, 'started')
    // INVARIANT: on the same host a lapsed lease proves nothing. A stopped process goes on with its call when it is let go on.
    if (started !== '') return processStart(numberOf(owner, 'pid')) !== started
    // The monotonic count neither jumps with the wall clock nor runs while the machine sleeps.
    return numberOf(owner, 'lease_uptime') <= uptimeMs()
  }
}

function intentOf(row: SqlRow): OpenIntent {
  const twin = textOrNull(row, 'twin')
  const journal = journalKeyOf(textOrNull(row, 'journal'))
  return {
    callId: textOf(row, 'call_id'),
    chain: textOf(row, 'chain'),
    tool: textOf(row, 'tool'),
    effect: textOf(row, 'effect'),
    argumentsText: textOf(row, 'arguments_text'),
    at: numberOf(row, 'at'),
    ...(twin === null ? {} : { twin }),
    ...(journal === undefined ? {} : { journal }),
  }
}
