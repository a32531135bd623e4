// What one caller sees and may call: the catalogue, as far as its layers are in force, its activations hold and the policy
// admits the caller. One function answers for listing, finding and calling, so that whatever is listed can be called, and
// what is hidden answers like what never was.

import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry, ToolListing } from '../describe/entry.ts'
import { type InWorkspace, inactive } from './activation.ts'
import type { Catalogue, CatalogueItem, Found } from './catalogue.ts'

export type ViewParts = {
  readonly catalogue: Pick<Catalogue, 'version' | 'effective' | 'entryOf' | 'find' | 'missing'>
  /** The denial of a caller that may not use a tool at all. */
  readonly denies: (caller: Caller, entry: Entry) => Decision | undefined
  /** The same denial, where it is to look as if there were no such tool. */
  readonly hides: (caller: Caller, entry: Entry) => Decision | undefined
  /** Another number after every change of what `denies` looks at. */
  readonly version: () => number
  readonly inWorkspace: InWorkspace
}

type Cached = {
  readonly catalogue: number
  readonly version: number
  readonly steady: readonly Entry[]
  readonly listing: readonly ToolListing[] | undefined
}

export class Views {
  readonly #parts: ViewParts
  /** Callers are frozen and live as long as their conversation. */
  readonly #cache = new WeakMap<Caller, Cached>()

  constructor(parts: ViewParts) {
    this.#parts = parts
  }

  // INVARIANT seen-is-callable: the listing is made of entries that `find` answers with and `admit` lets through.
  /** Definitions for a model, sorted by name. The same view gives the same list, byte for byte. */
  list(caller: Caller): readonly ToolListing[] {
    const cached = this.#cached(caller)
    if (cached.listing !== undefined) return cached.listing
    return toListing(cached.steady.filter((entry) => !isAsked(entry) || this.#sees(caller, entry)))
  }

  /** What answers to a name, for this caller. A tool that is hidden from it is missing in the same words as one that is not. */
  find(caller: Caller, name: string): Found {
    const { catalogue, hides } = this.#parts
    const entry = catalogue.entryOf(name)
    if (entry === undefined) return catalogue.missing()
    const absent = this.#absent(caller, entry)
    if (absent !== undefined) return { ...catalogue.missing(), help: `\`${name}\` is hidden: ${absent}` }
    const denial = hides(caller, entry)
    if (denial === undefined) return catalogue.find(name)
    return { ...catalogue.missing(), help: `\`${name}\` is hidden: ${reasonOf(denial)}` }
  }

  /** Whether an item of the catalogue is in the caller's view, and why or why not. For the operator. */
  why(caller: Caller, { entry, shadowedBy }: CatalogueItem): { readonly seen: boolean; readonly why: string } {
    if (shadowedBy !== undefined) return { seen: false, why: `one of the same name of ${shadowedBy} shadows it` }
    if (entry.state.kind !== 'active')
      return { seen: false, why: entry.state.kind === 'held' ? `it is held: ${entry.state.reason}` : 'it is retired' }
    const absent = this.#absent(caller, entry)
    if (absent !== undefined) return { seen: false, why: absent }
    const denial = this.#parts.denies(caller, entry)
    if (denial !== undefined) return { seen: false, why: reasonOf(denial) }
    return { seen: true, why: 'its layer is in force, and nothing denies it to this caller as a whole' }
  }

  #sees(caller: Caller, entry: Entry): boolean {
    return this.#absent(caller, entry) === undefined && this.#parts.denies(caller, entry) === undefined
  }

  /** Why a tool is not there for a caller, whatever the rules say. A child has no layer or role that its parent has not. */
  #absent(caller: Caller, entry: Entry): string | undefined {
    if (caller.layers !== undefined && !caller.layers.includes(entry.layer))
      return `the layer \`${entry.layer}\` is not in force for this caller`
    return inactive(entry.activation, caller, this.#parts.inWorkspace)
  }

  /** Tools that can come and go by themselves are asked each time; all else depends on catalogue, rules and caller. */
  #cached(caller: Caller): Cached {
    const { catalogue } = this.#parts
    const version = this.#parts.version()
    const known = this.#cache.get(caller)
    if (known?.catalogue === catalogue.version && known.version === version) return known
    const steady: Entry[] = []
    let asked = false
    for (const entry of catalogue.effective()) {
      if (entry.state.kind !== 'active') continue
      if (isAsked(entry)) asked = true
      else if (!this.#sees(caller, entry)) continue
      steady.push(entry)
    }
    const listing = asked ? undefined : toListing(steady)
    const cached = { catalogue: catalogue.version, version, steady, listing }
    this.#cache.set(caller, cached)
    return cached
  }
}

/** A tool with an `admit` of its own, or one whose being there hangs on what the workspace holds. */
const isAsked = ({ tool, activation }: Entry): boolean =>
  tool.admit !== undefined || activation?.workspace !== undefined

function reasonOf({ reason, rule }: Decision): string {
  if (rule === undefined) return reason
  const place = rule.file === undefined ? '' : ` (${rule.file}:${rule.line ?? 0})`
  return `${reason}; rule: ${rule.text}${place}`
}

const toListing = (entries: readonly Entry[]): readonly ToolListing[] =>
  Object.freeze(entries.flatMap(({ listing }) => (listing === undefined ? [] : [listing])))
