// JSON text becomes a value here, or is refused with its place. Bytes, depth and keys are counted before anything is
// built; duplicate keys, `__proto__`, numbers that JavaScript cannot hold and halves of surrogate pairs are refused,
// because two readers of such text would see two different values. A number from 1e21 on has to be written with an exponent:
// then it is a measurement and no integer, whose last digits would be lost.

import { findTextFault, type TextPlace } from './json-text-fault.ts'
import {
  hasExponent,
  isTakenNumber,
  isWellFormed,
  type JsonBounds,
  type JsonRefused,
  type JsonTaken,
  type JsonValue,
  refusalMessage,
  takeParsedJson,
} from './json-value.ts'

/** `message` is one sentence that names the place; `place` is missing only where the whole text is at fault. */
export type TextRefused = JsonRefused & { readonly message: string; readonly place?: TextPlace }

/** `value` is plain, in the order of the text and not frozen: it is the caller's own. */
export type TextParsed = { readonly kind: 'ok'; readonly value: JsonValue; readonly bytes: number }

/** Parses JSON text strictly. Never throws. Linear in the length of the text. */
export function parseJsonText(text: string, bounds: JsonBounds): TextParsed | TextRefused {
  const opened = open(text, bounds)
  if (opened.kind === 'refused') return opened
  const inspection: Inspection = { keys: 0, hasExponents: false, readsStrings: mayHoldSurrogates(text) }
  if (!inspect(opened.value, inspection) || inspection.keys !== opened.keys) return refuseText(text, bounds)
  if (inspection.hasExponents && findTextFault(text, bounds) !== undefined) return refuseText(text, bounds)
  return { kind: 'ok', value: opened.value, bytes: opened.bytes }
}

/** Parses JSON text strictly and takes it as `takeJson` does: frozen, in canonical order, with its canonical text. */
export function takeJsonText(text: string, bounds: JsonBounds): JsonTaken | TextRefused {
  const opened = open(text, bounds)
  if (opened.kind === 'refused') return opened
  const { taken, keys, hasExponents } = takeParsedJson(opened.value, bounds)
  if (taken.kind === 'refused' || keys !== opened.keys)
    return refuseText(text, bounds, taken.kind === 'refused' ? taken : undefined)
  if (hasExponents && findTextFault(text, bounds) !== undefined) return refuseText(text, bounds)
  return taken
}

type Opened = { readonly kind: 'ok'; readonly value: JsonValue; readonly bytes: number; readonly keys: number }

function open(text: string, bounds: JsonBounds): Opened | TextRefused {
  const bytes = Buffer.byteLength(text)
  if (bytes > bounds.bytesMax) return tooLarge(bytes, bounds)
  const keys = countKeys(text, bounds)
  if (keys === undefined) return refuseText(text, bounds)
  try {
    const value: JsonValue = JSON.parse(text)
    return { kind: 'ok', value, bytes, keys }
  } catch {
    return refuseText(text, bounds)
  }
}

function tooLarge(bytes: number, { bytesMax }: JsonBounds): TextRefused {
  const refused: JsonRefused = {
    kind: 'refused',
    code: 'oversized',
    path: '',
    expected: `at most ${bytesMax} bytes of JSON`,
    came: `${bytes} bytes`,
  }
  return { ...refused, message: refusalMessage(refused, 'the JSON text') }
}

/** The slow reader names the fault. Where it finds none, the text is refused all the same. */
function refuseText(text: string, bounds: JsonBounds, known?: JsonRefused): TextRefused {
  const fault = findTextFault(text, bounds)
  if (fault === undefined) {
    const refused = known ?? {
      kind: 'refused',
      code: 'invalid_args',
      path: '',
      expected: 'JSON that every reader reads alike',
      came: 'something else',
    }
    return { ...refused, message: refusalMessage(refused, 'the JSON text') }
  }
  const { line, column, offset } = fault.place
  const where = fault.path === '' ? '' : `, in \`${fault.path}\``
  const message = `the JSON text, line ${line} column ${column} (offset ${offset})${where}: expected ${fault.expected}, came ${fault.came}`
  return { kind: 'refused', ...fault, message }
}

const QUOTE = 34
const COLON = 58
const BACKSLASH = 92

/**
 * The members of all objects in well-formed JSON text, by its colons; undefined where keys or nesting pass their bounds.
 * `JSON.parse` keeps the last of two equal keys, so a value with fewer keys than its text has a duplicate.
 */
function countKeys(text: string, { depthMax, keysMax }: JsonBounds): number | undefined {
  let depth = 0
  let keys = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      index = endOfString(text, index)
    } else if (code === COLON) {
      keys++
      if (keys > keysMax) return undefined
    } else if ((code | 32) === 123) {
      depth++
      if (depth > depthMax) return undefined
    } else if ((code | 32) === 125) {
      depth--
    }
  }
  return keys
}

const SHORT_STRING = 24

/** The offset of the closing quote. Short strings are read unit by unit, the rest of long ones by the engine's own search. */
function endOfString(text: string, start: number): number {
  let index = start + 1
  for (const near = Math.min(text.length, start + SHORT_STRING); index < near; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) return index
    if (code === BACKSLASH) index++
  }
  for (;;) {
    const quote = text.indexOf('"', index)
    if (quote < 0) return text.length
    let escapes = quote
    while (escapes > index && text.charCodeAt(escapes - 1) === BACKSLASH) escapes--
    if ((quote - escapes) % 2 === 0) return quote
    index = quote + 1
  }
}

type Inspection = { keys: number; hasExponents: boolean; readonly readsStrings: boolean }

const mayHoldSurrogates = (text: string): boolean => text.includes('\\u') || !isWellFormed(text)

/** Counts keys, and finds what `JSON.parse` takes but nobody should. */
function inspect(value: JsonValue, inspection: Inspection): boolean {
  if (typeof value === 'number') {
    inspection.hasExponents ||= hasExponent(value)
    return isTakenNumber(value)
  }
  if (typeof value === 'string') return !inspection.readsStrings || isWellFormed(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) {
    for (const item of value) if (!inspect(item, inspection)) return false
    return true
  }
  return inspectObject(value as Readonly<Record<string, JsonValue>>, inspection)
}

function inspectObject(value: Readonly<Record<string, JsonValue>>, inspection: Inspection): boolean {
  for (const key of Object.keys(value)) {
    const below = value[key] ?? null
    inspection.keys++
    if (key === '__proto__' || (inspection.readsStrings && !isWellFormed(key))) return false
    if (key === 'constructor' && typeof below === 'object' && below !== null && Object.hasOwn(below, 'prototype'))
      return false
    if (!inspect(below, inspection)) return false
  }
  return true
}
