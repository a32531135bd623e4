// Reads a regular expression of JSON Schema (ECMA-262) and writes it in the syntax of RE2, whose matching is linear in the
// text. It refuses what no linear engine can match (look-around, back-references), repeats that would make a program too
// large, and spellings that other languages read otherwise. It compiles and matches nothing.

/** `size` estimates the instructions of the program: what one character of text costs at most. */
export type PatternSyntax = {
  readonly kind: 'ok'
  readonly re2: string
  readonly size: number
  /** True where a backtracking engine is linear too: one anchored row of characters, at most one of them repeated freely. */
  readonly isPlain: boolean
  readonly usesProperties: boolean
}

export type PatternRefused = { readonly kind: 'bad'; readonly reason: string }

const NESTING_MAX = 40
/** RE2 refuses more, counting repeats inside repeats as their product. */
const REPEAT_MAX = 1_000
const PLAIN_REPEAT_MAX = 10_000
const SIZE_MAX = 2_600

export function readPatternSyntax(source: string): PatternSyntax | PatternRefused {
  const reader = new PatternReader(source)
  const part = reader.read()
  if (reader.reason !== undefined) return { kind: 'bad', reason: reader.reason }
  const { re2, usesProperties } = part
  return { kind: 'ok', re2, size: reader.isPlain ? part.plainSize : part.size, isPlain: reader.isPlain, usesProperties }
}

/**
 * One piece of a pattern. `size` counts instructions of an RE2 program. `plainSize` counts what a backtracking engine
 * tries at each place of a plain pattern: all but the one free repeat. `repeat` is the product of nested repeats.
 */
type Part = {
  readonly re2: string
  readonly size: number
  readonly plainSize: number
  readonly repeat: number
  readonly usesProperties: boolean
}

const NOTHING: Part = { re2: '', size: 0, plainSize: 0, repeat: 1, usesProperties: false }

const SPACES =
  '\\t\\n\\v\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const NO_SPACES =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}'
/** Escapes that stand for a set of characters, as the inside of a class. */
const SETS: ReadonlyMap<string, string> = new Map([
  ['d', '0-9'],
  ['D', '\\x{0}-/:-\\x{10ffff}'],
  ['w', '0-9A-Za-z_'],
  ['W', '\\x{0}-/:-@\\[-\\^`\\{-\\x{10ffff}'],
  ['s', SPACES],
  ['S', NO_SPACES],
])
const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
])
const PROPERTY_COST = 20

/** Long names of general categories that RE2 knows by their short ones. */
const CATEGORIES: ReadonlyMap<string, string> = new Map(
  (
    'Letter L,Cased_Letter LC,Uppercase_Letter Lu,Lowercase_Letter Ll,Titlecase_Letter Lt,Modifier_Letter Lm,Other_Letter Lo,Mark M,' +
    'Nonspacing_Mark Mn,Spacing_Mark Mc,Enclosing_Mark Me,Number N,Decimal_Number Nd,Letter_Number Nl,Other_Number No,Punctuation P,' +
    'Connector_Punctuation Pc,Dash_Punctuation Pd,Open_Punctuation Ps,Close_Punctuation Pe,Initial_Punctuation Pi,Final_Punctuation Pf,' +
    'Other_Punctuation Po,Symbol S,Math_Symbol Sm,Currency_Symbol Sc,Modifier_Symbol Sk,Other_Symbol So,Separator Z,Space_Separator Zs,' +
    'Line_Separator Zl,Paragraph_Separator Zp,Other C,Control Cc,Format Cf,Surrogate Cs,Private_Use Co,Unassigned Cn'
  )
    .split(',')
    .map((pair) => {
      const [long = '', short = ''] = pair.split(' ')
      return [long, short]
    }),
)

class PatternReader {
  reason: string | undefined
  isPlain = true
  readonly #source: string
  #index = 0
  #freeRepeats = 0
  #isAnchored = false

  constructor(source: string) {
    this.#source = source
  }

  read(): Part {
    this.#isAnchored = this.#source.startsWith('^')
    const part = this.#readAlternatives(0)
    if (this.reason === undefined && this.#index < this.#source.length) this.#refuse('it has a `)` too many')
    if (this.#freeRepeats > (this.#isAnchored ? 1 : 0) || part.plainSize > SIZE_MAX) this.isPlain = false
    if (!this.isPlain && part.repeat > REPEAT_MAX) this.#refuse(`it repeats something more than ${REPEAT_MAX} times`)
    if (!this.isPlain && part.size > SIZE_MAX)
      this.#refuse(`its repeats make it too large (${part.size} steps per character; at most ${SIZE_MAX})`)
    return part
  }

  #readAlternatives(depth: number): Part {
    if (depth > NESTING_MAX) {
      this.#refuse(`its groups nest deeper than ${NESTING_MAX}`)
      return NOTHING
    }
    const parts = [this.#readSequence(depth)]
    while (this.#take('|')) {
      this.isPlain = false
      parts.push(this.#readSequence(depth))
    }
    return join(parts, '|')
  }

  #readSequence(depth: number): Part {
    const parts: Part[] = []
    while (this.reason === undefined && this.#index < this.#source.length) {
      const next = this.#source[this.#index]
      if (next === '|' || next === ')') break
      parts.push(this.#readTerm(depth))
    }
    return join(parts, '')
  }

  #readTerm(depth: number): Part {
    if (this.#take('^')) return this.#assertion('^')
    if (this.#take('$')) return this.#assertion('$')
    if (this.#take('\\b')) return this.#assertion('\\b')
    if (this.#take('\\B')) return this.#assertion('\\B')
    const atom = this.#take('(') ? this.#readGroup(depth) : this.#readAtom()
    return this.reason === undefined ? this.#readRepeat(atom) : NOTHING
  }

  #assertion(re2: string): Part {
    if (/^(?:[*+?]|\{\d)/.test(this.#source.slice(this.#index))) this.#refuse(`\`${re2}\` cannot be repeated`)
    return { ...NOTHING, re2, size: 1, plainSize: 1 }
  }

  #readGroup(depth: number): Part {
    this.isPlain = false
    if (this.#take('?')) {
      if (/^<?[=!]/.test(this.#source.slice(this.#index))) {
        this.#refuse('look-ahead and look-behind cannot be checked in linear time')
        return NOTHING
      }
      const name = /^(?::|<[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*>)/u.exec(this.#source.slice(this.#index))
      if (name === null) {
        this.#refuse('`(?` opens no group that ECMA-262 knows (inline flags and `(?P<name>` belong to other languages)')
        return NOTHING
      }
      this.#index += name[0].length
    }
    const inner = this.#readAlternatives(depth + 1)
    if (this.reason === undefined && !this.#take(')')) this.#refuse('a group is not closed')
    return { ...inner, re2: `(?:${inner.re2})`, size: Math.max(inner.size, 1) }
  }

  #readRepeat(atom: Part): Part {
    const found = /^(?:[*+?]|\{(\d+)(,(\d*))?\})\??/.exec(this.#source.slice(this.#index))
    if (found === null) {
      if (/^\{,\d+\}/.test(this.#source.slice(this.#index)))
        this.#refuse('`{,n}` is no repeat in ECMA-262; write `{0,n}`')
      return atom
    }
    this.#index += found[0].length
    if (/^(?:[*+?]|\{\d)/.test(this.#source.slice(this.#index))) this.#refuse('a repeat is repeated')
    const [whole, least, comma, most] = found
    const from = least === undefined ? (whole[0] === '+' ? 1 : 0) : Number(least)
    const to = least === undefined ? (whole[0] === '?' ? 1 : Number.POSITIVE_INFINITY) : repeatEnd(from, comma, most)
    return this.#repeated(atom, from, to)
  }

  #repeated(atom: Part, from: number, to: number): Part {
    const count = to === Number.POSITIVE_INFINITY ? Math.max(from, 1) : to
    if (from > to) this.#refuse(`the repeat {${from},${to}} is out of order`)
    else if (count > PLAIN_REPEAT_MAX) this.#refuse(`it repeats something ${count} times`)
    if (this.reason !== undefined) return NOTHING
    if (from !== to) this.#freeRepeats++
    const mark = to === Number.POSITIVE_INFINITY ? openRepeat(from) : `{${from},${to}}`
    const re2 = from === 0 && to === 0 ? '(?:)' : `(?:${atom.re2})${mark}`
    const plainSize = from === to ? atom.plainSize * from : 1
    return {
      ...atom,
      re2,
      // Each copy that may be left out takes an instruction more, to choose.
      size: (from === to ? atom.size : atom.size + 1) * Math.max(count, 1) + 1,
      plainSize,
      repeat: atom.repeat * Math.max(count, 1),
    }
  }

  #readAtom(): Part {
    const character = this.#next()
    switch (character) {
      case '.':
        return one('[^\\n\\r\\x{2028}\\x{2029}]')
      case '[':
        return this.#readClass()
      case '\\':
        return this.#readEscape()
      case '*':
      case '+':
      case '?':
        this.#refuse(`\`${character}\` repeats nothing`)
        return NOTHING
      case '{':
        if (/^\d+(?:,\d*)?\}/.test(this.#source.slice(this.#index))) this.#refuse('`{` repeats nothing')
        return one(literal(123))
      default:
        return one(literal(character.codePointAt(0) ?? 0))
    }
  }

  #readEscape(): Part {
    if (/^(?:[1-9]|k<)/.test(this.#source.slice(this.#index))) {
      this.#refuse('back-references cannot be checked in linear time')
      return NOTHING
    }
    const property = this.#readProperty()
    if (property !== undefined) return { ...one(property), size: PROPERTY_COST, usesProperties: true }
    const set = SETS.get(this.#source[this.#index] ?? '')
    if (set !== undefined) {
      this.#index++
      return one(`[${set}]`)
    }
    return one(literal(this.#readEscapedCharacter()))
  }

  /** The code point that an escape stands for; the backslash is already read. */
  #readEscapedCharacter(): number {
    const rest = this.#source.slice(this.#index)
    const hex = /^(?:x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]{1,6})\})/.exec(rest)
    if (hex !== null) return this.#advance(hex[0].length, Number.parseInt(hex[1] ?? hex[2] ?? '', 16))
    const unit = /^u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|^u([0-9a-fA-F]{4})/.exec(rest)
    if (unit !== null) {
      const [whole, high, low, single] = unit
      const code =
        single === undefined
          ? 0x10000 + (((Number.parseInt(high ?? '', 16) & 0x3ff) << 10) | (Number.parseInt(low ?? '', 16) & 0x3ff))
          : Number.parseInt(single, 16)
      return this.#advance(whole.length, code)
    }
    const control = /^c([A-Za-z])/.exec(rest)
    if (control !== null) return this.#advance(2, (control[1] ?? '').charCodeAt(0) % 32)
    if (/^0(?!\d)/.test(rest)) return this.#advance(1, 0)
    const character = this.#next()
    const code = CONTROLS.get(character)
    if (code !== undefined) return code
    if (character === '') this.#refuse('it ends in a backslash')
    else if (/[\p{L}\p{N}]/u.test(character)) this.#refuse(`the escape \`\\${character}\` means nothing in ECMA-262`)
    return character.codePointAt(0) ?? 0
  }

  #advance(length: number, code: number): number {
    this.#index += length
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) this.#refuse('an escape names no character')
    return code
  }

  /** `\p{…}` in the spelling of RE2, or undefined where none stands here. */
  #readProperty(): string | undefined {
    const found = /^([pP])\{(?:(\w+)=)?(\w+)\}/.exec(this.#source.slice(this.#index))
    if (found === null) return undefined
    const [whole, sign, group, name = ''] = found
    this.#index += whole.length
    const isCategory = group === undefined || group === 'gc' || group === 'General_Category'
    const isScript = group === 'sc' || group === 'Script'
    if (!isCategory && !isScript) this.#refuse(`the property \`\\${whole}\` cannot be checked in linear time`)
    return `\\${sign}{${isCategory ? (CATEGORIES.get(name) ?? name) : name}}`
  }

  #readClass(): Part {
    const isNegated = this.#take('^')
    let inside = ''
    let usesProperties = false
    while (!this.#take(']')) {
      if (this.#index >= this.#source.length) this.#refuse('a character class is not closed')
      if (this.reason !== undefined) return NOTHING
      const from = this.#readClassAtom()
      usesProperties ||= typeof from === 'string' && /^\\[pP]/.test(from)
      if (
        this.#source[this.#index] === '-' &&
        this.#source[this.#index + 1] !== ']' &&
        this.#index + 1 < this.#source.length
      ) {
        this.#index++
        inside += this.#range(from, this.#readClassAtom())
      } else {
        inside += typeof from === 'string' ? from : literal(from)
      }
    }
    const size = usesProperties ? PROPERTY_COST : 1
    if (inside === '') return one(isNegated ? '[\\x{0}-\\x{10ffff}]' : '[^\\x{0}-\\x{10ffff}]')
    return { ...one(`[${isNegated ? '^' : ''}${inside}]`), size, usesProperties }
  }

  #range(from: number | string, to: number | string): string {
    // `[\w-.]` is a hyphen between a set and a dot: no range can end in a set, and nobody reads it otherwise.
    if (typeof from === 'string' || typeof to === 'string')
      return [from, 45, to].map((atom) => (typeof atom === 'string' ? atom : literal(atom))).join('')
    if (from > to) this.#refuse('a range is out of order')
    return `${literal(from)}-${literal(to)}`
  }

  /** A code point, or the inside of a set. */
  #readClassAtom(): number | string {
    if (!this.#take('\\')) return this.#next().codePointAt(0) ?? 0
    if (this.#take('b')) return 8
    if (this.#take('-')) return 45
    const property = this.#readProperty()
    if (property !== undefined) return property
    const set = SETS.get(this.#source[this.#index] ?? '')
    if (set === undefined) return this.#readEscapedCharacter()
    this.#index++
    return set
  }

  #next(): string {
    const code = this.#source.codePointAt(this.#index)
    if (code === undefined) return ''
    const character = String.fromCodePoint(code)
    this.#index += character.length
    return character
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#index)) return false
    this.#index += text.length
    return true
  }

  #refuse(reason: string): void {
    this.reason ??= reason
  }
}

const one = (re2: string): Part => ({ re2, size: 1, plainSize: 1, repeat: 1, usesProperties: false })

function join(parts: readonly Part[], separator: string): Part {
  let size = 0
  let plainSize = 0
  let repeat = 1
  let usesProperties = false
  for (const part of parts) {
    size += part.size + separator.length
    plainSize += part.plainSize
    repeat = Math.max(repeat, part.repeat)
    usesProperties ||= part.usesProperties
  }
  return { re2: parts.map((part) => part.re2).join(separator), size, plainSize, repeat, usesProperties }
}

function repeatEnd(from: number, comma: string | undefined, most: string | undefined): number {
  if (comma === undefined) return from
  return most === undefined || most === '' ? Number.POSITIVE_INFINITY : Number(most)
}

const openRepeat = (from: number): string => (from === 0 ? '*' : from === 1 ? '+' : `{${from},}`)

/** One character, safe inside and outside of a class. */
function literal(code: number): string {
  const isWord = (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
  return isWord ? String.fromCharCode(code) : `\\x{${code.toString(16)}}`
}
