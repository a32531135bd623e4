// Globs over names and slash-separated paths, matched without backtracking over what has matched: rules and models write
// them, so no pattern may cost more than the length of its alternatives times the length of the text. `*` and `?` stay
// inside a segment, `**` spans segments (also beside other characters: `rm **`), `[a-z]`, `[!x]` and `{a,b}` have their
// usual meaning, `\` quotes the next character. Dots are ordinary characters. Nothing is trimmed, decoded or folded.

import { type PlainToken, readFlatGlob, readGlob, type SegmentTokens } from './glob-syntax.ts'

/** A compiled glob over names, in which a slash is a character like others. */
export type NameGlob = { readonly kind: 'ok'; readonly pattern: string; matches(text: string): boolean }

/** A compiled glob over paths. A folder is given by its segments; the top is the empty list. */
export type Glob = NameGlob & {
  /** The alternatives without wildcards, unquoted. */
  readonly literals: readonly string[]
  /** What every text that matches an alternative begins and ends with, one for each alternative. */
  readonly ends: readonly GlobEnds[]
  /** Whether everything below a folder matches, however deep. */
  coversBelow(folder: readonly string[]): boolean
  /** Whether anything below a folder could match. */
  concernsBelow(folder: readonly string[]): boolean
}

/** Whole parts: the folder or text that it begins with, and its last part. Undefined where a wildcard stands there. */
export type GlobEnds = { readonly start: string | undefined; readonly last: string | undefined }

export type BadGlob = { readonly kind: 'bad'; readonly reason: string }
export type GlobResult = Glob | BadGlob

/** Compiles a glob of at most 1,024 characters, 64 alternatives and 4,096 characters over all alternatives. */
export function compileGlob(pattern: string): GlobResult {
  const alternatives = readGlob(pattern)
  if (typeof alternatives === 'string') return { kind: 'bad', reason: alternatives }
  return new PathGlob(
    pattern,
    alternatives.map((segments) => segments.map(compileSegment)),
  )
}

/** Compiles a glob over names that are no paths: tools, sources, users. Every star spans everything. */
export function compileNameGlob(pattern: string): NameGlob | BadGlob {
  const alternatives = readFlatGlob(pattern)
  if (typeof alternatives === 'string') return { kind: 'bad', reason: alternatives }
  return new FlatGlob(pattern, alternatives.map(compileSegment))
}

// Classes and not closures: the engine compiles a method once for all globs, and a closure once for each.

class PathGlob implements Glob {
  readonly kind = 'ok'
  readonly pattern: string
  readonly literals: readonly string[]
  readonly #wild: readonly Path[]
  readonly #all: readonly (readonly Segment[])[]

  constructor(pattern: string, alternatives: readonly (readonly Segment[])[]) {
    this.pattern = pattern
    this.#all = alternatives
    this.literals = alternatives.flatMap((segments) => literalOf(segments) ?? [])
    this.#wild = alternatives.filter((segments) => literalOf(segments) === undefined).map(pathOf)
  }

  get ends(): readonly GlobEnds[] {
    return this.#all.map(endsOf)
  }

  matches(text: string): boolean {
    for (const literal of this.literals) if (literal === text) return true
    for (const path of this.#wild) if (matchesPath(path, text)) return true
    return false
  }

  coversBelow(folder: readonly string[]): boolean {
    return this.#wild.some(({ segments }) => {
      const last = segments.length - 1
      return segments[last]?.kind === 'deep' && (last === 0 || placesAfter(segments, folder).has(last))
    })
  }

  concernsBelow(folder: readonly string[]): boolean {
    return this.#all.some((segments) => {
      if (segments[0]?.kind === 'deep') return true
      return [...placesAfter(segments, folder)].some((place) => place < segments.length)
    })
  }
}

class FlatGlob implements NameGlob {
  readonly kind = 'ok'
  readonly pattern: string
  readonly #alternatives: readonly Segment[]

  constructor(pattern: string, alternatives: readonly Segment[]) {
    this.pattern = pattern
    this.#alternatives = alternatives
  }

  matches(text: string): boolean {
    for (const segment of this.#alternatives) if (matchesPart(segment, text, 0, text.length)) return true
    return false
  }
}

type Segment =
  | { readonly kind: 'deep' }
  | { readonly kind: 'literal'; readonly text: string }
  /** Literal runs with stars between them: `first*middle*last`. */
  | {
      readonly kind: 'runs'
      readonly first: string
      readonly middle: readonly string[]
      readonly last: string
      readonly lengthMin: number
    }
  | { readonly kind: 'tokens'; readonly tokens: readonly PlainToken[]; readonly lengthMin: number }

function compileSegment(tokens: SegmentTokens): Segment {
  if (tokens === 'deep') return { kind: 'deep' }
  const runs: string[] = ['']
  let lengthMin = 0
  for (const token of tokens) {
    if (token.kind === 'many') runs.push('')
    else lengthMin++
    if (token.kind === 'literal') runs.push(`${runs.pop() ?? ''}${token.char}`)
  }
  if (tokens.some(({ kind }) => kind === 'one' || kind === 'set')) return { kind: 'tokens', tokens, lengthMin }
  const first = runs.shift() ?? ''
  const last = runs.pop()
  if (last === undefined) return { kind: 'literal', text: first }
  const middle = runs.filter((run) => run !== '')
  return { kind: 'runs', first, middle, last, lengthMin: [first, ...middle, last].join('').length }
}

function literalOf(segments: readonly Segment[]): string | undefined {
  const texts = segments.flatMap((segment) => (segment.kind === 'literal' ? segment.text : []))
  return texts.length === segments.length ? texts.join('/') : undefined
}

function endsOf(segments: readonly Segment[]): GlobEnds {
  const plain: string[] = []
  for (const segment of segments) {
    if (segment.kind !== 'literal') break
    plain.push(segment.text)
  }
  const last = segments.at(-1)
  return { start: plain.join('/') || undefined, last: last?.kind === 'literal' ? last.text : undefined }
}

/** An alternative with wildcards, and what tells at a glance that a text does not match. */
type Path = {
  readonly segments: readonly Segment[]
  readonly last: Segment
  /** How every text that matches ends. */
  readonly ending: string
  /** A `**` and one segment: the last part decides alone. */
  readonly lastOnly: boolean
}

function pathOf(segments: readonly Segment[]): Path {
  const last: Segment = segments.at(-1) ?? { kind: 'literal', text: '' }
  const ending = last.kind === 'literal' ? last.text : last.kind === 'runs' ? last.last : ''
  return { segments, last, ending, lastOnly: segments.length === 2 && segments[0]?.kind === 'deep' }
}

function matchesPath({ segments, last, ending, lastOnly }: Path, text: string): boolean {
  if (last.kind === 'deep') return segments.length === 1 || matchesSegments(segments, text)
  if (!text.endsWith(ending) || !matchesPart(last, text, text.lastIndexOf('/') + 1, text.length)) return false
  return lastOnly || matchesSegments(segments, text)
}

/** One walk over the parts. After a `**`, a part that does not fit moves that `**` on; earlier ones never move again. */
function matchesSegments(segments: readonly Segment[], text: string): boolean {
  let place = 0
  let start = 0
  let deepPlace = -1
  let deepStart = 0
  while (start <= text.length) {
    const segment = segments[place]
    if (segment?.kind === 'deep') {
      deepPlace = ++place
      deepStart = start
      if (place === segments.length) return true
    } else if (segment !== undefined && matchesPart(segment, text, start, partEnd(text, start))) {
      place++
      start = partEnd(text, start) + 1
    } else if (deepPlace >= 0) {
      place = deepPlace
      deepStart = partEnd(text, deepStart) + 1
      start = deepStart
    } else return false
  }
  while (segments[place]?.kind === 'deep') place++
  return place === segments.length
}

function partEnd(text: string, start: number): number {
  const end = text.indexOf('/', start)
  return end < 0 ? text.length : end
}

function matchesPart(segment: Segment, text: string, start: number, end: number): boolean {
  switch (segment.kind) {
    case 'deep':
      return true
    case 'literal':
      return end - start === segment.text.length && text.startsWith(segment.text, start)
    case 'runs':
      return matchesRuns(segment, text, start, end)
    case 'tokens':
      return end - start >= segment.lengthMin && matchesTokens(segment.tokens, text, start, end)
  }
}

/** The first and last run are anchored; each run between takes the leftmost place that is left. */
function matchesRuns(segment: Segment & { kind: 'runs' }, text: string, start: number, end: number): boolean {
  const { first, middle, last } = segment
  if (end - start < segment.lengthMin || !text.startsWith(first, start) || !text.endsWith(last, end)) return false
  if (middle.length === 0) return true
  const between = text.slice(start + first.length, end - last.length)
  let at = 0
  for (const run of middle) {
    const found = between.indexOf(run, at)
    if (found < 0) return false
    at = found + run.length
  }
  return true
}

/** After a `*`, a character that does not fit moves that star on; earlier stars never move again. */
function matchesTokens(tokens: readonly PlainToken[], text: string, start: number, end: number): boolean {
  let at = start
  let place = 0
  let starPlace = -1
  let starAt = start
  while (at < end) {
    const token = tokens[place]
    const point = text.codePointAt(at) ?? 0
    if (token?.kind === 'many') {
      starPlace = ++place
      starAt = at
    } else if (token !== undefined && matchesPoint(token, point)) {
      place++
      at += width(point)
    } else if (starPlace >= 0) {
      place = starPlace
      starAt += width(text.codePointAt(starAt) ?? 0)
      at = starAt
    } else return false
  }
  while (tokens[place]?.kind === 'many') place++
  return place === tokens.length
}

const width = (point: number): number => (point > 0xffff ? 2 : 1)

function matchesPoint(token: PlainToken, point: number): boolean {
  if (token.kind === 'literal') return token.char.codePointAt(0) === point
  if (token.kind === 'set') return token.ranges.some(([low, high]) => point >= low && point <= high) !== token.negated
  return token.kind === 'one'
}

/** Every place in a pattern that may be next once the parts of a folder have been taken. */
function placesAfter(segments: readonly Segment[], folder: readonly string[]): ReadonlySet<number> {
  let places = spread(segments, [0])
  for (const part of folder) {
    const next: number[] = []
    for (const place of places) {
      const segment = segments[place]
      if (segment?.kind === 'deep') next.push(place)
      else if (segment !== undefined && matchesPart(segment, part, 0, part.length)) next.push(place + 1)
    }
    places = spread(segments, next)
  }
  return places
}

/** A `**` may stand for nothing, so the place behind it is open as well. */
function spread(segments: readonly Segment[], places: readonly number[]): ReadonlySet<number> {
  const open = new Set<number>()
  for (let place of places) {
    open.add(place)
    while (segments[place]?.kind === 'deep') open.add(++place)
  }
  return open
}
