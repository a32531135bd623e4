// Holds a directory below a root so that nothing can be put under a caller's feet. On Linux each directory on the way is
// opened relative to the descriptor of the one before, as a directory and without following a link, and every later step
// goes through `/proc/self/fd/<n>/<name>`: renaming or replacing what was walked changes nothing any more. Where there is no
// /proc, paths are used and compared again after the opening: macOS refuses links anywhere on the way (O_NOFOLLOW_ANY),
// elsewhere it is best effort. It never follows a link and never goes up.

import * as fs from 'node:fs'
import { normalize } from 'node:path'
import { attempt, type RootedFailure } from './rooted-failure.ts'

/** `descriptor`: race-free. `path`: compared after the fact. */
export type WalkMethod = 'descriptor' | 'path'

export interface HeldDirectory {
  readonly kind: 'held'
  /** A path for one name in this directory, good until `close`. Open it with `OPEN_FLAGS` or an operation that follows no last link. */
  at(name: string): string
  /** Whether a descriptor that was opened by `at(name)` is still what stands in this directory of the root. */
  confirm(descriptor: number, name: string): boolean
  /** Whether the directory is still where it was found. Held by descriptor, it cannot be swapped, yet it may have been moved. */
  isUnmoved(): boolean
  /** Holds the directory of that name. The caller closes it. */
  child(name: string): HeldDirectory | RootedFailure
  entries(): readonly fs.Dirent[] | RootedFailure
  close(): void
}

// The numbers of `fcntl.h`: Node names neither flag, and passes both on. O_PATH has this value on every architecture that
// Node is built for on Linux.
const O_PATH = 0o10000000
const DARWIN_NOFOLLOW_ANY = 0x20000000

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = fs.constants
// Windows has none of the three.
const NOFOLLOW = process.platform === 'darwin' ? DARWIN_NOFOLLOW_ANY : (O_NOFOLLOW ?? 0)

/** To be added to the access mode: no link is followed, and a pipe does not block the opening. */
export const OPEN_FLAGS = NOFOLLOW | (O_NONBLOCK ?? 0)

let working: WalkMethod | undefined

/** The method that works on this machine, tried once. */
export function walkMethod(): WalkMethod {
  working ??= process.platform === 'linux' && descriptorsWork() ? 'descriptor' : 'path'
  return working
}

function descriptorsWork(): boolean {
  const works = attempt(() => {
    const descriptor = fs.openSync('/', O_PATH | O_DIRECTORY | O_NOFOLLOW)
    try {
      return fs.statSync(`/proc/self/fd/${descriptor}/.`).ino === fs.statSync('/').ino
    } finally {
      fs.closeSync(descriptor)
    }
  })
  return works === true
}

/**
 * Holds the directory that these names lead to, starting at the root.
 *
 * @param root A real path: nothing above the root is within a tool's reach.
 */
export function holdDirectory(
  root: string,
  names: readonly string[],
  method: WalkMethod,
): HeldDirectory | RootedFailure {
  let held = method === 'descriptor' ? openDescriptor(root, root) : new PathDirectory(root)
  for (const name of names) {
    if (held.kind !== 'held') return held
    const parent: HeldDirectory = held
    held = parent.child(name)
    parent.close()
  }
  return held
}

/** @param place Where the directory was found; undefined where the system does not name places as they were given. */
function openDescriptor(path: string, place: string | undefined): HeldDirectory | RootedFailure {
  const descriptor = attempt(() => fs.openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW))
  if (typeof descriptor !== 'number') return descriptor
  const isNamed = place !== undefined && (path !== place || placeOf(descriptor) === place)
  return new DescriptorDirectory(descriptor, isNamed ? place : undefined)
}

const placeOf = (descriptor: number): unknown => attempt(() => fs.readlinkSync(`/proc/self/fd/${descriptor}`))

class DescriptorDirectory implements HeldDirectory {
  readonly kind = 'held'
  #descriptor: number
  readonly #place: string | undefined

  constructor(descriptor: number, place: string | undefined) {
    this.#descriptor = descriptor
    this.#place = place
  }

  at(name: string): string {
    if (this.#descriptor < 0) throw new TypeError('this directory is closed')
    return `/proc/self/fd/${this.#descriptor}/${plainName(name)}`
  }

  confirm(): boolean {
    return true
  }

  isUnmoved(): boolean {
    return this.#place === undefined || placeOf(this.#descriptor) === this.#place
  }

  child(name: string): HeldDirectory | RootedFailure {
    const path = this.at(name)
    const place = this.#place === undefined ? undefined : `${this.#place === '/' ? '' : this.#place}/${name}`
    const opened = openDescriptor(path, place)
    if (opened.kind !== 'not-a-directory') return opened
    // A link is no directory to the kernel here; a link where a directory was judged is a swap.
    return attempt(() => fs.lstatSync(path).isSymbolicLink()) === true ? { kind: 'swapped' } : opened
  }

  entries(): readonly fs.Dirent[] | RootedFailure {
    const path = this.at('.')
    return attempt(() => fs.readdirSync(path, { withFileTypes: true }))
  }

  close(): void {
    if (this.#descriptor < 0) return
    fs.closeSync(this.#descriptor)
    this.#descriptor = -1
  }
}

class PathDirectory implements HeldDirectory {
  readonly kind = 'held'
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  at(name: string): string {
    const directory = this.#path.endsWith('/') ? this.#path.slice(0, -1) : this.#path
    return `${directory}/${plainName(name)}`
  }

  confirm(descriptor: number, name: string): boolean {
    const same = attempt(() => {
      const opened = fs.fstatSync(descriptor)
      const standing = fs.lstatSync(this.at(name))
      return this.isUnmoved() && opened.ino === standing.ino && opened.dev === standing.dev
    })
    return same === true
  }

  child(name: string): HeldDirectory | RootedFailure {
    const path = this.at(name)
    const stat = attempt(() => fs.lstatSync(path))
    if ('kind' in stat) return stat
    if (stat.isSymbolicLink()) return { kind: 'swapped' }
    return stat.isDirectory() ? new PathDirectory(path) : { kind: 'not-a-directory' }
  }

  entries(): readonly fs.Dirent[] | RootedFailure {
    const entries = attempt(() => fs.readdirSync(this.#path, { withFileTypes: true }))
    if ('kind' in entries) return entries
    return this.isUnmoved() ? entries : { kind: 'swapped' }
  }

  isUnmoved(): boolean {
    return attempt(() => normalize(fs.realpathSync.native(this.#path)) === normalize(this.#path)) === true
  }

  close(): void {}
}

/** One name and nothing else: a separator or `..` here would be a fault of ours, never of a caller. */
function plainName(name: string): string {
  if (name === '' || name === '..' || name.includes('/') || name.includes('\0'))
    throw new TypeError('not the name of one entry')
  return name
}
