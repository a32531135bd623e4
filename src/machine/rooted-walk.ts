// Walks a tree below a root through held directories, in the order of names. It follows no link, whether to a file or to a
// directory, holds one descriptor for each level, and lets other work run in between. What to leave out is the caller's to say.

import * as fs from 'node:fs'
import { absoluteOf, kindOf } from './rooted-canonical.ts'
import type { HeldDirectory } from './rooted-directory.ts'
import { attempt, type EntryKind, type RootedFailure } from './rooted-failure.ts'
import type { Identities, OwnGuard } from './rooted-own.ts'
import { type FileRead, readHeld } from './rooted-read.ts'
import { isTemporary } from './rooted-temporary.ts'

const STEPS_BETWEEN_PAUSES = 200

export type WalkedEntry = {
  readonly kind: EntryKind
  readonly name: string
  /** Relative to the root. */
  readonly relative: string
  /** 1 for what stands directly in the folder where the walk began. */
  readonly depth: number
  /** Bytes of a file at this moment; undefined for everything else. */
  size(): number | undefined
  /** Good until the walk goes on. */
  read(bytesMax: number): Promise<FileRead | RootedFailure>
}

/** `own`: an entry that belongs to the gate, without its name. `unreadable`: a folder whose names cannot be read. */
export type WalkStep =
  | { readonly kind: 'entry'; readonly entry: WalkedEntry }
  | { readonly kind: 'own' }
  | { readonly kind: 'unreadable'; readonly relative: string; readonly failure: RootedFailure }

export type WalkOptions = {
  readonly depthMax: number
  /** Whether to go into a directory; asked after the directory itself was given. */
  readonly enter: (entry: WalkedEntry) => boolean
}

type Level = { readonly directory: HeldDirectory; readonly relative: string; readonly depth: number }

export class RootedWalk {
  readonly #root: string
  readonly #own: OwnGuard
  readonly #isOwn: (path: string) => boolean
  readonly #options: WalkOptions
  readonly #identities: Identities
  #steps = 0

  constructor(root: string, own: OwnGuard, options: WalkOptions) {
    this.#root = root
    this.#own = own
    this.#isOwn = own.cover()
    this.#options = options
    this.#identities = own.identities()
  }

  /** Walks what stands in a held directory, and closes it. */
  async *from(directory: HeldDirectory, relative: string): AsyncGenerator<WalkStep, void, void> {
    yield* this.#level({ directory, relative, depth: 1 })
  }

  async *#level(level: Level): AsyncGenerator<WalkStep, void, void> {
    try {
      const entries = level.directory.entries()
      if ('kind' in entries) {
        yield { kind: 'unreadable', relative: level.relative, failure: entries }
        return
      }
      for (const found of [...entries].sort(byName)) {
        if (++this.#steps % STEPS_BETWEEN_PAUSES === 0) await pause()
        yield* this.#entry(level, found)
      }
    } finally {
      level.directory.close()
    }
  }

  async *#entry(level: Level, found: fs.Dirent): AsyncGenerator<WalkStep, void, void> {
    // No file of the folder, but one on its way to be one.
    if (isTemporary(found.name)) return
    const relative = level.relative === '.' ? found.name : `${level.relative}/${found.name}`
    if (this.#isOwn(absoluteOf(this.#root, relative))) {
      yield { kind: 'own' }
      return
    }
    const entry = this.#describe(level, found, relative)
    yield { kind: 'entry', entry }
    if (entry.kind !== 'directory' || level.depth >= this.#options.depthMax || !this.#options.enter(entry)) return
    const child = level.directory.child(found.name)
    if (child.kind === 'held') yield* this.#level({ directory: child, relative, depth: level.depth + 1 })
    else yield { kind: 'unreadable', relative, failure: child }
  }

  #describe({ directory, depth }: Level, found: fs.Dirent, relative: string): WalkedEntry {
    const { name } = found
    return {
      kind: kindAt(directory, found),
      name,
      relative,
      depth,
      size: () => {
        const stat = attempt(() => fs.lstatSync(directory.at(name)))
        return 'kind' in stat || !stat.isFile() ? undefined : stat.size
      },
      read: (bytesMax) => readHeld(directory, name, { bytesMax, own: this.#own, identities: this.#identities }),
    }
  }
}

/** Some file systems do not tell kinds in their listings. */
function kindAt(directory: HeldDirectory, found: fs.Dirent): EntryKind {
  const told = kindOf(found)
  if (told !== 'other' || found.isFIFO() || found.isSocket() || found.isBlockDevice() || found.isCharacterDevice())
    return told
  const stat = attempt(() => fs.lstatSync(directory.at(found.name)))
  return 'kind' in stat ? 'other' : kindOf(stat)
}

const byName = (one: fs.Dirent, other: fs.Dirent): number =>
  one.name < other.name ? -1 : one.name > other.name ? 1 : 0

const AT_ONCE_DEPTH_MAX = 100

/**
 * Whether every entry below a directory is accepted, asked at once: no other work of this process comes in between. False
 * where something cannot be read or is too deep.
 */
export function acceptsAll(
  directory: HeldDirectory,
  relative: string,
  accepts: (relative: string) => boolean,
  depth = 1,
): boolean {
  const entries = directory.entries()
  if ('kind' in entries || depth > AT_ONCE_DEPTH_MAX) return false
  return entries.every((found) => {
    if (isTemporary(found.name)) return true
    const below = `${relative}/${found.name}`
    if (!accepts(below)) return false
    if (kindAt(directory, found) !== 'directory') return true
    const child = directory.child(found.name)
    if (child.kind !== 'held') return false
    try {
      return acceptsAll(child, below, accepts, depth + 1)
    } finally {
      child.close()
    }
  })
}

/** Lets everything else that is ready run first. */
export const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
