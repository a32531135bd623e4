// What calls touch, in the form in which lanes compare it: the kind and then one name after the other. A key stands for
// itself and for all that begins with it, so that two keys meet exactly where one is the beginning of the other: a folder
// meets what lies below it, however it is named. In doubt a key covers more.

import type { Resource } from '../../describe/resource.ts'

/** E.g. `file:`, `ws`, `docs`, `a.md`. The empty one is the beginning of every other. */
export type LaneKey = readonly string[]

export type LaneKeys = { readonly reads: readonly LaneKey[]; readonly writes: readonly LaneKey[] }

/** Of more than so many keys only what they have in common is kept: a call that touches a thousand files takes no longer than others. */
const KEYS_MAX = 32
/** Of a longer name only so many parts are kept. Arguments may say how long it is, and whoever compares keys goes down each part. */
const PARTS_MAX = 256
const FILE = 'file:'
/** A segment that is empty, `.` or `..`: its letters do not tell which file is meant. */
const UNSETTLED = /^\.{1,2}(?:\/|$)|\/\.{0,2}(?:\/|$)/

/** Whether a verb leaves what it names as it is. Every other one counts as writing. */
export const isHarmless = ({ verb }: Resource): boolean => verb === 'read' || verb === 'connect'

/** `roots`: the folders from which file keys without a leading slash count. */
export function laneKeys(resources: readonly Resource[], roots: readonly string[]): LaneKeys {
  const reads: LaneKey[] = []
  const writes: LaneKey[] = []
  for (const resource of resources) {
    const { key } = resource
    const into = isHarmless(resource) ? reads : writes
    if (key.startsWith(FILE)) fileKeys(key.slice(FILE.length), roots, into)
    else into.push(otherKey(key))
  }
  return { reads: coarse(reads), writes: coarse(writes) }
}

function otherKey(key: string): LaneKey {
  const colon = key.indexOf(':') + 1
  const names = key.slice(colon).split('/', PARTS_MAX + 1)
  // Of `a/b*` the folder is `a`, which is more and never less.
  if (names.length > PARTS_MAX || key.endsWith('*') || key.endsWith('/')) names.pop()
  return [key.slice(0, colon), ...names]
}

/** Of files only a slash and a star at the end stand for a folder; `/.` says that the name before it is meant as it is. */
function fileKeys(given: string, roots: readonly string[], into: LaneKey[]): void {
  const named = given.endsWith('/*') || given.endsWith('/.') ? given.slice(0, -2) : given
  const path = named.endsWith('/') ? named.slice(0, -1) : named
  if (given === '*' || isUnsettled(path)) into.push([FILE])
  else if (path.startsWith('/') || /^[a-z]:\//i.test(path)) into.push(absoluteKey(path))
  else if (given.startsWith('/') || roots.length === 0) into.push(absoluteKey(path === '.' ? '' : path))
  else
    for (const root of roots)
      into.push(absoluteKey(path === '' || path === '.' ? root : `${root === '/' ? '' : root}/${path}`))
}

/** Most paths show at a glance that they have no such segment. */
const isUnsettled = (path: string): boolean =>
  path !== '.' && (path.startsWith('.') || path.includes('/.') || path.includes('//')) && UNSETTLED.test(path)

function absoluteKey(path: string): LaneKey {
  const names = path.split('/', PARTS_MAX)
  if (names[0] === '') names[0] = FILE
  else names.unshift(FILE)
  return names
}

function coarse(keys: readonly LaneKey[]): readonly LaneKey[] {
  if (keys.length <= KEYS_MAX) return keys
  const byKind = new Map<string, LaneKey>()
  for (const key of keys) {
    const [kind = ''] = key
    byKind.set(kind, commonStart(byKind.get(kind) ?? key, key))
  }
  const common = [...byKind.values()]
  return common.length <= KEYS_MAX ? common : [[]]
}

function commonStart(one: LaneKey, other: LaneKey): LaneKey {
  const end = one.findIndex((name, index) => other[index] !== name)
  return end === -1 ? one : one.slice(0, end)
}
