// Measuring and cutting text by its UTF-8 bytes, without ever breaking what a reader sees as one character (UAX #29). A place
// that is surely between two characters is looked for first, so that what a segmenter is given never begins inside of one.

/** Made when something is first cut: loading what it needs takes longer than all the rest of the library. */
let segmenter: Intl.Segmenter | undefined
/** Units before a cut that a segmenter is given; where no sure place is so near, the cut moves to one that is farther away. */
const SEGMENT_UNITS_MAX = 65_536
/** A piece of a text holds all of it in memory: from here on it is copied out. */
const COPIED_FROM_UNITS = 65_536

/** Bytes of a text in UTF-8; a surrogate that stands alone is written as U+FFFD and takes 3. */
export const utf8Bytes = (text: string): number => Buffer.byteLength(text, 'utf8')

/** The longest start of a text that fits into so many UTF-8 bytes and ends between two graphemes. */
export function cutToBytes(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax || utf8Bytes(text) <= bytesMax) return text
  return pieceOf(text, 0, graphemeFloor(text, unitsWithin(text, bytesMax)))
}

/** The longest end of a text that fits into so many UTF-8 bytes and begins between two graphemes. */
export function cutEndToBytes(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax || utf8Bytes(text) <= bytesMax) return text
  return pieceOf(text, graphemeCeiling(text, unitsFromEnd(text, bytesMax)), text.length)
}

/** A piece of a text that does not keep a much larger one in memory. */
export function pieceOf(text: string, from: number, to: number): string {
  const piece = text.slice(from, to)
  if (text.length < COPIED_FROM_UNITS || piece.length * 2 > text.length) return piece
  const encoding = piece.isWellFormed() ? 'utf8' : 'utf16le'
  return Buffer.from(piece, encoding).toString(encoding)
}

/** The last place between two graphemes at or before a place. */
export function graphemeFloor(text: string, units: number): number {
  if (units >= text.length) return text.length
  if (units <= 0 || isSureBoundary(text, units)) return Math.max(0, units)
  const start = sureBoundaryBefore(text, units)
  if (units - start > SEGMENT_UNITS_MAX) return start
  let boundary = start
  for (const index of boundariesFrom(text, start)) {
    if (index > units) break
    boundary = index
  }
  return boundary
}

/** The first place between two graphemes at or after a place. */
function graphemeCeiling(text: string, units: number): number {
  if (units >= text.length) return text.length
  if (units <= 0 || isSureBoundary(text, units)) return Math.max(0, units)
  const start = sureBoundaryBefore(text, units)
  if (units - start <= SEGMENT_UNITS_MAX) {
    let passed = 0
    for (const index of boundariesFrom(text, start)) {
      if (index >= units) return index
      passed = index
    }
    if (passed >= text.length) return text.length
  }
  let next = units
  while (next < text.length && !isSureBoundary(text, next)) next += 1
  return next
}

/** Boundaries after a sure one; a segmenter is given the text in a window that ends at a sure boundary too, or with the text. */
function* boundariesFrom(text: string, start: number): Generator<number> {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  let end = Math.min(text.length, start + SEGMENT_UNITS_MAX * 2)
  while (end < text.length && end > start && !isSureBoundary(text, end)) end -= 1
  if (end === start) end = text.length
  for (const { index } of segmenter.segment(text.slice(start, end))) yield start + index
  yield end
}

function sureBoundaryBefore(text: string, units: number): number {
  let start = units
  while (start > 0 && !isSureBoundary(text, start)) start -= 1
  return start
}

/** Whether two neighbours are of scripts whose letters never join, or the one before is a line feed. */
function isSureBoundary(text: string, units: number): boolean {
  const before = text.charCodeAt(units - 1)
  return before === 10 || (isPlain(before) && isPlain(text.charCodeAt(units)))
}

/** Letters, signs and syllables that join with no plain neighbour: Latin, Greek, Cyrillic, kana, Han, Hangul; no carriage return. */
function isPlain(unit: number): boolean {
  if (unit < 0x300) return unit >= 0x20
  return (
    (unit >= 0x370 && unit <= 0x482) ||
    (unit >= 0x48a && unit <= 0x52f) ||
    (unit >= 0x3041 && unit <= 0x3096) ||
    (unit >= 0x30a1 && unit <= 0x30fa) ||
    (unit >= 0x4e00 && unit <= 0x9fff) ||
    (unit >= 0xac00 && unit <= 0xd7a3)
  )
}

/** How many UTF-16 units from the start fit into so many bytes, never splitting a surrogate pair. */
function unitsWithin(text: string, bytesMax: number): number {
  let bytes = 0
  let units = 0
  while (units < text.length) {
    const point = text.codePointAt(units) ?? 0
    bytes += pointBytes(point)
    if (bytes > bytesMax) break
    units += point < 0x10000 ? 1 : 2
  }
  return units
}

/** Where the end begins that fits into so many bytes. */
function unitsFromEnd(text: string, bytesMax: number): number {
  let bytes = 0
  let units = text.length
  while (units > 0) {
    const isPair = units > 1 && isLow(text.charCodeAt(units - 1)) && isHigh(text.charCodeAt(units - 2))
    bytes += isPair ? 4 : pointBytes(text.charCodeAt(units - 1))
    if (bytes > bytesMax) break
    units -= isPair ? 2 : 1
  }
  return units
}

const pointBytes = (point: number): number => (point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4)
const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff
