// Splits one line into the words of one command, for models that write commands as text. No shell reads it: quotes and
// backslashes only. It refuses, outside quotes, everything that a shell would do something with, instead of taking it
// literally, so that no line means one thing to its writer and another to the program.

export type SplitCommandLine =
  | { readonly kind: 'ok'; readonly words: readonly string[] }
  | { readonly kind: 'refused'; readonly code: 'unsafe_args' | 'invalid_args'; readonly message: string }

const LENGTH_MAX = 65_536
const WORDS_MAX = 1_001

/** Active anywhere outside quotes. */
const ACTIVE = new Set('|&;<>()$`*?[]{}')
/** Active only where a word begins, or where a shell might take it for a beginning. */
const ACTIVE_AT_START = new Set('~#!')
/** What some readers of a line take for a blank or for nothing: parsers disagree, so none is taken outside quotes. */
const AMBIGUOUS = /[\p{Zs}\p{Zl}\p{Zp}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\ufffe\uffff]/u
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/

const unsafe = (message: string): SplitCommandLine => ({ kind: 'refused', code: 'unsafe_args', message })
const invalid = (message: string): SplitCommandLine => ({ kind: 'refused', code: 'invalid_args', message })

/** The words of a line, the first of them the program. Never throws. */
export function splitCommandLine(text: string): SplitCommandLine {
  if (text.length > LENGTH_MAX) return invalid(`the command is longer than ${LENGTH_MAX} characters`)
  if (!text.isWellFormed()) return invalid('the command holds half of a character')
  if (CONTROL.test(text)) return unsafe('the command has to be one line without control characters')
  if (DIRECTION.test(text)) return unsafe('the command holds a character that changes the reading direction')
  const reader = new LineReader(text)
  const words = reader.read()
  if (words === undefined) return reader.refused
  if (words.length === 0) return invalid('the command is empty; give a program and its arguments')
  if (words.length > WORDS_MAX) return invalid(`the command has more than ${WORDS_MAX - 1} arguments`)
  return { kind: 'ok', words }
}

class LineReader {
  readonly #characters: readonly string[]
  #at = 0
  #words: string[] = []
  /** Undefined between words; an empty text inside one, so that `''` is a word. */
  #word: string | undefined
  refused: SplitCommandLine = unsafe('the command cannot be read')

  constructor(text: string) {
    this.#characters = [...text]
  }

  read(): readonly string[] | undefined {
    while (this.#at < this.#characters.length) {
      const character = this.#characters[this.#at] ?? ''
      this.#at += 1
      if (character === ' ' || character === '\t') this.#endWord()
      else if (!this.#readOne(character)) return undefined
    }
    this.#endWord()
    return this.#words
  }

  #readOne(character: string): boolean {
    if (character === "'") return this.#single()
    if (character === '"') return this.#double()
    if (character === '\\') return this.#escaped()
    if (!this.#isPlain(character)) return false
    this.#word = (this.#word ?? '') + character
    return true
  }

  #isPlain(character: string): boolean {
    if (ACTIVE.has(character)) return this.#refuse(active(character))
    if (AMBIGUOUS.test(character))
      return this.#refuse('the command holds a blank or an invisible character that is no space; put it in quotes')
    if (ACTIVE_AT_START.has(character) && this.#isActiveHere(character)) return this.#refuse(active(character))
    if (character === '=' && this.#words.length === 0 && /^[A-Za-z_]\w*\+?$/.test(this.#word ?? ''))
      return this.#refuse('variables cannot be set before a command')
    return true
  }

  /** `HEAD~1` and `a#1` are words like others to every shell; so is a lone `!` behind a program, as of `find`. */
  #isActiveHere(character: string): boolean {
    if (character === '!') return !(this.#word === undefined && this.#words.length > 0 && this.#isLastOfWord())
    return this.#word === undefined || (character === '~' && /[=:]$/.test(this.#word))
  }

  #isLastOfWord(): boolean {
    const next = this.#characters[this.#at]
    return next === ' ' || next === '\t'
  }

  #single(): boolean {
    const end = this.#characters.indexOf("'", this.#at)
    if (end < 0) return this.#refuse("a quote `'` is not closed")
    this.#word = (this.#word ?? '') + this.#characters.slice(this.#at, end).join('')
    this.#at = end + 1
    return true
  }

  #double(): boolean {
    let inside = ''
    while (this.#at < this.#characters.length) {
      const character = this.#characters[this.#at] ?? ''
      this.#at += 1
      if (character === '"') {
        this.#word = (this.#word ?? '') + inside
        return true
      }
      if (character === '`' || (character === '$' && !isLiteralDollar(this.#characters[this.#at])))
        return this.#refuse(
          `${character === '`' ? 'a backtick' : `\`${character}\``} in double quotes would be replaced by a shell; use single quotes to mean it literally`,
        )
      const next = this.#characters[this.#at]
      if (character === '\\' && next !== undefined && '$`"\\'.includes(next)) {
        inside += next
        this.#at += 1
      } else inside += character
    }
    return this.#refuse('a quote `"` is not closed')
  }

  #escaped(): boolean {
    const next = this.#characters[this.#at]
    if (next === undefined) return this.#refuse('the command ends in a backslash')
    if (next !== ' ' && AMBIGUOUS.test(next))
      return this.#refuse('the command holds a blank or an invisible character that is no space; put it in quotes')
    this.#word = (this.#word ?? '') + next
    this.#at += 1
    return true
  }

  #endWord(): void {
    if (this.#word !== undefined) this.#words.push(this.#word)
    this.#word = undefined
  }

  #refuse(message: string): false {
    this.refused = unsafe(message)
    return false
  }
}

/** At the end of a word or a pattern, as in `"x$"`, a dollar is one to every shell. */
const isLiteralDollar = (next: string | undefined): boolean => next !== undefined && '" |)'.includes(next)

const active = (character: string): string =>
  `${character === '`' ? 'a backtick' : `\`${character}\``} outside quotes means something to a shell, and there is none here; quote it to mean it literally, and run one command at a time`
