// A configuration file as a tree of plain values, each with the place where it stands. What a parser made of the text
// ends here; nothing below knows YAML.

import type { JsonValue } from '../../base/json-value.ts'

/** Counted from 1. */
export type Position = { readonly line: number; readonly column: number }

export type ConfigEntry = { readonly key: string; readonly at: Position; readonly node: ConfigNode }

export type ConfigNode = { readonly at: Position } & (
  | { readonly kind: 'text'; readonly text: string }
  /** `source` is the number as it was written. */
  | { readonly kind: 'number'; readonly value: number; readonly source: string }
  | { readonly kind: 'flag'; readonly value: boolean }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'list'; readonly items: readonly ConfigNode[] }
  /** Keys are unique and in the order of the file. */
  | { readonly kind: 'map'; readonly entries: readonly ConfigEntry[] }
)

/** Something that does not hold, and where. The file is added by whoever knows it. */
export type NodeProblem = { readonly at: Position; readonly key: string; readonly message: string }

const QUOTED_MAX = 60

/** A foreign text between backticks, cut where it is long. */
export const quoted = (text: string): string =>
  `\`${text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text}\``

/** What stands there, in words, for `expected …, got …`. */
export function describeNode(node: ConfigNode): string {
  switch (node.kind) {
    case 'text':
      return `the text ${quoted(node.text)}`
    case 'number':
      return `the number ${quoted(node.source)}`
    case 'flag':
      return `\`${node.value}\``
    case 'nothing':
      return 'nothing'
    case 'list':
      return node.items.length === 0 ? 'an empty list' : 'a list'
    case 'map':
      return node.entries.length === 0 ? 'an empty map' : `a map with ${quoted(node.entries[0]?.key ?? '')}`
  }
}

/** The value that stands there, without its places. */
export function jsonOf(node: ConfigNode): JsonValue {
  switch (node.kind) {
    case 'text':
      return node.text
    case 'number':
    case 'flag':
      return node.value
    case 'nothing':
      return null
    case 'list':
      return node.items.map(jsonOf)
    case 'map':
      return Object.fromEntries(node.entries.map((entry) => [entry.key, jsonOf(entry.node)]))
  }
}

/** `policy.rules` + `where` = `policy.rules.where`; a name that is no plain word stands in brackets and quotes. */
export function keyBelow(parent: string, name: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return `${parent}[${JSON.stringify(name)}]`
  return parent === '' ? name : `${parent}.${name}`
}
