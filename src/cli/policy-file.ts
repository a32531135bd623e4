// Rules that are not in force, from a file that somebody wants to try: another configuration, whose policy takes the place of
// the one in force, or a file of rules, which are judged together with those in force.

import type { PolicyOptions } from '../authorize/policy-options.ts'
import type { ConfigProblem } from '../describe/gate-config-error.ts'
import { readConfigFile } from '../server/config/config-file.ts'
import type { NodeProblem } from '../server/config/config-node.ts'
import { ruleFile } from '../server/config/config-shape.ts'
import { environmentOf } from '../server/config/environment.ts'
import { expandTree } from '../server/config/expand.ts'
import { readConfig } from '../server/config/read-config.ts'
import { readYaml } from '../server/config/read-yaml.ts'
import type { CommandInput } from './command.ts'
import { envTexts } from './project.ts'

export type ChangedPolicy =
  | { readonly kind: 'ok'; readonly policy: PolicyOptions }
  | { readonly kind: 'bad'; readonly problems: readonly ConfigProblem[] }

export function readChangedPolicy(
  file: string,
  inForce: PolicyOptions,
  input: Pick<CommandInput, 'io' | 'line'>,
): ChangedPolicy {
  const read = readConfigFile(file)
  if (read.kind === 'bad') return { kind: 'bad', problems: [{ file, message: read.reason }] }
  const variables = envTexts(input)
  if (variables.kind === 'bad') return { kind: 'bad', problems: [{ message: variables.reason }] }
  const environment = environmentOf(input.io.variables, variables.texts)
  const problems: ConfigProblem[] = []
  const report = ({ at, key, message }: NodeProblem): void =>
    void problems.push({ file, ...at, ...(key === '' ? {} : { key }), message })
  const yaml = readYaml(read.text)
  if (yaml.kind === 'bad') {
    yaml.problems.forEach(report)
    return { kind: 'bad', problems }
  }
  const { root } = yaml
  const isRules = root.kind === 'map' && root.entries.every(({ key }) => key === 'rules')
  if (!isRules) {
    const config = readConfig(file, environment)
    return config.kind === 'bad' ? config : { kind: 'ok', policy: config.config.policy }
  }
  const node = expandTree(root, environment, report)
  const rules = problems.length > 0 ? undefined : ruleFile.read({ node, key: '', report })?.rules
  if (rules === undefined || problems.length > 0) return { kind: 'bad', problems }
  const placed = rules.map(({ rule, node: { at } }) => ({ ...rule, at: { file, ...at } }))
  return { kind: 'ok', policy: { ...inForce, rules: [...(inForce.rules ?? []), ...placed] } }
}
