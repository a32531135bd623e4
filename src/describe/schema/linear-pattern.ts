// A pattern that is matched in time linear in the text, whatever the text: plain ones by the engine of JavaScript, all
// others by RE2. It refuses what cannot be matched so. Nothing is compiled before the first match, and RE2 is not even
// loaded before a pattern needs it.

import { createRequire } from 'node:module'
import { readPatternSyntax } from './pattern-syntax.ts'

/** `test` says whether the pattern matches anywhere; `stepsFor` what that costs at most on so many UTF-16 units. */
export type LinearPattern = {
  readonly source: string
  readonly size: number
  stepsFor(length: number): number
  test(text: string): boolean
}

export type PatternRead =
  | { readonly kind: 'ok'; readonly pattern: LinearPattern }
  | { readonly kind: 'bad'; readonly reason: string }

const LENGTH_MAX = 512
/** Characters times instructions that one step pays for. */
const NATIVE_SPEED = 32
const RE2_SPEED = 4
/**
 * RE2 keeps the states that it has met, up to megabytes for one pattern. After so many steps it starts afresh, so that
 * no series of hostile texts can fill the memory through a schema of many patterns.
 */
const STEPS_BEFORE_RESTART = 20_000

/** Reads a regular expression of JSON Schema: ECMA-262 with the `u` flag, unanchored. Never throws. */
export function readPattern(source: string): PatternRead {
  if (source.length > LENGTH_MAX) return bad(`it has ${source.length} characters; at most ${LENGTH_MAX}`)
  const parts = splitLeadingLooks(source)
  if (parts === undefined) return readOne(source)
  const read: { readonly pattern: LinearPattern; readonly isWanted: boolean }[] = []
  for (const { inner, isWanted } of parts) {
    const part = readOne(inner)
    if (part.kind === 'bad') return part
    read.push({ pattern: part.pattern, isWanted })
  }
  const size = read.reduce((sum, { pattern }) => sum + pattern.size, 0)
  const test = (text: string): boolean => read.every(({ pattern, isWanted }) => pattern.test(text) === isWanted)
  const stepsFor = (length: number): number => read.reduce((sum, { pattern }) => sum + pattern.stepsFor(length), 0)
  return { kind: 'ok', pattern: { source, size, stepsFor, test } }
}

function readOne(source: string): PatternRead {
  const syntax = readPatternSyntax(source)
  if (syntax.kind === 'bad') return syntax
  const stepsFor = (length: number): number =>
    1 + Math.trunc((length * syntax.size) / (syntax.isPlain ? NATIVE_SPEED : RE2_SPEED))
  let match: ((text: string) => boolean) | undefined
  let stepsLeft = STEPS_BEFORE_RESTART
  const pattern: LinearPattern = {
    source,
    size: syntax.size,
    stepsFor,
    test(text) {
      match ??= (syntax.isPlain ? nativeTest(source) : undefined) ?? re2Test(syntax.re2)
      const matches = match(text)
      stepsLeft -= stepsFor(text.length)
      if (stepsLeft < 0) {
        match = undefined
        stepsLeft = STEPS_BEFORE_RESTART
      }
      return matches
    },
  }
  // Only RE2 itself knows the names of all scripts, so a pattern that uses one is compiled at once.
  if (!syntax.usesProperties) return { kind: 'ok', pattern }
  try {
    match = re2Test(syntax.re2)
    return { kind: 'ok', pattern }
  } catch {
    return bad('it names a Unicode property that cannot be checked in linear time')
  }
}

const bad = (reason: string): PatternRead => ({ kind: 'bad', reason })

function nativeTest(source: string): ((text: string) => boolean) | undefined {
  try {
    const native = new RegExp(source, 'u')
    return (text) => native.test(text)
  } catch {
    // Spellings that only other modes of ECMA-262 take, such as `\_`, are left to RE2.
    return undefined
  }
}

type Look = { readonly inner: string; readonly isWanted: boolean }

/**
 * `^(?=A)(?!B)C` asks three questions at the start of the text, and each can be asked alone: does `^A` match, does `^B`
 * not, does `^C`? That is how most look-aheads in schemas are used. Undefined where the pattern has another form.
 */
function splitLeadingLooks(source: string): readonly Look[] | undefined {
  if (!/^\^\(\?[=!]/.test(source)) return undefined
  const looks: Look[] = []
  let rest = source.slice(1)
  while (/^\(\?[=!]/.test(rest)) {
    const end = closingParenthesis(rest)
    if (end === undefined || /^(?:[*+?]|\{\d)/.test(rest.slice(end + 1))) return undefined
    looks.push({ inner: `^(?:${rest.slice(3, end)})`, isWanted: rest[2] === '=' })
    rest = rest.slice(end + 1)
  }
  return hasAlternatives(rest) ? undefined : [...looks, { inner: `^${rest}`, isWanted: true }]
}

/** Every character that is neither escaped nor inside a class, with its offset. */
function* syntaxCharacters(source: string): Generator<readonly [string, number]> {
  let isInClass = false
  for (let index = 0; index < source.length; index++) {
    const character = source[index] ?? ''
    if (character === '\\') index++
    else if (isInClass) isInClass = character !== ']'
    else if (character === '[') isInClass = true
    else yield [character, index]
  }
}

function closingParenthesis(source: string): number | undefined {
  let depth = 0
  for (const [character, index] of syntaxCharacters(source)) {
    if (character === '(') depth++
    if (character === ')' && --depth === 0) return index
  }
  return undefined
}

function hasAlternatives(source: string): boolean {
  let depth = 0
  for (const [character] of syntaxCharacters(source)) {
    if (character === '(') depth++
    if (character === ')') depth--
    if (character === '|' && depth === 0) return true
  }
  return false
}

const load = createRequire(import.meta.url)
let re2: typeof import('re2js') | undefined

function re2Test(source: string): (text: string) => boolean {
  re2 ??= load('re2js') as typeof import('re2js')
  const compiled = re2.RE2JS.compile(source)
  return (text) => compiled.test(text)
}
