// Takes secrets out of values as JSON has them. Copies only what it changes, and keeps the shape: a text becomes a marker, an
// object stays one. Under a name that says so every text is a secret, but for what describes one, as a schema does. What JSON would
// make of an object counts as well as its members: an address has none, and is all text.

import { isPlaceholder, isWorkingDirectory, SCHEME } from './placeholder.ts'
import type { SecretKeys } from './secret-keys.ts'

export type JsonParts = {
  readonly keys: SecretKeys
  /** A text without the secrets that it shows by itself; `names` is told of each. */
  readonly text: (text: string, names: Set<string>) => string
}

/** Deeper values are no data that a tool answers; what is below is taken out unseen. */
const DEPTH_MAX = 512
const CLEAN_KEYS_MAX = 4_096
/** What describes a secret, and is none. */
const DESCRIBING = new Set(
  'type title description format name kind label placeholder required enum default scheme in $ref id version'.split(
    ' ',
  ),
)
const SCHEMA_TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])

export function redactJson(value: unknown, parts: JsonParts, names: Set<string>): unknown {
  return new Walk(parts, names).value(value, undefined, 0)
}

class Walk {
  readonly #parts: JsonParts
  readonly #names: Set<string>
  /** What is being looked at, from the outermost on: what holds itself has no end. */
  readonly #around: object[] = []
  /** The names of a million rows are few. */
  readonly #cleanKeys = new Set<string>()

  constructor(parts: JsonParts, names: Set<string>) {
    this.#parts = parts
    this.#names = names
  }

  /** `under`: what the name above says that this is. */
  value(value: unknown, under: string | undefined, depth: number): unknown {
    if (typeof value === 'string') return this.#text(value, under)
    if (typeof value === 'number') return under === 'password' && Math.abs(value) >= 1_000 ? this.#marker(under) : value
    if (typeof value !== 'object' || value === null) return value
    if (depth > DEPTH_MAX) return this.#marker('depth')
    if (this.#around.includes(value)) return this.#marker('cycle')
    this.#around.push(value)
    try {
      if (Array.isArray(value)) return this.#list(value, under, depth + 1)
      return hasMembers(value) ? this.#object(value, under, depth + 1) : value
    } finally {
      this.#around.pop()
    }
  }

  /** Where what JSON makes of it shows a secret, that stands in its place. */
  #object(object: Readonly<Record<string, unknown>>, under: string | undefined, depth: number): unknown {
    if (object instanceof Map) return this.#map(object, under, depth)
    if (object instanceof Set) {
      const items = [...object]
      const made = this.#list(items, under, depth)
      return made === items ? object : new Set(made)
    }
    const json = typeof object.toJSON === 'function' ? jsonFormOf(object) : object
    const shown = json === object ? json : this.value(json, under, depth)
    return shown === json ? this.#members(object, under, depth) : shown
  }

  #map(map: ReadonlyMap<unknown, unknown>, under: string | undefined, depth: number): ReadonlyMap<unknown, unknown> {
    let isChanged = false
    const made = new Map<unknown, unknown>()
    for (const [key, item] of map) {
      const said = typeof key === 'string' ? this.#parts.keys.nameOf(key) : undefined
      const [name, value] = [this.value(key, undefined, depth), this.value(item, said ?? under, depth)]
      isChanged ||= name !== key || value !== item
      made.set(name, value)
    }
    return isChanged ? made : map
  }

  #key(key: string): string {
    if (this.#cleanKeys.has(key)) return key
    const name = this.#parts.text(key, this.#names)
    if (name === key && this.#cleanKeys.size < CLEAN_KEYS_MAX) this.#cleanKeys.add(key)
    return name
  }

  #text(text: string, under: string | undefined): string {
    if (under === undefined || text.length === 0) return this.#parts.text(text, this.#names)
    // What only looks like one in part may hold a secret that shows by itself.
    if (isPlaceholder(text)) return this.#parts.text(text, this.#names)
    const scheme = under === 'authorization' ? (SCHEME.exec(text)?.[0] ?? '') : ''
    return `${scheme}${this.#marker(under)}`
  }

  #marker(name: string): string {
    this.#names.add(name)
    return `[redacted:${name}]`
  }

  #list(list: readonly unknown[], under: string | undefined, depth: number): readonly unknown[] {
    let changed: unknown[] | undefined
    for (let index = 0; index < list.length; index += 1) {
      const item = list[index]
      const flagged = typeof item === 'string' ? this.#afterFlag(list[index - 1], item) : undefined
      const made = this.value(item, under ?? flagged, depth)
      if (made === item) continue
      changed ??= [...list]
      changed[index] = made
    }
    return changed ?? list
  }

  /** `['--password', '…']`: the words of a command. */
  #afterFlag(before: unknown, item: string): string | undefined {
    if (typeof before !== 'string' || !before.startsWith('--') || item.startsWith('-') || item.length < 4)
      return undefined
    return this.#parts.keys.nameOf(before)
  }

  #members(object: Readonly<Record<string, unknown>>, under: string | undefined, depth: number): object {
    const describes = under !== undefined && (SCHEMA_TYPES.has(textOf(object, 'type')) || isPackage(object))
    // `{ name: 'API_TOKEN', value: '…' }`: how lists of variables and headers are written.
    const named = Object.hasOwn(object, 'value')
      ? this.#parts.keys.nameOf(textOf(object, 'name') || textOf(object, 'key'))
      : undefined
    let changed: Map<string, unknown> | undefined
    const keys = Object.keys(object)
    for (const key of keys) {
      const item = object[key]
      const own = typeof item === 'string' && isWorkingDirectory(key, item) ? undefined : this.#parts.keys.nameOf(key)
      const said = own ?? (key === 'value' ? named : undefined)
      // A schema has no `value`: with one it is a setting that also says of which type it is.
      const inherited = (describes && key !== 'value') || DESCRIBING.has(key) ? undefined : under
      const made = this.value(item, said ?? inherited, depth)
      const name = this.#key(key)
      if (made === item && name === key) continue
      changed ??= new Map(keys.map((one) => [one, object[one]]))
      if (name === key) changed.set(key, made)
      else {
        changed.delete(key)
        changed.set(changed.has(name) ? `${name} ${changed.size}` : name, made)
      }
    }
    return changed === undefined ? object : Object.fromEntries(changed)
  }
}

/** What cannot be made into JSON is what it is. */
function jsonFormOf(object: Readonly<Record<string, unknown>>): unknown {
  try {
    return typeof object.toJSON === 'function' ? (object.toJSON('') as unknown) : object
  } catch {
    return object
  }
}

/** In lock files a package that is called `cookie` is an object under that name. */
const isPackage = (object: Readonly<Record<string, unknown>>): boolean =>
  textOf(object, 'version') !== '' && (Object.hasOwn(object, 'resolved') || Object.hasOwn(object, 'integrity'))

const textOf = (object: Readonly<Record<string, unknown>>, key: string): string => {
  const value = Object.hasOwn(object, key) ? object[key] : undefined
  return typeof value === 'string' ? value : ''
}

/** Bytes and times have no members that are texts. */
const hasMembers = (value: object): value is Readonly<Record<string, unknown>> =>
  !(ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof Date)
