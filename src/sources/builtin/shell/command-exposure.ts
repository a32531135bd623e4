// What of the workspace a command would see or could change and may not. A walk finds the files that the policy keeps from the
// caller, so that a sandbox hides them, and everything that no tool may change, so that it is frozen there. Where nothing is
// denied, and nothing may be changed, nothing is walked. A walk that does not come to its end refuses the command.

import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { RunContext } from '../../../describe/tool.ts'
import { PROTECTED_NAMES } from '../../../machine/protected-names.ts'
import type { WalkedEntry } from '../../../machine/rooted-walk.ts'
import type { Settled } from '../files/file-place.ts'
import { fileResource, treeResource } from '../files/file-resources.ts'
import { DEPTH_MAX, ENTRIES_MAX, isProtectedEntry, MADE_BY_PROGRAMS, WALK_MS_MAX } from './protected-changes.ts'
import { rootsOf, type SettledCommand, treesOf } from './settled-command.ts'

export type Exposure = {
  readonly kind: 'ok'
  /** Absolute paths that a sandbox hides: the caller's denials and the gate's own files. */
  readonly masked: readonly string[]
  /** Whether the command could see one of them, were they not hidden. */
  readonly exposes: boolean
  /** Absolute paths that may not be changed, or made. Empty for a command that only reads. */
  readonly frozen: readonly string[]
  /** Of these, the protected names: not those of the gate's own files. */
  readonly protectedNames: readonly string[]
  /** Links of protected names and where they lead: nothing can hold them in place, so they are compared afterwards. */
  readonly links: ReadonlyMap<string, string>
}

export type ExposureResult = Exposure | { readonly kind: 'unbounded'; readonly reason: string }

export type ExposureParts = {
  /** The gate's own files, absolute. */
  readonly own: () => readonly string[]
  /** Folders that the program itself needs: nothing of them is hidden. */
  readonly needed?: readonly string[]
  /** Also what no argument names is hidden, from a command that only reads. */
  readonly everywhere?: boolean
}

const HIDDEN_MAX = 1_000

export async function exposureOf(
  command: SettledCommand,
  context: RunContext,
  parts: ExposureParts,
): Promise<ExposureResult> {
  const walk = new ExposureWalk(command, context, parts)
  // Whatever changes something is shown all of its roots, so these are its trees.
  const trees = treesOf(parts.everywhere === true ? { ...command, reads: false } : command)
  for (const tree of trees) await walk.through(tree)
  return walk.result()
}

class ExposureWalk {
  readonly #command: SettledCommand
  readonly #context: RunContext
  readonly #needed: readonly string[]
  readonly #endMs: number
  readonly #own: ReadonlySet<string>
  readonly #masked: Set<string>
  readonly #frozen = new Set<string>()
  readonly #links = new Map<string, string>()
  #exposes: boolean
  #entries = 0
  #cut: string | undefined

  constructor(command: SettledCommand, context: RunContext, { own, needed = [] }: ExposureParts) {
    this.#command = command
    this.#context = context
    this.#needed = needed
    this.#endMs = context.clock.monotonic() + WALK_MS_MAX
    const roots = rootsOf(command)
    // INVARIANT own-files: no command sees or makes them, whatever the policy says.
    const ownHere = own()
      .flatMap(spellings)
      .filter((path) => roots.some((root) => isWithin(root, path)))
    this.#own = new Set(ownHere)
    this.#masked = new Set(ownHere.filter(exists))
    const trees = treesOf(command).map(({ absolute }) => absolute)
    this.#exposes = [...this.#masked].some((path) => trees.some((tree) => isWithin(tree, path)))
    if (command.reads) return
    for (const path of ownHere) if (!exists(path)) this.#freeze(dirname(path), basename(path))
    for (const root of roots) for (const name of PROTECTED_NAMES) this.#freeze(root, name)
  }

  async through(tree: Settled): Promise<void> {
    const hides = !this.#context.mayTouch(treeResource('read', tree.absolute))
    const freezes = !this.#command.reads
    if (!hides && !freezes) return
    const looked = tree.folder.look(tree.relative)
    if (looked.kind !== 'ok' || !looked.stat.isDirectory()) return
    const entered = new Set<WalkedEntry>()
    const enter = (entry: WalkedEntry): boolean => entered.has(entry)
    for await (const step of tree.folder.walk(tree.relative, { depthMax: DEPTH_MAX, enter })) {
      if (step.kind === 'entry' && this.#note(tree, step.entry, hides)) entered.add(step.entry)
      if (step.kind === 'unreadable' && step.failure.kind !== 'denied' && step.failure.kind !== 'missing')
        this.#cut ??= 'a folder there could not be looked into'
      if (this.#isOver()) return
    }
  }

  result(): ExposureResult {
    if (this.#cut !== undefined) return { kind: 'unbounded', reason: this.#cut }
    const [masked, frozen] = [[...this.#masked], [...this.#frozen]]
    const protectedNames = frozen.filter((path) => !this.#own.has(path))
    return { kind: 'ok', masked, exposes: this.#exposes, frozen, protectedNames, links: this.#links }
  }

  /** Whether to look below this entry. */
  #note({ folder }: Settled, entry: WalkedEntry, hides: boolean): boolean {
    this.#entries++
    const absolute = folder.absolute(entry.relative)
    const freezes = !this.#command.reads
    if (freezes && isProtectedEntry(entry.relative)) this.#freeze(dirname(absolute), entry.name)
    if (this.#needed.includes(absolute)) return false
    if (hides && !this.#context.mayTouch(fileResource('read', absolute))) {
      this.#masked.add(absolute)
      this.#exposes = true
      return false
    }
    if (entry.kind !== 'directory') return false
    if (entry.depth >= DEPTH_MAX) this.#cut ??= `folders there are more than ${DEPTH_MAX} levels deep`
    return hides || !MADE_BY_PROGRAMS.has(entry.name)
  }

  #freeze(folder: string, name: string): void {
    const path = join(folder, name)
    const link = [folder, ...stepsTo(folder, name)].find((step) => step !== folder && isLink(step))
    if (link === undefined) this.#frozen.add(path)
    else this.#links.set(link, fs.readlinkSync(link))
  }

  #isOver(): boolean {
    if (this.#context.signal.aborted) this.#cut ??= 'the call was cancelled'
    else if (this.#context.clock.monotonic() > this.#endMs)
      this.#cut ??= `${WALK_MS_MAX / 1_000} seconds were not enough`
    else if (this.#entries >= ENTRIES_MAX) this.#cut ??= `there are more than ${ENTRIES_MAX} entries`
    else if (this.#masked.size > HIDDEN_MAX)
      this.#cut ??= `more than ${HIDDEN_MAX} of the entries are out of your reach`
    return this.#cut !== undefined
  }
}

/** Protected names whose links lead elsewhere than before. */
export const movedLinks = (links: ReadonlyMap<string, string>): readonly string[] =>
  [...links].filter(([path, target]) => !isLink(path) || fs.readlinkSync(path) !== target).map(([path]) => path)

function stepsTo(folder: string, name: string): readonly string[] {
  const steps = name.split('/')
  return steps.map((_, index) => join(folder, ...steps.slice(0, index + 1)))
}

export const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)

/** The path as it was given, and what it really is. */
function spellings(path: string): readonly string[] {
  try {
    return [path, fs.realpathSync.native(path)]
  } catch {
    return [path]
  }
}

const exists = (path: string): boolean => fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined
const isLink = (path: string): boolean => fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
