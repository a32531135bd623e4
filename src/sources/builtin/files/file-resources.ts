// The names under which the policy knows what a file tool touches: `read file:/ws/a.txt`, `write file:/ws/docs/*`. Always the
// absolute canonical path with `/` between names, so that one rule holds for every spelling and every tool.

import type { Settled } from './file-place.ts'

export type Verb = 'read' | 'write'

/** One file or folder by itself. A name that ends in `*` is closed by `/.`, so that it is not read as a whole folder. */
export const fileResource = (verb: Verb, absolute: string): string =>
  `${verb} file:${slashes(absolute)}${absolute.endsWith('*') ? '/.' : ''}`

/** Everything below a folder. */
export const treeResource = (verb: Verb, absolute: string): string =>
  `${verb} file:${slashes(absolute).replace(/\/$/, '')}/*`

/** A file by itself, or a folder with everything below it, as it stands now. */
export function wholeResource(verb: Verb, { folder, relative, absolute }: Settled): string {
  const looked = folder.look(relative)
  return looked.kind === 'ok' && looked.stat.isDirectory() ? treeResource(verb, absolute) : fileResource(verb, absolute)
}

const slashes = (path: string): string => (/^[a-z]:\\/i.test(path) ? path.replaceAll('\\', '/') : path)
