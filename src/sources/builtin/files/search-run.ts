// One search under way: reads file after file, collects matching lines up to the bounds, and lets other work run in between.

import type { RunContext } from '../../../describe/tool.ts'
import type { ToolFailure } from '../../../describe/tool-failure.ts'
import type { RootedFailure } from '../../../machine/rooted-failure.ts'
import type { FileRead } from '../../../machine/rooted-read.ts'
import { pause } from '../../../machine/rooted-walk.ts'
import { failureFor, fileFailure } from './file-failure.ts'
import { FILE_BYTES_MAX } from './file-place.ts'
import { GlobWalk, type SettledWalk } from './glob-walk.ts'
import type { LineSearch } from './line-search.ts'
import { isText } from './text-file.ts'

export const HITS_MAX = 2_000
/** How much of a line is shown. */
const SHOWN_MAX = 300
/** How long to work before everything else may run. */
const STRETCH_MS = 10

/** A matching line; `text` is cut to what stands around the match where the line is long. */
export type SearchHit = {
  readonly path: string
  readonly line: number
  readonly column: number
  readonly text: string
  readonly before?: readonly string[]
  readonly after?: readonly string[]
}

export type SearchSkips = { readonly skippedBinary: number; readonly skippedLarge: number; readonly cutLines: number }

export class SearchRun {
  readonly #search: LineSearch
  readonly #around: number
  readonly #spot: SettledWalk
  readonly #context: RunContext
  readonly #walk: GlobWalk
  readonly #hits: SearchHit[] = []
  #filesSearched = 0
  #skippedBinary = 0
  #skippedLarge = 0
  #cutLines = 0
  #pausedAtMs: number

  constructor(search: LineSearch, around: number, spot: SettledWalk, context: RunContext) {
    this.#search = search
    this.#around = around
    this.#spot = spot
    this.#context = context
    this.#walk = new GlobWalk(spot, context)
    this.#pausedAtMs = context.clock.monotonic()
  }

  /** Searches every file of the walk. */
  async tree(): Promise<undefined> {
    for await (const entry of this.#walk.files()) {
      const read = await entry.read(FILE_BYTES_MAX)
      if (read.kind === 'ok') await this.#searchFile(entry.relative, read)
      else this.#countUnread(read)
      if (this.#walk.bounds.isOver()) return
    }
  }

  /** Searches the one file that the call names. */
  async file(): Promise<ToolFailure | undefined> {
    const { folder, relative } = this.#spot.base
    const read = await folder.read(relative, FILE_BYTES_MAX)
    if (read.kind !== 'ok') return failureFor(read, relative)
    if (!isText(read.bytes)) return fileFailure('binary', `\`${relative}\` is no UTF-8 text, and only text is searched`)
    await this.#searchFile(relative, read)
    return undefined
  }

  result() {
    return {
      hits: this.#hits,
      filesSearched: this.#filesSearched,
      skippedBinary: this.#skippedBinary,
      skippedLarge: this.#skippedLarge,
      cutLines: this.#cutLines,
      ...this.#walk.leftOut(),
    }
  }

  #countUnread(failure: RootedFailure): void {
    if (failure.kind === 'too-large') this.#skippedLarge++
    else if (failure.kind === 'own') this.#walk.bounds.countWithheld()
    else this.#walk.bounds.countUnreadable()
  }

  async #searchFile(path: string, { bytes }: FileRead): Promise<void> {
    await this.#rest()
    if (!isText(bytes)) {
      this.#skippedBinary++
      return
    }
    this.#filesSearched++
    if (!this.#search.mayHold(bytes)) return
    const lines = bytes.toString('utf8').split('\n')
    if (lines.at(-1) === '') lines.pop()
    for (const [index, line] of lines.entries()) {
      this.#searchLine(path, lines, index, line)
      if (this.#walk.bounds.isOver()) return
      const rest = this.#rest()
      if (rest !== undefined) await rest
    }
  }

  #searchLine(path: string, lines: readonly string[], index: number, whole: string): void {
    const line = withoutReturn(whole)
    const { lengthMax } = this.#search
    if (line.length > lengthMax) this.#cutLines++
    const column = this.#search.find(line.length > lengthMax ? line.slice(0, lengthMax) : line)
    if (column === undefined) return
    if (this.#hits.length === HITS_MAX) this.#walk.bounds.end(`${HITS_MAX} matching lines`)
    else
      this.#hits.push({ path, line: index + 1, column, text: shown(line, column), ...this.#neighbours(lines, index) })
  }

  #neighbours(lines: readonly string[], index: number) {
    if (this.#around === 0) return {}
    const part = (from: number, to: number) =>
      lines.slice(Math.max(0, from), to).map((line) => shown(withoutReturn(line), 1))
    return { before: part(index - this.#around, index), after: part(index + 1, index + 1 + this.#around) }
  }

  /** Asked for every line, so it waits only when it is time to. */
  #rest(): Promise<void> | undefined {
    const now = this.#context.clock.monotonic()
    if (now - this.#pausedAtMs < STRETCH_MS) return undefined
    return pause().then(() => {
      this.#pausedAtMs = this.#context.clock.monotonic()
    })
  }
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line)

/** The part of a line around a column, with `…` where it was cut; never half of a surrogate pair. */
function shown(line: string, column: number): string {
  if (line.length <= SHOWN_MAX) return line
  const from = Math.max(0, Math.min(column - 1 - SHOWN_MAX / 3, line.length - SHOWN_MAX))
  const part = line.slice(from, from + SHOWN_MAX).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
  return `${from > 0 ? '…' : ''}${part}${from + SHOWN_MAX < line.length ? '…' : ''}`
}
