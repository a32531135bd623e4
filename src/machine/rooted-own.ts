// Keeps the gate's own files out of reach inside a root: by path, whether or not they exist; by what they really are, so
// that another spelling or a hard link does not help; and as part of a folder that would be moved away with them.

import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { attempt } from './rooted-failure.ts'
import type { Platform } from './rooted-path.ts'
import { isTemporary } from './rooted-temporary.ts'

/** Files below the own folders that are compared by identity; more than these, and every hard link counts as own. */
const IDENTITIES_MAX = 20_000

export class OwnGuard {
  readonly #paths: () => readonly string[]
  readonly #platform: Platform
  readonly #real = new Map<string, string>()

  /** @param paths Absolute paths, each standing for itself and everything below it; asked each time, for they may grow. */
  constructor(paths: () => readonly string[], platform: Platform) {
    this.#paths = paths
    this.#platform = platform
  }

  /** Whether an absolute path is one of the gate's own files or lies below one. */
  covers(path: string): boolean {
    return this.cover()(path)
  }

  /** The same question for many paths, as things stand now. */
  cover(): (path: string) => boolean {
    const spellings = this.#spellings()
    return (path) => {
      if (isTemporary(path)) return true
      const asked = this.#fold(path)
      return spellings.some((own) => asked === own || asked.startsWith(`${own}/`))
    }
  }

  /** Whether one of the gate's own files is at this absolute path or below it, or would be if it existed. */
  isBelow(path: string): boolean {
    const asked = this.#fold(path)
    return this.#spellings().some((own) => own === asked || own.startsWith(asked === '/' ? asked : `${asked}/`))
  }

  /** Whether a file with several names is one of the gate's own. `known` spares a walk over many files the same question. */
  isIdentity(stat: fs.Stats, known: Identities = this.identities()): boolean {
    return stat.nlink > 1 && known.has(stat)
  }

  /** What the gate's own files are at this moment, found out when first asked. */
  identities(): Identities {
    let known: Set<string> | undefined
    return {
      has: (stat) => {
        known ??= this.#collect()
        return known.size >= IDENTITIES_MAX || known.has(identityOf(stat))
      },
    }
  }

  #spellings(): readonly string[] {
    return this.#paths().flatMap((path) => [this.#fold(path), this.#fold(this.#realOf(path))])
  }

  /** The path with the links on the way followed, as far as it exists; what does not exist yet is asked for again. */
  #realOf(path: string): string {
    const known = this.#real.get(path)
    if (known !== undefined) return known
    const parent = dirname(path)
    if (parent === path) return path
    if (!exists(path)) return join(this.#realOf(parent), basename(path))
    const real = attempt(() => fs.realpathSync.native(path))
    if (typeof real !== 'string') return path
    this.#real.set(path, real)
    return real
  }

  #fold(path: string): string {
    const plain = this.#platform === 'win32' ? path.replaceAll('\\', '/') : path
    const folded = this.#platform === 'linux' ? plain : plain.normalize('NFC').toUpperCase().toLowerCase()
    return folded.length > 1 && folded.endsWith('/') ? folded.slice(0, -1) : folded
  }

  /** Each thing is looked at once and no link below the own paths is followed, so a folder that holds itself ends too. */
  #collect(): Set<string> {
    const found = new Set<string>()
    const pending = this.#paths().map((path) => attempt(() => fs.realpathSync.native(path)))
    for (let path = pending.pop(); path !== undefined && found.size < IDENTITIES_MAX; path = pending.pop()) {
      if (typeof path !== 'string') continue
      const here = path
      const stat = attempt(() => fs.lstatSync(here))
      if ('kind' in stat || found.has(identityOf(stat))) continue
      found.add(identityOf(stat))
      if (!stat.isDirectory()) continue
      const names = attempt(() => fs.readdirSync(here))
      if ('kind' in names) continue
      for (const name of names) pending.push(join(here, name))
    }
    return found
  }
}

export interface Identities {
  has(stat: fs.Stats): boolean
}

const identityOf = (stat: fs.Stats): string => `${stat.dev}:${stat.ino}`

const exists = (path: string): boolean => attempt(() => fs.lstatSync(path, { throwIfNoEntry: false })) !== undefined
