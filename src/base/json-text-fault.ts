// Finds the first fault of JSON text: where it is, what was expected there and what came. It is the slow reader, run only
// on text that was refused, and it judges by the grammar of RFC 8259 and the bounds, never by guessing what was meant.

import { isTakenNumber, isWellFormed, type JsonBounds, type JsonRefused, jsonPath } from './json-value.ts'

/** `offset` counts UTF-16 units from 0, `line` and `column` from 1. */
export type TextPlace = { readonly offset: number; readonly line: number; readonly column: number }

export type TextFault = Omit<JsonRefused, 'kind'> & { readonly place: TextPlace }

/** The first fault of the text, or undefined where it has none. Linear; nests no deeper than the bounds. */
export function findTextFault(text: string, bounds: JsonBounds): TextFault | undefined {
  const reader = new FaultReader(text, bounds)
  reader.readText()
  return reader.fault
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /[\p{L}\p{N}_$.+-]+/uy
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const VALUE = 'a value'

class FaultReader {
  fault: TextFault | undefined
  readonly #text: string
  readonly #bounds: JsonBounds
  readonly #steps: (string | number)[] = []
  #offset = 0
  #keys = 0

  constructor(text: string, bounds: JsonBounds) {
    this.#text = text
    this.#bounds = bounds
  }

  readText(): void {
    if (this.#text.charCodeAt(0) === 0xfeff) {
      this.#blame('JSON without a byte order mark', 'a byte order mark')
      return
    }
    if (!this.#readValue(0)) return
    this.#skipBlanks()
    if (this.#offset < this.#text.length) this.#blame('the end of the text', this.#here())
  }

  #readValue(depth: number): boolean {
    this.#skipBlanks()
    const character = this.#text[this.#offset]
    if (character === '{' || character === '[') {
      if (depth >= this.#bounds.depthMax)
        return this.#blame(`at most ${this.#bounds.depthMax} levels of nesting`, 'more', 'oversized')
      this.#offset++
      return character === '{' ? this.#readObject(depth) : this.#readArray(depth)
    }
    if (character === '"') return this.#readString() !== undefined
    if (character === '-' || (character !== undefined && character >= '0' && character <= '9'))
      return this.#readNumber()
    for (const word of ['true', 'false', 'null']) {
      if (this.#match(WORD) === word) {
        this.#offset += word.length
        return true
      }
    }
    return this.#blame(VALUE, this.#here())
  }

  #readObject(depth: number): boolean {
    const seen = new Set<string>()
    for (let isFirst = true; ; isFirst = false) {
      this.#skipBlanks()
      if (isFirst && this.#take('}')) return true
      if (this.#text[this.#offset] !== '"')
        return this.#blame(isFirst ? 'a key in double quotes or `}`' : 'a key in double quotes', this.#here())
      const start = this.#offset
      const key = this.#readString()
      if (key === undefined) return false
      if (!this.#admitKey(key, start, seen)) return false
      this.#skipBlanks()
      if (!this.#take(':')) return this.#blame('`:`', this.#here())
      this.#steps.push(key)
      const valueStart = this.#offset
      if (!this.#readValue(depth + 1) || !this.#admitConstructor(key, valueStart)) return false
      this.#steps.pop()
      this.#skipBlanks()
      if (this.#take('}')) return true
      if (!this.#take(',')) return this.#blame('`,` or `}`', this.#here())
    }
  }

  #admitKey(key: string, start: number, seen: Set<string>): boolean {
    this.#keys++
    if (this.#keys > this.#bounds.keysMax)
      return this.#blame(`at most ${this.#bounds.keysMax} keys in all`, 'more', 'oversized')
    if (key === '__proto__') return this.#blame('no key of this name', '`__proto__`', 'invalid_args', start)
    if (seen.has(key)) return this.#blame('each key once', `${quote(key)} again`, 'invalid_args', start)
    seen.add(key)
    return true
  }

  #admitConstructor(key: string, start: number): boolean {
    if (key !== 'constructor') return true
    const value: unknown = JSON.parse(this.#text.slice(start, this.#offset))
    const isDangerous = typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
    return isDangerous ? this.#blame('no `prototype` below `constructor`', 'one', 'invalid_args', start) : true
  }

  #readArray(depth: number): boolean {
    this.#skipBlanks()
    if (this.#take(']')) return true
    for (let index = 0; ; index++) {
      this.#steps.push(index)
      if (!this.#readValue(depth + 1)) return false
      this.#steps.pop()
      this.#skipBlanks()
      if (this.#take(']')) return true
      if (!this.#take(',')) return this.#blame('`,` or `]`', this.#here())
    }
  }

  #readString(): string | undefined {
    const start = this.#offset
    for (this.#offset++; this.#offset < this.#text.length; this.#offset++) {
      const code = this.#text.charCodeAt(this.#offset)
      if (code === 34) {
        this.#offset++
        return this.#admitString(start)
      }
      if (code < 32) return this.#blameString('no control character inside a string')
      if (code === 92) {
        const sequence = this.#match(ESCAPE)
        if (sequence === undefined) return this.#blameString('an escape such as `\\n` or `\\u0041`')
        this.#offset += sequence.length - 1
      }
    }
    return this.#blameString('the closing `"`')
  }

  #blameString(expected: string): undefined {
    this.#blame(expected, this.#here())
    return undefined
  }

  #admitString(start: number): string | undefined {
    const value: unknown = JSON.parse(this.#text.slice(start, this.#offset))
    if (typeof value === 'string' && isWellFormed(value)) return value
    this.#blame('well-formed Unicode', 'half of a surrogate pair', 'invalid_args', start)
    return undefined
  }

  #readNumber(): boolean {
    const start = this.#offset
    const number = this.#match(NUMBER)
    if (number === undefined) return this.#blame('a digit', this.#here(1), 'invalid_args', start)
    this.#offset += number.length
    if (this.#match(WORD) !== undefined)
      return this.#blame('a JSON number', `\`${excerpt(number + (this.#match(WORD) ?? ''))}\``, 'invalid_args', start)
    if (!Number.isFinite(Number(number)))
      return this.#blame('a finite number', `\`${excerpt(number)}\``, 'invalid_args', start)
    // A large number without an exponent was meant to the last digit, and would not be kept so.
    const isInteger = Math.abs(Number(number)) > Number.MAX_SAFE_INTEGER && !/e/i.test(number)
    if (isTakenNumber(Number(number)) && !isInteger) return true
    return this.#blame(
      'an integer of at most 2^53 - 1, or a string that holds it',
      `\`${excerpt(number)}\``,
      'invalid_args',
      start,
    )
  }

  #skipBlanks(): void {
    for (; this.#offset < this.#text.length; this.#offset++) {
      const code = this.#text.charCodeAt(this.#offset)
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return
    }
  }

  #take(character: string): boolean {
    if (this.#text[this.#offset] !== character) return false
    this.#offset++
    return true
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#offset
    return pattern.exec(this.#text)?.[0]
  }

  /** What stands here, for a reader. */
  #here(ahead = 0): string {
    if (this.#offset + ahead >= this.#text.length) return 'the end of the text'
    const word = this.#match(WORD)
    if (word !== undefined) return `\`${excerpt(word)}\``
    const character = String.fromCodePoint(this.#text.codePointAt(this.#offset + ahead) ?? 0)
    return /[\p{C}\p{Z}]/u.test(character) ? codePointName(character) : `\`${character}\``
  }

  #blame(expected: string, came: string, code: JsonRefused['code'] = 'invalid_args', offset = this.#offset): false {
    const lines = this.#text.slice(0, offset).split(/\r\n|\n|\r/)
    const place = { offset, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
    this.fault ??= { code, path: jsonPath(this.#steps), expected, came, place }
    return false
  }
}

const excerpt = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text)

const quote = (key: string): string => `\`${excerpt(JSON.stringify(key))}\``

const codePointName = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
