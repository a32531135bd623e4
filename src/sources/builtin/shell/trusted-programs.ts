// Finds the file of a program, once, when the shell tools start: by its bare name, in folders that only root can change, outside
// of every workspace. A name that a model sends is looked up in that list and never on the disk.

import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'

export type TrustedProgram = {
  /** The bare name, which the program is also told that it was called as. */
  readonly name: string
  /** The real file. */
  readonly path: string
  /** Folders that a sandbox has to show, besides those of the system, for the program to run. */
  readonly folders: readonly string[]
}

export type ProgramSearch = {
  /** In this order, absolute. */
  readonly folders: readonly string[]
  /** Real paths of the workspace roots. */
  readonly roots: readonly string[]
  /** Users besides root whose files are trusted. */
  readonly owners?: readonly number[]
}

export const SYSTEM_FOLDERS: readonly string[] = ['/usr/local/bin', '/usr/bin', '/bin']
/** Below these a sandbox shows everything anyway. */
const SHOWN = ['/usr', '/bin', '/sbin', '/lib', '/lib64']

/** The trusted file of a program; undefined where there is none. */
export function trustedProgram(name: string, search: ProgramSearch): TrustedProgram | undefined {
  for (const folder of search.folders) {
    const path = trustedFile(join(folder, name), search)
    if (path !== undefined) return { name, path, folders: foldersOf(folder, path) }
  }
  return undefined
}

function trustedFile(candidate: string, { roots, owners = [] }: ProgramSearch): string | undefined {
  try {
    const folder = fs.realpathSync.native(dirname(candidate))
    const path = fs.realpathSync.native(candidate)
    const isInside = [folder, path].some((one) => roots.some((root) => one === root || one.startsWith(`${root}/`)))
    if (isInside || !isProgram(path)) return undefined
    const trusted = new Set([0, ...owners])
    // The link and the file may stand in different folders, and whoever may change either decides what runs.
    return [...upward(folder), ...upward(path)].every((one) => isGuarded(one, trusted)) ? path : undefined
  } catch {
    return undefined
  }
}

function isProgram(path: string): boolean {
  fs.accessSync(path, fs.constants.X_OK)
  return fs.statSync(path).isFile()
}

/** Groups whose members can become root anyway: that of root, and the administrators of macOS. */
const ROOT_GROUPS = process.platform === 'darwin' ? [0, 80] : [0]

/** Nobody but its trusted owner, and who can become root, can change it. */
function isGuarded(path: string, trusted: ReadonlySet<number>): boolean {
  const { uid, gid, mode } = fs.statSync(path)
  const others = ROOT_GROUPS.includes(gid) ? 0o002 : 0o022
  // In a folder with the sticky bit everybody may add names, and only owners may take or change them.
  const isSticky = (mode & 0o1000) !== 0 && fs.statSync(path).isDirectory()
  return trusted.has(uid) && ((mode & others) === 0 || isSticky)
}

function upward(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [path, ...upward(parent)]
}

/** Beside `bin` stands what its programs need. Never the folder above as a whole: of `~/bin` that would be somebody's home. */
const BESIDE_BIN = ['lib', 'lib64', 'libexec', 'share']

function foldersOf(folder: string, path: string): readonly string[] {
  const near = [folder, fs.realpathSync.native(folder), dirname(path)]
  const beside = near
    .filter((one) => ['bin', 'sbin'].includes(basename(one)))
    .flatMap((one) => BESIDE_BIN.map((name) => join(dirname(one), name)))
    .filter((one) => fs.existsSync(one))
  return [...new Set([...near, ...beside])].filter(
    (one) => !SHOWN.some((shown) => one === shown || one.startsWith(`${shown}/`)),
  )
}
