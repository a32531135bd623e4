// Whether what one call writes may be what another has read. For kept answers only, so in doubt it says yes: a kept answer
// that is thrown away for nothing costs a run of its tool, one that is kept wrongly is a lie.

import { type DeclaredEffect, effectMost } from '../describe/effect.ts'
import type { Resource, Touches } from '../describe/resource.ts'
import type { Tool } from '../describe/tool.ts'

/** What is touched; `everything` where nobody can say. */
export type KeySet = readonly Key[] | 'everything'

/** `name`: the thing itself. `below`: how everything begins that lies below it. Worked out once, for it is compared often. */
type Key = { readonly name: string; readonly below: string }

/**
 * Of more keys than these, or longer ones, nobody looks at each: arguments may say how many there are, they are kept as long
 * as the answer, and each is held against those of all that is kept.
 */
const KEYS_MAX = 16
const CHARACTERS_MAX = 8_192

/** These verbs change nothing of what they name. */
const HARMLESS = new Set(['read', 'connect'])

export const touchedKeys = (touches: Touches): KeySet =>
  touches.kind === 'known' ? keySet(touches.resources) : 'everything'

/**
 * What a call may change. Only a write that names what it writes, or a tool that says that it changes nothing but what it
 * names, is taken at its word; whatever else acts may change everything.
 */
export function writtenKeys(tool: Pick<Tool, 'lane'>, effect: DeclaredEffect, touches: Touches): KeySet {
  if (touches.kind !== 'known') return 'everything'
  if (effect !== 'write' && tool.lane !== 'touches') return 'everything'
  const written = touches.resources.filter(({ verb }) => !HARMLESS.has(verb))
  return written.length === 0 && effect === 'write' ? 'everything' : keySet(written)
}

function keySet(resources: readonly Resource[]): KeySet {
  const characters = resources.reduce((sum, { key }) => sum + key.length, 0)
  return resources.length > KEYS_MAX || characters > CHARACTERS_MAX ? 'everything' : resources.map(keyOf)
}

/** Whether a call of this tool can change anything at all. */
export const mayWrite = (tool: Pick<Tool, 'effect'>): boolean => effectMost(tool.effect) !== 'read'

export function overlaps(one: KeySet, other: KeySet): boolean {
  if (one === 'everything' || other === 'everything') return true
  for (const key of one) for (const against of other) if (covers(key, against) || covers(against, key)) return true
  return false
}

/** A trailing `*` covers everything below; a file lies below each folder on its path, however the folder is named. */
function keyOf({ key }: Resource): Key {
  // `/.` says that a star before it is part of a name.
  if (key.endsWith('/.')) return plainKey(key.slice(0, -2))
  if (!key.endsWith('*')) return plainKey(key)
  const below = key.slice(0, -1)
  return { name: below.endsWith('/') ? below.slice(0, -1) : below, below }
}

const plainKey = (name: string): Key => ({ name, below: `${name}/` })

const covers = (upper: Key, lower: Key): boolean => lower.name === upper.name || lower.name.startsWith(upper.below)
