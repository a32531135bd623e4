// A query for records as SQL. What is sealed cannot be looked up there: whose rows they are is known by the id of the person,
// and which session by a keyed digest; the rest is for whoever opens the rows to look at.

import type { RecordQuery } from '../observe/store.ts'
import type { SqlValue } from './sqlite-driver.ts'

export type RecordSearch = { readonly where: string; readonly values: readonly SqlValue[] }

/** What a body says openly. Of a body that is no JSON nothing is known. */
export const memberOf = (path: string): string => `CASE WHEN json_valid(body) THEN json_extract(body, '$.${path}') END`

/** `sessionTag`: the digest of a session by its name. */
export function recordSearch(query: RecordQuery, sessionTag: (session: string) => number): RecordSearch {
  const { afterPosition, newestFirst = false, tenant, user, session, ok } = query
  const found: [string, readonly SqlValue[]][] = []
  const equal = (what: string, value: SqlValue | undefined): void => {
    if (value !== undefined) found.push([what, [value]])
  }
  equal('chain = ?', query.chain)
  equal('seq > ?', query.afterSeq)
  equal(newestFirst ? 'id < ?' : 'id > ?', afterPosition)
  equal('call_id = ?', query.callId)
  equal('kind = ?', query.kind)
  equal('at >= ?', query.since)
  equal('at < ?', query.until)
  if (tenant !== undefined || user !== undefined) found.push(ofPerson({ tenant, user }))
  if (session !== undefined) {
    const plain = `session IS NULL AND subject IS NULL AND ${memberOf('session')} = ?`
    found.push([`(session = ? OR (${plain}))`, [sessionTag(session), session]])
  }
  equal(`${memberOf('tool')} = ?`, query.tool)
  equal(`${memberOf('source')} = ?`, query.source)
  equal(`${memberOf('ok')} = ?`, ok === undefined ? undefined : Number(ok))
  equal(`${memberOf('error.type')} = ?`, query.errorType)
  equal(`${memberOf('decision.kind')} = ?`, query.decision)
  return {
    where: found.length === 0 ? '' : `WHERE ${found.map(([condition]) => condition).join(' AND ')}`,
    values: found.flatMap(([, values]) => values),
  }
}

function ofPerson(asked: Readonly<Record<'tenant' | 'user', string | undefined>>): [string, readonly SqlValue[]] {
  const names = (['tenant', 'user'] as const).filter((name) => asked[name] !== undefined)
  const values = names.map((name) => asked[name] ?? '')
  const sealed = `subject IN (SELECT id FROM subjects WHERE ${names.map((name) => `${name} = ?`).join(' AND ')})`
  const plain = names.map((name) => `${memberOf(name)} = ?`).join(' AND ')
  return [`(${sealed} OR (subject IS NULL AND ${plain}))`, [...values, ...values]]
}
