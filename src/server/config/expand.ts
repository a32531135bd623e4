// Puts values of the environment where a configuration names them. Only texts are expanded, after the file has been
// parsed, and what comes in is never read again: a value cannot bring keys, and no expansion expands twice.
//
// `${NAME}` and `${env:NAME}` stand for a variable; `${NAME:-default}` takes the default where it is unset or empty;
// `$${` writes `${` itself. A variable without value and without default is an error.

import { type ConfigNode, keyBelow, type NodeProblem, quoted } from './config-node.ts'

/** The value of a variable; undefined where it is not set. */
export type Environment = (name: string) => string | undefined

const EXPANDED_MAX = 65_536
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The same tree with every text expanded; problems go to `report`. */
export function expandTree(
  node: ConfigNode,
  environment: Environment,
  report: (problem: NodeProblem) => void,
  key = '',
): ConfigNode {
  switch (node.kind) {
    case 'text': {
      const expanded = expandText(node.text, environment)
      if (expanded.kind === 'ok') return { ...node, text: expanded.text }
      report({ at: node.at, key, message: expanded.reason })
      return node
    }
    case 'list':
      return {
        ...node,
        items: node.items.map((item, index) => expandTree(item, environment, report, `${key}[${index}]`)),
      }
    case 'map':
      return {
        ...node,
        entries: node.entries.map((entry) => ({
          ...entry,
          node: expandTree(entry.node, environment, report, keyBelow(key, entry.key)),
        })),
      }
    default:
      return node
  }
}

type Expanded = { readonly kind: 'ok'; readonly text: string } | { readonly kind: 'bad'; readonly reason: string }

/** One text, from left to right. */
function expandText(text: string, environment: Environment): Expanded {
  let done = ''
  let from = 0
  for (;;) {
    const start = text.indexOf('${', from)
    if (start < 0) break
    if (text[start - 1] === '$' && start > from) {
      done += `${text.slice(from, start - 1)}\${`
      from = start + 2
      continue
    }
    const end = text.indexOf('}', start)
    if (end < 0)
      return {
        kind: 'bad',
        reason: `${quoted(text.slice(start))} has no closing brace; \`$\${\` writes \`\${\` itself`,
      }
    const value = referenced(text.slice(start + 2, end), environment)
    if (value.kind === 'bad') return value
    done += text.slice(from, start) + value.text
    from = end + 1
    if (done.length > EXPANDED_MAX)
      return { kind: 'bad', reason: `the expanded text is longer than ${EXPANDED_MAX} characters` }
  }
  return { kind: 'ok', text: done + text.slice(from) }
}

function referenced(reference: string, environment: Environment): Expanded {
  const split = reference.indexOf(':-')
  const named = split < 0 ? reference : reference.slice(0, split)
  const fallback = split < 0 ? undefined : reference.slice(split + 2)
  if (named.startsWith('secret:')) {
    return {
      kind: 'bad',
      reason: `${quoted(`\${${reference}}`)} cannot be given: this version of Lockgate has no secrets broker; use \`\${env:NAME}\``,
    }
  }
  const name = named.startsWith('env:') ? named.slice(4) : named
  if (!VARIABLE.test(name)) {
    return {
      kind: 'bad',
      reason: `${quoted(`\${${reference}}`)} is not known; expected \`\${NAME}\`, \`\${env:NAME}\` or \`\${NAME:-default}\``,
    }
  }
  const value = environment(name)
  if (fallback !== undefined) return { kind: 'ok', text: value === undefined || value === '' ? fallback : value }
  if (value === undefined) {
    return {
      kind: 'bad',
      reason: `the environment variable ${quoted(name)} is not set; \`\${${name}:-default}\` would give a default`,
    }
  }
  return { kind: 'ok', text: value }
}
