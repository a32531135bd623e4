// Empty folders that stand on the disk while a sandbox holds an absent path: the mount needs something to lie on. Several
// commands, of this process and of others, can hold the same one; the last one that ends removes it, and the next gate what
// a killed one left. It removes nothing that has content.

import { lstatSync, opendirSync, realpathSync, rmdirSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { dropNote, otherNotes, writeNote } from './placeholder-notes.ts'

/** Something on the disk that one command needs. */
export type HeldOnDisk = {
  /** Resolves when what nobody else holds is gone. May be called again. */
  giveBack(): Promise<void>
  /** The same at once, for a process that leaves. */
  giveBackNow(): void
}

const holders = new Map<string, number>()
/** On their way out, by this process. */
const leavingNow = new Set<string>()
/** Removals under way: whoever mounted something on a folder that is then removed would lose it again. */
let leaving: Promise<void> | undefined
/** Milliseconds that a removal of another process is waited for; it takes one or two. */
const OTHERS_MS = 100

/** A path that is only there because a running command holds it, or one that ended with its gate did. */
export function isPlaceholder(path: string): boolean {
  if (holders.has(path)) return true
  return (
    isEmptyFolder(path) && otherNotes().some(({ holds, leaving: out }) => holds.includes(path) || out.includes(path))
  )
}

/** Undefined where none is on its way out. To be asked, and waited for, directly before anything is held. */
export const leavingPlaceholders = (): Promise<void> | undefined => leaving

export function holdPlaceholders(paths: readonly string[]): HeldOnDisk {
  const known = holders.size
  for (const path of paths) holders.set(path, (holders.get(path) ?? 0) + 1)
  if (holders.size > known) {
    tell()
    letOthersRemove(paths)
  }
  let held = paths
  /** Those that nobody of this process holds any more. */
  const lastOnes = (): readonly string[] => {
    const mine = held
    held = []
    return mine.filter((path) => !isHeldStill(path))
  }
  return {
    giveBack: () => {
      const last = lastOnes()
      if (last.length === 0) return Promise.resolve()
      const removals = leave(last).map((path) => rmdir(path).catch(() => {}))
      const gone = Promise.all([leaving, ...removals]).then(() => {
        left(last)
        if (leaving === gone) leaving = undefined
      })
      leaving = gone
      return gone
    },
    giveBackNow: () => {
      const last = lastOnes()
      if (last.length > 0) removeAll(last)
    },
  }
}

/** Removes what processes that are gone left behind, unless a living one holds it too. Never throws. */
export function sweepPlaceholders(): void {
  const dead = otherNotes().filter(({ isLiving }) => !isLiving)
  const paths = new Set(dead.flatMap((note) => [...note.holds, ...note.leaving]))
  const here = [...paths].filter((path) => !holders.has(path) && !leavingNow.has(path) && stillLeadsThere(path))
  if (here.length > 0) removeAll(here)
  for (const note of dead) dropNote(note)
}

function removeAll(paths: readonly string[]): void {
  for (const path of leave(paths)) removeNow(path)
  left(paths)
}

/**
 * Those that may be removed, the ones that lie deepest first. Told before the others' notes are read, as they tell what they
 * hold before they read ours: so one of the two sees the other, and nobody's command loses what it mounted.
 */
function leave(paths: readonly string[]): readonly string[] {
  for (const path of paths) leavingNow.add(path)
  tell()
  const kept = new Set(otherNotes().flatMap(({ holds, isLiving }) => (isLiving ? holds : [])))
  return paths.filter((path) => !kept.has(path)).sort((one, other) => (one < other ? 1 : -1))
}

function left(paths: readonly string[]): void {
  for (const path of paths) leavingNow.delete(path)
  tell()
}

const tell = (): void => writeNote({ holds: [...holders.keys()], leaving: [...leavingNow] })

/** Nothing else of this process comes in between, which is what makes it safe; hence so short. */
function letOthersRemove(paths: readonly string[]): void {
  const mine = new Set(paths)
  const isOnItsWay = (): boolean =>
    otherNotes().some(({ isLiving, leaving: out }) => isLiving && out.some((path) => mine.has(path)))
  const cell = new Int32Array(new SharedArrayBuffer(4))
  for (let waitedMs = 0; waitedMs < OTHERS_MS && isOnItsWay(); waitedMs++) Atomics.wait(cell, 0, 0, 1)
}

function isHeldStill(path: string): boolean {
  const count = (holders.get(path) ?? 1) - 1
  if (count > 0) holders.set(path, count)
  else holders.delete(path)
  return count > 0
}

function removeNow(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // It is not there, or something was put into it and it is somebody's now.
  }
}

/** Since it was noted a folder above may have been replaced by a link to elsewhere. */
function stillLeadsThere(path: string): boolean {
  try {
    return realpathSync.native(dirname(path)) === dirname(path)
  } catch {
    return false
  }
}

function isEmptyFolder(path: string): boolean {
  try {
    if (!lstatSync(path).isDirectory()) return false
    const folder = opendirSync(path)
    try {
      return folder.readSync() === null
    } finally {
      folder.closeSync()
    }
  } catch {
    return false
  }
}
