// Arguments as an expression sees them: whole numbers as integers, objects as maps that have nothing but their own entries,
// so that `args.constructor` is an argument or nothing. Counts on the way how much there is to look at.

import type { JsonValue } from '../base/json-value.ts'

export type CelValue = null | boolean | string | number | bigint | readonly CelValue[] | ReadonlyMap<string, CelValue>

/** How much a value holds: `values` of any kind, and characters of its texts and names. */
export class Weight {
  values = 0
  characters = 0
  readonly #valuesMax: number

  constructor(valuesMax: number) {
    this.#valuesMax = valuesMax
  }

  /** Throws where there is more than an expression may look at. */
  add(values: number, characters: number): void {
    this.values += values
    this.characters += characters
    if (this.values > this.#valuesMax) throw new Error('the arguments are too large for it')
  }
}

/** What a text stands for, where it can be told. */
export type ReadText = (text: string) => string

/** Numbers that are whole and exact become integers; others stay what they are. */
export function celValue(value: JsonValue, weight: Weight, read: ReadText = (text) => text): CelValue {
  weight.add(1, typeof value === 'string' ? value.length : 0)
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value === 'string') return read(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item: JsonValue) => celValue(item, weight, read))
  const entries = new Map<string, CelValue>()
  for (const [name, field] of Object.entries(value)) {
    weight.add(0, name.length)
    entries.set(name, celValue(field, weight, read))
  }
  return entries
}
