// Markers that stand in a record where a secret was taken out. What was there cannot be told from them, so that no rule can
// be held against it.

import type { JsonObject, JsonValue } from '../base/json-value.ts'

/** The whole of a text, `[redacted]` or `[redacted: api key]`; and anywhere in one what names its kind: `Bearer [redacted:jwt]`. */
const MARKER = /^\[redacted\b[^\]]*\]$|\[redacted:[a-z0-9_-]{1,40}\]/i

/** Names of the arguments that are a marker, or hold one. */
export const redactedArguments = (args: JsonObject): readonly string[] =>
  Object.keys(args).filter((name) => holdsMarker(args[name] ?? null))

function holdsMarker(value: JsonValue): boolean {
  if (typeof value === 'string') return MARKER.test(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(holdsMarker)
}
