// Finds a piece of text in a file and puts another in its place. Both are taken literally: `$&` is two characters. Where a
// file ends all its lines with CRLF, line ends in the two pieces mean the same, so that the file keeps its line ends. It
// replaces nothing unless the place is certain.

export type Replacement =
  | {
      readonly kind: 'ok'
      readonly text: string
      readonly count: number
      /** Where replaced places begin; of the first `LINES_MAX` places. */
      readonly lines: readonly number[]
    }
  /** `isCut`: there are more places than were counted. */
  | {
      readonly kind: 'ambiguous'
      readonly count: number
      readonly lines: readonly number[]
      readonly isCut?: true
    }
  /** More places than are replaced at once: none is. */
  | { readonly kind: 'too-many'; readonly placesMax: number }
  /** The text would be longer than the bound, in UTF-16 units. */
  | { readonly kind: 'too-long'; readonly length: number }
  /** `nearLine`: where the same words stand with other blanks. */
  | { readonly kind: 'no-match'; readonly nearLine: number | undefined }

/** Places that one call replaces; above this nothing is replaced. */
export const REPLACED_MAX = 1_000_000
const LINES_MAX = 1_000
const COUNTED_MAX = 10_000
/** Characters that counting overlapping places may compare. */
const COMPARED_MAX = 50_000_000
/** Lines of a piece that are compared when looking for a place that nearly matches. */
const NEAR_LINES_MAX = 20

/** @param lengthMax Of the new text, in UTF-16 units. */
export function replaceText(
  text: string,
  find: string,
  replace: string,
  all: boolean,
  lengthMax = Number.POSITIVE_INFINITY,
): Replacement {
  const isCrlf = endsLinesWithCrlf(text)
  const adapted = (piece: string): string => (isCrlf ? piece.replace(/\r?\n/g, '\r\n') : piece)
  const wanted = text.includes(find) ? find : adapted(find)
  const countedMax = all ? REPLACED_MAX : Math.max(2, Math.min(COUNTED_MAX, Math.floor(COMPARED_MAX / wanted.length)))
  // Overlapping places are counted where one is meant, for they make it uncertain.
  const places = placesOf(text, wanted, all ? wanted.length : 1, countedMax + 1)
  if (places.length === 0) return { kind: 'no-match', nearLine: nearLine(text, find) }
  if (all && places.length > countedMax) return { kind: 'too-many', placesMax: countedMax }
  if (!all && places.length > 1) return ambiguous(text, places, countedMax)
  const piece = adapted(replace)
  // Known before the text is built: a text of any length cannot be.
  const length = text.length + places.length * (piece.length - wanted.length)
  if (length > lengthMax) return { kind: 'too-long', length }
  const lines = linesOf(text, places.slice(0, LINES_MAX))
  return { kind: 'ok', text: putAt(text, places, wanted.length, piece), count: places.length, lines }
}

function ambiguous(text: string, places: readonly number[], countedMax: number): Replacement {
  const count = Math.min(places.length, countedMax)
  const found = { kind: 'ambiguous' as const, count, lines: linesOf(text, places.slice(0, LINES_MAX)) }
  return places.length > count ? { ...found, isCut: true } : found
}

/** Places of a piece in ascending order, `step` apart at least, and no more than `placesMax`. */
function placesOf(text: string, piece: string, step: number, placesMax: number): readonly number[] {
  const places: number[] = []
  let at = text.indexOf(piece)
  while (at >= 0 && places.length < placesMax) {
    places.push(at)
    at = places.length < placesMax ? text.indexOf(piece, at + step) : -1
  }
  return places
}

function putAt(text: string, places: readonly number[], length: number, piece: string): string {
  const parts: string[] = []
  let from = 0
  for (const place of places) {
    parts.push(text.slice(from, place), piece)
    from = place + length
  }
  parts.push(text.slice(from))
  return parts.join('')
}

/** Line numbers of places in ascending order, in one pass: a line end is looked for once, however many places its line holds. */
function linesOf(text: string, places: readonly number[]): readonly number[] {
  let line = 1
  let lineEnd = text.indexOf('\n')
  return places.map((place) => {
    for (; lineEnd >= 0 && lineEnd < place; lineEnd = text.indexOf('\n', lineEnd + 1)) line++
    return line
  })
}

const endsLinesWithCrlf = (text: string): boolean => text.includes('\r\n') && !/(^|[^\r])\n/.test(text)

/** The first line where the piece would match if blanks did not count. */
function nearLine(text: string, find: string): number | undefined {
  const wanted = find
    .split('\n')
    .map(squeeze)
    .filter((line) => line !== '')
  const [first] = wanted
  if (first === undefined) return undefined
  const others = wanted.slice(1, NEAR_LINES_MAX)
  const lines = text.split('\n').map(squeeze)
  const index = lines.findIndex(
    (line, at) => line.includes(first) && others.every((other, offset) => lines[at + offset + 1]?.includes(other)),
  )
  return index < 0 ? undefined : index + 1
}

const squeeze = (line: string): string => line.trim().replace(/\s+/g, ' ')
