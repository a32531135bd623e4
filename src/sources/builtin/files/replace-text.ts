// Finds a piece of text in a file and puts another in its place. Both are taken literally: `$&` is two characters. Where a
// file ends all its lines with CRLF, line ends in the two pieces mean the same, so that the file keeps its line ends. It
// replaces nothing unless the place is certain.

export type Replacement =
  | { readonly kind: 'ok'; readonly text: string; readonly count: number; readonly lines: readonly number[] }
  | { readonly kind: 'ambiguous'; readonly count: number; readonly lines: readonly number[] }
  /** `nearLine`: where the same words stand with other blanks. */
  | { readonly kind: 'no-match'; readonly nearLine: number | undefined }

const PLACES_MAX = 10_000

export function replaceText(text: string, find: string, replace: string, all: boolean): Replacement {
  const isCrlf = endsLinesWithCrlf(text)
  const adapted = (piece: string): string => (isCrlf ? piece.replace(/\r?\n/g, '\r\n') : piece)
  const wanted = text.includes(find) ? find : adapted(find)
  const places = all ? placesOf(text, wanted, wanted.length) : placesOf(text, wanted, 1)
  if (places.length === 0) return { kind: 'no-match', nearLine: nearLine(text, find) }
  const lines = linesOf(text, places)
  if (!all && places.length > 1) return { kind: 'ambiguous', count: places.length, lines }
  return { kind: 'ok', text: putAt(text, places, wanted.length, adapted(replace)), count: places.length, lines }
}

/** Places of a piece, `step` apart at least: 1 also finds those that overlap, for they make the place uncertain. */
function placesOf(text: string, piece: string, step: number): readonly number[] {
  const places: number[] = []
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + step)) {
    places.push(at)
    if (step === 1 && places.length >= PLACES_MAX) break
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
  return [...parts, text.slice(from)].join('')
}

/** Line numbers of places in ascending order. */
function linesOf(text: string, places: readonly number[]): readonly number[] {
  const lines: number[] = []
  let line = 1
  let from = 0
  for (const place of places) {
    for (let at = text.indexOf('\n', from); at >= 0 && at < place; at = text.indexOf('\n', at + 1)) {
      line++
      from = at + 1
    }
    lines.push(line)
  }
  return lines
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
  const lines = text.split('\n').map(squeeze)
  const index = lines.findIndex(
    (line, at) =>
      line.includes(first) && wanted.slice(1).every((other, offset) => lines[at + offset + 1]?.includes(other)),
  )
  return index < 0 ? undefined : index + 1
}

const squeeze = (line: string): string => line.trim().replace(/\s+/g, ' ')
