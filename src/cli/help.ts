// The help, built from the table of commands.

import type { CommandSpec, OptionSpec } from './command.ts'
import type { Terminal } from './terminal.ts'

const NAME_WIDTH = 12
const OPTION_WIDTH = 22

/** All commands, one line each. */
export function printOverview(
  terminal: Terminal,
  commands: readonly CommandSpec[],
  common: Readonly<Record<string, OptionSpec>>,
): void {
  terminal.line('The layer between what a model wants and what really happens: governed tool calls.')
  terminal.line()
  terminal.line(['bold', 'Usage: '], 'lockgate [--config FILE] COMMAND [OPTIONS]')
  terminal.line()
  for (const { name, summary } of commands) terminal.line('  ', ['cyan', name.padEnd(NAME_WIDTH)], summary)
  terminal.line()
  printOptions(terminal, common)
  terminal.line()
  terminal.line(
    'Exit status: 0 done; 1 the call or check ended in an error outcome or a finding; 2 usage or configuration.',
  )
  terminal.line(['bold', 'Example: '], `lockgate call read_file '{"path":"README.md"}'`)
}

/** One command: usage, options, examples. */
export function printCommandHelp(
  terminal: Terminal,
  command: CommandSpec,
  common: Readonly<Record<string, OptionSpec>>,
): void {
  terminal.line(`lockgate ${command.name}: ${command.summary}`)
  terminal.line()
  terminal.line(
    ['bold', 'Usage: '],
    ['lockgate', command.name, command.usage, '[OPTIONS]'].filter((part) => part !== '').join(' '),
  )
  terminal.line()
  for (const [action, means] of Object.entries(command.actions ?? {}))
    terminal.line('  ', ['cyan', action.padEnd(OPTION_WIDTH)], ' ', means)
  if (command.actions !== undefined) terminal.line()
  printOptions(terminal, { ...command.options, ...common })
  terminal.line()
  terminal.line(['bold', command.examples.length === 1 ? 'Example:' : 'Examples:'])
  for (const example of command.examples) terminal.line('  ', example)
}

function printOptions(terminal: Terminal, options: Readonly<Record<string, OptionSpec>>): void {
  for (const [name, { short, value, means }] of Object.entries(options)) {
    const spelled = `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`
    terminal.line('  ', ['cyan', spelled.padEnd(OPTION_WIDTH)], ' ', means)
  }
}
