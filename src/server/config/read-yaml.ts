// YAML 1.2 (core schema; JSON is a part of it) to a tree of values with positions. It refuses what would make two readers
// see different files: duplicate keys, merge keys, tags, several documents, other versions of YAML. Aliases are followed,
// and bounded together with everything else, so that a small file cannot become a large one.

import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
} from 'yaml'
import { type ConfigEntry, type ConfigNode, keyBelow, type NodeProblem, type Position, quoted } from './config-node.ts'

const NODES_MAX = 20_000
const DEPTH_MAX = 32
const ALIASES_MAX = 100

export type YamlReading =
  | { readonly kind: 'ok'; readonly root: ConfigNode }
  | { readonly kind: 'bad'; readonly problems: readonly NodeProblem[] }

/** Reads the text of one file. All problems that the parser finds are named; of those found after that, the first. */
export function readYaml(text: string): YamlReading {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    version: '1.2',
    schema: 'core',
    merge: false,
  })
  const faults = [...document.errors, ...document.warnings]
  if (faults.length > 0) {
    return {
      kind: 'bad',
      problems: faults.map((fault) => ({
        at: positionOf(lines, fault.pos[0]),
        key: faultKey(fault, text),
        message: faultMessage(fault),
      })),
    }
  }
  if (document.directives?.yaml.explicit === true && document.directives.yaml.version !== '1.2') {
    return { kind: 'bad', problems: [{ at: { line: 1, column: 1 }, key: '', message: 'only YAML 1.2 is read' }] }
  }
  const builder = new TreeBuilder(document, lines)
  const root = builder.build(document.contents as ParsedNode | null, '', 0)
  return builder.problem === undefined ? { kind: 'ok', root } : { kind: 'bad', problems: [builder.problem] }
}

/** The key that stands twice, as it is written; nothing for other faults. */
function faultKey(
  { code, pos }: { readonly code: string; readonly pos: readonly [number, number] },
  text: string,
): string {
  return code === 'DUPLICATE_KEY' ? (/^["']?([^"':,\s]{1,64})/.exec(text.slice(pos[0], pos[0] + 66))?.[1] ?? '') : ''
}

function faultMessage(fault: { readonly code: string; readonly message: string }): string {
  if (fault.code === 'DUPLICATE_KEY') return 'this key stands twice in the same map'
  if (fault.code === 'MULTIPLE_DOCS') return 'one file holds one document; a second one starts here'
  return `not valid YAML: ${fault.message.charAt(0).toLowerCase()}${fault.message.slice(1)}`
}

const positionOf = (lines: LineCounter, offset: number): Position => {
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

/** Builds until the first problem; what it answers after that is thrown away. */
class TreeBuilder {
  problem: NodeProblem | undefined
  readonly #document: Document
  readonly #lines: LineCounter
  #nodes = 0
  #aliases = 0

  constructor(document: Document, lines: LineCounter) {
    this.#document = document
    this.#lines = lines
  }

  build(node: ParsedNode | null, key: string, depth: number): ConfigNode {
    const at = positionOf(this.#lines, node?.range[0] ?? 0)
    if (node === null || this.problem !== undefined) return { kind: 'nothing', at }
    if (++this.#nodes > NODES_MAX)
      return this.#refuse(at, key, `a file holds at most ${NODES_MAX} values, aliases counted each time`)
    if (depth > DEPTH_MAX) return this.#refuse(at, key, `values are nested more than ${DEPTH_MAX} deep`)
    if (isAlias(node)) return { ...this.#follow(node, at, key, depth), at }
    if (node.tag !== undefined) return this.#refuse(at, key, 'tags are not read')
    if (isMap(node))
      return { kind: 'map', at, entries: node.items.map((pair) => this.#entry(pair.key, pair.value, key, depth)) }
    if (isSeq(node))
      return {
        kind: 'list',
        at,
        items: node.items.map((item, index) => this.build(item, `${key}[${index}]`, depth + 1)),
      }
    return scalarNode(node.value, node.source, at) ?? this.#refuse(at, key, 'a value of this kind is not read')
  }

  #follow(alias: Alias, at: Position, key: string, depth: number): ConfigNode {
    if (++this.#aliases > ALIASES_MAX) return this.#refuse(at, key, `a file uses at most ${ALIASES_MAX} aliases`)
    const target = alias.resolve(this.#document)
    if (target === undefined) return this.#refuse(at, key, `no anchor is named ${quoted(alias.source)}`)
    return this.build(target as ParsedNode, key, depth + 1)
  }

  #entry(keyNode: ParsedNode, value: ParsedNode | null, parent: string, depth: number): ConfigEntry {
    const at = positionOf(this.#lines, keyNode.range[0])
    if (!isScalar(keyNode)) {
      return { key: '', at, node: this.#refuse(at, parent, 'a key is a word, not a list, a map or an alias') }
    }
    // A key such as `8080` or `true` is the name that was written, whatever YAML makes of it.
    const name = typeof keyNode.value === 'string' ? keyNode.value : keyNode.source
    const node = this.build(value, keyBelow(parent, name), depth + 1)
    return { key: name, at, node: value === null ? { kind: 'nothing', at } : node }
  }

  #refuse(at: Position, key: string, message: string): ConfigNode {
    this.problem ??= { at, key, message }
    return { kind: 'nothing', at }
  }
}

function scalarNode(value: unknown, source: string | undefined, at: Position): ConfigNode | undefined {
  if (typeof value === 'string') return { kind: 'text', text: value, at }
  if (typeof value === 'number') return { kind: 'number', value, source: source ?? String(value), at }
  if (typeof value === 'boolean') return { kind: 'flag', value, at }
  return value === null ? { kind: 'nothing', at } : undefined
}
