// Measuring and cutting text by its UTF-8 bytes, without ever breaking what a reader sees as one character.

/** Made when something is first cut: loading what it needs takes longer than all the rest of the library. */
let segmenter: Intl.Segmenter | undefined
/** No grapheme that people write is longer than this; a longer pile of marks may be cut inside. */
const GRAPHEME_UNITS_MAX = 64

/** Bytes of a text in UTF-8. */
export const utf8Bytes = (text: string): number => Buffer.byteLength(text, 'utf8')

/** The longest start of a text that fits into so many UTF-8 bytes and ends on a grapheme boundary. */
export function cutToBytes(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax || utf8Bytes(text) <= bytesMax) return text
  const units = unitsWithin(text, bytesMax)
  return text.slice(0, graphemeBoundary(text, units))
}

/** How many UTF-16 units from the start fit into so many bytes, never splitting a surrogate pair. */
function unitsWithin(text: string, bytesMax: number): number {
  let bytes = 0
  let units = 0
  while (units < text.length) {
    const point = text.codePointAt(units) ?? 0
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
    if (bytes > bytesMax) break
    units += point < 0x10000 ? 1 : 2
  }
  return units
}

/** The last grapheme boundary at or before a place; looks at a window only, so that a huge single line stays cheap. */
function graphemeBoundary(text: string, units: number): number {
  if (units >= text.length) return text.length
  const start = Math.max(0, units - GRAPHEME_UNITS_MAX)
  const window = text.slice(start, units + GRAPHEME_UNITS_MAX)
  let boundary = start
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  for (const { index } of segmenter.segment(window)) {
    if (start + index > units) break
    boundary = start + index
  }
  return boundary > start || start === 0 ? boundary : units
}
