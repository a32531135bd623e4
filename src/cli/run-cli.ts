// From the words on the command line to an exit code. What does not hold in a configuration ends here in words; whatever
// else a command throws is a bug, and says that it is one.

import { VERSION } from '../base/version.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import type { CliIo, ExitCode } from './cli-io.ts'

import { COMMANDS, COMMON_OPTIONS } from './command-table.ts'
import { printCommandHelp, printOverview } from './help.ts'
import { readCommandLine } from './read-command-line.ts'
import { Terminal } from './terminal.ts'

/** Runs one command in this process. Resolves when everything that it started has ended. */
export async function runCli(io: CliIo): Promise<ExitCode> {
  const read = readCommandLine(io.argv, COMMANDS, COMMON_OPTIONS)
  const terminal = new Terminal(io, {
    json: read.kind === 'bad' ? read.json : read.line.flag('json'),
    config: read.kind === 'bad' ? undefined : read.line.text('config'),
  })
  if (read.kind === 'bad') {
    return terminal.fail('usage', read.message, [
      `see \`lockgate ${read.spec === undefined ? '' : `${read.spec.name} `}--help\``,
    ])
  }
  if (read.line.flag('version')) {
    terminal.line(VERSION)
    terminal.value({ version: VERSION })
    return 0
  }
  if (read.line.flag('help') || read.kind === 'none') return help(terminal, read)
  try {
    const run = await read.spec.load()
    return await run({ io, line: read.line, terminal })
  } catch (error) {
    if (error instanceof GateConfigError) return terminal.failConfiguration(error.problems)
    const message = error instanceof Error ? error.message : String(error)
    terminal.note(['red', 'this is a fault of Lockgate itself: '], message)
    for (const text of (error instanceof Error ? (error.stack ?? '') : '').split('\n').slice(1))
      terminal.note(['dim', text])
    terminal.value({ error: { kind: 'internal', message } })
    return 1
  }
}

function help(terminal: Terminal, read: Exclude<ReturnType<typeof readCommandLine>, { kind: 'bad' }>): ExitCode {
  if (read.kind === 'command') printCommandHelp(terminal, read.spec, COMMON_OPTIONS)
  else printOverview(terminal, COMMANDS, COMMON_OPTIONS)
  terminal.value({ commands: COMMANDS.map(({ name, usage, summary }) => ({ name, usage, summary })) })
  return read.line.flag('help') ? 0 : 2
}
