// Every tool that the gate knows, by source, and the one entry that answers to each name. A stronger layer shadows a
// weaker one; two sources of one layer that claim the same name are both held back, and everything else goes on working.

import { sha256 } from '../base/digest.ts'
import type { Entry } from '../describe/entry.ts'
import { LAYERS } from '../describe/layer.ts'
import type { OfferedTool } from '../describe/source.ts'
import type { Tool } from '../describe/tool.ts'
import { buildEntry, held, type Origin } from './build-entry.ts'

export type Found =
  | { readonly kind: 'found'; readonly entry: Entry }
  | {
      readonly kind: 'missing'
      readonly code: 'not_found' | 'unavailable'
      readonly reason: string
      /** For the operator: what is hidden here, and by what. */
      readonly help?: string
    }

/** Why a rule does not fit a tool, which is then held; undefined where all fit. */
export type Fits = (entry: Entry) => string | undefined

export type CatalogueItem = { readonly entry: Entry; readonly shadowedBy?: string }

export class Catalogue {
  readonly #bySource = new Map<string, readonly Entry[]>()
  readonly #warnings = new Map<string, readonly string[]>()
  readonly #starting = new Set<string>()
  #effective: ReadonlyMap<string, Entry> = new Map()
  #items: readonly CatalogueItem[] = []
  #digest = ''
  #version = 0
  readonly #changed: () => void
  readonly #fits: Fits
  readonly #foreign = new Set<string>()
  /** What `fits` answered of each entry, under the rules that hold now. */
  #verdicts = new WeakMap<Entry, string | undefined>()

  constructor(changed: () => void = () => {}, fits: Fits = () => undefined) {
    this.#changed = changed
    this.#fits = fits
  }

  /** Digest of all effective entries: equal digests mean equal catalogues. */
  get digest(): string {
    return this.#digest
  }

  /** Another number after every change, also of one that no digest shows. */
  get version(): number {
    return this.#version
  }

  /** Entries that answer to a name, sorted by name. */
  effective(): IterableIterator<Entry> {
    return this.#effective.values()
  }

  /** Everything known, also what is shadowed or held. */
  items(): readonly CatalogueItem[] {
    return this.#items
  }

  warnings(): readonly string[] {
    return [...this.#warnings.values()].flat()
  }

  /** Puts all tools of a source in the place of those that it had, in one step: listing, check and fingerprint together. */
  replace(origin: Origin, offered: readonly OfferedTool[]): void {
    const built = offered.map((offer) =>
      offer.kind === 'tool'
        ? buildEntry(offer.tool, origin, offer.family)
        : held(standIn(offer.name), origin, offer.problem),
    )
    if (origin.foreign) this.#foreign.add(origin.source)
    else this.#foreign.delete(origin.source)
    this.#bySource.set(
      origin.source,
      built.map(({ entry }) => entry),
    )
    this.#warnings.set(
      origin.source,
      built.flatMap(({ warnings }) => warnings),
    )
    this.#settle()
  }

  /** Adds one tool to a source, in the place of one of the same name. */
  add(origin: Origin, tool: Tool): Entry {
    const { entry, warnings } = buildEntry(tool, origin)
    const others = (this.#bySource.get(origin.source) ?? []).filter((other) => other.tool.name !== tool.name)
    this.#bySource.set(origin.source, [...others, entry])
    this.#warnings.set(origin.source, [
      ...(this.#warnings.get(origin.source) ?? []).filter((text) => !text.includes(`\`${tool.name}\``)),
      ...warnings,
    ])
    this.#settle()
    return entry
  }

  retire(source: string, name: string): boolean {
    const entries = this.#bySource.get(source) ?? []
    const kept = entries.filter((entry) => entry.tool.name !== name)
    if (kept.length === entries.length) return false
    this.#bySource.set(source, kept)
    this.#settle()
    return true
  }

  /** While a source is starting, a name that is not known yet is `unavailable`, not `not_found`. */
  starting(source: string, isStarting: boolean): void {
    if (isStarting) this.#starting.add(source)
    else this.#starting.delete(source)
  }

  /** Other rules have come into force: which tools they fit is asked again. */
  judge(): void {
    this.#verdicts = new WeakMap()
    this.#settle()
  }

  /** What the operator's own sources offer, whatever the rules say of it. */
  own(): readonly Entry[] {
    return [...this.#bySource]
      .filter(([source]) => !this.#foreign.has(source))
      .flatMap(([, entries]) => entries.filter(({ state }) => state.kind === 'active'))
  }

  /** What answers to exactly this name, also where it is held: no guessing, and no folding of case. */
  entryOf(name: string): Entry | undefined {
    return this.#effective.get(name)
  }

  /** The tool of exactly this name, with no word of other tools. */
  find(name: string): Found {
    const entry = this.#effective.get(name)
    if (entry?.state.kind === 'active') return { kind: 'found', entry }
    return entry === undefined ? this.missing() : HELD
  }

  /** The answer for a name that nobody knows. */
  missing(): Found & { kind: 'missing' } {
    if (this.#starting.size > 0)
      return {
        kind: 'missing',
        code: 'unavailable',
        reason: 'there is no such tool yet, and some sources are still starting; try again shortly',
      }
    return {
      kind: 'missing',
      code: 'not_found',
      reason: 'there is no tool of this name; use exactly the names that are listed',
    }
  }

  #judged(entry: Entry): Entry {
    if (entry.state.kind !== 'active') return entry
    if (!this.#verdicts.has(entry)) this.#verdicts.set(entry, this.#fits(entry))
    const reason = this.#verdicts.get(entry)
    return reason === undefined ? entry : Object.freeze({ ...entry, state: Object.freeze({ kind: 'held', reason }) })
  }

  #settle(): void {
    const byName = new Map<string, Entry[]>()
    for (const offered of [...this.#bySource.values()].flat()) {
      const entry = this.#judged(offered)
      const known = byName.get(entry.tool.name)
      if (known === undefined) byName.set(entry.tool.name, [entry])
      else known.push(entry)
    }
    const items: CatalogueItem[] = []
    const effective = new Map<string, Entry>()
    for (const name of [...byName.keys()].sort()) {
      const ranked = rank(byName.get(name) ?? [])
      const [first] = ranked
      if (first === undefined) continue
      effective.set(name, first)
      items.push(
        ...ranked.map((entry, index) =>
          index === 0 || entry.state.kind === 'held' ? { entry } : { entry, shadowedBy: first.source },
        ),
      )
    }
    const digest = sha256(
      [...effective.values()].map(({ fingerprint, state }) => `${fingerprint}${state.kind}`).join('\n'),
    )
    this.#version += 1
    this.#effective = effective
    this.#items = items
    if (digest === this.#digest) return
    this.#digest = digest
    this.#changed()
  }
}

const HELD: Found = Object.freeze({
  kind: 'missing',
  code: 'unavailable',
  reason: 'this tool cannot be called now: its definition or its name does not hold; the operator can see why',
})

/** Strongest first; within a source and layer the newest version. Equal claims of one layer are all held back. */
function rank(entries: readonly Entry[]): readonly Entry[] {
  if (entries.length === 1) return entries
  const sorted = [...entries].sort(
    (one, other) => layerOf(one) - layerOf(other) || compareVersions(other.tool.version, one.tool.version),
  )
  const [first] = sorted
  if (first === undefined) return sorted
  const rivals = sorted.filter(
    (entry) =>
      entry.layer === first.layer && (entry.source !== first.source || entry.tool.version === first.tool.version),
  )
  if (rivals.length < 2) return sorted
  const sources = [...new Set(rivals.map(({ source }) => source))].sort().join(' and ')
  const reason = `two tools claim the name \`${first.tool.name}\`: both of ${sources}`
  return sorted.map((entry) =>
    rivals.includes(entry) ? Object.freeze({ ...entry, state: { kind: 'held', reason } as const }) : entry,
  )
}

const layerOf = (entry: Entry): number => LAYERS.indexOf(entry.layer)

/** Precedence of Semantic Versioning 2.0.0, the numeric parts and "a pre-release is older"; build metadata is ignored. */
function compareVersions(one: string, other: string): number {
  const [oneCore = '', oneTail = ''] = splitVersion(one)
  const [otherCore = '', otherTail = ''] = splitVersion(other)
  const oneParts = oneCore.split('.').map(Number)
  const otherParts = otherCore.split('.').map(Number)
  for (let index = 0; index < 3; index++) {
    const difference = (oneParts[index] ?? 0) - (otherParts[index] ?? 0)
    if (difference !== 0) return difference
  }
  if (oneTail === otherTail) return 0
  if (oneTail === '') return 1
  if (otherTail === '') return -1
  return oneTail < otherTail ? -1 : 1
}

function splitVersion(version: string): readonly string[] {
  const [precise = ''] = version.split('+')
  const dash = precise.indexOf('-')
  return dash < 0 ? [precise, ''] : [precise.slice(0, dash), precise.slice(dash + 1)]
}

/** The contract of a tool of which only the name is known. It has no run and can never have one. */
const standIn = (name: string): Tool =>
  Object.freeze({
    name,
    version: '0.0.0',
    description: 'not callable',
    input: { type: 'object' },
    effect: 'undeclared',
  } as const)
