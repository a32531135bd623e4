// Walks a folder for one caller: leaves out what the policy keeps from it and counts that, stays out of folders that nobody
// means unless they are named, and ends at its bounds. It says what it left out, never by name where it was kept back.

import type { RunContext } from '../../../describe/tool.ts'
import type { WalkedEntry } from '../../../machine/rooted-walk.ts'
import type { Settled } from './file-place.ts'
import { fileResource } from './file-resources.ts'

/** Folders that are left out unless a path or glob names them: large, made by programs, and rarely meant. */
const SKIPPED_FOLDERS: readonly string[] = ['.git', 'node_modules']

const ENTRIES_MAX = 200_000
export const WALK_MS_MAX = 10_000

export type AllowedWalkOptions = {
  readonly depthMax: number
  /** Names that the call spells out: folders of these names are not skipped. */
  readonly names: ReadonlySet<string>
}

/** What a walk left out. Part of every answer of a tool that walks. */
export type LeftOut = {
  /** Entries that this caller may not see. */
  readonly withheld: number
  /** Names of folders that were not searched because nothing named them. */
  readonly skipped: readonly string[]
  /** Folders and files that could not be read. */
  readonly unreadable: number
  /** Which bound ended the walk; absent where it is complete. */
  readonly cut?: string
}

export class AllowedWalk {
  readonly #start: Settled
  readonly #options: AllowedWalkOptions
  readonly #context: RunContext
  readonly #endMs: number
  readonly #denied = new WeakSet<WalkedEntry>()
  readonly #skipped = new Set<string>()
  #withheld = 0
  #unreadable = 0
  #entries = 0
  #cut: string | undefined

  constructor(start: Settled, options: AllowedWalkOptions, context: RunContext) {
    this.#start = start
    this.#options = options
    this.#context = context
    this.#endMs = context.clock.monotonic() + WALK_MS_MAX
  }

  /** Entries that the caller may see, in the order of names. */
  async *entries(): AsyncGenerator<WalkedEntry, void, void> {
    const { folder, relative } = this.#start
    const { depthMax } = this.#options
    for await (const step of folder.walk(relative, { depthMax, enter: (entry) => this.#enters(entry) })) {
      if (this.isOver()) return
      if (step.kind === 'own') this.#withheld++
      else if (step.kind === 'unreadable') this.#unreadable++
      else if (this.#maySee(step.entry)) yield step.entry
      if (this.isOver()) return
    }
  }

  /** Ends the walk and says at which bound. */
  end(bound: string): void {
    this.#cut ??= bound
  }

  /** Whether a bound has been reached. */
  isOver(): boolean {
    if (this.#context.signal.aborted) this.end('the call was cancelled')
    else if (this.#context.clock.monotonic() > this.#endMs) this.end(`${WALK_MS_MAX / 1_000} seconds`)
    else if (this.#entries >= ENTRIES_MAX) this.end(`${ENTRIES_MAX} entries`)
    return this.#cut !== undefined
  }

  countWithheld(): void {
    this.#withheld++
  }

  countUnreadable(): void {
    this.#unreadable++
  }

  leftOut(): LeftOut {
    const common = { withheld: this.#withheld, skipped: [...this.#skipped].sort(), unreadable: this.#unreadable }
    return this.#cut === undefined ? common : { ...common, cut: this.#cut }
  }

  #maySee(entry: WalkedEntry): boolean {
    this.#entries++
    if (this.#context.mayTouch(fileResource('read', this.#start.folder.absolute(entry.relative)))) return true
    this.#denied.add(entry)
    this.#withheld++
    return false
  }

  #enters(entry: WalkedEntry): boolean {
    if (this.#denied.has(entry)) return false
    if (!SKIPPED_FOLDERS.includes(entry.name) || this.#options.names.has(entry.name)) return true
    this.#skipped.add(entry.name)
    return false
  }
}

/** What was left out, in words for the model; empty where nothing was. */
export function leftOutNotes({ withheld, skipped, unreadable, cut }: LeftOut): readonly string[] {
  const notes: string[] = []
  if (cut !== undefined) notes.push(`[cut at ${cut}; narrow \`path\` or the pattern to see the rest]`)
  if (withheld > 0) notes.push(`[${withheld} withheld: not allowed for this caller]`)
  if (skipped.length > 0)
    notes.push(`[not looked into: ${skipped.join(', ')}; name the folder in \`path\` or the glob to do so]`)
  if (unreadable > 0) notes.push(`[${unreadable} could not be read]`)
  return notes
}
