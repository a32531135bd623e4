// Empty folders that stand on the disk while a sandbox holds an absent path: the mount needs something to lie on. Several
// commands of this process can hold the same one; the last one that ends removes it. It removes nothing that has content.

import { rmdirSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'

/** Something on the disk that one command needs. */
export type HeldOnDisk = {
  /** Resolves when what nobody else holds is gone. May be called again. */
  giveBack(): Promise<void>
  /** The same at once, for a process that leaves. */
  giveBackNow(): void
}

const holders = new Map<string, number>()
/** Removals under way: whoever mounted something on a folder that is then removed would lose it again. */
let leaving: Promise<void> | undefined

/** A path that is only there because a running command holds it. */
export const isPlaceholder = (path: string): boolean => holders.has(path)

/** Undefined where none is on its way out. To be asked, and waited for, directly before anything is held. */
export const leavingPlaceholders = (): Promise<void> | undefined => leaving

export function holdPlaceholders(paths: readonly string[]): HeldOnDisk {
  for (const path of paths) holders.set(path, (holders.get(path) ?? 0) + 1)
  let held = paths
  /** Those that nobody holds any more. The ones that lie deepest come first. */
  const lastOnes = (): readonly string[] => {
    const mine = held
    held = []
    return mine.filter((path) => !isHeldStill(path)).reverse()
  }
  return {
    giveBack: () => {
      const last = lastOnes()
      if (last.length === 0) return Promise.resolve()
      const gone = Promise.all([leaving, ...last.map((path) => rmdir(path).catch(() => {}))]).then(() => {
        if (leaving === gone) leaving = undefined
      })
      leaving = gone
      return gone
    },
    giveBackNow: () => {
      for (const path of lastOnes()) removeNow(path)
    },
  }
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
