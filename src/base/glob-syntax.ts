// Reads the text of a glob into alternatives of segments: braces, sets, quoting and stars. It matches nothing, and refuses
// a pattern that it cannot read rather than guessing at one that never matches.

export type Token =
  | { readonly kind: 'literal'; readonly char: string }
  | { readonly kind: 'one' }
  | { readonly kind: 'many' }
  | { readonly kind: 'deep' }
  | { readonly kind: 'slash' }
  | { readonly kind: 'set'; readonly negated: boolean; readonly ranges: readonly (readonly [number, number])[] }

/** What matches within one segment. */
export type PlainToken = Exclude<Token, { kind: 'deep' | 'slash' }>

/** A whole `**`, or the tokens of one segment. */
export type SegmentTokens = 'deep' | readonly PlainToken[]

const PATTERN_MAX = 1_024
const ALTERNATIVES_MAX = 64
/** Over all alternatives: what one text may be compared with. */
const TOKENS_MAX = 4_096

const MANY: Token = { kind: 'many' }
const SLASH: Token = { kind: 'slash' }
const DEEP: Token = { kind: 'deep' }

/** All alternatives of a pattern, each a list of segments; a text is the reason why not. */
export function readGlob(pattern: string): readonly (readonly SegmentTokens[])[] | string {
  const alternatives = readAlternatives(pattern)
  if (typeof alternatives === 'string') return alternatives
  const all: (readonly SegmentTokens[])[] = []
  for (const tokens of alternatives) {
    const spread = spreadDeep(tokens)
    if (typeof spread === 'string') return spread
    all.push(...spread)
    if (all.length > ALTERNATIVES_MAX) return tooMany
  }
  if (all.flat(2).length > TOKENS_MAX) return tooLong
  return all
}

/** The same for a text that is no path: a slash is a character like others, and every star spans everything. */
export function readFlatGlob(pattern: string): readonly (readonly PlainToken[])[] | string {
  const alternatives = readAlternatives(pattern)
  if (typeof alternatives === 'string') return alternatives
  return alternatives.map((tokens) => tokens.map(flatToken))
}

function flatToken(token: Token): PlainToken {
  if (token.kind === 'deep') return { kind: 'many' }
  return token.kind === 'slash' ? { kind: 'literal', char: '/' } : token
}

const tooMany = `the pattern has more than ${ALTERNATIVES_MAX} alternatives`
const tooLong = `the alternatives of the pattern are longer than ${TOKENS_MAX} characters together`

function readAlternatives(pattern: string): readonly (readonly Token[])[] | string {
  if (pattern === '') return 'the pattern is empty'
  if (pattern.length > PATTERN_MAX) return `the pattern is longer than ${PATTERN_MAX} characters`
  const texts = expandBraces(pattern)
  if (typeof texts === 'string') return texts
  const alternatives: (readonly Token[])[] = []
  let length = 0
  for (const text of texts) {
    const tokens = readTokens(text)
    if (typeof tokens === 'string') return tokens
    length += tokens.length
    if (length > TOKENS_MAX) return tooLong
    alternatives.push(tokens)
  }
  return alternatives
}

/** A `**` beside other characters stands for a run within the segment, or for one that spans segments: two alternatives. */
function spreadDeep(tokens: readonly Token[]): readonly (readonly SegmentTokens[])[] | string {
  const done: (readonly SegmentTokens[])[] = []
  const pending = [tokens]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const at = next.findIndex((token, index) => token.kind === 'deep' && !standsAlone(next, index))
    if (at < 0) done.push(splitSegments(next))
    else
      for (const stars of [[MANY], [MANY, SLASH, DEEP, SLASH, MANY]])
        pending.push([...next.slice(0, at), ...stars, ...next.slice(at + 1)])
    if (done.length + pending.length > ALTERNATIVES_MAX) return tooMany
  }
  return done
}

const standsAlone = (tokens: readonly Token[], index: number): boolean =>
  (tokens[index - 1]?.kind ?? 'slash') === 'slash' && (tokens[index + 1]?.kind ?? 'slash') === 'slash'

function splitSegments(tokens: readonly Token[]): readonly SegmentTokens[] {
  const segments: SegmentTokens[] = []
  let plain: PlainToken[] = []
  let deep = false
  for (const token of [...tokens, SLASH]) {
    if (token.kind === 'deep') deep = true
    else if (token.kind !== 'slash') plain.push(token)
    else {
      if (!deep) segments.push(plain)
      else if (segments.at(-1) !== 'deep') segments.push('deep')
      plain = []
      deep = false
    }
  }
  return segments
}

function readTokens(text: string): readonly Token[] | string {
  const characters = [...text]
  const tokens: Token[] = []
  for (let index = 0; index < characters.length; index++) {
    const char = characters[index] ?? ''
    if (char === '\\') {
      const quoted = characters[++index]
      if (quoted === undefined) return 'the pattern ends with a lone backslash'
      tokens.push(quoted === '/' ? SLASH : { kind: 'literal', char: quoted })
    } else if (char === '/') tokens.push(SLASH)
    else if (char === '?') tokens.push({ kind: 'one' })
    else if (char === '*') {
      const start = index
      while (characters[index + 1] === '*') index++
      tokens.push(index > start ? DEEP : MANY)
    } else if (char === '[') {
      const set = readSet(characters, index)
      if (typeof set === 'string') return set
      tokens.push(set.token)
      index = set.end
    } else tokens.push({ kind: 'literal', char })
  }
  return tokens
}

type SetRead = { readonly token: Token; readonly end: number }

function readSet(characters: readonly string[], start: number): SetRead | string {
  let index = start + 1
  const negated = characters[index] === '!' || characters[index] === '^'
  if (negated) index++
  const ranges: (readonly [number, number])[] = []
  const first = index
  while (index < characters.length && (characters[index] !== ']' || index === first)) {
    const low = readSetCharacter(characters, index)
    index = low.next
    let high = low
    if (characters[index] === '-' && index + 1 < characters.length && characters[index + 1] !== ']') {
      high = readSetCharacter(characters, index + 1)
      index = high.next
    }
    if (low.point < 0 || high.point < 0) break
    if (low.point > high.point) return 'a range in `[]` runs backwards'
    ranges.push([low.point, high.point])
  }
  if (characters[index] !== ']') return 'a `[` has no `]`'
  return { token: { kind: 'set', negated, ranges }, end: index }
}

/** One character of a set, quoted or not. A negative point: the pattern is over. */
function readSetCharacter(
  characters: readonly string[],
  index: number,
): { readonly point: number; readonly next: number } {
  const at = characters[index] === '\\' ? index + 1 : index
  return { point: characters[at]?.codePointAt(0) ?? -1, next: at + 1 }
}

/** All alternatives of `{a,b}`, also nested; a text is the reason why not. */
function expandBraces(pattern: string): readonly string[] | string {
  const done: string[] = []
  let pending = [pattern]
  while (pending.length > 0) {
    const next: string[] = []
    for (const text of pending) {
      const group = findGroup(text)
      if (typeof group === 'string') return group
      if (group === undefined) done.push(text)
      else next.push(...group.options.map((option) => group.before + option + group.after))
      if (done.length + next.length > ALTERNATIVES_MAX) return tooMany
    }
    pending = next
  }
  return done
}

type Group = { readonly before: string; readonly options: readonly string[]; readonly after: string }

/** The first brace group of a text; undefined where there is none. */
function findGroup(text: string): Group | undefined | string {
  let depth = 0
  let start = -1
  let from = 0
  const options: string[] = []
  for (let index = 0; index < text.length; index++) {
    const char = text[index]
    if (char === '\\') index++
    else if (char === '{') {
      if (depth++ > 0) continue
      start = index
      from = index + 1
    } else if (char === '}') {
      if (depth === 0) return 'a `}` has no `{`'
      if (--depth > 0) continue
      return {
        before: text.slice(0, start),
        options: [...options, text.slice(from, index)],
        after: text.slice(index + 1),
      }
    } else if (char === ',' && depth === 1) {
      options.push(text.slice(from, index))
      from = index + 1
    }
  }
  return depth > 0 ? 'a `{` has no `}`' : undefined
}
