// Puts the policy of a configuration together: what stands in it, in the files that it names, and in those of the machine, the
// user and the project. A project's file may come with a checkout: as long as nobody has vouched for it, it may make the
// policy stricter and nothing else.

import { lstatSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import type { PolicyOptions } from '../../authorize/policy-options.ts'
import type { RuleOrigin } from '../../describe/decision.ts'
import type { ConfigProblem } from '../../describe/gate-config-error.ts'
import { type ConfigFile, errorCode } from './config-file.ts'
import type { Position } from './config-node.ts'
import { ruleFile, type WrittenConfiguration, type WrittenRulePlace } from './config-shape.ts'
import type { Environment } from './expand.ts'
import { policyProblems } from './policy-problems.ts'
import { bothNames, existingFile, type References } from './read-references.ts'
import type { PlacedRule } from './rule-shape.ts'
import type { Shape } from './shape.ts'

/** In the root of a workspace. */
const PROJECT_POLICY = 'lockgate.rules.yaml'

/** Where further rules are looked for, and which rule files of a project the operator has vouched for. */
export type PolicyPlaces = {
  /** The machine's, absolute. */
  readonly system?: string
  /** The operator has named the machine's, so that it has to be there. */
  readonly systemNamed?: boolean
  /** The user's, absolute. */
  readonly user?: string
  readonly trusts?: (file: ConfigFile) => boolean
}

export type PolicyParts = {
  readonly places: PolicyPlaces
  readonly references: References
  readonly problem: (problem: ConfigProblem) => void
  /** Reads one file; `kept` is told of its bytes and answers with the variables that it may name. */
  readonly read: <Value>(
    file: string,
    shape: Shape<Value>,
    kept: (file: ConfigFile) => Environment,
  ) => Value | undefined
  readonly environment: Environment
  /** A file that the configuration refers to. */
  readonly refersTo: (file: ConfigFile) => void
  readonly isReferredTo: (file: string) => boolean
  /** A file of rules that may come to be there. */
  readonly mayAppear: (file: string) => void
  readonly project: (file: ConfigFile) => void
}

/** A rule, the file that it stands in, and whose it is. */
type FiledRule = PlacedRule & { readonly file: string; readonly origin: RuleOrigin }

const filed = (rules: readonly PlacedRule[] | undefined, file: string, origin: RuleOrigin): readonly FiledRule[] =>
  (rules ?? []).map((rule) => ({ ...rule, file, origin }))

/** `file`: the configuration itself. `roots`: of the workspace, by name. Problems go to `parts.problem`. */
export function readPolicy(
  written: WrittenConfiguration,
  file: string,
  roots: ReadonlyMap<string, string>,
  parts: PolicyParts,
): PolicyOptions {
  const { defaults, rules, files = [] } = written.policy ?? {}
  const { profile, groups, steps } = written
  const all = [
    ...filed(rules, file, 'user'),
    ...files.flatMap((place) => namedRules(place, parts)),
    ...operatorsRules(parts.places.system, 'system', parts.places.systemNamed ?? false, parts),
    ...operatorsRules(parts.places.user, 'user', false, parts),
    ...[...roots.values()].flatMap((root) => projectRules(join(root, PROJECT_POLICY), parts)),
  ]
  const policy: PolicyOptions = {
    ...(profile === undefined ? {} : { profile: profile.value }),
    ...(groups === undefined ? {} : { groups: groups.value }),
    ...(steps === undefined ? {} : { steps: steps.value }),
    ...(defaults === undefined ? {} : { defaults }),
    // What a project may not say was found above.
    trustProject: true,
    rules: all.map((rule) => ({ ...rule.rule, origin: rule.origin, at: { file: rule.file, ...rule.node.at } })),
  }
  const places = new Map<string, Position>()
  for (const [key, value] of Object.entries({ profile, groups, steps }))
    if (value !== undefined) places.set(key, value.at)
  for (const problem of policyProblems(policy, all, roots)) parts.problem(besidePolicy(problem, file, places))
  // What nobody inherits would be a key that nothing enforces.
  if (profile?.value === 'platform' && (written.callers?.default?.roles ?? []).length > 0)
    parts.references.report({
      at: profile.at,
      key: 'callers.default.roles',
      message: 'under the profile `platform` nobody inherits a role; give roles to credentials',
    })
  return policy
}

function namedRules(written: WrittenRulePlace, parts: PolicyParts): readonly FiledRule[] {
  const { file: place, origin = 'user' } = 'file' in written ? written : { file: written }
  const file = existingFile(place, parts.references)
  if (file === undefined) return []
  const read = parts.read(file, ruleFile, (found) => {
    parts.refersTo(found)
    return parts.environment
  })
  return filed(read?.rules, file, origin)
}

/**
 * Whether something is there under this name. A link that leads nowhere is, and so is what may not be looked at: reading it
 * says what is wrong, and nobody loses a rule unsaid.
 */
function stands(file: string): boolean {
  try {
    lstatSync(file)
    return true
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes(errorCode(error))
  }
}

/** Rules that hold where they are there: the operator's own word, and no part of what `trust` records. */
function operatorsRules(
  file: string | undefined,
  origin: 'system' | 'user',
  isNamed: boolean,
  parts: PolicyParts,
): readonly FiledRule[] {
  if (file === undefined) return []
  parts.mayAppear(file)
  if (!isNamed && !stands(file)) return []
  return filed(parts.read(file, ruleFile, () => parts.environment)?.rules, file, origin)
}

/** A project that nobody has vouched for is given no variable either: they may be secrets, and reasons are shown to models. */
function projectRules(file: string, parts: PolicyParts): readonly FiledRule[] {
  parts.mayAppear(file)
  if (!stands(file) || bothNames(file).some((name) => parts.isReferredTo(name))) return []
  let trusted = false
  const read = parts.read(file, ruleFile, (found) => {
    parts.project(found)
    // A link can make the rules of this project out of those that somebody has vouched for as another one's.
    const isItsOwn = found.path.startsWith(dirname(file) + sep)
    trusted = isItsOwn && (parts.places.trusts?.(found) ?? false)
    return trusted ? parts.environment : () => undefined
  })
  const rules = filed(read?.rules, file, 'project')
  if (!trusted) for (const rule of rules) if ('allow' in rule.rule) parts.problem(untrustedAllow(rule))
  return rules
}

const untrustedAllow = ({ file, node, key }: FiledRule): ConfigProblem => ({
  file,
  ...node.at,
  key,
  message:
    'the rules of this project are not trusted, so they may only `ask` or `deny`; read them, then run `lockgate trust`, or name the file in `policy.files`',
})

/** Problems of keys that stand beside `policy` in the file. */
function besidePolicy(problem: ConfigProblem, file: string, places: ReadonlyMap<string, Position>): ConfigProblem {
  const parts = /^policy\.((profile|groups|steps)\b.*)$/s.exec(problem.key ?? '')
  const at = places.get(parts?.[2] ?? '')
  return parts === null || at === undefined ? problem : { ...problem, file, ...at, key: parts[1] ?? '' }
}
