// Which file a program's name stands for, as the system's own search would find it: in the folders of PATH, in their order.

import { accessSync, constants, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Absolute. A name with a slash is taken as a path from `cwd`, and empty folders of PATH count for nothing. */
export function findProgram(
  name: string,
  { path, cwd }: { readonly path: string; readonly cwd: string },
): string | undefined {
  if (name === '') return undefined
  if (name.includes('/')) return isProgram(resolve(cwd, name)) ? resolve(cwd, name) : undefined
  const folders = path.split(':').filter((folder) => folder.startsWith('/'))
  return folders.map((folder) => join(folder, name)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
