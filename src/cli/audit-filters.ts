// The filters of `lockgate audit`, as options: which there are, and what query they make.

import type { RecordQuery } from '../observe/store.ts'
import { type RecordFilterName, type RecordFilters, readRecordFilters } from '../server/record-filters.ts'
import type { CommandLine } from './command-line.ts'

export type AuditFilters =
  | { readonly kind: 'ok'; readonly filters: RecordFilters }
  | { readonly kind: 'bad'; readonly reason: string }

/** Under which option each filter is given, where that is not its own name. */
const OPTIONS: Partial<Record<RecordFilterName, string>> = { callId: 'call', errorType: 'error' }
const NAMES = ['callId', 'chain', 'tenant', 'user', 'agent', 'session', 'tool', 'source'] as const
const OTHERS = ['kind', 'since', 'until', 'errorType', 'decision', 'after'] as const

export function auditFilters(line: CommandLine): AuditFilters {
  if (line.flag('ok') && line.flag('failed')) return { kind: 'bad', reason: 'give `--ok` or `--failed`, not both' }
  const given = Object.fromEntries(
    [...NAMES, ...OTHERS].map((name) => [name, line.text(OPTIONS[name] ?? name)] as const),
  )
  const ended = line.flag('ok') ? { ok: 'true' } : line.flag('failed') ? { ok: 'false' } : {}
  const order = line.flag('newest') ? { order: 'newest' } : {}
  const read = readRecordFilters({ ...given, ...ended, ...order }, Date.now())
  if (read.kind === 'ok') return read
  return { kind: 'bad', reason: `\`--${OPTIONS[read.name] ?? read.name}\`: ${read.reason}` }
}

/** A whole number from 1 to `max`; undefined for anything else. */
export function readCount(text: string | undefined, fallback: number, max: number): number | undefined {
  if (text === undefined) return fallback
  const count = /^[0-9]{1,9}$/.test(text) ? Number(text) : 0
  return count >= 1 && count <= max ? count : undefined
}

/** Rows of one page: the most that a store gives at once. */
export const PAGE_ROWS = 10_000

export const pageAfter = (filters: RecordFilters, position: number | undefined, limit: number): RecordQuery => ({
  ...filters,
  limit,
  ...(position === undefined ? {} : { afterPosition: position }),
})
