// A folder that file operations cannot leave. The life of a path in it:
// 1. `canonical` judges what a model wrote: text, links, the gate's own files. It opens nothing.
// 2. Whoever decides sees the canonical form, and so does every later step.
// 3. An operation walks to that form by held directories and follows no link: what was swapped in between fails as a value.
// It knows no tool and no policy, and keeps no descriptor open between operations.

import * as fs from 'node:fs'
import { resolve } from 'node:path'
import { absoluteOf, type Canonical, type CanonicalRoot, canonicalPath } from './rooted-canonical.ts'
import { type HeldDirectory, holdDirectory, type WalkMethod, walkMethod } from './rooted-directory.ts'
import { attempt, type RootedFailure } from './rooted-failure.ts'
import { type Moved, moveHeld, type Place, type Removed, removeHeld } from './rooted-move.ts'
import { OwnGuard } from './rooted-own.ts'
import { OUTSIDE, type Platform } from './rooted-path.ts'
import { type FileRead, readHeld } from './rooted-read.ts'
import { completesRepository } from './rooted-repository.ts'
import { acceptsAll, RootedWalk, type WalkOptions, type WalkStep } from './rooted-walk.ts'
import { type WriteOptions, type Written, writeHeld } from './rooted-write.ts'

export type RootedFolderOptions = {
  /** The gate's own files and folders, absolute; asked each time. */
  readonly own?: () => readonly string[]
  /** Judge names as this platform does. Absent: the one that runs. */
  readonly platform?: Platform
  /** How to walk. Absent: the best that works here. */
  readonly method?: WalkMethod
  /** Other absolute spellings of the folder, such as one through a link, that paths may begin with. */
  readonly spellings?: readonly string[]
}

/** What stands at a canonical path now. */
export type Looked = { readonly kind: 'ok'; readonly stat: fs.Stats }

/** @throws Error of the file system where the folder does not exist or is no directory. */
export function openRootedFolder(path: string, options: RootedFolderOptions = {}): RootedFolder {
  const root = fs.realpathSync.native(path)
  if (!fs.statSync(root).isDirectory()) throw new TypeError(`\`${path}\` is no folder`)
  return new RootedFolder(root, [path, ...(options.spellings ?? [])], options)
}

export class RootedFolder {
  /** The real path. */
  readonly root: string
  readonly #canonical: CanonicalRoot
  readonly #own: OwnGuard
  readonly #method: WalkMethod

  /** Use `openRootedFolder`. */
  constructor(
    root: string,
    spellings: readonly string[],
    { own = () => [], platform = hostPlatform(), method = walkMethod() }: RootedFolderOptions,
  ) {
    this.root = root
    this.#method = method
    this.#own = new OwnGuard(own, platform)
    this.#canonical = {
      spellings: [...new Set([root, ...spellings.map((spelling) => resolve(spelling))])],
      platform,
      foldsCase: caseProbe(root, platform),
      own: this.#own,
    }
  }

  /** The form of a path that will be opened, or why it will not. */
  canonical(path: unknown): Canonical {
    return canonicalPath(this.#canonical, path)
  }

  absolute(relative: string): string {
    return absoluteOf(this.root, relative)
  }

  /** The reverse of `absolute`; undefined for a path that is not below the root. */
  relativeTo(absolute: string): string | undefined {
    if (absolute === this.root) return '.'
    const start = this.absolute('x').slice(0, -1)
    return absolute.startsWith(start) && absolute.length > start.length ? absolute.slice(start.length) : undefined
  }

  /** Whether one of the gate's own files stands, or would stand, at a canonical path or below it. */
  holdsOwn(relative: string): boolean {
    return this.#own.isBelow(this.absolute(relative))
  }

  /** Whether an entry at a canonical path would make a bare git repository out of a folder above it. */
  completesRepository(relative: string): boolean {
    return completesRepository(namesOf(relative), (path) => this.look(path).kind === 'ok')
  }

  /** Looks at an entry without following it if it is a link. */
  look(relative: string): Looked | RootedFailure {
    if (relative === '.') return attempt(() => ({ kind: 'ok' as const, stat: fs.lstatSync(this.root) }))
    return this.#at(relative, ({ directory, name }) =>
      attempt(() => ({ kind: 'ok' as const, stat: fs.lstatSync(directory.at(name)) })),
    )
  }

  /** Reads a regular file of at most `bytesMax` bytes. */
  async read(relative: string, bytesMax: number): Promise<FileRead | RootedFailure> {
    return this.#in(relative, ({ directory, name }) => readHeld(directory, name, { bytesMax, own: this.#own }))
  }

  /** Walks what stands below a directory; the directory itself is not among the steps. */
  async *walk(relative: string, options: WalkOptions): AsyncGenerator<WalkStep, void, void> {
    const directory = this.#hold(namesOf(relative))
    if (directory.kind === 'held') yield* new RootedWalk(this.root, this.#own, options).from(directory, relative)
    else yield { kind: 'unreadable', relative, failure: directory }
  }

  /** Replaces or creates a file as a whole, and makes the folders on the way. A failure leaves the file as it was. */
  async write(relative: string, bytes: Uint8Array, options: WriteOptions = {}): Promise<Written | RootedFailure> {
    const refused = this.#placeProblem(relative)
    if (refused !== undefined) return refused
    const made: string[] = []
    const lastCheck = () => this.#placeProblem(relative)
    const result = await this.#in(
      relative,
      ({ directory, name }) => writeHeld(directory, name, bytes, this.#own, { ...options, lastCheck }),
      made,
    )
    if (result.kind !== 'ok') this.#unmake(made)
    return result
  }

  /**
   * Gives a file or folder another name, and makes the folders on the way. Takes the place of nothing.
   *
   * @param accepts Asked for every entry below a folder, by its path before the move; one that is not accepted makes it `stale`.
   */
  move(from: string, to: string, accepts?: (relative: string) => boolean): Moved | RootedFailure {
    const refused = from !== '.' && this.holdsOwn(from) ? { kind: 'own' as const } : this.#placeProblem(to)
    if (refused !== undefined) return refused
    const made: string[] = []
    const result = this.#at(from, (source) =>
      this.#at(to, (target) => this.#changedBelow(source, from, accepts) ?? moveHeld(source, target, this.#own), made),
    )
    if (result.kind !== 'ok') this.#unmake(made)
    return result
  }

  #changedBelow(
    { directory, name }: Place,
    relative: string,
    accepts: ((relative: string) => boolean) | undefined,
  ): RootedFailure | undefined {
    const child = accepts === undefined ? undefined : directory.child(name)
    if (accepts === undefined || child?.kind !== 'held') return undefined
    try {
      return acceptsAll(child, relative, accepts) ? undefined : { kind: 'stale' }
    } finally {
      child.close()
    }
  }

  /** Removes a regular file whose bytes have this SHA-256 (hex). */
  async remove(relative: string, expectHash: string): Promise<Removed | RootedFailure> {
    return this.#in(relative, (place) => removeHeld(place, this.#own, expectHash))
  }

  /** Why nothing may be put at a path: in the place of an own file or of a folder on the way to one, it would become one. */
  #placeProblem(relative: string): RootedFailure | undefined {
    if (relative === '.') return undefined
    if (this.#own.covers(this.absolute(relative)) || this.holdsOwn(relative)) return { kind: 'own' }
    return this.completesRepository(relative) ? { kind: 'repository' } : undefined
  }

  #at<Result>(
    relative: string,
    act: (place: Place) => Result | RootedFailure,
    made?: string[],
  ): Result | RootedFailure {
    const place = this.#place(relative, made)
    if ('kind' in place) return place
    try {
      return act(place)
    } finally {
      place.directory.close()
    }
  }

  async #in<Result>(
    relative: string,
    act: (place: Place) => Promise<Result | RootedFailure>,
    made?: string[],
  ): Promise<Result | RootedFailure> {
    const place = this.#place(relative, made)
    if ('kind' in place) return place
    try {
      return await act(place)
    } finally {
      place.directory.close()
    }
  }

  /** The held folder of a path and its last name. With `made`, missing folders are made and noted there. */
  #place(relative: string, made?: string[]): Place | RootedFailure {
    const names = namesOf(relative)
    const name = names.at(-1)
    if (name === undefined) return { kind: 'not-a-file', what: 'directory' }
    if (this.#own.covers(this.absolute(relative))) return { kind: 'own' }
    const directory = made === undefined ? this.#hold(names.slice(0, -1)) : this.#holdOrMake(names.slice(0, -1), made)
    return directory.kind === 'held' ? { directory, name } : directory
  }

  #hold(names: readonly string[]): HeldDirectory | RootedFailure {
    return holdDirectory(this.root, names, this.#method)
  }

  #holdOrMake(names: readonly string[], made: string[]): HeldDirectory | RootedFailure {
    let held = this.#hold([])
    for (const [index, name] of names.entries()) {
      if (held.kind !== 'held') return held
      const parent: HeldDirectory = held
      held = childOrMade(parent, name, () => made.push(names.slice(0, index + 1).join('/')))
      parent.close()
    }
    return held
  }

  /** Takes back the folders that a failed operation made, as long as they are empty. */
  #unmake(made: readonly string[]): void {
    for (const relative of [...made].reverse())
      this.#at(relative, ({ directory, name }) => attempt(() => fs.rmdirSync(directory.at(name))))
  }
}

function childOrMade(parent: HeldDirectory, name: string, note: () => void): HeldDirectory | RootedFailure {
  const child = parent.child(name)
  if (child.kind !== 'missing') return child
  const made = attempt(() => fs.mkdirSync(parent.at(name)))
  if (made === undefined) note()
  else if (made.kind !== 'exists') return made
  return parent.child(name)
}

/** The names of a canonical path. Anything that is not canonical would be a fault of ours. */
function namesOf(relative: string): readonly string[] {
  if (relative === '.') return []
  const names = relative.split('/')
  if (names.some((name) => name === '' || name === '.' || name === '..')) throw new TypeError(OUTSIDE)
  return names
}

function hostPlatform(): Platform {
  return process.platform === 'win32' || process.platform === 'darwin' ? process.platform : 'linux'
}

/** Whether one file answers to several spellings of its name: found out once, assumed while an empty folder cannot tell. */
function caseProbe(root: string, platform: Platform): () => boolean {
  let folds = platform === 'linux' ? probeCase(root) : true
  return () => {
    folds ??= probeCase(root)
    return folds ?? true
  }
}

function probeCase(root: string): boolean | undefined {
  const names = attempt(() => fs.readdirSync(root))
  if ('kind' in names) return undefined
  const telling = names.find((name) => name.toUpperCase() !== name.toLowerCase())
  if (telling === undefined) return undefined
  const swapped = telling.toUpperCase() === telling ? telling.toLowerCase() : telling.toUpperCase()
  return !names.includes(swapped) && fs.lstatSync(`${root}/${swapped}`, { throwIfNoEntry: false }) !== undefined
}
