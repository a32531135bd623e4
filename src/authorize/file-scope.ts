// How one file can be spelled: absolute, and relative to the workspace roots. Patterns are written in either form and
// files come in either form; both are canonical already, so nothing is resolved or looked up here.

import type { Glob } from '../base/glob.ts'

/** A glob over files. `absolute`: it begins with `/` and is held against absolute paths. */
export type FileGlob = { readonly glob: Glob; readonly absolute: boolean }

/** The spellings of one file. Relative to a root, the root itself is the empty text. */
export type Spellings = { readonly absolute: readonly string[]; readonly relative: readonly string[] }

/** A segment that is empty, `.` or `..`: what such a text means is not decided by its letters. */
const UNSETTLED = /^\.{1,2}(?:\/|$)|\/\.{0,2}(?:\/|$)/

export class FileScope {
  readonly #roots: readonly string[]
  readonly #below: readonly string[]

  constructor(roots: Iterable<string>) {
    this.#roots = [...roots]
    this.#below = this.#roots.map((root) => (root.endsWith('/') ? root : `${root}/`))
  }

  /** The spellings of a file that is named absolutely, or relative to a root: to each root then, for nobody says to which. */
  spellings(path: string): Spellings {
    if (!path.startsWith('/')) {
      const inside = path === '.' ? '' : path
      return {
        relative: [inside],
        absolute: this.#roots.map((root, index) => (inside === '' ? root : `${this.#below[index]}${inside}`)),
      }
    }
    const absolute = [path]
    let relative: string[] | undefined
    for (const below of this.#below) {
      if (path.startsWith(below)) relative = [...(relative ?? []), path.slice(below.length)]
      else if (path.length === below.length - 1 && below.startsWith(path)) relative = [...(relative ?? []), '']
    }
    return { absolute, relative: relative ?? absolute }
  }

  get roots(): readonly string[] {
    return this.#roots
  }

  /** Whether some root stands below a folder, so that paths relative to it do as well. */
  holdsRoot(folder: string): boolean {
    const below = folder.endsWith('/') ? folder : `${folder}/`
    return this.#roots.some((root) => root.startsWith(below))
  }
}

export function isSettled(path: string): boolean {
  if (path === '/' || path === '.') return true
  // Most paths show at a glance that they have no such segment.
  const plain = !path.includes('/.') && !path.includes('//') && !path.endsWith('/') && !path.startsWith('.')
  return plain || !UNSETTLED.test(path)
}

export const spelled = ({ absolute }: FileGlob, spellings: Spellings): readonly string[] =>
  absolute ? spellings.absolute : spellings.relative

/** Whether a glob names a file. A root has no name of its own: only `.` and what covers everything speak of it. */
export const namesFile = ({ glob, absolute }: FileGlob, path: string): boolean =>
  path === '' && !absolute ? glob.literals.includes('.') || glob.coversBelow([]) : glob.matches(path)

/** The segments of a folder, for globs that speak of what stands below it. */
export const segmentsOf = (folder: string, absolute: boolean): readonly string[] => {
  if (folder === '' && !absolute) return []
  return folder === '/' ? [''] : folder.split('/')
}
