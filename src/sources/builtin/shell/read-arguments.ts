// Tells the arguments of a program apart as the program itself will: flags, values, operands. Whatever the grammar does not
// list in exactly that spelling is refused, so an abbreviation, a letter in a cluster or a flag of the next release is too.

import { didYouMean } from '../../../base/did-you-mean.ts'
import { type CompiledGrammar, type CompiledSlot, compiledGrammar } from './compiled-grammar.ts'
import type { ProgramGrammar } from './program-grammar.ts'
import { shownArgument } from './shown-argument.ts'

/** `lead` is what stands before the value in the same argument; empty where the value stands apart, behind its flag. */
export type Argument =
  | { readonly kind: 'flag'; readonly text: string }
  | {
      readonly kind: 'value'
      readonly flag: string
      /** As given, without the value: `-n`, `-rn`, `--max-count`. */
      readonly lead: string
      readonly isApart: boolean
      readonly value: string
      readonly slot: CompiledSlot
    }
  | { readonly kind: 'operand'; readonly text: string; readonly isBehind: boolean }
  | { readonly kind: 'ends' }

export type ArgumentsRead =
  | {
      readonly kind: 'ok'
      readonly found: readonly Argument[]
      /** Every flag that was given, those of clusters one by one. */
      readonly flags: ReadonlySet<string>
      /** How many were read: all, or those up to a subcommand. */
      readonly count: number
    }
  | { readonly kind: 'refused'; readonly code: 'unsafe_args' | 'invalid_args'; readonly message: string }

/** No argument of another form is longer. */
const FORM_MAX = 1_024

type Refused = Extract<ArgumentsRead, { kind: 'refused' }>

export function readArguments(grammar: ProgramGrammar, name: string, given: readonly string[]): ArgumentsRead {
  return new ArgumentReader(grammar, name, given).read()
}

class ArgumentReader {
  readonly #grammar: ProgramGrammar
  readonly #compiled: CompiledGrammar
  readonly #name: string
  readonly #given: readonly string[]
  readonly #found: Argument[] = []
  readonly #flags = new Set<string>()
  #at = 0
  #refused: Refused | undefined

  constructor(grammar: ProgramGrammar, name: string, given: readonly string[]) {
    this.#grammar = grammar
    this.#compiled = compiledGrammar(grammar)
    this.#name = name
    this.#given = given
  }

  read(): ArgumentsRead {
    let isBehind = false
    while (this.#at < this.#given.length) {
      const text = this.#given[this.#at] ?? ''
      if (this.#grammar.literal === true || isBehind) this.#found.push({ kind: 'operand', text, isBehind })
      else if (text === '--' && this.#grammar.ends !== false) {
        isBehind = true
        this.#found.push({ kind: 'ends' })
      } else if (!this.#readFlag(text)) {
        if (this.#refused !== undefined) return this.#refused
        if (this.#compiled.subcommands.size > 0) break
        this.#found.push({ kind: 'operand', text, isBehind })
      }
      this.#at += 1
    }
    return { kind: 'ok', found: this.#found, flags: this.#flags, count: this.#at }
  }

  /** Whether this argument is a flag. Not being one is an operand, unless it was refused. */
  #readFlag(text: string): boolean {
    if (this.#compiled.flags.has(text) && !this.#takesNext(text)) return this.#flag(text, text)
    if (!text.startsWith('-') || text === '-') return false
    if (this.#compiled.values.has(text)) return this.#apart(text, text)
    if (text.length <= FORM_MAX && this.#compiled.forms.some((form) => form.test(text))) return this.#flag(text, text)
    const isLong = text.startsWith('--')
    return isLong ? this.#joined(text) : this.#cluster(text)
  }

  /** Of a flag that may go without its value at the end: whether it has one. */
  #takesNext(text: string): boolean {
    return this.#compiled.values.has(text) && this.#at + 1 < this.#given.length
  }

  #flag(text: string, ...names: readonly string[]): boolean {
    for (const name of names) this.#flags.add(name)
    this.#found.push({ kind: 'flag', text })
    return true
  }

  /** The value is the next argument, whatever it is: so do the programs read it. */
  #apart(lead: string, flag: string): boolean {
    const slot = this.#compiled.values.get(flag)
    const value = this.#given[this.#at + 1]
    if (slot === undefined) return this.#refuse(`${this.#name} does not take ${shownArgument(flag)}`)
    if (value === undefined)
      return this.#refuse(`the flag ${shownArgument(flag)} of \`${this.#name}\` needs a value`, 'invalid_args')
    if (!this.#mayFollow(value))
      return this.#refuse(
        `the value ${shownArgument(value)} of the flag ${shownArgument(flag)} of \`${this.#name}\` begins with a dash; join it to the flag`,
      )
    this.#at += 1
    return this.#value(flag, lead, value, slot, true)
  }

  /** Whether no program of this kind takes it for a flag. Some look for `--` before they look at anything else. */
  #mayFollow(value: string): boolean {
    const { getopt = false, anyValue = getopt, ends = true } = this.#grammar
    if (!value.startsWith('-') || getopt) return true
    return anyValue && !(value === '--' && ends)
  }

  #value(flag: string, lead: string, value: string, slot: CompiledSlot, isApart: boolean): boolean {
    this.#flags.add(flag)
    this.#found.push({ kind: 'value', flag, lead, isApart, value, slot })
    return true
  }

  #joined(text: string): boolean {
    const equals = text.indexOf('=')
    if (equals < 0) return this.#refuseFlag(text)
    const flag = text.slice(0, equals)
    const slot = this.#compiled.values.get(flag) ?? this.#compiled.joined.get(flag)
    return slot === undefined ? this.#refuseFlag(flag) : this.#value(flag, flag, text.slice(equals + 1), slot, false)
  }

  /** `-rn`, `-n5`, `-rnA3`: letters of flags, the last of which may have a value behind it. */
  #cluster(text: string): boolean {
    const letters: string[] = []
    for (let index = 1; index < text.length; index++) {
      const flag = `-${text[index]}`
      const slot = this.#compiled.values.get(flag)
      if (slot !== undefined) return this.#clusterValue(text, index, letters, flag, slot)
      if (!this.#compiled.clusters.has(text[index] ?? '')) return this.#refuseFlag(text, flag)
      letters.push(flag)
    }
    return this.#flag(text, ...letters)
  }

  #clusterValue(text: string, index: number, letters: readonly string[], flag: string, slot: CompiledSlot): boolean {
    for (const letter of letters) this.#flags.add(letter)
    const lead = text.slice(0, index + 1)
    return index + 1 === text.length
      ? this.#apart(lead, flag)
      : this.#value(flag, lead, text.slice(index + 1), slot, false)
  }

  #refuse(message: string, code: Refused['code'] = 'unsafe_args'): false {
    this.#refused = { kind: 'refused', code, message }
    return false
  }

  #refuseFlag(text: string, letter?: string): false {
    const { values, joined, flags, clusters, instead } = this.#compiled
    // Only where letters can stand together does one of them say what is wrong.
    const isCluster = letter !== undefined && letter !== text && clusters.size > 0
    const part = isCluster ? `, of which ${shownArgument(letter)} is not allowed` : ''
    const shown = `\`${this.#name}\` may not be run with the flag ${shownArgument(text)}${part}`
    const hint = instead.get(text) ?? (letter === undefined ? undefined : instead.get(letter))
    if (hint !== undefined) return this.#refuse(`${shown}; ${hint}`)
    const known = [...flags, ...values.keys(), ...joined.keys(), ...[...clusters].map((one) => `-${one}`)]
    const abbreviated = text.length > 3 ? known.find((flag) => flag.startsWith(text) && flag !== text) : undefined
    const near = abbreviated ?? (text.length > 2 ? didYouMean(text, known) : undefined)
    if (near === undefined || near === text) return this.#refuse(shown)
    return this.#refuse(`${shown}; flags are taken in their exact spelling only: did you mean \`${near}\``)
  }
}
