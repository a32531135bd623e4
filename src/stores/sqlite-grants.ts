// The grants table. Rows are added and revoked, never changed otherwise. A row that cannot be read as it was written is no
// grant. What writes runs inside the caller's write transaction.

import type { GrantRow, IntentAsk } from '../observe/store.ts'
import { aboutOf, GRANTS_MAX, type HeldGrants } from './approval-choice.ts'
import type { GrantFilter } from './memory-grants.ts'
import type { SqlDatabase, SqlRow, SqlStatement, SqlValue } from './sqlite-driver.ts'
import { askedByOf, whereOf } from './sqlite-kept-json.ts'
import { asBytes, numberOf, numberOrNull, textOf, textOrNull } from './sqlite-values.ts'

const TEXT_COLUMNS = [
  ...['id', 'approval_id', 'reach', 'tenant', 'user', 'agent', 'session', 'workspace', 'task', 'tool', 'fingerprint'],
  ...['effect', 'covers', 'policy_version', 'asked_by', 'shown', 'granted_by', 'revoked_by'],
]

const SELECT = `SELECT ${asBytes(...TEXT_COLUMNS)}, only_named, granted_at, expires_at, revoked_at FROM grants`

const INSERT = `INSERT INTO grants (id, approval_id, reach, tenant, user, agent, session, workspace, task, tool,
  fingerprint, effect, covers, only_named, policy_version, asked_by, shown, granted_by, granted_at, expires_at)
  VALUES (${Array(20).fill('?').join(', ')})`

export class SqliteGrants {
  readonly #database: SqlDatabase
  readonly #byId: SqlStatement
  readonly #insert: SqlStatement
  readonly #revoke: SqlStatement
  readonly #queries = new Map<string, SqlStatement>()

  constructor(database: SqlDatabase) {
    this.#database = database
    this.#byId = database.prepare(`${SELECT} WHERE id = ?`)
    this.#insert = database.prepare(INSERT)
    this.#revoke = database.prepare(
      'UPDATE grants SET revoked_at = ?, revoked_by = ? WHERE id = ? AND revoked_at IS NULL',
    )
  }

  find(id: string): GrantRow | undefined {
    return this.#byId.all([id]).flatMap(grantOf)[0]
  }

  /** For a call that asks. */
  heldFor(ask: IntentAsk, now: number): HeldGrants {
    const { grantId } = ask
    const about = aboutOf(ask)
    return {
      named: grantId === undefined ? undefined : this.find(grantId),
      live: () => this.list({ live: { at: now }, tool: about.tool, principal: about, limit: GRANTS_MAX }),
    }
  }

  add(grant: GrantRow): void {
    const { id, approvalId, reach, tenant, user, agent, session, workspace, task, tool, fingerprint, effect } = grant
    const { where, onlyNamed, policyVersion, askedBy, shown, grantedBy, grantedAt, expiresAt } = grant
    this.#insert.run([
      ...[id, approvalId, reach, tenant, user, agent, session ?? null, workspace, task ?? null, tool, fingerprint],
      ...[effect, where === undefined ? null : JSON.stringify(where), onlyNamed === true ? 1 : 0],
      ...[policyVersion, JSON.stringify(askedBy), shown, grantedBy, grantedAt, expiresAt],
    ])
  }

  /** False where there is no such grant, or it was revoked before. */
  revoke(id: string, by: string, at: number): boolean {
    return this.#revoke.run([at, by, id]) > 0
  }

  /** Newest first. */
  list({ id, live, tool, principal, limit }: GrantFilter): GrantRow[] {
    const where: string[] = []
    const values: SqlValue[] = []
    const add = (condition: string, ...given: readonly SqlValue[]): void => {
      where.push(condition)
      values.push(...given)
    }
    if (id !== undefined) add('id = ?', id)
    if (live !== undefined) add('revoked_at IS NULL AND expires_at > ?', live.at)
    if (tool !== undefined) add('tool = ?', tool)
    if (principal !== undefined)
      add('tenant = ? AND user = ? AND agent = ?', principal.tenant, principal.user, principal.agent)
    const condition = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`
    return this.#prepared(`${SELECT} ${condition} ORDER BY granted_at DESC, rowid DESC LIMIT ?`)
      .all([...values, limit])
      .flatMap(grantOf)
  }

  #prepared(sql: string): SqlStatement {
    const statement = this.#queries.get(sql) ?? this.#database.prepare(sql)
    this.#queries.set(sql, statement)
    return statement
  }
}

/** Empty for a row that is no grant. */
function grantOf(row: SqlRow): readonly GrantRow[] {
  const text = (column: string): string => textOf(row, column)
  const reach = text('reach')
  const where = whereOf(textOrNull(row, 'covers'))
  const session = textOrNull(row, 'session')
  if ((reach !== 'session' && reach !== 'pattern') || where === false || (reach === 'session' && session === null))
    return []
  const task = textOrNull(row, 'task')
  const revokedAt = numberOrNull(row, 'revoked_at')
  const revokedBy = textOrNull(row, 'revoked_by')
  return [
    {
      ...{ id: text('id'), approvalId: text('approval_id'), reach },
      ...{ tenant: text('tenant'), user: text('user'), agent: text('agent') },
      ...(session === null ? {} : { session }),
      workspace: text('workspace'),
      ...(task === null ? {} : { task }),
      ...{ tool: text('tool'), fingerprint: text('fingerprint'), effect: text('effect') },
      ...(where === undefined ? {} : { where }),
      ...(numberOf(row, 'only_named') === 0 ? {} : { onlyNamed: true as const }),
      ...{
        policyVersion: text('policy_version'),
        askedBy: askedByOf(text('asked_by')),
        shown: text('shown'),
        grantedBy: text('granted_by'),
      },
      grantedAt: numberOf(row, 'granted_at'),
      expiresAt: numberOf(row, 'expires_at'),
      ...(revokedAt === null ? {} : { revokedAt }),
      ...(revokedBy === null ? {} : { revokedBy }),
    },
  ]
}
