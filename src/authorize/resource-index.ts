// Finds the rules that may speak of what a call touches, without looking at all of them: most patterns over files begin or
// end with a plain name, and so does every file. It narrows only what certainly cannot hold; whatever is not that simple
// gets all rules.

import type { Touches } from '../describe/resource.ts'
import type { ResourcePattern, Touched } from './resource-condition.ts'

/** Below this many rules, looking at all of them is cheaper. */
const WORTH = 8

export type TouchingCall = { readonly touches: Touches; readonly filtered: boolean; touched(): readonly Touched[] }

export class ResourceIndex<Item> {
  readonly #all: readonly Item[]
  /** Items whose every pattern begins or ends with a plain name, under each of those names. */
  readonly #byName = new Map<string, Item[]>()
  readonly #others: Item[] = []

  constructor(items: readonly Item[], patternsOf: (item: Item) => readonly ResourcePattern[]) {
    this.#all = items
    for (const item of items) {
      const names = patternsOf(item).flatMap(namesOf)
      if (names.includes(undefined)) this.#others.push(item)
      else for (const name of new Set(names)) this.#add(name ?? '', item)
    }
  }

  get size(): number {
    return this.#all.length
  }

  all(): readonly Item[] {
    return this.#all
  }

  /** All items that may hold, some perhaps twice, in no particular order. */
  candidates(call: TouchingCall): readonly Item[] {
    if (this.#all.length <= WORTH || call.touches.kind !== 'known') return this.#all
    const found: Item[] = [...this.#others]
    for (const touch of call.touched()) {
      if (!touch.isFile || !touch.settled) return this.#all
      // Anything below a folder may be spoken of, unless the tool asks for each file: then only the folder's own names count.
      if (touch.whole && !(call.filtered && touch.verb === 'read')) return this.#all
      for (const spelling of touch.spellings.relative) {
        const path = spelling === '' ? '.' : spelling
        const first = path.indexOf('/')
        this.#take(found, `first ${first < 0 ? path : path.slice(0, first)}`)
        this.#take(found, `last ${path.slice(path.lastIndexOf('/') + 1)}`)
      }
    }
    return found
  }

  #add(name: string, item: Item): void {
    const items = this.#byName.get(name)
    if (items === undefined) this.#byName.set(name, [item])
    else items.push(item)
  }

  #take(found: Item[], name: string): void {
    const items = this.#byName.get(name)
    if (items !== undefined) for (const item of items) found.push(item)
  }
}

/** The plain name of each alternative; undefined where one has none. */
function namesOf({ isFile, absolute, glob }: ResourcePattern): readonly (string | undefined)[] {
  if (!isFile || absolute) return [undefined]
  return glob.ends.map(({ first, last }) => {
    if (first !== undefined) return `first ${first}`
    return last === undefined ? undefined : `last ${last}`
  })
}
