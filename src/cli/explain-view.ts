// `lockgate explain view`: every tool that the gate knows, and why this caller sees it or not.

import type { ViewRow } from '../gate-contract.ts'
import { readCallerOptions } from './caller-options.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput } from './command.ts'
import { withGate } from './open-gate.ts'
import { callerText } from './policy-explain.ts'
import { openProject } from './project.ts'
import type { Terminal } from './terminal.ts'

export async function explainView(input: CommandInput): Promise<ExitCode> {
  const { line, terminal } = input
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  const caller = readCallerOptions(line, opened.value.config.caller)
  if (caller.kind === 'bad') return terminal.fail('usage', caller.reason)
  return withGate(opened.value, input, {}, async (gate): Promise<ExitCode> => {
    await gate.settled()
    const rows = gate.policy.view(caller.caller)
    printView(terminal, rows)
    const seen = rows.filter((row) => row.seen).length
    const who = callerText(gate.session(caller.caller, 'cli').caller)
    terminal.note(`${who} sees ${seen} of ${rows.length} tools`)
    terminal.value(rows)
    return 0
  })
}

function printView(terminal: Terminal, rows: readonly ViewRow[]): void {
  const width = Math.min(64, Math.max(4, ...rows.map(({ tool }) => tool.length))) + 2
  const sourceWidth = Math.max(6, ...rows.map(({ source }) => source.length)) + 2
  for (const { tool, source, seen, why } of rows)
    terminal.line(
      [seen ? 'green' : 'dim', seen ? 'seen    ' : 'unseen  '],
      ['cyan', tool.padEnd(width)],
      source.padEnd(sourceWidth),
      why,
    )
}
