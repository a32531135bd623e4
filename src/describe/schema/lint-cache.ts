// Remembers how schemas were judged, by the digest of their text: an upstream that tells its tools again, changed or not,
// does not make the same work again. Bounded in entries and in text; the ones not asked for the longest go first. It
// keeps nothing that depends on who asked.

import { sha256 } from '../../base/digest.ts'
import type { JsonObject } from '../../base/json-value.ts'
import { type LintedSchema, lintSchema, type SchemaLimits, type SchemaRefused } from './lint-schema.ts'

type Entry = { readonly linted: LintedSchema | SchemaRefused; readonly characters: number }

export class LintCache {
  readonly #limits: SchemaLimits
  readonly #entriesMax: number
  readonly #charactersMax: number
  /** In the order of their last use. */
  readonly #entries = new Map<string, Entry>()
  #characters = 0

  /** `charactersMax`: the texts of all remembered schemas together. */
  constructor(limits: SchemaLimits, entriesMax: number, charactersMax: number) {
    this.#limits = limits
    this.#entriesMax = entriesMax
    this.#charactersMax = charactersMax
  }

  /** As `lintSchema`, not strict. `text` is the JSON text of the frozen `root`, which an equal one may stand for. */
  lint(root: JsonObject, text: string): LintedSchema | SchemaRefused {
    const digest = sha256(text)
    const known = this.#entries.get(digest)
    const entry = known ?? { linted: lintSchema(root, this.#limits, false), characters: text.length }
    if (known === undefined) this.#characters += entry.characters
    this.#entries.delete(digest)
    this.#entries.set(digest, entry)
    this.#makeRoom()
    return entry.linted
  }

  #makeRoom(): void {
    for (const [digest, { characters }] of this.#entries) {
      if (this.#entries.size <= this.#entriesMax && this.#characters <= this.#charactersMax) return
      this.#entries.delete(digest)
      this.#characters -= characters
    }
  }
}
