// What one caller sees and may call: the catalogue as far as the policy admits the caller. One function answers for
// listing and for calling, so that whatever is listed can be called.

import type { Caller } from '../describe/caller.ts'
import type { Entry, ToolListing } from '../describe/entry.ts'
import type { Catalogue } from './catalogue.ts'

/** Whether a caller may use a tool at all. */
export type Admits = (caller: Caller, entry: Entry) => boolean

type Cached = {
  readonly version: number
  readonly steady: readonly Entry[]
  readonly listing: readonly ToolListing[] | undefined
}

export class Views {
  readonly #catalogue: Catalogue
  readonly #admits: Admits
  /** Callers are frozen and live as long as their conversation. */
  readonly #cache = new WeakMap<Caller, Cached>()

  constructor(catalogue: Catalogue, admits: Admits) {
    this.#catalogue = catalogue
    this.#admits = admits
  }

  // INVARIANT seen-is-callable: the listing is made of entries that `find` answers with and `admit` lets through.
  /** Definitions for a model, sorted by name. The same view gives the same list, byte for byte. */
  list(caller: Caller): readonly ToolListing[] {
    const cached = this.#cached(caller)
    if (cached.listing !== undefined) return cached.listing
    return toListing(cached.steady.filter((entry) => entry.tool.admit === undefined || this.#admits(caller, entry)))
  }

  /** Tools with an `admit` of their own are asked each time; everything else depends only on catalogue and caller. */
  #cached(caller: Caller): Cached {
    const known = this.#cache.get(caller)
    if (known?.version === this.#catalogue.version) return known
    const steady: Entry[] = []
    let asked = false
    for (const entry of this.#catalogue.effective()) {
      if (entry.state.kind !== 'active') continue
      if (entry.tool.admit !== undefined) asked = true
      else if (!this.#admits(caller, entry)) continue
      steady.push(entry)
    }
    const cached = { version: this.#catalogue.version, steady, listing: asked ? undefined : toListing(steady) }
    this.#cache.set(caller, cached)
    return cached
  }
}

const toListing = (entries: readonly Entry[]): readonly ToolListing[] =>
  Object.freeze(entries.flatMap(({ listing }) => (listing === undefined ? [] : [listing])))
