// Cuts JSON text between its elements, so that what is left is JSON again: no half element, unless one alone is larger than the
// bound. Reads no more of the text than about twice the bound, and parses nothing.

import { graphemeFloor } from './text-cut.ts'

export type JsonCut = {
  /** JSON: a start of the text with its open brackets closed. */
  readonly text: string
  /** UTF-16 units of the text that it begins with; what follows are closing brackets. */
  readonly keptUnits: number
  /** Whole elements of the outermost array, or of its member `rows`, where that is what was cut. */
  readonly rows: number | undefined
}

const ELLIPSIS = '…'
const ELLIPSIS_BYTES = 3
/** Containers that are entered to cut inside them. */
const DEPTH_MAX = 64

/**
 * The elements from the start that fit into `bytesMax` UTF-8 bytes together with the brackets that close them. An element that
 * alone has more than `elementBytesMax` is cut inside. Undefined for what is no object or array, or breaks the form of JSON.
 */
export function cutJsonText(text: string, bytesMax: number, elementBytesMax = bytesMax): JsonCut | undefined {
  const start = skipBlanks(text, 0)
  const open = text[start]
  if ((open !== '[' && open !== '{') || bytesMax < start + 2) return undefined
  const cut = cutContainer(text, start, { bytesMax: bytesMax - start, elementBytesMax, depth: 0 })
  if (cut === undefined || isFollowed(text, cut)) return undefined
  const rows = open === '[' ? cut.elements : cut.rows
  return { text: text.slice(0, cut.end) + cut.closing, keptUnits: cut.end, rows }
}

/** Whether all of it fits, and something else comes after it: lines of JSON, say. */
function isFollowed(text: string, { end, closing }: Cut): boolean {
  const close = skipBlanks(text, end)
  return closing.length === 1 && text[close] === closing && skipBlanks(text, close + 1) < text.length
}

type Bounds = { readonly bytesMax: number; readonly elementBytesMax: number; readonly depth: number }
type Cut = {
  /** Where the kept start ends, and what closes it. */
  readonly end: number
  readonly closing: string
  readonly elements: number
  /** Elements that are kept of the member `rows`. */
  readonly rows: number | undefined
}

function cutContainer(text: string, start: number, bounds: Bounds): Cut | undefined {
  const isArray = text[start] === '['
  const close = isArray ? ']' : '}'
  let left = bounds.bytesMax - 2
  let end = start + 1
  let elements = 0
  let at = skipBlanks(text, start + 1)
  if (text[at] === close) return { end, closing: close, elements, rows: undefined }
  while (at < text.length) {
    // The comma and blanks before an element belong to it.
    const value = isArray ? at : valueOfMember(text, at)
    if (value === undefined) return undefined
    const before = bytesBetween(text, end, value)
    const skipped = skipValue(text, value, Math.max(bounds.elementBytesMax, left))
    if (skipped.kind === 'broken') return undefined
    if (skipped.kind === 'large' || before + skipped.bytes > left) {
      const isLarge = skipped.kind === 'large' || skipped.bytes > bounds.elementBytesMax
      const inside = isLarge ? cutInside(text, value, { ...bounds, bytesMax: left - before }) : undefined
      if (inside === undefined) break
      const rows = !isArray && text.slice(at, value).startsWith('"rows"') ? inside.elements : undefined
      return { end: inside.end, closing: inside.closing + close, elements, rows }
    }
    left -= before + skipped.bytes
    end = skipped.end
    elements += 1
    at = skipBlanks(text, end)
    if (text[at] === close) return { end, closing: close, elements, rows: undefined }
    if (text[at] !== ',') return undefined
    at = skipBlanks(text, at + 1)
  }
  // Without an end of its own it is no JSON.
  return at < text.length ? { end, closing: close, elements, rows: undefined } : undefined
}

/** What is kept of an element that is too large to be kept whole. */
function cutInside(text: string, value: number, bounds: Bounds): Cut | undefined {
  if (text[value] === '"') return cutString(text, value, bounds.bytesMax)
  if ((text[value] !== '[' && text[value] !== '{') || bounds.bytesMax < 3 || bounds.depth >= DEPTH_MAX) return undefined
  const cut = cutContainer(text, value, { ...bounds, depth: bounds.depth + 1 })
  return cut === undefined || cut.end === value + 1 ? undefined : cut
}

/** A start of a text in quotes: no escape is split, no pair of surrogates and no grapheme. */
function cutString(text: string, start: number, bytesMax: number): Cut | undefined {
  let left = bytesMax - 2 - ELLIPSIS_BYTES
  const places = [start + 1]
  let at = start + 1
  while (at < text.length && text[at] !== '"') {
    const units = unitsOfCharacter(text, at)
    left -= text[at] === '\\' ? units : bytesBetween(text, at, at + units)
    if (left < 0) break
    at += units
    places.push(at)
  }
  const whole = graphemeFloor(text, at)
  let end = places.pop() ?? start + 1
  while (end > whole) end = places.pop() ?? start + 1
  if (end <= start + 1) return undefined
  return { end, closing: `${ELLIPSIS}"`, elements: 0, rows: undefined }
}

/** A character, an escape, or two escapes that are one pair of surrogates. */
function unitsOfCharacter(text: string, at: number): number {
  if (text[at] !== '\\') return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  if (text[at + 1] !== 'u') return 2
  return /^\\u[dD][89abAB]..\\u[dD][c-fC-F]/.test(text.slice(at, at + 12)) ? 12 : 6
}

/** Where the value of a member begins whose key begins here. */
function valueOfMember(text: string, at: number): number | undefined {
  if (text[at] !== '"') return undefined
  const key = skipValue(text, at, Number.POSITIVE_INFINITY)
  if (key.kind !== 'ok') return undefined
  const colon = skipBlanks(text, key.end)
  return text[colon] === ':' ? skipBlanks(text, colon + 1) : undefined
}

type Skipped =
  | { readonly kind: 'ok'; readonly end: number; readonly bytes: number }
  /** It has more bytes than were to be looked at. */
  | { readonly kind: 'large' }
  | { readonly kind: 'broken' }

const BROKEN: Skipped = { kind: 'broken' }
const LARGE: Skipped = { kind: 'large' }

function skipValue(text: string, start: number, bytesMax: number): Skipped {
  let at = start
  let bytes = 0
  let depth = 0
  let quoted = false
  while (at < text.length) {
    const unit = text.charCodeAt(at)
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit & 0xf800) === 0xd800 ? 2 : 3
    if (bytes > bytesMax) return LARGE
    at += 1
    if (quoted) {
      if (unit === 92) {
        at += 1
        bytes += 1
      } else if (unit === 34) {
        quoted = false
        if (depth === 0) return { kind: 'ok', end: at, bytes }
      }
    } else if (unit === 34) quoted = true
    else if (unit === 91 || unit === 123) depth += 1
    else if (unit === 93 || unit === 125) {
      depth -= 1
      if (depth === 0) return { kind: 'ok', end: at, bytes }
      if (depth < 0) return BROKEN
    } else if (depth === 0) return skipScalar(text, start)
  }
  return BROKEN
}

const SCALAR = /(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=[\s,\]}]|$)/y

function skipScalar(text: string, start: number): Skipped {
  SCALAR.lastIndex = start
  return SCALAR.test(text) ? { kind: 'ok', end: SCALAR.lastIndex, bytes: SCALAR.lastIndex - start } : BROKEN
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && (text[at] === ' ' || text[at] === '\n' || text[at] === '\t' || text[at] === '\r')) at += 1
  return at
}

const bytesBetween = (text: string, from: number, to: number): number => Buffer.byteLength(text.slice(from, to))
