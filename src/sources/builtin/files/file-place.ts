// The folders in which the file tools work, and the one way from a path that a model wrote to the file that it means. Refusals
// say what to do next and never name a place outside.

import type { BeforeImages } from '../../../describe/before-images.ts'
import type { Refusal } from '../../../describe/tool.ts'
import type { Workspace } from '../../../describe/workspace.ts'
import type { CanonicalPath } from '../../../machine/rooted-canonical.ts'
import { openRootedFolder, type RootedFolder } from '../../../machine/rooted-folder.ts'
import type { Platform } from '../../../machine/rooted-path.ts'

export const FILE_BYTES_MAX = 10 * 1_024 * 1_024

/** A file or folder in one of the roots, by the path that will be opened. */
export type Settled = {
  readonly folder: RootedFolder
  readonly root: string
  readonly relative: string
  readonly absolute: string
}

/** What a path that a model wrote stands for, and what stood there when it was looked at. */
export type Located = Settled & CanonicalPath

/** Where a call says that a file is. `root` is absent where there is only one. */
export type Spot = { readonly path: string; readonly root?: string | undefined }

export const refusal = (message: string, code: 'unsafe_args' | 'invalid_args' = 'unsafe_args'): Refusal => ({
  kind: 'refused',
  code,
  message,
})

export class FilePlace {
  readonly images: BeforeImages
  readonly #folders = new Map<string, RootedFolder>()

  /** @throws Error of the file system where a root does not exist. */
  constructor(workspace: Workspace, images: BeforeImages, platform?: Platform) {
    this.images = images
    const options = { own: () => workspace.own.paths(), ...(platform === undefined ? {} : { platform }) }
    for (const [name, path] of workspace.roots) {
      const given = workspace.spellings?.get(name)
      this.#folders.set(
        name,
        openRootedFolder(path, given === undefined ? options : { ...options, spellings: [given] }),
      )
    }
  }

  /** Names of the roots, the default first. */
  get roots(): readonly string[] {
    return [...this.#folders.keys()]
  }

  /** The canonical form of a path. An absolute path picks its root itself. */
  locate({ path, root }: Spot): Located | Refusal {
    const names = root === undefined ? this.roots : [root]
    let first: Refusal | undefined
    for (const name of names) {
      const folder = this.#folders.get(name)
      if (folder === undefined)
        return refusal(
          `there is no root of that name; the roots are ${this.roots.map((known) => `\`${known}\``).join(', ')}`,
          'invalid_args',
        )
      const canonical = folder.canonical(path)
      if (canonical.kind === 'ok') return { ...canonical, folder, root: name }
      first ??= refusal(canonical.reason)
      // Only an absolute path may mean another root than the first.
      if (!/^([a-z]:)?[\\/]/i.test(path)) break
    }
    return first ?? refusal('the workspace has no root')
  }

  /**
   * The file of arguments that `locate` has made canonical. It follows no link again: what is opened is what was decided,
   * or nothing.
   *
   * @throws TypeError for anything but a canonical path.
   */
  settled({ path, root = this.roots[0] ?? '' }: Spot): Settled {
    const folder = this.#folders.get(root)
    if (folder === undefined || !isCanonical(path)) throw new TypeError('the arguments of this call were not resolved')
    return { folder, root, relative: path, absolute: folder.absolute(path) }
  }

  /** The file at an absolute canonical path; undefined where no root holds it. */
  settledAbsolute(absolute: string): Settled | undefined {
    for (const root of this.roots) {
      const folder = this.#folders.get(root)
      const relative = folder?.relativeTo(absolute)
      if (folder !== undefined && relative !== undefined) return { folder, root, relative, absolute }
    }
    return undefined
  }

  /** The arguments of a spot in their canonical form. */
  spot({ relative, root }: Settled): { readonly path: string; readonly root?: string } {
    return this.#folders.size > 1 ? { path: relative, root } : { path: relative }
  }
}

const isCanonical = (path: string): boolean =>
  path === '.' || path.split('/').every((name) => name !== '' && name !== '.' && name !== '..')

/** Whether locating ended in a refusal. */
export const isRefusal = (value: object): value is Refusal => 'kind' in value && value.kind === 'refused'
