// The node of a configuration that a problem of an option is about. Options are named with their units (`deadlineMs`), keys of
// the file are not (`deadline`); where the way leads no further, the last node on it is answered.

import type { ConfigNode } from './config-node.ts'

const STEP = /\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g

export type NodeFound = {
  readonly node: ConfigNode /** The names on the way that were there. */
  readonly way: readonly string[]
}

/** `key` counts from `root`: `shell.limits.cpuMs`, `commands.count.args[0]` or `commands.count.args.0`. */
export function nodeAt(root: ConfigNode, key: string): NodeFound {
  let node = root
  const way: string[] = []
  for (const [, quoted, index, plain] of key.matchAll(STEP)) {
    const name = index ?? plain ?? quoted ?? ''
    const found = node.kind === 'list' ? item(node, Number(name)) : below(node, name)
    if (found === undefined) break
    node = found.node
    way.push(found.name)
  }
  return { node, way }
}

type Below = { readonly node: ConfigNode; readonly name: string }

function below(node: ConfigNode, name: string): Below | undefined {
  if (node.kind !== 'map') return undefined
  const names = [name, name.replace(/(?:Ms|Bytes)$/, '')]
  const entry = node.entries.find(({ key }) => names.includes(key))
  return entry === undefined ? undefined : { node: entry.node, name: entry.key }
}

function item(node: ConfigNode & { kind: 'list' }, index: number): Below | undefined {
  const found = node.items[index]
  return found === undefined ? undefined : { node: found, name: String(index) }
}
