// What a command that has ended made or changed of names that no tool may touch. Absent names are held where it runs only at
// the roots of the workspace, for nobody knows the folders that it will make; so it is looked through once more. A look that
// does not come to its end says so. Folders that programs make and fill themselves are left out.

import * as fs from 'node:fs'
import { dirname, relative } from 'node:path'
import type { Clock } from '../../../base/clock.ts'
import { pathKind } from '../../../machine/path-kind.ts'
import { protectedName } from '../../../machine/protected-names.ts'
import type { WalkedEntry } from '../../../machine/rooted-walk.ts'
import type { Settled } from '../files/file-place.ts'

export const ENTRIES_MAX = 200_000
export const WALK_MS_MAX = 10_000
export const DEPTH_MAX = 64
/** Folders in which nobody looks for protected names: they are full of them and made by programs. */
export const MADE_BY_PROGRAMS = new Set(['node_modules', '.git'])
/** More are counted and not named. */
const FOUND_MAX = 1_000

/** Where a protected name begins: `.vscode`, or `git` in `.config`, and not what stands in them. */
export function isProtectedEntry(relativePath: string): boolean {
  const [parent = '', name] = relativePath.split('/').slice(-2)
  // One question for nearly all of them: a walk asks this of every entry.
  if (protectedName(name === undefined ? [parent] : [parent, name]) === undefined) return false
  return name === undefined || protectedName([name]) !== undefined || protectedName([parent]) === undefined
}

export type ProtectedBefore = {
  /** The roots, as trees. */
  readonly trees: readonly Settled[]
  /** Absolute paths of protected names that were there, or held, before. */
  readonly known: ReadonlySet<string>
  /** What is not looked into: nothing that is written there stays. */
  readonly masked: ReadonlySet<string>
  /** Of those that nothing held in place: what they were. */
  readonly unheld: ReadonlyMap<string, string>
}

/** What stands there, and of a file which content, as far as can be told without reading it. */
export function stateOf(path: string): string {
  const kind = pathKind(path)
  if (kind === 'absent') return ''
  const stat = fs.lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return ''
  if (typeof kind === 'object') return `link ${kind.linkTo}`
  return kind === 'folder' ? `folder ${stat.ino}` : `file ${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.mode}`
}

export type ProtectedChanges = { readonly paths: readonly string[]; readonly cut: string | undefined }

/** Paths that were made or changed, each relative to its root. Never rejects. */
export async function protectedChanges(before: ProtectedBefore, clock: Clock): Promise<ProtectedChanges> {
  const look = new LookAgain(before, clock)
  try {
    for (const tree of before.trees) await look.through(tree)
  } catch {
    look.cut ??= 'it could not be looked through'
  }
  return { paths: look.found, cut: look.cut }
}

class LookAgain {
  cut: string | undefined
  readonly found: string[] = []
  readonly #before: ProtectedBefore
  readonly #clock: Clock
  readonly #endMs: number
  #entries = 0

  constructor(before: ProtectedBefore, clock: Clock) {
    this.#before = before
    this.#clock = clock
    this.#endMs = clock.monotonic() + WALK_MS_MAX
    for (const [path, state] of before.unheld) if (stateOf(path) !== state) this.found.push(this.#shown(path))
  }

  async through(tree: Settled): Promise<void> {
    const entered = new Set<WalkedEntry>()
    const enter = (entry: WalkedEntry): boolean => entered.has(entry)
    for await (const step of tree.folder.walk(tree.relative, { depthMax: DEPTH_MAX, enter })) {
      if (step.kind === 'entry' && this.#note(tree.folder.absolute(step.entry.relative), step.entry))
        entered.add(step.entry)
      if (step.kind === 'unreadable' && step.failure.kind !== 'denied' && step.failure.kind !== 'missing')
        this.cut ??= 'a folder there could not be looked into'
      if (this.#isOver()) return
    }
  }

  /** Whether to look below this entry. */
  #note(absolute: string, entry: WalkedEntry): boolean {
    this.#entries++
    const { known, masked } = this.#before
    if (known.has(absolute) || masked.has(absolute)) return false
    if (isProtectedEntry(entry.relative)) {
      // The empty folder by which another command holds the same name is none.
      if (pathKind(absolute) !== 'absent' && this.found.length < FOUND_MAX) this.found.push(this.#shown(absolute))
      return false
    }
    if (entry.kind !== 'directory') return false
    if (entry.depth >= DEPTH_MAX) this.cut ??= `folders there are more than ${DEPTH_MAX} levels deep`
    return !MADE_BY_PROGRAMS.has(entry.name)
  }

  #isOver(): boolean {
    if (this.#clock.monotonic() > this.#endMs) this.cut ??= `${WALK_MS_MAX / 1_000} seconds were not enough`
    else if (this.#entries >= ENTRIES_MAX) this.cut ??= `there are more than ${ENTRIES_MAX} entries`
    return this.cut !== undefined
  }

  #shown(path: string): string {
    const root = this.#before.trees.map(({ absolute }) => absolute).find((one) => path.startsWith(`${one}/`))
    return relative(root ?? dirname(path), path)
  }
}
