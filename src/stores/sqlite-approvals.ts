// The approvals table. Every method runs inside the caller's write transaction, which is what makes an approval single-use
// among several processes: whoever holds the write lock is alone.

import type { Answered, ApprovalAnswer, ApprovalRow, ApprovalState, IntentAsk } from '../observe/store.ts'
import { type ApprovalChoice, answered, chooseApproval } from './approval-choice.ts'
import type { SqlDatabase, SqlRow, SqlStatement, SqlValue } from './sqlite-driver.ts'
import { asBytes, numberOf, numberOrNull, textOf, textOrNull } from './sqlite-values.ts'

const TEXT_COLUMNS = [
  ...['id', 'digest', 'state', 'tenant', 'user', 'agent', 'session', 'tool', 'fingerprint', 'effect'],
  ...['policy_version', 'reason', 'shown', 'answered_by', 'comment', 'redeemed_by'],
]

const SELECT = `SELECT ${asBytes(...TEXT_COLUMNS)}, opened_at, expires_at, answered_at FROM approvals`

const INSERT = `INSERT INTO approvals (id, digest, state, tenant, user, agent, session, tool, fingerprint, effect,
  policy_version, reason, shown, opened_at, expires_at) VALUES (${Array(15).fill('?').join(', ')})`

const STATES: ReadonlySet<string> = new Set<ApprovalState>(['open', 'approved', 'declined', 'redeemed'])

export class SqliteApprovals {
  readonly #byId: SqlStatement
  readonly #byDigest: SqlStatement
  readonly #insert: SqlStatement
  readonly #redeem: SqlStatement
  readonly #answer: SqlStatement
  readonly #database: SqlDatabase

  constructor(database: SqlDatabase) {
    this.#database = database
    this.#byId = database.prepare(`${SELECT} WHERE id = ?`)
    this.#byDigest = database.prepare(
      `${SELECT} WHERE digest = ? AND state <> 'redeemed' AND expires_at > ? ORDER BY opened_at`,
    )
    this.#insert = database.prepare(INSERT)
    this.#redeem = database.prepare(`UPDATE approvals SET state = 'redeemed', redeemed_by = ? WHERE id = ?`)
    this.#answer = database.prepare(
      'UPDATE approvals SET state = ?, answered_at = ?, answered_by = ?, comment = ? WHERE id = ?',
    )
  }

  /** Redeems or opens, as `chooseApproval` says; the answer is that choice. */
  ask(ask: IntentAsk, callId: string, now: number): ApprovalChoice {
    const { approvalId, open } = ask
    const rows = approvalId === undefined ? this.#byDigest.all([open.digest, now]) : this.#byId.all([approvalId])
    const choice = chooseApproval(ask, rows.map(approvalOf), now)
    if (choice.kind === 'redeem') this.#redeem.run([callId, choice.approval.id])
    if (choice.kind === 'open') this.#open(open)
    return choice
  }

  answer(id: string, answer: ApprovalAnswer, now: number): Answered {
    const [found] = this.#byId.all([id])
    if (found === undefined) return { kind: 'missing' }
    const approval = approvalOf(found)
    const row = answered(approval, answer, now)
    if (row === undefined) return { kind: 'closed', approval }
    this.#answer.run([row.state, answer.at, answer.by, answer.comment ?? null, id])
    return { kind: 'answered', approval: row }
  }

  /** Newest first. */
  list(filter: { readonly id?: string; readonly state?: ApprovalState; readonly limit: number }): ApprovalRow[] {
    const { id, state, limit } = filter
    const where = [...(id === undefined ? [] : ['id = ?']), ...(state === undefined ? [] : ['state = ?'])]
    const values: SqlValue[] = [...(id === undefined ? [] : [id]), ...(state === undefined ? [] : [state]), limit]
    const condition = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`
    const sql = `${SELECT} ${condition} ORDER BY opened_at DESC, rowid DESC LIMIT ?`
    return this.#database.prepare(sql).all(values).map(approvalOf)
  }

  #open(row: ApprovalRow): void {
    const { id, digest, tenant, user, agent, session, tool, fingerprint, effect, policyVersion, reason, shown } = row
    const { openedAt, expiresAt } = row
    const who = [tenant, user, agent, session]
    this.#insert.run([
      id,
      digest,
      'open',
      ...who,
      tool,
      fingerprint,
      effect,
      policyVersion,
      reason,
      shown,
      openedAt,
      expiresAt,
    ])
  }
}

function approvalOf(row: SqlRow): ApprovalRow {
  const answeredAt = numberOrNull(row, 'answered_at')
  const answeredBy = textOrNull(row, 'answered_by')
  const comment = textOrNull(row, 'comment')
  const redeemedBy = textOrNull(row, 'redeemed_by')
  return {
    id: textOf(row, 'id'),
    digest: textOf(row, 'digest'),
    state: stateOf(textOf(row, 'state')),
    tenant: textOf(row, 'tenant'),
    user: textOf(row, 'user'),
    agent: textOf(row, 'agent'),
    session: textOf(row, 'session'),
    tool: textOf(row, 'tool'),
    fingerprint: textOf(row, 'fingerprint'),
    effect: textOf(row, 'effect'),
    policyVersion: textOf(row, 'policy_version'),
    reason: textOf(row, 'reason'),
    shown: textOf(row, 'shown'),
    openedAt: numberOf(row, 'opened_at'),
    expiresAt: numberOf(row, 'expires_at'),
    ...(answeredAt === null ? {} : { answeredAt }),
    ...(answeredBy === null ? {} : { answeredBy }),
    ...(comment === null ? {} : { comment }),
    ...(redeemedBy === null ? {} : { redeemedBy }),
  }
}

function stateOf(text: string): ApprovalState {
  if (!STATES.has(text)) throw new Error('an approval has a state that this version does not know')
  return text as ApprovalState
}
