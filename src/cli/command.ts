// What every command is: a line in the table that can be shown without loading it, and a function that is loaded when it
// is asked for.

import type { CliIo, ExitCode } from './cli-io.ts'
import type { CommandLine } from './command-line.ts'
import type { Terminal } from './terminal.ts'

export type OptionSpec = {
  /** `text` takes a value, `texts` may be given several times. */
  readonly kind: 'flag' | 'text' | 'texts'
  readonly short?: string
  /** What stands for the value in the help. */
  readonly value?: string
  readonly means: string
}

export type CommandInput = { readonly io: CliIo; readonly line: CommandLine; readonly terminal: Terminal }

/** The whole of one command. Expected ends are exit codes; anything thrown but GateConfigError is a bug. */
export type RunCommand = (input: CommandInput) => Promise<ExitCode>

export type CommandSpec = {
  readonly name: string
  readonly summary: string
  /** Positional arguments, e.g. `NAME [JSON|-]`. */
  readonly usage: string
  readonly positionalsMax: number
  /** What may stand first among them, and what it does; for the help. */
  readonly actions?: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, OptionSpec>>
  readonly examples: readonly string[]
  readonly load: () => Promise<RunCommand>
}
