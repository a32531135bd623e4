// What a host without types may pass for the options of a gate. An option that nobody knows is refused, since a misspelt one
// would leave out what it was meant to set; what is inside rules, tools and sources is judged where it is used.

import { isAbsolute } from 'node:path'
import { compileNameGlob } from '../base/glob.ts'
import { ARGUMENT_BYTES_MAX } from '../describe/check-input.ts'
import { type ConfigProblem, GateConfigError } from '../describe/gate-config-error.ts'
import type { Source } from '../describe/source.ts'
import { hasRun } from '../describe/tool-run.ts'
import { guardProblems } from '../execute/check-guards.ts'
import { OBSERVING, observingProblems } from './observing-options.ts'
import { has, isFunction, isObject, isPath, listOf, type Rule, wholeFrom } from './option-rules.ts'

const OPTIONS: Readonly<Record<string, Rule>> = {
  tools: listOf(
    'tools that `defineTool` answered',
    (tool) => isObject(tool) && typeof tool.name === 'string' && hasRun(tool),
  ),
  sources: listOf('sources, such as `builtinTools([…])`', (source) => has(source, 'start', 'close')),
  workspace: {
    expected: 'a path, or paths by name',
    holds: (value) => isPath(value) || (isObject(value) && Object.values(value).every(isPath)),
  },
  store: {
    expected: '`memory`, `{ sqlite: FILE }` or a store',
    holds: (value) =>
      value === 'memory' ||
      has(value, 'append', 'intend', 'flush', 'records', 'answer', 'grants', 'stops', 'watch', 'close') ||
      (isObject(value) && isPath(value.sqlite) && Object.keys(value).length === 1),
  },
  policy: { expected: 'an object', holds: isObject },
  approvals: { expected: 'an object', holds: isObject },
  limits: { expected: 'an object', holds: isObject },
  ownFiles: listOf('paths', isPath),
  guards: { expected: 'a list of guards', holds: Array.isArray },
  sourceStartMs: wholeFrom(1, 600_000),
  clock: {
    expected: 'a clock with `now`, `monotonic` and `after`',
    holds: (value) => has(value, 'now', 'monotonic', 'after'),
  },
  log: { expected: 'a function', holds: isFunction },
  artifacts: { expected: '`false` or an object', holds: (value) => value === false || isObject(value) },
  redaction: { expected: 'an object', holds: isObject },
  audit: { expected: 'an object', holds: isObject },
  telemetry: { expected: '`true` or `false`', holds: (value) => typeof value === 'boolean' },
  countTokens: { expected: 'a function', holds: isFunction },
}
const DAY_MS = 86_400_000
/** Milliseconds from the opening of a call to its end, where nothing is said. */
export const DEADLINE_MS = 60_000
const REPEATS_MAX = 1_000_000_000
/** The loop guard's, where nothing is said. */
export const REPEATS = { warn: 5, refuse: 10, paceMs: 50 } as const

const PER_MINUTE_MAX = 1_000_000_000
const RATE = wholeFrom(1, PER_MINUTE_MAX)

const INNER: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  approvals: {
    expiresMs: wholeFrom(1_000, 30 * DAY_MS),
    holdMs: wholeFrom(0, DAY_MS),
    grantMs: wholeFrom(1_000, 30 * DAY_MS),
    onRequest: { expected: 'a function', holds: isFunction },
    proof: { expected: '`none` or `code`', holds: (value) => value === 'none' || value === 'code' },
    showCode: { expected: 'a function', holds: isFunction },
  },
  limits: {
    resultBytes: wholeFrom(512, 64 * 1024 * 1024),
    turnBytes: wholeFrom(512, 64 * 1024 * 1024),
    deadlineMs: wholeFrom(1, 86_400_000),
    argumentBytes: wholeFrom(2, ARGUMENT_BYTES_MAX),
    repeats: { expected: 'an object', holds: isObject },
    parallel: wholeFrom(1, 1_000),
    perMinute: {
      expected: `a whole number from 1 to ${PER_MINUTE_MAX}, or an object of them`,
      holds: (value) => RATE.holds(value) || isObject(value),
    },
  },
  'limits.perMinute': {
    caller: RATE,
    tenant: RATE,
    tools: {
      expected: `whole numbers from 1 to ${PER_MINUTE_MAX} by tool name or glob`,
      holds: (value) =>
        isObject(value) &&
        Object.entries(value).every(([name, rate]) => compileNameGlob(name).kind === 'ok' && RATE.holds(rate)),
    },
  },
  'limits.repeats': {
    warn: wholeFrom(2, REPEATS_MAX),
    refuse: wholeFrom(3, REPEATS_MAX),
    paceMs: wholeFrom(0, REPEATS_MAX),
  },
  ...OBSERVING,
}

/** @throws GateConfigError naming every option that does not hold. */
export function checkGateOptions(options: unknown): void {
  const problems = problemsOf(options, OPTIONS, '')
  if (isObject(options)) {
    for (const [key, rules] of Object.entries(INNER)) {
      const given = valueAt(options, key)
      if (isObject(given)) problems.push(...problemsOf(given, rules, `${key}.`))
    }
    if (problems.length === 0)
      problems.push(
        ...repeatsProblems(options),
        ...proofProblems(options),
        ...guardsProblems(options),
        ...observingProblems(options),
      )
  }
  if (problems.length > 0) throw new GateConfigError(problems)
}

const valueAt = (options: Readonly<Record<string, unknown>>, key: string): unknown =>
  key.split('.').reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), options)

function repeatsProblems(options: Readonly<Record<string, unknown>>): readonly ConfigProblem[] {
  const warn = valueAt(options, 'limits.repeats.warn') ?? REPEATS.warn
  const refuse = valueAt(options, 'limits.repeats.refuse') ?? REPEATS.refuse
  if (typeof warn !== 'number' || typeof refuse !== 'number' || refuse > warn) return []
  return [{ key: 'limits.repeats', message: `\`refuse\` (${refuse}) must be more than \`warn\` (${warn})` }]
}

function guardsProblems(options: Readonly<Record<string, unknown>>): readonly ConfigProblem[] {
  const deadlineMs = valueAt(options, 'limits.deadlineMs')
  return guardProblems(options.guards ?? [], typeof deadlineMs === 'number' ? deadlineMs : DEADLINE_MS)
}

function proofProblems(options: Readonly<Record<string, unknown>>): readonly ConfigProblem[] {
  const needsCode =
    valueAt(options, 'approvals.proof') === 'code' && valueAt(options, 'approvals.showCode') === undefined
  if (!needsCode) return []
  return [{ key: 'approvals.proof', message: '`code` needs `showCode`: nobody would ever see the code' }]
}

/** @throws GateConfigError for sources whose names, layers or activations do not hold. `taken`: names that are in use. */
export function checkSources(sources: readonly Source[], taken: readonly string[]): void {
  const names = sources.map(({ name }) => name)
  const problems = sources.flatMap((source, index) => [
    ...(!/^[A-Za-z0-9_-]{1,32}$/.test(source.name) ||
    taken.includes(source.name) ||
    names.indexOf(source.name) !== index
      ? [
          {
            key: 'sources',
            message: `\`${source.name.slice(0, 40)}\` is no name for a source: expected [A-Za-z0-9_-]{1,32}, given once, not ${taken.map((name) => `\`${name}\``).join(' or ')}`,
          },
        ]
      : []),
    ...activationProblems(source),
  ])
  if (problems.length > 0) throw new GateConfigError(problems)
}

/** INVARIANT closed: an activation that says nothing, or looks outside the workspace, is refused and never left out. */
function activationProblems({ name, activation }: Source): readonly ConfigProblem[] {
  if (activation === undefined) return []
  const key = `sources.${name.slice(0, 40)}.activation`
  const { roles, workspace } = activation
  if (roles === undefined && workspace === undefined)
    return [{ key, message: 'says nothing; name `roles` or `workspace`' }]
  const problem = [roles, workspace]
    .flatMap((list) => list ?? [])
    .some((text) => typeof text !== 'string' || text === '')
  if (problem) return [{ key, message: 'expected lists of texts' }]
  const outside = (workspace ?? []).find((path) => !isInside(path))
  return outside === undefined
    ? []
    : [{ key: `${key}.workspace`, message: `\`${outside.slice(0, 80)}\` is no relative path inside the workspace` }]
}

/** A relative path that stays where it starts. */
export const isInside = (path: string): boolean =>
  !isAbsolute(path) && !path.includes('\0') && !path.split(/[\\/]/).includes('..')

function problemsOf(given: unknown, rules: Readonly<Record<string, Rule>>, prefix: string): ConfigProblem[] {
  if (!isObject(given)) return [{ message: 'expected an object of options' }]
  const problems: ConfigProblem[] = []
  for (const [key, value] of Object.entries(given)) {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined
    if (rule === undefined)
      problems.push({ key: `${prefix}${key}`, message: `unknown option; known: ${Object.keys(rules).join(', ')}` })
    else if (value !== undefined && !rule.holds(value))
      problems.push({ key: `${prefix}${key}`, message: `expected ${rule.expected}${rule.secret ? '' : cameOf(value)}` })
  }
  return problems
}

const cameOf = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'string' ? `, came ${JSON.stringify(value)}` : ''
