// Lets the policy itself judge the rules that a configuration holds, and finds for each problem the place in the file: the
// policy knows keys, the file knows lines.

import { loadPolicy } from '../../authorize/policy.ts'
import type { PolicyOptions } from '../../authorize/policy-options.ts'
import type { ConfigProblem } from '../../describe/gate-config-error.ts'
import { type ConfigNode, keyBelow, type Position } from './config-node.ts'
import type { PlacedRule } from './rule-shape.ts'

/** A rule with the file that it stands in. */
export type FiledRule = PlacedRule & { readonly file: string }

/** Why the policy does not hold, each problem at the value that it speaks of. */
export function policyProblems(
  policy: PolicyOptions,
  rules: readonly FiledRule[],
  roots: ReadonlyMap<string, string>,
): readonly ConfigProblem[] {
  const loaded = loadPolicy(policy, { roots })
  return loaded.kind === 'ok' ? [] : loaded.problems.map((problem) => placed(problem, rules))
}

function placed(problem: ConfigProblem, rules: readonly FiledRule[]): ConfigProblem {
  const parts = /^policy\.rules\[(\d+)\](.*)$/s.exec(problem.key ?? '')
  const rule = rules[Number(parts?.[1])]
  if (rule === undefined) return problem
  const below = parts?.[2] ?? ''
  return { ...problem, file: rule.file, ...positionBelow(rule.node, below), key: `${rule.key}${below}` }
}

/** Follows a key such as `.where.path` or `.deny[2]` as far as it leads. */
function positionBelow(node: ConfigNode, key: string): Position {
  if (node.kind === 'map') {
    const fitting = node.entries.find((entry) => follows(key, `.${entry.key}`) || follows(key, keyBelow('', entry.key)))
    if (fitting === undefined) return node.at
    const step = key.startsWith('.') ? fitting.key.length + 1 : keyBelow('', fitting.key).length
    return positionBelow(fitting.node, key.slice(step))
  }
  const index = /^\[(\d+)\]/.exec(key)
  const item = node.kind === 'list' ? node.items[Number(index?.[1])] : undefined
  return item === undefined || index === null ? node.at : positionBelow(item, key.slice(index[0].length))
}

/** Whether a key begins with this step, and the step ends there. */
const follows = (key: string, step: string): boolean =>
  key.startsWith(step) && /^($|\.|\[)/.test(key.slice(step.length))
