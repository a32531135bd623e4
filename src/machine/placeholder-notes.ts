// Which folders of the disk only stand there because a command of some gate holds an absent path: each process notes its own in
// a file that only this user reads, before anything is made, so that others tell them from real ones and clear up after one
// that was killed. Where no note can be written nothing is refused: commands are held the same, and all that is lost is that.

import { lstatSync, mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { namesIn, processSpace, readText, startTicks } from './process-identity.ts'

export type PlaceholderNote = {
  /** Absolute paths that a running command needs. */
  readonly holds: readonly string[]
  /** Those that are being removed at this moment. */
  readonly leaving: readonly string[]
}

type FoundNote = PlaceholderNote & { readonly file: string; readonly isLiving: boolean }

const NOTE_BYTES_MAX = 4_194_304
const NAME = /^([0-9a-f]+)-(\d+)-(\d+)-(\d+)-\d+\.json$/

let written: PlaceholderNote = { holds: [], leaving: [] }

/** Says what this process holds and removes from now on. Never throws. */
export function writeNote(note: PlaceholderNote): void {
  if (note.holds.length + note.leaving.length + written.holds.length + written.leaving.length === 0) return
  written = note
  const folder = notesFolder()
  const name = ownName()
  if (folder === undefined || name === undefined) return
  const path = join(folder, name)
  try {
    if (note.holds.length + note.leaving.length === 0) return void unlinkSync(path)
    // In one step: whoever reads finds all of it or what was there before.
    writeFileSync(`${path}.new`, JSON.stringify(note), { mode: 0o600 })
    renameSync(`${path}.new`, path)
  } catch {
    // A full or read-only disk: see above.
  }
}

/** What the notes of everybody else say now, of processes that are gone too. */
export function otherNotes(): readonly FoundNote[] {
  const folder = notesFolder()
  const own = ownName()
  if (folder === undefined) return []
  return namesIn(folder).flatMap((name) => {
    const [, boot = '', space, pid = '', start] = NAME.exec(name) ?? []
    if (space === undefined || name === own) return []
    const file = join(folder, name)
    const note = readNote(file)
    // Of a process in another container nobody here can tell, so it counts as living.
    const isLiving = boot === bootOf() && (space !== processSpace() || startTicks(pid) === start)
    return note === undefined ? [] : [{ ...note, file, isLiving }]
  })
}

/** To be called once what it names is dealt with. */
export function dropNote({ file }: FoundNote): void {
  try {
    unlinkSync(file)
  } catch {
    // Another gate was quicker.
  }
}

/** Undefined where somebody else could write there: his notes would have us remove, and take for absent, what he likes. */
function notesFolder(): string | undefined {
  const user = process.getuid?.()
  const folder = join(tmpdir(), `lockgate-held-${user ?? 0}`)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch {
    // It is there, or cannot be made: it is looked at next.
  }
  const stat = lstatSync(folder, { throwIfNoEntry: false })
  const isOwn = stat?.isDirectory() === true && stat.uid === user && (stat.mode & 0o077) === 0
  return isOwn ? folder : undefined
}

function readNote(file: string): PlaceholderNote | undefined {
  try {
    if (lstatSync(file).size > NOTE_BYTES_MAX) return undefined
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof read !== 'object' || read === null || !('holds' in read) || !('leaving' in read)) return undefined
    return { holds: pathsIn(read.holds), leaving: pathsIn(read.leaving) }
  } catch {
    return undefined
  }
}

const pathsIn = (value: unknown): readonly string[] =>
  Array.isArray(value)
    ? value.filter((path): path is string => typeof path === 'string' && path.startsWith('/') && !path.includes('\0'))
    : []

let name: string | undefined

/** The run of the machine, the space that process ids are counted in, the process and its start: ids are used again. */
function ownName(): string | undefined {
  const start = startTicks('self')
  if (name === undefined && start !== undefined)
    name = `${bootOf()}-${processSpace()}-${process.pid}-${start}-${threadId}.json`
  return name
}

const bootOf = (): string => readText('/proc/sys/kernel/random/boot_id').replace(/[^0-9a-f]/g, '') || '0'
