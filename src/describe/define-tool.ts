// Turns what an author writes into a tool: checked, frozen, and with `run` out of everybody's hands.

import type { JsonObject } from '../base/json-value.ts'
import { boundProblems } from './contract-bounds.ts'
import { effectMost, isDeclaredEffect } from './effect.ts'
import { GateConfigError } from './gate-config-error.ts'
import type { InferInput, InferSchema, ToolSchema } from './schema/tool-schema.ts'
import type { Run, Tool, ToolDefinition } from './tool.ts'
import { hideRun } from './tool-run.ts'

const NAME = /^[A-Za-z0-9_-]{1,64}$/
const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/
const FUNCTIONS = ['touches', 'resolve', 'command', 'binds', 'check', 'happened', 'present', 'admit'] as const
const KNOWN = new Set<string>([
  ...['name', 'version', 'title', 'description', 'returns', 'guidance', 'input', 'output', 'examples', 'effect'],
  ...['run', 'repeat', 'deadlineMs', 'attemptMs', 'idleMs', 'retry', 'cache', 'lane', 'limits', 'place', 'sandbox'],
  ...['walks', ...FUNCTIONS],
])

/** True for a name that a tool may have: `[A-Za-z0-9_-]{1,64}`. */
export const isToolName = (name: string): boolean => NAME.test(name)

/**
 * Defines a tool. The answer is frozen and holds everything but `run`.
 *
 * @throws GateConfigError when the contract does not hold: a name or version of another form, an unknown key, a limit
 *   or place that nothing enforces. A schema that does not compile is judged when the tool is registered.
 */
export function defineTool<const Input extends ToolSchema, const Output extends ToolSchema>(
  definition: ToolDefinition<Input, Output, InferInput<Output>> & { readonly output: Output },
): Tool<InferInput<Input>, InferSchema<Output>>
export function defineTool<const Input extends ToolSchema, Value>(
  definition: ToolDefinition<Input, undefined, Value>,
): Tool<InferInput<Input>, Value>
export function defineTool(definition: ToolDefinition<JsonObject, JsonObject | undefined, unknown>): Tool
export function defineTool(definition: ToolDefinition<JsonObject, JsonObject | undefined, unknown>): Tool {
  const problems = contractProblems(definition)
  if (problems.length > 0) {
    const key = typeof definition?.name === 'string' ? definition.name.slice(0, 80) : 'tool'
    throw new GateConfigError(problems.map((message) => ({ key, message })))
  }
  const { run, ...contract } = definition
  const tool = Object.freeze({ ...contract, ...frozenParts(contract) }) as unknown as Tool
  hideRun(tool, typeof run === 'function' ? (run as unknown as Run<JsonObject, unknown>) : Object.freeze({ ...run }))
  return tool
}

/** Bounds cannot be moved once they have been checked. */
function frozenParts({ limits, retry, cache }: Pick<Tool, 'limits' | 'retry' | 'cache'>): Partial<Tool> {
  return {
    ...(limits === undefined ? {} : { limits: Object.freeze({ ...limits }) }),
    ...(retry === undefined ? {} : { retry: Object.freeze({ ...retry }) }),
    ...(cache === undefined ? {} : { cache: Object.freeze({ ...cache }) }),
  }
}

/** Every way in which a definition does not hold, for its author. */
export function contractProblems(definition: unknown): readonly string[] {
  if (typeof definition !== 'object' || definition === null) return ['a tool is an object']
  const given = definition as Readonly<Record<string, unknown>>
  return [
    ...Object.keys(given)
      .filter((key) => !KNOWN.has(key))
      .map((key) => `unknown key \`${key}\``),
    ...textProblems(given),
    ...FUNCTIONS.filter((key) => given[key] !== undefined && typeof given[key] !== 'function').map(
      (key) => `\`${key}\` must be a function`,
    ),
    ...(given.run === undefined ? ['`run` is missing'] : []),
    ...(given.input === undefined ? ['`input` is missing'] : []),
    ...effectProblems(given.effect),
    ...boundProblems(given),
  ]
}

function textProblems(given: Readonly<Record<string, unknown>>): readonly string[] {
  const problems: string[] = []
  const { name, version, description } = given
  if (typeof name !== 'string' || !NAME.test(name)) problems.push('`name` must match [A-Za-z0-9_-]{1,64}')
  if (typeof version !== 'string' || !SEMVER.test(version))
    problems.push('`version` must be a semantic version, e.g. 1.0.0')
  if (typeof description !== 'string' || description.trim() === '')
    problems.push('`description` must say what the tool does')
  for (const key of ['title', 'returns']) {
    if (given[key] !== undefined && typeof given[key] !== 'string') problems.push(`\`${key}\` must be text`)
  }
  return problems
}

function effectProblems(effect: unknown): readonly string[] {
  if (isDeclaredEffect(effect)) return []
  const variable = effect as { readonly most?: unknown; readonly of?: unknown } | null | undefined
  if (typeof variable === 'object' && variable !== null && typeof variable.of === 'function') {
    const most = effectMost(variable as { most: 'read'; of: () => 'read' })
    if (isDeclaredEffect(most) && most !== 'undeclared') return []
  }
  return ['`effect` must be read, write, execute, external, destructive, undeclared, or { most, of }']
}
