// Takes secrets out of values as JSON has them. Copies only what it changes, and keeps the shape: a text becomes a marker, an
// object stays one. Under a name that says so every text is a secret, but for what describes one, as a schema does.

import { isPlaceholder } from './placeholder.ts'
import type { SecretKeys } from './secret-keys.ts'

export type JsonParts = {
  readonly keys: SecretKeys
  /** A text without the secrets that it shows by itself; `names` is told of each. */
  readonly text: (text: string, names: Set<string>) => string
}

/** Deeper values are no data that a tool answers; what is below is taken out unseen. */
const DEPTH_MAX = 512
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
    if (Array.isArray(value)) return this.#list(value, under, depth + 1)
    return hasMembers(value) ? this.#members(value, under, depth + 1) : value
  }

  #text(text: string, under: string | undefined): string {
    if (under === undefined || text.length === 0) return this.#parts.text(text, this.#names)
    if (isPlaceholder(text)) return text
    const scheme = under === 'authorization' ? (/^(?:Bearer|Basic|Digest|Token) +(?=\S)/i.exec(text)?.[0] ?? '') : ''
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
    const describes = under !== undefined && SCHEMA_TYPES.has(textOf(object, 'type'))
    // `{ name: 'API_TOKEN', value: '…' }`: how lists of variables and headers are written.
    const named = Object.hasOwn(object, 'value')
      ? this.#parts.keys.nameOf(textOf(object, 'name') || textOf(object, 'key'))
      : undefined
    let changed: Map<string, unknown> | undefined
    const keys = Object.keys(object)
    for (const key of keys) {
      const item = object[key]
      const said = this.#parts.keys.nameOf(key) ?? (key === 'value' ? named : undefined)
      const inherited = describes || DESCRIBING.has(key) ? undefined : under
      const made = this.value(item, said ?? inherited, depth)
      const name = key.length < 16 ? key : this.#parts.text(key, this.#names)
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

const textOf = (object: Readonly<Record<string, unknown>>, key: string): string => {
  const value = Object.hasOwn(object, key) ? object[key] : undefined
  return typeof value === 'string' ? value : ''
}

/** Bytes and times have no members that are texts. Of an own class the members count, whatever its `toJSON` would say. */
const hasMembers = (value: object): value is Readonly<Record<string, unknown>> =>
  !(ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof Date)
