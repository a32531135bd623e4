// A narrow command as a tool: one program, arguments of which a caller fills in only what the operator left open, and its own
// effect. What a caller gives becomes a part of one argument each and is judged by its kind.

import type { JsonObject } from '../../../base/json-value.ts'
import { defineTool } from '../../../describe/define-tool.ts'
import type { Refusal, RunContext, Tool } from '../../../describe/tool.ts'
import { ToolFailure } from '../../../describe/tool-failure.ts'
import { type FilePlace, isRefusal, refusal } from '../files/file-place.ts'
import { type CommandValue, presentCommand } from './command-answer.ts'
import { changeRefusal } from './command-operands.ts'
import type { CommandRunner } from './command-runner.ts'
import { DecidedCalls } from './decided-calls.ts'
import { type FilledInput, fillTemplate } from './narrow-template.ts'
import { scriptOf } from './package-script.ts'
import type { NarrowCommand } from './read-narrow-command.ts'
import { runForeground } from './run-foreground.ts'
import type { Operand, SettledCommand } from './settled-command.ts'
import type { NarrowInput } from './shell-options.ts'
import type { TrustedProgram } from './trusted-programs.ts'
import { stale } from './undone.ts'

export type NarrowParts = {
  readonly command: NarrowCommand
  readonly place: FilePlace
  readonly runner: CommandRunner
  /** Undefined where this machine does not have it. */
  readonly program: TrustedProgram | undefined
}

const TEXT_MAX = 1_000

export function narrowCommandTool(parts: NarrowParts): Tool {
  const { command } = parts
  const decided = new DecidedCalls()
  const settle = (args: JsonObject): SettledCommand => {
    const settled = settleNarrow(parts, args)
    if (isRefusal(settled)) throw new Error(settled.message)
    return settled
  }
  const { name, effect, description = 'Run a command that the operator has set up.', sandbox, deadlineMs } = command
  return defineTool({
    ...{ name, effect, sandbox, deadlineMs },
    version: '1.0.0',
    // The whole template: an answer to a call of this tool is for this command, and for no other that takes its name.
    description: `${description} It runs \`${command.shown}\`.`,
    returns: 'Its output and exit code.',
    input: inputOf(command),
    repeat: effect === 'read' ? 'safe' : 'never',
    place: 'child',
    walks: true,
    ...(effect === 'external' || effect === 'destructive' ? {} : { lane: 'touches' as const }),
    limits: command.asked,
    resolve: (args) => resolveNarrow(parts, args),
    touches: (args) => decided.touches(args, settle(args)),
    command: () => ({ program: command.program, reads: effect === 'read' }),
    binds: (args) => decided.binds(args, settle(args)),
    run: (args, context) => run(parts, decided, args, context),
    present: (value) => presentCommand(value as CommandValue),
  })
}

async function run(parts: NarrowParts, decided: DecidedCalls, args: JsonObject, context: RunContext) {
  const { command, runner } = parts
  const settled = settleNarrow(parts, args)
  if (isRefusal(settled)) return stale()
  const changed = await decided.problem(args, settled)
  if (changed !== undefined) return changed
  const ready = await runner.prepare(settled, context)
  if (ready instanceof ToolFailure) return ready
  return runForeground({ runner, ready, context, limits: command.limits, timeoutMs: command.deadlineMs })
}

/** Paths in the form that will be opened; everything else as it came, once it has been judged. */
function resolveNarrow({ command, place, program }: NarrowParts, args: JsonObject): JsonObject | Refusal {
  const resolved: Record<string, JsonObject[string]> = { ...args }
  for (const [name, input] of command.inputs) {
    const value = ownValue(args, name)
    if (value === undefined || !('path' in input)) continue
    const located = place.locate({ path: String(value), root: undefined })
    if (isRefusal(located)) return { ...located, message: `\`${name}\`: ${located.message}` }
    const refused = command.effect === 'read' ? undefined : changeRefusal(located)
    if (refused !== undefined) return refused
    resolved[name] = located.root === place.roots[0] ? located.relative : located.absolute
  }
  const filled = fillTemplate(command.template, filledInputs(command, resolved))
  if (filled.kind === 'flag') return refusal(`\`${filled.name}\` may not begin with a dash: it would be read as a flag`)
  if (program === undefined)
    return { kind: 'refused', code: 'unavailable', message: `\`${command.program}\` is not installed on this machine` }
  return resolved
}

function settleNarrow({ command, place, program }: NarrowParts, args: JsonObject): SettledCommand | Refusal {
  const cwd = place.locate({ path: '.', root: place.roots[0] })
  const filled = fillTemplate(command.template, filledInputs(command, args))
  if (filled.kind === 'flag' || program === undefined) throw new TypeError('this call was not resolved')
  if (isRefusal(cwd)) return cwd
  const operands: Operand[] = []
  for (const [name, input] of command.inputs) {
    const value = ownValue(args, name)
    if (value === undefined || !('path' in input)) continue
    const located = place.locate({ path: String(value), root: undefined })
    if (isRefusal(located)) return located
    operands.push({ settled: located, below: true })
  }
  const { benign, network, runsWorkspaceCode } = command
  return {
    ...{ program, before: [], args: filled.args, cwd, operands, benign, network, runsWorkspaceCode },
    // Nobody can tell what else a program looks at that only its operator knows.
    looksAt: { settled: cwd, below: true },
    reads: command.effect === 'read',
    script: scriptOf(command.program, filled.args),
    stdin: undefined,
  }
}

function filledInputs({ inputs }: NarrowCommand, args: JsonObject): ReadonlyMap<string, FilledInput> {
  const filled = new Map<string, FilledInput>()
  for (const [name, input] of inputs) {
    const value = ownValue(args, name)
    if (value === undefined) continue
    const text = 'path' in input ? pathText(String(value)) : String(value)
    filled.set(name, { text, mayBeFlag: mayBeFlag(input) })
  }
  return filled
}

/** An input may be called `constructor`. */
const ownValue = (args: JsonObject, name: string): JsonObject[string] | undefined =>
  Object.hasOwn(args, name) ? args[name] : undefined

/** A name that a program could take for something else (`-x`, `host:x`, `NAME=x`) gets a `./` in front. */
const pathText = (path: string): string =>
  path.startsWith('/') || /^[A-Za-z0-9_.\u0080-\uffff][^:=]*$/u.test(path) ? path : `./${path}`

const mayBeFlag = (input: NarrowInput): boolean =>
  'oneOf' in input || ('number' in input && (input.min ?? 0) < 0) || ('text' in input && input.flag === true)

function inputOf({ inputs }: NarrowCommand): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries([...inputs].map(([name, input]) => [name, fieldOf(input)])),
    required: [...inputs].filter(([, { optional }]) => optional !== true).map(([name]) => name),
    additionalProperties: false,
  }
}

function fieldOf(input: NarrowInput): JsonObject {
  const description = input.description === undefined ? {} : { description: input.description }
  if ('oneOf' in input) return { type: 'string', enum: [...input.oneOf], ...description }
  if ('number' in input)
    return { type: 'integer', minimum: input.min ?? 0, maximum: input.max ?? Number.MAX_SAFE_INTEGER, ...description }
  if ('path' in input)
    return { type: 'string', description: input.description ?? 'Path in the workspace, relative to its root.' }
  // Without a pattern: one line without control characters.
  const pattern = input.pattern === undefined ? '^[^\\x00-\\x1f\\x7f-\\x9f]+$' : `^(?:${input.pattern})$`
  return { type: 'string', minLength: 1, maxLength: TEXT_MAX, pattern, ...description }
}
