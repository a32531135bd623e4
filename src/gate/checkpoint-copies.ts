// Hands copies of checkpoints on to where they are kept: lines on stderr, lines of a file, or a function of the host. A place that
// fails gets what it missed with the next one, in order. It never holds a checkpoint up: that is made and kept before.

import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { errorText } from '../base/error-text.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import type { Workspace } from '../describe/workspace.ts'
import type { CheckpointPlace, LogEntry } from './gate-options.ts'
import type { OwnFileList } from './open-workspace.ts'
import { checkOutside } from './signing-key.ts'

/** What a place that fails for long misses at most; each checkpoint lists the chains that changed since the one before. */
const MISSED_MAX = 1_000

type Place = {
  readonly name: string
  readonly give: (note: string) => void | Promise<void>
  missed: string[]
  failed: boolean
}

export class CheckpointCopies {
  readonly #places: readonly Place[]
  readonly #log: (entry: LogEntry) => void
  #queue: Promise<void> = Promise.resolve()

  constructor(places: readonly CheckpointPlace[], log: (entry: LogEntry) => void) {
    this.#places = places.map((place, index) => ({ ...placeOf(place, index), missed: [], failed: false }))
    this.#log = log
  }

  /** Resolves once every place has it or has failed. Never rejects. */
  give(note: string): Promise<void> {
    this.#queue = this.#queue.then(async () => {
      await Promise.all(this.#places.map((place) => this.#giveOne(place, note)))
    })
    return this.#queue
  }

  /** Places that have not got all of them. */
  troubles(): readonly string[] {
    return this.#places
      .filter(({ failed }) => failed)
      .map(({ name, missed }) => `${missed.length} checkpoints have not reached ${name}`)
  }

  async #giveOne(place: Place, note: string): Promise<void> {
    place.missed.push(note)
    const lost = place.missed.length - MISSED_MAX
    if (lost > 0) place.missed.splice(0, lost)
    try {
      for (let next = place.missed[0]; next !== undefined; next = place.missed[0]) {
        await place.give(next)
        place.missed.shift()
      }
      place.failed = false
    } catch (error) {
      const details = { place: place.name, error: errorText(error) }
      if (!place.failed) this.#log({ level: 'error', message: 'a copy of a checkpoint could not be kept', details })
      place.failed = true
    }
  }
}

/** Files of copies are the gate's own, and lie where no tool writes. Throws GateConfigError for others. */
export function claimCopies(
  places: readonly CheckpointPlace[],
  workspace: Workspace & { readonly own: OwnFileList },
): void {
  for (const [index, place] of places.entries()) {
    if (typeof place !== 'object') continue
    const key = `audit.checkpointTo[${index}]`
    checkOutside(place.file, workspace, key)
    workspace.own.add(place.file)
    try {
      closeSync(openSync(place.file, 'a', 0o600))
    } catch (error) {
      throw new GateConfigError([{ key, message: `\`${place.file}\` cannot be written: ${errorText(error)}` }])
    }
  }
}

function placeOf(place: CheckpointPlace, index: number): Pick<Place, 'name' | 'give'> {
  if (typeof place === 'function') return { name: `function ${index + 1}`, give: place }
  if (place === 'stderr') return { name: 'stderr', give: writeToStderr }
  return { name: place.file, give: (note) => appendTo(place.file, note) }
}

/** One line, so that whatever collects lines keeps it together. */
function writeToStderr(note: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stderr.write(`${JSON.stringify({ kind: 'checkpoint', note })}\n`, (error) =>
      error === null || error === undefined ? resolve() : reject(error),
    )
  })
}

/** The notes as they are, a blank line before each, which also ends one that was cut off. One write: other gates append too. */
function appendTo(file: string, note: string): void {
  const descriptor = openSync(file, 'a', 0o600)
  try {
    const bytes = Buffer.from(`\n${note}`)
    const written = writeSync(descriptor, bytes)
    if (written < bytes.length) throw new Error('the disk took only a part of it')
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
