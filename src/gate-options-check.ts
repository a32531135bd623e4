// What a host without types may pass for the options of a gate. An option that nobody knows is refused, since a misspelt one
// would leave out what it was meant to set; what is inside rules, tools and sources is judged where it is used.

import { ARGUMENT_BYTES_MAX } from './describe/check-input.ts'
import { type ConfigProblem, GateConfigError } from './describe/gate-config-error.ts'
import { hasRun } from './describe/tool-run.ts'

type Rule = { readonly expected: string; readonly holds: (value: unknown) => boolean }

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isFunction = (value: unknown): boolean => typeof value === 'function'
const has = (value: unknown, ...names: readonly string[]): boolean =>
  isObject(value) && names.every((name) => isFunction(value[name]))
const wholeFrom = (low: number, high: number): Rule => ({
  expected: `a whole number from ${low} to ${high}`,
  holds: (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= low && value <= high,
})
const listOf = (expected: string, holds: (value: unknown) => boolean): Rule => ({
  expected: `a list of ${expected}`,
  holds: (value) => Array.isArray(value) && value.every(holds),
})
const isPath = (value: unknown): boolean => typeof value === 'string' && value !== ''

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
      has(value, 'append', 'intend', 'flush', 'records', 'close') ||
      (isObject(value) && isPath(value.sqlite) && Object.keys(value).length === 1),
  },
  policy: { expected: 'an object', holds: isObject },
  approvals: { expected: 'an object', holds: isObject },
  limits: { expected: 'an object', holds: isObject },
  ownFiles: listOf('paths', isPath),
  sourceStartMs: wholeFrom(1, 600_000),
  clock: {
    expected: 'a clock with `now`, `monotonic` and `after`',
    holds: (value) => has(value, 'now', 'monotonic', 'after'),
  },
  log: { expected: 'a function', holds: isFunction },
}
const INNER: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  approvals: { expiresMs: wholeFrom(1_000, 30 * 86_400_000) },
  limits: {
    resultBytes: wholeFrom(512, 64 * 1024 * 1024),
    deadlineMs: wholeFrom(1, 86_400_000),
    argumentBytes: wholeFrom(2, ARGUMENT_BYTES_MAX),
  },
}

/** @throws GateConfigError naming every option that does not hold. */
export function checkGateOptions(options: unknown): void {
  const problems = problemsOf(options, OPTIONS, '')
  if (isObject(options)) {
    for (const [key, rules] of Object.entries(INNER)) {
      if (isObject(options[key])) problems.push(...problemsOf(options[key], rules, `${key}.`))
    }
  }
  if (problems.length > 0) throw new GateConfigError(problems)
}

function problemsOf(given: unknown, rules: Readonly<Record<string, Rule>>, prefix: string): ConfigProblem[] {
  if (!isObject(given)) return [{ message: 'expected an object of options' }]
  const problems: ConfigProblem[] = []
  for (const [key, value] of Object.entries(given)) {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined
    if (rule === undefined)
      problems.push({ key: `${prefix}${key}`, message: `unknown option; known: ${Object.keys(rules).join(', ')}` })
    else if (value !== undefined && !rule.holds(value))
      problems.push({ key: `${prefix}${key}`, message: `expected ${rule.expected}${cameOf(value)}` })
  }
  return problems
}

const cameOf = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'string' ? `, came ${JSON.stringify(value)}` : ''
