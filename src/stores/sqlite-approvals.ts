// The approvals table. Every method that writes runs inside the caller's write transaction, which is what makes an approval
// single-use among several processes: whoever holds the write lock is alone.

import type { Answered, ApprovalAnswer, ApprovalRow, ApprovalState, IntentAsk } from '../observe/store.ts'
import { answered } from './approval-answer.ts'
import { type ApprovalChoice, aboutOf, type Candidate, chooseApproval, type HeldGrants } from './approval-choice.ts'
import type { SqlDatabase, SqlRow, SqlStatement, SqlValue } from './sqlite-driver.ts'
import { askedByOf, offersOf } from './sqlite-kept-json.ts'
import { asBytes, numberOf, numberOrNull, textOf, textOrNull } from './sqlite-values.ts'

const TEXT_COLUMNS = [
  ...['id', 'digest', 'state', 'tenant', 'user', 'agent', 'session', 'tool', 'fingerprint', 'effect'],
  ...['policy_version', 'reason', 'shown', 'answered_by', 'comment', 'redeemed_by'],
  ...['workspace', 'task', 'asked_by', 'offers', 'proof', 'reach'],
]
const NUMBER_COLUMNS = ['opened_at', 'expires_at', 'answered_at', 'proof_failures', 'client_asserted']

const SELECT = `SELECT ${asBytes(...TEXT_COLUMNS)}, ${NUMBER_COLUMNS.join(', ')} FROM approvals`

/** What a choice looks at; reading all columns of a row takes longer than all the rest of redeeming it. */
const CANDIDATE = `SELECT ${asBytes('id', 'digest', 'state')}, expires_at FROM approvals`

const INSERT = `INSERT INTO approvals (id, digest, state, tenant, user, agent, session, tool, fingerprint, effect,
  policy_version, reason, shown, opened_at, expires_at, workspace, task, asked_by, offers, proof)
  VALUES (${Array(20).fill('?').join(', ')})`

const STATES: ReadonlySet<string> = new Set<ApprovalState>(['open', 'approved', 'declined', 'redeemed'])

export class SqliteApprovals {
  readonly #byId: SqlStatement
  readonly #named: SqlStatement
  readonly #byDigest: SqlStatement
  readonly #insert: SqlStatement
  readonly #redeem: SqlStatement
  readonly #answer: SqlStatement
  readonly #prove: SqlStatement
  readonly #end: SqlStatement
  readonly #database: SqlDatabase

  constructor(database: SqlDatabase) {
    this.#database = database
    this.#byId = database.prepare(`${SELECT} WHERE id = ?`)
    this.#named = database.prepare(`${CANDIDATE} WHERE id = ?`)
    this.#byDigest = database.prepare(
      `${CANDIDATE} WHERE digest = ? AND state <> 'redeemed' AND expires_at > ? ORDER BY opened_at`,
    )
    this.#insert = database.prepare(INSERT)
    this.#redeem = database.prepare(`UPDATE approvals SET state = 'redeemed', redeemed_by = ? WHERE id = ?`)
    this.#answer = database.prepare(
      `UPDATE approvals SET state = ?, answered_at = ?, answered_by = ?, comment = ?, reach = ?, client_asserted = ?,
         proof_failures = ? WHERE id = ?`,
    )
    this.#prove = database.prepare(
      `UPDATE approvals SET proof = ? WHERE id = ? AND proof IS NOT NULL AND state = 'open' AND expires_at > ?`,
    )
    this.#end = database.prepare(
      `UPDATE approvals SET expires_at = ? WHERE id = ? AND state = 'approved' AND expires_at > ?`,
    )
  }

  /** Redeems or opens, as `chooseApproval` says; the answer is that choice. */
  ask(ask: IntentAsk, grants: HeldGrants, callId: string, now: number): ApprovalChoice {
    const { approvalId } = ask
    const rows =
      approvalId === undefined ? this.#byDigest.all([aboutOf(ask).digest, now]) : this.#named.all([approvalId])
    const held = { candidates: rows.map(candidateOf), whole: (id: string) => this.#whole(id) }
    const choice = chooseApproval(ask, held, grants, now)
    if (choice.kind === 'redeem') this.#redeem.run([callId, choice.approvalId])
    if (choice.kind === 'open') this.#open(choice.open)
    return choice
  }

  answer(id: string, answer: ApprovalAnswer, now: number): Answered {
    const [found] = this.#byId.all([id])
    if (found === undefined) return { kind: 'missing' }
    const approval = approvalOf(found)
    const done = answered(approval, answer, now)
    if (done.approval !== approval) this.#write(done.approval)
    return done
  }

  renewProof(id: string, proof: string, now: number): boolean {
    return this.#prove.run([proof, id, now]) > 0
  }

  /** What a person took back: a yes that nobody has used is over now. */
  end(id: string, now: number): void {
    this.#end.run([now, id, now])
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

  #whole(id: string): ApprovalRow {
    const [row] = this.#byId.all([id])
    if (row === undefined) throw new Error('an approval that was chosen is not there')
    return approvalOf(row)
  }

  #open(row: ApprovalRow): void {
    const { id, digest, tenant, user, agent, session, tool, fingerprint, effect, policyVersion, reason, shown } = row
    const { openedAt, expiresAt, workspace, task, askedBy, offers, proof } = row
    this.#insert.run([
      ...[id, digest, 'open', tenant, user, agent, session, tool, fingerprint, effect, policyVersion, reason, shown],
      ...[openedAt, expiresAt, workspace, task ?? null, JSON.stringify(askedBy), JSON.stringify(offers), proof ?? null],
    ])
  }

  #write(row: ApprovalRow): void {
    const { id, state, answeredAt, answeredBy, comment, reach, clientAsserted, proofFailures } = row
    this.#answer.run([
      ...[state, answeredAt ?? null, answeredBy ?? null, comment ?? null, reach ?? null],
      ...[clientAsserted === true ? 1 : null, proofFailures ?? null, id],
    ])
  }
}

const candidateOf = (row: SqlRow): Candidate => ({
  id: textOf(row, 'id'),
  digest: textOf(row, 'digest'),
  state: stateOf(textOf(row, 'state')),
  expiresAt: numberOf(row, 'expires_at'),
})

function approvalOf(row: SqlRow): ApprovalRow {
  const text = (column: string): string => textOf(row, column)
  const proofFailures = numberOrNull(row, 'proof_failures')
  const answeredAt = numberOrNull(row, 'answered_at')
  return {
    ...{ id: text('id'), digest: text('digest'), state: stateOf(text('state')) },
    ...{ tenant: text('tenant'), user: text('user'), agent: text('agent'), session: text('session') },
    ...{ tool: text('tool'), fingerprint: text('fingerprint'), effect: text('effect') },
    ...{ policyVersion: text('policy_version'), reason: text('reason'), shown: text('shown') },
    workspace: textOrNull(row, 'workspace') ?? '',
    askedBy: askedByOf(textOrNull(row, 'asked_by')),
    offers: offersOf(textOrNull(row, 'offers')),
    openedAt: numberOf(row, 'opened_at'),
    expiresAt: numberOf(row, 'expires_at'),
    ...optional(row, { task: 'task', proof: 'proof', answeredBy: 'answered_by', comment: 'comment' }),
    ...optional(row, { redeemedBy: 'redeemed_by' }),
    ...reachOf(textOrNull(row, 'reach')),
    ...(proofFailures === null ? {} : { proofFailures }),
    ...(answeredAt === null ? {} : { answeredAt }),
    ...(numberOrNull(row, 'client_asserted') === 1 ? { clientAsserted: true } : {}),
  }
}

/** The members whose columns hold a text. */
function optional<Member extends string>(
  row: SqlRow,
  columns: Readonly<Record<Member, string>>,
): Partial<Record<Member, string>> {
  const found: Partial<Record<Member, string>> = {}
  for (const member of Object.keys(columns) as Member[]) {
    const text = textOrNull(row, columns[member])
    if (text !== null) found[member] = text
  }
  return found
}

function reachOf(text: string | null): Pick<ApprovalRow, 'reach'> {
  return text === 'once' || text === 'session' || text === 'pattern' ? { reach: text } : {}
}

function stateOf(text: string): ApprovalState {
  if (!STATES.has(text)) throw new Error('an approval has a state that this version does not know')
  return text as ApprovalState
}
