// The rules of one answer that speak of one tool, in the order in which they are asked, and a way to the few of them that
// can hold for what a call touches: most patterns begin or end with plain names, and so does every file. It passes over
// what certainly cannot hold; whatever is not that simple gets all rules.

import type { ResourcePattern, Touched } from './resource-condition.ts'
import type { Question, Rule } from './rule.ts'

/** Up to this many rules about resources, looking at each is cheaper. */
const WORTH = 8

type Places = Map<string, number[]>

/** The places of rules by what their patterns over one kind of resource begin with, or else end with. */
type Names = { readonly starts: Places; readonly lasts: Places }

export class RuleList {
  readonly rules: readonly Rule[]
  /** Those that are always asked, with their places in the order. */
  readonly #plain: readonly number[]
  /** Those whose every pattern begins or ends with plain names, by kind. */
  readonly #byKind: ReadonlyMap<string, Names> | undefined

  constructor(rules: readonly Rule[]) {
    this.rules = rules
    const sorted =
      rules.filter(({ resources }) => resources !== undefined).length > WORTH ? sortByName(rules) : undefined
    this.#byKind = sorted?.byKind
    this.#plain = sorted?.plain ?? rules.map((_, index) => index)
  }

  /** The first rule that holds. */
  find(question: Question, holds: (rule: Rule) => boolean): Rule | undefined {
    const named = this.#named(question)
    if (named === 'all') return this.rules.find(holds)
    let first = Number.POSITIVE_INFINITY
    for (const place of named) if (place < first && this.#holds(place, holds)) first = place
    for (const place of this.#plain) {
      if (place > first) break
      if (this.#holds(place, holds)) return this.rules[place]
    }
    return this.rules[first]
  }

  #holds(place: number, holds: (rule: Rule) => boolean): boolean {
    const rule = this.rules[place]
    return rule !== undefined && holds(rule)
  }

  #named(question: Question): readonly number[] | 'all' {
    const byKind = this.#byKind
    if (byKind === undefined || question.touches.kind === 'unknown') return NONE
    if (question.touches.kind === 'malformed') return 'all'
    let found: number[] | undefined
    for (const touch of question.touched()) {
      if (!touch.settled) return 'all'
      // Anything below a folder may be spoken of, unless the tool asks for each file: then only the folder's own names count.
      if (touch.whole && !(touch.isFile && question.filtersReads && touch.verb === 'read')) return 'all'
      const names = byKind.get(touch.kind)
      if (names !== undefined) found = takeNamed(names, touch, found)
    }
    return found ?? NONE
  }
}

const NONE: readonly number[] = []

/** Adds every rule with a name under which a pattern that speaks of this would stand. */
function takeNamed(names: Names, { isFile, spellings }: Touched, found: number[] | undefined): number[] | undefined {
  const { absolute, relative } = spellings
  let all = found
  for (const spelling of absolute) all = takeSpelled(names, spelling, all)
  if (relative !== absolute)
    for (const spelling of relative) all = takeSpelled(names, spelling === '' && isFile ? '.' : spelling, all)
  return all
}

function takeSpelled({ starts, lasts }: Names, path: string, found: number[] | undefined): number[] | undefined {
  let all = found
  if (lasts.size > 0) all = joined(all, lasts.get(path.slice(path.lastIndexOf('/') + 1)))
  if (starts.size === 0) return all
  all = joined(all, starts.get(path))
  for (let end = path.indexOf('/', 1); end > 0; end = path.indexOf('/', end + 1))
    all = joined(all, starts.get(path.slice(0, end)))
  return all
}

function joined(found: number[] | undefined, places: readonly number[] | undefined): number[] | undefined {
  if (places === undefined) return found
  return found === undefined ? [...places] : found.concat(places)
}

type Sorted = { readonly plain: readonly number[]; readonly byKind: ReadonlyMap<string, Names> }

function sortByName(rules: readonly Rule[]): Sorted {
  const plain: number[] = []
  const byKind = new Map<string, Names>()
  for (const [place, { resources }] of rules.entries()) {
    const named = resources?.flatMap(patternNames)
    if (named === undefined || named.includes(undefined)) plain.push(place)
    else for (const name of named) if (name !== undefined) add(byKind, name, place)
  }
  return { plain, byKind }
}

function add(byKind: Map<string, Names>, { kind, start, last }: PlainName, place: number): void {
  const names = byKind.get(kind) ?? { starts: new Map(), lasts: new Map() }
  byKind.set(kind, names)
  const [places, name] = start === undefined ? [names.lasts, last] : [names.starts, start]
  const known = places.get(name)
  if (known === undefined) places.set(name, [place])
  else if (known.at(-1) !== place) known.push(place)
}

type PlainName = { readonly kind: string; readonly start: string | undefined; readonly last: string }

/** One plain name for each alternative of a pattern; undefined where one has none. */
function patternNames({ kind, glob }: ResourcePattern): readonly (PlainName | undefined)[] {
  if (glob.pattern.includes('\\')) return [undefined]
  return glob.ends.map(({ start, last = '' }) =>
    start === undefined && last === '' ? undefined : { kind, start, last },
  )
}
