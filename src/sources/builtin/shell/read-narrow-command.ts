// Reads the narrow commands of an operator. Every placeholder has an input and every input a placeholder; what does not hold is
// named with its key, and nothing starts.

import { isToolName } from '../../../describe/define-tool.ts'
import { EFFECTS, type Effect } from '../../../describe/effect.ts'
import type { ConfigProblem } from '../../../describe/gate-config-error.ts'
import { readPattern } from '../../../describe/schema/linear-pattern.ts'
import type { SandboxMode } from '../../../machine/abilities.ts'
import { readTemplate, type TemplatePiece } from './narrow-template.ts'
import { DAY_MS, isPlain, isRecord, type KeptLimits, OptionBounds } from './option-bounds.ts'
import { COMMAND_MS, DEFAULT_LIMITS } from './read-shell-options.ts'
import type { NarrowCommandOptions, NarrowInput } from './shell-options.ts'

export type NarrowCommand = {
  readonly name: string
  readonly program: string
  /** As it was written, for people and models. */
  readonly shown: string
  readonly template: readonly (readonly TemplatePiece[])[]
  readonly inputs: ReadonlyMap<string, NarrowInput>
  readonly effect: Effect
  readonly description: string | undefined
  readonly deadlineMs: number
  readonly sandbox: SandboxMode
  readonly network: boolean
  readonly limits: KeptLimits
  readonly asked: Partial<KeptLimits>
  readonly benign: readonly number[]
  readonly runsWorkspaceCode: boolean
}

export type ReadNarrow =
  | { readonly kind: 'ok'; readonly commands: readonly NarrowCommand[] }
  | { readonly kind: 'refused'; readonly problems: readonly ConfigProblem[] }

const KEYS = [
  ...['program', 'args', 'inputs', 'effect', 'description', 'deadlineMs', 'sandbox', 'network', 'limits', 'benign'],
  'runsWorkspaceCode',
]
const INPUT_KINDS = { path: [], text: ['pattern', 'flag'], oneOf: [], number: ['min', 'max'] } as const
const TAKEN = new Set(['run_command', 'job_output', 'job_stop'])
const NUMBER_MAX = Number.MAX_SAFE_INTEGER

export function readNarrowCommands(
  options: Readonly<Record<string, NarrowCommandOptions>>,
  sandbox: SandboxMode,
): ReadNarrow {
  if (!isRecord(options))
    return { kind: 'refused', problems: [{ key: 'tools.commands', message: 'expected commands by their names' }] }
  const problems: ConfigProblem[] = []
  const commands = Object.entries(options).map(([name, given]) => {
    const read = new OptionBounds(`tools.commands.${name}`)
    if (!isToolName(name) || TAKEN.has(name))
      read.problem('', 'expected another name: 1 to 64 letters, digits, `_` and `-`, and not one of the shell tools')
    const command = readOne(name, given, read, sandbox)
    problems.push(...read.problems)
    return command
  })
  return problems.length > 0 ? { kind: 'refused', problems } : { kind: 'ok', commands }
}

function readOne(name: string, options: NarrowCommandOptions, read: OptionBounds, sandbox: SandboxMode): NarrowCommand {
  const given = read.members(options, '', KEYS) ?? {}
  const { program, description } = given
  if (!isPlain(program) || !/^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/.test(program))
    read.problem('program', 'expected the bare name of a program')
  if (description !== undefined && !isPlain(description)) read.problem('description', 'expected a text')
  const args = read.texts(given.args, 'args')
  const inputs = readInputs(given.inputs, read)
  const template = args.map((text, index) => readArgument(text, index, inputs, read))
  for (const input of inputs.keys())
    if (!template.some((pieces) => pieces.some((piece) => piece.kind === 'input' && piece.name === input)))
      read.problem(`inputs.${input}`, 'no argument holds it')
  if (given.effect === undefined) read.problem('effect', `expected one of ${EFFECTS.join(', ')}`)
  const effect = read.oneOf(given.effect, 'effect', EFFECTS, 'destructive')
  const limits = read.limits(given.limits, DEFAULT_LIMITS)
  return {
    ...{ name, program: String(program), template, inputs, effect, limits },
    shown: [String(program), ...args].join(' '),
    description: typeof description === 'string' ? description : undefined,
    deadlineMs: read.count(given.deadlineMs, 'deadlineMs', { least: 100, most: DAY_MS, otherwise: COMMAND_MS }),
    sandbox: read.sandbox(given.sandbox, sandbox),
    network: read.flag(given.network, 'network', effect === 'external'),
    asked: read.asked(given.limits, limits),
    benign: readBenign(given.benign, read),
    runsWorkspaceCode: read.flag(given.runsWorkspaceCode, 'runsWorkspaceCode', effect !== 'read'),
  }
}

function readArgument(
  text: string,
  index: number,
  inputs: ReadonlyMap<string, NarrowInput>,
  read: OptionBounds,
): readonly TemplatePiece[] {
  const pieces = readTemplate(text)
  if (pieces === undefined)
    read.problem(`args.${index}`, 'expected `{name}` for an input, and `{{` or `}}` for a brace')
  for (const piece of pieces ?? [])
    if (piece.kind === 'input' && !inputs.has(piece.name))
      read.problem(`args.${index}`, `there is no input \`${piece.name}\``)
  return pieces ?? []
}

function readInputs(value: unknown, read: OptionBounds): ReadonlyMap<string, NarrowInput> {
  const inputs = new Map<string, NarrowInput>()
  if (value === undefined) return inputs
  if (!isRecord(value)) {
    read.problem('inputs', 'expected inputs by their names')
    return inputs
  }
  for (const [name, input] of Object.entries(value)) {
    const key = `inputs.${name}`
    const checked = isRecord(input) ? readInput(input, key, read) : undefined
    if (!isRecord(input)) read.problem(key, 'expected an object with `path`, `text`, `oneOf` or `number`')
    // Names of placeholders are all that can be meant, so nothing else needs to be a name.
    if (!/^[A-Za-z_]\w{0,63}$/.test(name) || name === '__proto__')
      read.problem(key, 'expected a name of letters, digits and `_`')
    else if (checked !== undefined) inputs.set(name, checked)
  }
  return inputs
}

function readInput(input: Readonly<Record<string, unknown>>, key: string, read: OptionBounds): NarrowInput | undefined {
  const [kind, ...more] = (['path', 'text', 'oneOf', 'number'] as const).filter((one) => input[one] !== undefined)
  if (kind === undefined || more.length > 0) {
    read.problem(key, 'expected exactly one of `path`, `text`, `oneOf` and `number`')
    return undefined
  }
  read.members(input, key, [kind, 'description', 'optional', ...INPUT_KINDS[kind]])
  if (kind !== 'oneOf' && input[kind] !== true) read.problem(`${key}.${kind}`, 'expected true')
  if (input.description !== undefined && !isPlain(input.description))
    read.problem(`${key}.description`, 'expected a text')
  const shared = {
    ...(isPlain(input.description) ? { description: input.description } : {}),
    optional: read.flag(input.optional, `${key}.optional`, false),
  }
  if (kind === 'path') return { ...shared, path: true }
  if (kind === 'oneOf') return { ...shared, oneOf: readChoices(input.oneOf, `${key}.oneOf`, read) }
  if (kind === 'number') {
    const min = read.count(input.min, `${key}.min`, { least: -NUMBER_MAX, most: NUMBER_MAX, otherwise: 0 })
    const max = read.count(input.max, `${key}.max`, { least: min, most: NUMBER_MAX, otherwise: NUMBER_MAX })
    return { ...shared, number: true, min, max }
  }
  const { pattern } = input
  if (pattern !== undefined && (typeof pattern !== 'string' || readPattern(`^(?:${pattern})$`).kind === 'bad'))
    read.problem(`${key}.pattern`, 'expected a pattern that is matched in linear time (RE2)')
  return {
    ...{ ...shared, text: true, flag: read.flag(input.flag, `${key}.flag`, false) },
    ...(typeof pattern === 'string' ? { pattern } : {}),
  }
}

function readChoices(value: unknown, key: string, read: OptionBounds): readonly string[] {
  const choices = read.texts(value, key)
  if (choices.length === 0) read.problem(key, 'expected at least one choice')
  return choices
}

function readBenign(value: unknown, read: OptionBounds): readonly number[] {
  if (value === undefined) return []
  if (Array.isArray(value) && value.every((code) => Number.isInteger(code) && code >= 0 && code <= 255)) return value
  read.problem('benign', 'expected a list of exit codes from 0 to 255')
  return []
}
