// Reads the words after `lockgate`: which command, which options, which arguments. Options may stand before the command or
// after it; one that the command does not know is an error, never ignored.

import { type ParseArgsConfig, parseArgs } from 'node:util'
import { didYouMean } from '../base/did-you-mean.ts'
import type { CommandSpec, OptionSpec } from './command.ts'
import { CommandLine } from './command-line.ts'

export type ReadLine =
  | { readonly kind: 'command'; readonly spec: CommandSpec; readonly line: CommandLine }
  /** No command was named, or only what stands for itself. */
  | { readonly kind: 'none'; readonly line: CommandLine }
  | { readonly kind: 'bad'; readonly message: string; readonly spec?: CommandSpec; readonly json: boolean }

type Options = Readonly<Record<string, OptionSpec>>

/** Reads a whole line against the table of commands and the options that all of them take. */
export function readCommandLine(argv: readonly string[], commands: readonly CommandSpec[], common: Options): ReadLine {
  const every = Object.assign({}, common, ...commands.map(({ options }) => options)) as Options
  const rough = parseArgs({
    args: [...argv],
    options: parserOptions(every),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const json = rough.values.json === true
  const named = rough.tokens.find((token) => token.kind === 'positional')
  const spec = commands.find(({ name }) => name === named?.value)
  if (named !== undefined && spec === undefined) {
    const near = didYouMean(
      named.value,
      commands.map(({ name }) => name),
    )
    return {
      kind: 'bad',
      message: `there is no command \`${named.value}\`${near === undefined ? '' : `; did you mean \`${near}\`?`}`,
      json,
    }
  }
  const known = { ...common, ...spec?.options }
  const refused = rough.tokens
    .map((token) => (token.kind === 'option' ? optionProblem(token, known) : undefined))
    .find((problem) => problem !== undefined)
  if (refused !== undefined) return { kind: 'bad', message: refused, json, ...(spec === undefined ? {} : { spec }) }
  // An option of one name may be given once to one command and several times to another: read as this one has it.
  const { values, positionals: words } = parseArgs({
    args: [...argv],
    options: parserOptions(known),
    strict: false,
    allowPositionals: true,
  })
  if (spec === undefined) return { kind: 'none', line: new CommandLine(values, []) }
  const positionals = words.slice(1)
  if (positionals.length > spec.positionalsMax)
    return { kind: 'bad', message: `one argument too many: \`${positionals[spec.positionalsMax]}\``, spec, json }
  return { kind: 'command', spec, line: new CommandLine(values, positionals) }
}

type OptionToken = {
  readonly name: string
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function optionProblem({ name, rawName, value, inlineValue }: OptionToken, known: Options): string | undefined {
  const option = Object.hasOwn(known, name) ? known[name] : undefined
  if (option === undefined) {
    const near = didYouMean(name, Object.keys(known))
    return `there is no option \`${rawName}\` here${near === undefined ? '' : `; did you mean \`--${near}\`?`}`
  }
  if (option.kind === 'flag') return value === undefined ? undefined : `\`${rawName}\` takes no value`
  if (value === undefined) return `\`${rawName}\` needs a value`
  // `--user --json` is a forgotten value far more often than a user of that name.
  return !inlineValue && value.length > 1 && value.startsWith('-')
    ? `\`${rawName}\` needs a value; one that starts with a dash is written \`${rawName}=${value}\``
    : undefined
}

const parserOptions = (options: Options): NonNullable<ParseArgsConfig['options']> =>
  Object.fromEntries(
    Object.entries(options).map(([name, { kind, short }]) => [
      name,
      {
        type: kind === 'flag' ? ('boolean' as const) : ('string' as const),
        multiple: kind === 'texts',
        ...(short === undefined ? {} : { short }),
      },
    ]),
  )
