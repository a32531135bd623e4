// The answer of a call as the journal keeps it, JSON text of at most a mebibyte, and back. What the model reads is kept as it
// was shaped, cut and redacted the first time. What cannot be kept whole is not kept at all.

import type { Ending } from '../describe/call.ts'
import { isContentPart } from '../describe/content.ts'
import { isErrorType } from '../describe/error-types.ts'
import type { Outcome } from '../describe/outcome.ts'

const ANSWER_BYTES_MAX = 1024 * 1024

/** The ending that an outcome was shaped from; a remark of the gate was for that one call and stays out. */
export function keptEnding(outcome: Outcome): Ending {
  const { display, meta } = outcome
  const content = meta.remark === undefined ? outcome.content : outcome.content.slice(0, -1)
  const seen = display === undefined ? {} : { display }
  if (!outcome.ok) return { kind: 'failure', error: outcome.error, content, ...seen }
  return { kind: 'value', value: outcome.value, content, ...seen }
}

/** Null for what is too large, or is no JSON. */
export function answerText(ending: Ending): string | null {
  try {
    if (ending.kind === 'value' && !isPlain(ending.value)) return null
    const text = JSON.stringify(ending)
    return Buffer.byteLength(text) <= ANSWER_BYTES_MAX ? text : null
  } catch {
    return null
  }
}

/** Undefined for what is no JSON. */
export function endingOf(answer: string): unknown {
  try {
    return JSON.parse(answer)
  } catch {
    return undefined
  }
}

/** The file can be edited by others: what has not the form that was written is no answer. */
export function isEnding(value: unknown): value is Ending {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false
  if ('content' in value && !(Array.isArray(value.content) && value.content.every(isContentPart))) return false
  if (value.kind === 'value') return true
  if (value.kind !== 'failure' || !('error' in value)) return false
  const { error } = value
  if (typeof error !== 'object' || error === null || !('type' in error) || !('message' in error)) return false
  if (!('effect' in error) || !['none', 'done', 'unknown'].includes(String(error.effect))) return false
  if (!('retry' in error) || typeof error.retry !== 'object' || error.retry === null) return false
  return typeof error.type === 'string' && isErrorType(error.type) && typeof error.message === 'string'
}

/** Whether JSON gives a value back as it was: a date, a map or a class would come back as something else. */
function isPlain(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean'
  if (Array.isArray(value)) return value.every(isPlain)
  const shape: unknown = Object.getPrototypeOf(value)
  return (shape === Object.prototype || shape === null) && Object.values(value).every(isPlain)
}
