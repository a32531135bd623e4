// The folders that file tools may work in, as real paths, and the list of what is the gate's own.

import { lstatSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type ConfigProblem, GateConfigError } from '../describe/gate-config-error.ts'
import type { OwnFiles, Workspace } from '../describe/workspace.ts'
import type { GateOptions } from '../gate-contract.ts'

/** INVARIANT own-files: paths are only ever added; nothing takes one off the list while the gate lives. */
export class OwnFileList implements OwnFiles {
  #paths: readonly string[]

  constructor(paths: readonly string[]) {
    this.#paths = paths.map((path) => resolve(path))
  }

  paths(): readonly string[] {
    return this.#paths
  }

  add(path: string): void {
    this.#paths = [...this.#paths, resolve(path)]
  }
}

export type OpenedWorkspace = Workspace & { readonly own: OwnFileList }

export async function openWorkspace(
  option: GateOptions['workspace'],
  ownFiles: readonly string[],
): Promise<OpenedWorkspace> {
  const named = option === undefined ? {} : typeof option === 'string' ? { main: option } : option
  const roots = new Map<string, string>()
  const spellings = new Map<string, string>()
  const problems: ConfigProblem[] = []
  for (const [name, path] of Object.entries(named)) {
    const real = await rootFolder(path)
    if (real === undefined)
      problems.push({ key: `workspace.${name}`, message: `expected a folder that exists, came \`${path}\`` })
    else {
      roots.set(name, real)
      spellings.set(name, resolve(path))
    }
  }
  if (problems.length > 0) throw new GateConfigError(problems)
  return { roots, spellings, own: new OwnFileList(ownFiles) }
}

/** Whether one of the roots holds something at a relative path. */
export const holdsIn =
  ({ roots }: Workspace) =>
  (path: string): boolean =>
    [...roots.values()].some((root) => lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined)

async function rootFolder(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path)
    return (await stat(real)).isDirectory() ? real : undefined
  } catch {
    return undefined
  }
}
