// JSON in columns of approvals, grants and open intents. The file can be edited by others: what does not have the shape that was written
// offers nothing and covers nothing.

import type { ApprovalOffer, JournalKey } from '../observe/store.ts'

type Where = Readonly<Record<string, readonly string[]>>

const ONCE: ApprovalOffer = Object.freeze({ reach: 'once', shown: 'this one call' })

/** Null: written by a version that knew nothing wider than once. */
export function offersOf(text: string | null): readonly ApprovalOffer[] {
  const value = text === null ? undefined : parsed(text)
  return Array.isArray(value) && value.length > 0 && value.every(isOffer) ? value : [ONCE]
}

/** Empty for what cannot be read: nothing that asks was answered then. */
export function askedByOf(text: string | null): readonly string[] {
  const value = text === null ? undefined : parsed(text)
  return Array.isArray(value) && value.every((asking) => typeof asking === 'string') ? value : []
}

/** Undefined for null; false for what cannot be read. */
export function whereOf(text: string | null): Where | undefined | false {
  if (text === null) return undefined
  const value = parsed(text)
  return isWhere(value) ? value : false
}

/** Undefined for null, and for what cannot be read: such a key stays as it is in the journal until an operator settles it. */
export function journalKeyOf(text: string | null): JournalKey | undefined {
  const value = text === null ? undefined : parsed(text)
  if (!isObject(value)) return undefined
  const { tenant, user, agent, tool, key, digest } = value
  const parts = [tenant, user, agent, tool, key, digest]
  return parts.every((part) => typeof part === 'string') ? (value as JournalKey) : undefined
}

function isOffer(value: unknown): value is ApprovalOffer {
  if (!isObject(value)) return false
  const { reach, shown, where, onlyNamed } = value
  if (reach !== 'once' && reach !== 'session' && reach !== 'pattern') return false
  return (
    typeof shown === 'string' &&
    (where === undefined || isWhere(where)) &&
    (onlyNamed === undefined || onlyNamed === true)
  )
}

const isWhere = (value: unknown): value is Where =>
  isObject(value) &&
  Object.values(value).every((globs) => Array.isArray(globs) && globs.every((glob) => typeof glob === 'string'))

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
