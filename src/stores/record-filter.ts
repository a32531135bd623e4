// Whether a row is one of those that a query asks for. For what no database looks up by itself: what a body says.

import { isJsonObject } from '../base/json-value.ts'
import { mergeMembers } from '../base/merge-members.ts'
import { objectOf } from '../base/object-of.ts'
import type { RecordQuery, RecordRow } from '../observe/store.ts'

/** Whether a query asks for anything that stands in bodies. */
const looksInside = (query: RecordQuery): boolean => INSIDE.some((name) => query[name] !== undefined)

const PERSONAL = ['tenant', 'user', 'agent', 'session'] as const
const NAMED = [...PERSONAL, 'tool', 'source'] as const
const INSIDE = [...NAMED, 'ok', 'errorType', 'decision'] as const

/** By its columns alone. */
export function fitsOutside(query: RecordQuery, row: Pick<RecordRow, 'kind' | 'at' | 'callId'>): boolean {
  const { kind, callId, since, until } = query
  return (
    (kind === undefined || row.kind === kind) &&
    (callId === undefined || row.callId === callId) &&
    (since === undefined || row.at >= since) &&
    (until === undefined || row.at < until)
  )
}

/** By what it says, as far as that can be read: what is shut fits no query for personal members. */
export function fitsInside(query: RecordQuery, row: Pick<RecordRow, 'body' | 'personal'>): boolean {
  if (!looksInside(query)) return true
  const body = mergeMembers(objectOf(row.body), objectOf(row.personal ?? '{}'))
  const { ok, errorType, decision } = query
  return (
    NAMED.every((name) => query[name] === undefined || own(body, name) === query[name]) &&
    (ok === undefined || own(body, 'ok') === ok) &&
    (errorType === undefined || own(own(body, 'error'), 'type') === errorType) &&
    (decision === undefined || own(own(body, 'decision'), 'kind') === decision)
  )
}

const own = (value: unknown, name: string): unknown =>
  isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
