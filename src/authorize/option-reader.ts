// Reads rules that came from outside, piece by piece, and gathers what does not hold with its key and place. It guesses
// nothing: an unknown key, a wrong type or a value that is not there is a problem, never a narrower or wider rule.

import type { ConfigPlace, ConfigProblem } from '../describe/gate-config-error.ts'

export type Fields = ReadonlyMap<string, unknown>

export class OptionReader {
  readonly problems: ConfigProblem[]
  readonly #place: ConfigPlace

  constructor(place: ConfigPlace, problems: ConfigProblem[]) {
    this.#place = place
    this.problems = problems
  }

  /** The same gathering of problems, at another place. */
  at(place: ConfigPlace): OptionReader {
    return new OptionReader({ ...this.#place, ...place }, this.problems)
  }

  problem(key: string, message: string): undefined {
    this.problems.push({ ...this.#place, key, message })
    return undefined
  }

  /** The own fields of an object. `known`: no other key may stand there. */
  fields(value: unknown, key: string, known?: readonly string[]): Fields | undefined {
    if (!isPlainObject(value)) return this.problem(key, `must be an object, not ${nameOf(value)}`)
    // Own entries in a map: a field may be called `constructor` or `__proto__`, and means nothing more than that.
    const fields = new Map(Object.entries(value))
    for (const name of fields.keys()) {
      if (known !== undefined && !known.includes(name))
        this.problem(`${key}.${name}`, `unknown key; known: ${known.join(', ')}`)
    }
    return fields
  }

  /** A text or a list of texts, as a list. An empty list stays empty: it is not the same as nothing. */
  texts(value: unknown, key: string): readonly string[] | undefined {
    if (!Array.isArray(value)) return this.#text(value, key, 'must be a text or a list of texts')
    const texts = value.map((item, index) => this.#text(item, `${key}[${index}]`, 'must be a text'))
    return texts.includes(undefined) ? undefined : texts.flatMap((text) => text ?? [])
  }

  #text(value: unknown, key: string, expected: string): readonly string[] | undefined {
    if (typeof value === 'string') return [value]
    return this.problem(key, `${expected}, not ${nameOf(value)}`)
  }
}

/** An object that holds its fields itself: what it inherits, or hides in a class, would not be read. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

export function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (value === undefined) return 'nothing'
  return typeof value === 'object' ? 'an object' : `a ${typeof value === 'string' ? 'text' : typeof value}`
}
