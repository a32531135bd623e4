// A whole policy as it was written, checked piece by piece. Every problem is gathered; with one of them there is no policy.

import type { RuleOrigin } from '../describe/decision.ts'
import type { ConfigProblem } from '../describe/gate-config-error.ts'
import type { FileScope } from './file-scope.ts'
import { type Groups, readGroups } from './name-groups.ts'
import { OptionReader } from './option-reader.ts'
import { PROFILES, type ProfileName } from './policy-options.ts'
import { type Defaults, PROFILE_OF } from './profiles.ts'
import { readDefaults, readRule } from './read-rules.ts'
import type { Rule } from './rule.ts'
import { readSteps, type Steps } from './task-steps.ts'

/** All of a policy but its rules, and what reading further rules takes. */
export type PolicySettings = {
  readonly profile: ProfileName
  readonly defaults: Defaults
  readonly groups: Groups
  readonly steps: Steps
  readonly trustProject: boolean
  readonly file: string | undefined
}

export type ReadPolicy =
  | { readonly kind: 'ok'; readonly settings: PolicySettings; readonly rules: readonly Rule[] }
  | { readonly kind: 'bad'; readonly problems: readonly ConfigProblem[] }

const KEYS = ['profile', 'groups', 'steps', 'defaults', 'rules', 'trustProject']

export function readPolicy(options: unknown, scope: FileScope, file: string | undefined): ReadPolicy {
  const reader = new OptionReader(file === undefined ? {} : { file }, [])
  const fields = reader.fields(options, 'policy', KEYS) ?? new Map<string, unknown>()
  const profile = readProfile(fields.get('profile'), reader)
  const groups = readGroups(fields.get('groups'), 'policy.groups', reader)
  const trusted = fields.get('trustProject')
  if (trusted !== undefined && typeof trusted !== 'boolean')
    reader.problem('policy.trustProject', 'must be true or false')
  const settings: PolicySettings = {
    profile,
    defaults: readDefaults(fields.get('defaults'), 'policy.defaults', PROFILE_OF[profile].defaults, reader),
    groups,
    steps: readSteps(fields.get('steps'), 'policy.steps', groups, reader),
    trustProject: trusted === true,
    file,
  }
  const rules = readRules(fields.get('rules') === undefined ? [] : fields.get('rules'), 'policy.rules', settings, {
    reader,
    scope,
  })
  return reader.problems.length > 0 ? { kind: 'bad', problems: reader.problems } : { kind: 'ok', settings, rules }
}

/** Further rules for a policy, all of one origin. */
export function readMoreRules(
  rules: unknown,
  origin: RuleOrigin,
  settings: PolicySettings,
  scope: FileScope,
): ReadPolicy {
  const reader = new OptionReader({}, [])
  const read = readRules(rules, 'rules', settings, { reader, scope, origin })
  return reader.problems.length > 0 ? { kind: 'bad', problems: reader.problems } : { kind: 'ok', settings, rules: read }
}

type Parts = { readonly reader: OptionReader; readonly scope: FileScope; readonly origin?: RuleOrigin }

function readRules(
  given: unknown,
  key: string,
  { groups, trustProject, file }: PolicySettings,
  { reader, scope, origin }: Parts,
): readonly Rule[] {
  if (!Array.isArray(given)) {
    reader.problem(key, 'must be a list of rules')
    return []
  }
  const reading = { reader, groups, scope, file, origin, trustProject }
  return given.flatMap((rule: unknown, index) => readRule(rule, `${key}[${index}]`, reading) ?? [])
}

function readProfile(value: unknown, reader: OptionReader): ProfileName {
  if (value === undefined) return 'coding'
  const profile = PROFILES.find((name) => name === value)
  if (profile === undefined) reader.problem('policy.profile', `must be one of ${PROFILES.join(', ')}`)
  return profile ?? 'strict'
}
