// Finds values that are known: credentials that were handed out. Each is found as it is and in every common encoding, of which a
// text may mix several: percent, JSON, HTML, hexadecimal, base64 in both alphabets at each of the three places where it can
// begin in what was encoded, also where that was broken into lines.

import { literalPattern } from './find-shapes.ts'
import type { Finding } from './finding.ts'
import { type Candidate, PairScanner } from './pair-scanner.ts'

/** `name`: how a marker calls it. */
export type SecretValue = { readonly name: string; readonly value: string }

/** Shorter ones would be found in harmless words; they are not looked for. */
const VALUE_MIN = 8
/** Lines of broken base64 or hexadecimal have at least so many characters. */
const BROKEN_LINE_MIN = 20

export class ExactValues {
  /** Ways in which they may be written, each with the characters by which it is noticed. */
  readonly candidates: readonly Candidate[]
  /** Characters of the longest one of several lines, however it is written; 0 where there is none. */
  readonly spanMax: number
  readonly isEmpty: boolean
  readonly #scanner: PairScanner
  /** Those that no two characters of ASCII stand in. */
  readonly #foreign: readonly SecretValue[]

  constructor(values: readonly SecretValue[]) {
    const known = [...values]
      .filter(({ value }) => value.length >= VALUE_MIN)
      .sort((one, other) => other.value.length - one.value.length)
    this.isEmpty = known.length === 0
    this.spanMax = known.reduce(
      (most, { value }) => (/[\r\n]/.test(value) ? Math.max(most, value.length * 8) : most),
      0,
    )
    const encoded = known.flatMap(({ name, value }) =>
      [...new Set(encodings(value))].map((text) => literal(text, name)),
    )
    this.#foreign = known.filter(({ value }) => !ASCII_PAIR.test(value))
    this.candidates = [...encoded, ...known.flatMap(({ name, value }) => [...escaped(value, name)])]
    this.#scanner = new PairScanner(encoded, { mayStandBefore: () => false, at: () => {} })
  }

  /**
   * What no pair of characters tells. Blocks of lines that are all of one alphabet are looked at as if their line breaks were
   * not there.
   */
  findBroken(text: string, into: Finding[]): void {
    for (const { name, value } of this.#foreign)
      for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length))
        into.push({ from: at, to: at + value.length, name })
    if (this.isEmpty || !text.includes('\n')) return
    for (const block of brokenBlocks(text)) {
      const found: Finding[] = []
      this.#scanner.find(block.text, found, [])
      for (const { from, to, name } of found) into.push({ from: block.at(from), to: block.at(to - 1) + 1, name })
    }
  }
}

const ASCII_PAIR = /[\x00-\x7f]{2,}/

/** Texts beyond ASCII are noticed by their first bytes of it, where they have two. */
function literal(text: string, name: string): Candidate {
  const ascii = ASCII_PAIR.exec(text)
  const anchor = ascii === null ? text : ascii[0]
  const lead = ascii?.index ?? 0
  return {
    ...{ anchor, always: true },
    tryAt: (of, at) =>
      of.startsWith(text, at - lead) ? { from: at - lead, to: at - lead + text.length, name } : undefined,
  }
}

/** Noticed where an escape of the first character begins, or where the second one is one. */
function* escaped(value: string, name: string): Generator<Candidate> {
  const pattern = new RegExp(escapedPattern(value), 'y')
  const tryAt: Candidate['tryAt'] = (text, at) => {
    pattern.lastIndex = at
    return pattern.test(text) ? { from: at, to: pattern.lastIndex, name } : undefined
  }
  const [first = '', second = ''] = [...value]
  const byte = Buffer.from(first)[0] ?? 0
  const hex = byte.toString(16).padStart(2, '0')
  const leads = new Set(['\\u', '\\x', '&#', `%${hex.charAt(0)}`, `%${hex.charAt(0).toUpperCase()}`, '%2'])
  for (const after of ['%', '\\', '&', '+', second]) leads.add(first + after)
  for (const [character, name] of Object.entries(HTML)) if (character === first) leads.add(`&${name.charAt(0)}`)
  if (/["\\/'\n\r\t]/.test(first)) leads.add(`\\${JSON_LETTER[first] ?? first}`)
  for (const anchor of leads) if (/^[\x00-\x7f]{2}$/.test(anchor)) yield { anchor, tryAt, always: true }
}

const JSON_LETTER: Readonly<Record<string, string>> = { '\n': 'n', '\r': 'r', '\t': 't' }

/** Base64 in an address, and in JSON of writers that escape slashes. */
const BASE64_ESCAPED = [
  ['%2B', '%2F'],
  ['%2b', '%2f'],
  ['%252B', '%252F'],
  ['+', '\\/'],
] as const

/** The value as it is, in hexadecimal, and in base64 without the characters that it shares with what stands around it. */
function* encodings(value: string): Generator<string> {
  const bytes = Buffer.from(value)
  yield value
  yield bytes.toString('hex')
  yield bytes.toString('hex').toUpperCase()
  for (let shift = 0; shift < 3; shift += 1) {
    const whole = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    const text = whole.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6))
    yield text
    yield text.replaceAll('+', '-').replaceAll('/', '_')
    for (const [plus, slash] of BASE64_ESCAPED) yield text.replaceAll('+', plus).replaceAll('/', slash)
  }
}

const HTML: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }
/** JSON in JSON escapes what escapes: one, three, seven of them. */
const ESCAPES = '\\\\(?:\\\\\\\\(?:\\\\{4})?)?'
const JSON_SHORT: Readonly<Record<string, string>> = {
  ...{ '"': `${ESCAPES}"`, '\\': `${ESCAPES}\\\\`, '/': `${ESCAPES}/`, "'": `${ESCAPES}'` },
  ...{ '\n': `${ESCAPES}n`, '\r': `${ESCAPES}r`, '\t': `${ESCAPES}t` },
}

/** Each character as it is or escaped in any way, whatever way its neighbours are. */
const escapedPattern = (value: string): string => [...value].map(escapedCharacter).join('')

function escapedCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const hex = (digits: string): string => digits.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
  const percent = [...Buffer.from(character)]
    .map((byte) => `%(?:25)?${hex(byte.toString(16).padStart(2, '0'))}`)
    .join('')
  const units = Array.from(character, (_, index) => index)
    .map((index) => `\\\\u${hex(character.charCodeAt(index).toString(16).padStart(4, '0'))}`)
    .join('')
  const ways = [literalPattern(character), percent, units, `&#0{0,4}${code};`, `&#[xX]0{0,4}${hex(code.toString(16))};`]
  const [html, json] = [HTML[character], JSON_SHORT[character]]
  if (code < 256) ways.push(`\\\\x${hex(code.toString(16).padStart(2, '0'))}`)
  if (html !== undefined) ways.push(`&${html};`)
  if (json !== undefined) ways.push(json)
  if (character === ' ') ways.push('\\+')
  return `(?:${ways.join('|')})`
}

type Block = { readonly text: string; at(index: number): number }

/** Runs of at least two lines of base64 or hexadecimal, without their line breaks. */
function* brokenBlocks(text: string): Generator<Block> {
  let start = 0
  let lines = 0
  for (let end = text.indexOf('\n'), next = 0; next <= text.length; end = text.indexOf('\n', next)) {
    const stop = end < 0 ? text.length : end
    const to = text.charCodeAt(stop - 1) === 13 ? stop - 1 : stop
    const from = next
    const isLine = isEncodedLine(text, from, to)
    if (isLine && lines === 0) start = from
    if (isLine) lines += 1
    const goesOn = isLine && to - from >= BROKEN_LINE_MIN && end >= 0
    if (!goesOn) {
      if (lines > 1) yield joined(text, start, stop)
      lines = 0
    }
    next = stop + 1
    if (end < 0) return
  }
}

/** The last line of a block may be short, so only its alphabet counts. */
function isEncodedLine(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at)
    const holds =
      (code >= 97 && code <= 122) ||
      (code >= 65 && code <= 90) ||
      (code >= 47 && code <= 57) ||
      code === 43 ||
      code === 45 ||
      code === 61 ||
      code === 95
    if (!holds) return false
  }
  return to > from
}

function joined(text: string, from: number, to: number): Block {
  const piece = text.slice(from, to)
  const at = (index: number): number => {
    let left = index
    for (let place = 0; place < piece.length; place += 1) {
      const code = piece.charCodeAt(place)
      if (code === 10 || code === 13) continue
      if (left === 0) return from + place
      left -= 1
    }
    return to
  }
  return { text: piece.replaceAll(/[\r\n]/g, ''), at }
}
