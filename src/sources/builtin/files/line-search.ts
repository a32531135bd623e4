// Finds what is asked for in single lines, by a literal text or by a pattern. Patterns are run by an engine whose time is
// linear in the text, never by the built-in one; they are bounded in size, and so is what is searched of one line, so that
// neither can hold up everything else.

export const PATTERN_LENGTH_MAX = 512
/** What counted repetitions may add up to, and the size of the compiled pattern. */
const REPEATS_MAX = 2_000
const PROGRAM_MAX = 10_000
/** Steps of the engine that one line may cost; about a tenth of a second at most. */
const STEPS_PER_LINE = 20_000_000
const PROGRAM_MIN = 20

export interface LineSearch {
  readonly kind: 'ok'
  /** How many characters of a line are searched. */
  readonly lengthMax: number
  /** Whether a file can hold a match at all, before it is decoded. */
  mayHold(bytes: Buffer): boolean
  /** The column of the first match in a line, from 1; undefined where there is none. */
  find(line: string): number | undefined
}

export type LineSearchResult = LineSearch | { readonly kind: 'bad'; readonly reason: string }

const bad = (reason: string): LineSearchResult => ({ kind: 'bad', reason })

export function literalSearch(wanted: string): LineSearchResult {
  if (wanted === '') return bad('it is empty')
  if (/[\r\n]/.test(wanted))
    return bad('it spans lines, and lines are searched one by one; search for one of its lines')
  const bytes = Buffer.from(wanted)
  return {
    kind: 'ok',
    lengthMax: Number.POSITIVE_INFINITY,
    mayHold: (file) => file.includes(bytes),
    find: (line) => {
      const at = line.indexOf(wanted)
      return at < 0 ? undefined : at + 1
    },
  }
}

export async function patternSearch(pattern: string): Promise<LineSearchResult> {
  if (pattern === '') return bad('it is empty')
  if ([...pattern].length > PATTERN_LENGTH_MAX) return bad(`it is longer than ${PATTERN_LENGTH_MAX} characters`)
  if (countedRepeats(pattern) > REPEATS_MAX) return bad(`its counted repetitions add up to more than ${REPEATS_MAX}`)
  const compiled = await compile(pattern)
  if (typeof compiled === 'string') return bad(compiled)
  const size = compiled.programSize()
  if (size > PROGRAM_MAX) return bad('it is too large once its repetitions are written out')
  return {
    kind: 'ok',
    lengthMax: Math.floor(STEPS_PER_LINE / Math.max(size, PROGRAM_MIN)),
    mayHold: () => true,
    find: (line) => {
      // Most lines hold no match, and the test alone is the fast way to know.
      const match = compiled.test(line) ? compiled.exec(line) : null
      return match === null ? undefined : Number(Object(match).index) + 1
    },
  }
}

function countedRepeats(pattern: string): number {
  const counts = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)]
  return counts.reduce((sum, [, low, high]) => sum + Number(high === undefined || high === '' ? low : high), 0)
}

/** Look-around and back-references have no linear-time form; the engine refuses them and says so. */
async function compile(pattern: string) {
  // A megabyte that only a search by pattern needs.
  const { RE2JS } = await import('re2js')
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be read'
  }
}
