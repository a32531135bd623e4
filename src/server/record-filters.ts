// Which records somebody asks for, read from texts: options of the command line, or the query of an address. Every name and
// every word is checked, so that a misspelled filter is refused and never taken for one that finds nothing.

import { ERROR_TYPES } from '../describe/error-types.ts'
import type { RecordKind, RecordQuery } from '../observe/store.ts'
import { parseDurationMs } from './config/units.ts'

export const RECORD_KINDS = [
  ...(['gate', 'intent', 'end', 'late', 'reconciled', 'approval', 'grant', 'stop'] as const),
  ...(['credential', 'checkpoint', 'retention', 'erasure'] as const),
] as const satisfies readonly RecordKind[]

const TEXT_FILTERS = ['callId', 'chain', 'tenant', 'user', 'agent', 'session', 'tool', 'source'] as const
export const RECORD_FILTERS = [
  ...TEXT_FILTERS,
  ...(['kind', 'since', 'until', 'ok', 'errorType', 'decision', 'order', 'after'] as const),
] as const

export type RecordFilterName = (typeof RECORD_FILTERS)[number]

export type RecordFilters = Omit<RecordQuery, 'limit'>

export type FiltersRead =
  | { readonly kind: 'ok'; readonly filters: RecordFilters }
  | { readonly kind: 'bad'; readonly name: RecordFilterName; readonly reason: string }

const TEXT_MAX = 256
const DECISIONS = ['allow', 'ask', 'deny'] as const
const ERRORS: readonly string[] = Object.keys(ERROR_TYPES)

type Given = { readonly [Name in RecordFilterName]?: string | undefined }

/** `nowMs`: what durations such as `7d` count back from. */
export function readRecordFilters(given: Given, nowMs: number): FiltersRead {
  const filters: Record<string, string | number | boolean> = {}
  for (const name of RECORD_FILTERS) {
    const text = given[name]
    if (text === undefined) continue
    const read = readOne(name, text, nowMs)
    if ('reason' in read) return { kind: 'bad', name, reason: read.reason }
    filters[read.name] = read.value
  }
  return { kind: 'ok', filters }
}

type Filter =
  | { readonly name: keyof RecordFilters; readonly value: string | number | boolean }
  | { readonly reason: string }

function readOne(name: RecordFilterName, text: string, nowMs: number): Filter {
  switch (name) {
    case 'kind':
      return wordOf(name, text, RECORD_KINDS)
    case 'decision':
      return wordOf(name, text, DECISIONS)
    case 'errorType':
      return wordOf(name, text, ERRORS)
    case 'ok': {
      const word = wordOf(name, text, ['true', 'false'])
      return 'reason' in word ? word : { name, value: text === 'true' }
    }
    case 'order': {
      const word = wordOf('newestFirst', text, ['oldest', 'newest'])
      return 'reason' in word ? word : { name: 'newestFirst', value: text === 'newest' }
    }
    case 'since':
    case 'until': {
      const at = timeOf(text, nowMs)
      return at === undefined
        ? {
            reason: `expected a duration such as \`7d\`, a date such as \`2026-01-31\`, or milliseconds, got ${quoted(text)}`,
          }
        : { name, value: Math.max(0, at) }
    }
    case 'after':
      return /^(0|[1-9][0-9]{0,15})$/.test(text) && Number.isSafeInteger(Number(text))
        ? { name: 'afterPosition', value: Number(text) }
        : { reason: `expected the cursor of the page before, got ${quoted(text)}` }
    default:
      return text === '' || text.length > TEXT_MAX
        ? { reason: `expected 1 to ${TEXT_MAX} characters` }
        : { name, value: text }
  }
}

const wordOf = (name: keyof RecordFilters, text: string, words: readonly string[]): Filter =>
  words.includes(text) ? { name, value: text } : { reason: `expected one of ${words.join(', ')}, got ${quoted(text)}` }

/** Milliseconds since the Unix epoch: so long ago, a date with or without a time, or the number itself. */
function timeOf(text: string, nowMs: number): number | undefined {
  const ago = parseDurationMs(text)
  if (ago !== undefined) return Math.trunc(nowMs - ago)
  if (/^[0-9]{10,15}$/.test(text)) return Number(text)
  if (!/^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2})?)?$/.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

const quoted = (text: string): string => `\`${text.slice(0, 80)}\``
