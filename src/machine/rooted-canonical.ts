// Turns a path that a model wrote into the one form that will be opened: below the root, without `..` and without links, in
// the spelling of the disk. Each link on the way is followed as the kernel would follow it; one that leaves the root, leads
// in a circle or hangs outside is refused. It opens nothing, and what it finds may change: opening follows no link again.

import * as fs from 'node:fs'
import { isAbsolute } from 'node:path'
import { attempt, type EntryKind } from './rooted-failure.ts'
import type { OwnGuard } from './rooted-own.ts'
import { OUTSIDE, type Platform, rootedPath } from './rooted-path.ts'

const LINKS_MAX = 40

export type CanonicalPath = {
  readonly kind: 'ok'
  /** Relative to the root, `/` between names; `.` for the root itself. */
  readonly relative: string
  readonly absolute: string
  /** What stood there. */
  readonly found: EntryKind | 'missing'
  /** The last name of the path as given was a link. */
  readonly isLink: boolean
  /** The names as given, `..` taken as text: a link may be spelled here that `relative` no longer shows. */
  readonly spelled: readonly string[]
  /** The names at the end of `relative` that do not exist yet. */
  readonly missing: readonly string[]
}

export type Canonical = CanonicalPath | { readonly kind: 'refused'; readonly reason: string }

export type CanonicalRoot = {
  /** The real path, then other spellings of the same folder. */
  readonly spellings: readonly string[]
  readonly platform: Platform
  /** The file system below takes several spellings for one name, so names are looked up in their folder. */
  readonly foldsCase: () => boolean
  readonly own: OwnGuard
}

const refused = (reason: string): Canonical => ({ kind: 'refused', reason })

export function canonicalPath(root: CanonicalRoot, input: unknown): Canonical {
  const judged = rootedPath(input, root.spellings, root.platform)
  if (judged.kind === 'refused') return judged
  const walked = new LinkWalk(root).follow(judged.segments)
  if ('refused' in walked) return refused(walked.refused)
  const { names, isLink } = walked
  const relative = names.join('/') || '.'
  const absolute = absoluteOf(root.spellings[0] ?? '/', relative)
  if (root.own.covers(absolute))
    return refused('this path belongs to the gate itself and is out of reach of every tool')
  const spelled = judged.relative === '.' ? [] : judged.relative.split('/')
  return { kind: 'ok', relative, absolute, found: walked.found, isLink, spelled, missing: names.slice(walked.solid) }
}

/** The absolute path of a canonical relative one. */
export const absoluteOf = (root: string, relative: string): string =>
  relative === '.' ? root : root.endsWith('/') ? root + relative : `${root}/${relative}`

type Walked = {
  readonly names: readonly string[]
  readonly found: EntryKind | 'missing'
  readonly solid: number
  readonly isLink: boolean
}
type Stop = { readonly refused: string }

/** One walk over the names of a path, in the order in which the kernel would take them. */
class LinkWalk {
  readonly #root: CanonicalRoot
  readonly #rootPath: string
  #names: string[] = []
  /** How many of the names are directories that exist; names beyond them are taken as text. */
  #solid = 0
  #links = 0
  #isLink = false

  constructor(root: CanonicalRoot) {
    this.#root = root
    this.#rootPath = root.spellings[0] ?? '/'
  }

  follow(segments: readonly string[]): Walked | Stop {
    let pending: readonly string[] = segments
    for (let name = pending[0]; name !== undefined; name = pending[0]) {
      const rest = pending.slice(1)
      const next = name === '..' ? this.#up(rest) : this.#down(name, rest)
      if ('refused' in next) return next
      pending = next
    }
    return this.#ending()
  }

  #up(rest: readonly string[]): readonly string[] | Stop {
    if (this.#names.pop() === undefined) return { refused: OUTSIDE }
    this.#solid = Math.min(this.#solid, this.#names.length)
    return rest
  }

  #down(name: string, rest: readonly string[]): readonly string[] | Stop {
    const exists = this.#solid === this.#names.length
    const stat = exists ? attempt(() => fs.lstatSync(this.#path(name))) : { kind: 'missing' as const }
    if (!('kind' in stat))
      return stat.isSymbolicLink() ? this.#link(name, rest) : this.#step(name, stat.isDirectory(), rest)
    if (stat.kind === 'missing' || stat.kind === 'not-a-directory') return this.#push(name, rest)
    return { refused: 'the path cannot be looked up' }
  }

  #step(name: string, isDirectory: boolean, rest: readonly string[]): readonly string[] | Stop {
    const spelling = this.#root.foldsCase() ? this.#spellingOnDisk(name) : name
    if (spelling === undefined) return { refused: 'a name in the path is not spelled as its folder lists it' }
    if (isDirectory) this.#solid++
    return this.#push(spelling, rest)
  }

  #push(name: string, rest: readonly string[]): readonly string[] {
    this.#names.push(name)
    return rest
  }

  #link(name: string, rest: readonly string[]): readonly string[] | Stop {
    if (++this.#links > LINKS_MAX) return { refused: 'the path leads through too many links, or in a circle' }
    if (rest.length === 0) this.#isLink = true
    const below = this.#targetBelow(name)
    if (below === undefined) return { refused: OUTSIDE }
    this.#names = []
    this.#solid = 0
    return [...below, ...rest]
  }

  /** Where a link leads, as names below the root; undefined where it leaves the root or cannot be read. */
  #targetBelow(name: string): readonly string[] | undefined {
    const path = this.#path(name)
    const target = attempt(() => fs.readlinkSync(path))
    if (typeof target !== 'string') return undefined
    const { spellings, platform } = this.#root
    const judged = rootedPath(isAbsolute(target) ? target : this.#path(target), spellings, platform)
    if (judged.kind === 'ok') return judged.segments
    // Another way round may still end inside, through a link above the root: ask the kernel.
    const real = attempt(() => fs.realpathSync.native(path))
    const inside = typeof real === 'string' ? rootedPath(real, spellings, platform) : undefined
    return inside?.kind === 'ok' ? inside.segments : undefined
  }

  #ending(): Walked {
    const names = this.#names
    if (this.#solid === names.length) return { names, found: 'directory', solid: this.#solid, isLink: this.#isLink }
    const stat =
      this.#solid === names.length - 1
        ? attempt(() => fs.lstatSync(`${this.#rootPath}/${names.join('/')}`))
        : { kind: 'missing' as const }
    if ('kind' in stat) return { names, found: 'missing', solid: this.#solid, isLink: this.#isLink }
    return { names, found: kindOf(stat), solid: names.length, isLink: this.#isLink }
  }

  #path(name: string): string {
    return [this.#rootPath, ...this.#names, name].join('/')
  }

  #spellingOnDisk(name: string): string | undefined {
    const names = attempt(() => fs.readdirSync(this.#path('.')))
    if ('kind' in names) return undefined
    return names.includes(name) ? name : names.find((listed) => sameFolded(listed, name))
  }
}

const sameFolded = (one: string, other: string): boolean => foldSpelling(one) === foldSpelling(other)
const foldSpelling = (name: string): string => name.normalize('NFC').toUpperCase().toLowerCase()

/** The kind of what a stat describes. */
export function kindOf(stat: Pick<fs.Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): EntryKind {
  if (stat.isFile()) return 'file'
  if (stat.isDirectory()) return 'directory'
  return stat.isSymbolicLink() ? 'link' : 'other'
}
