// `lockgate explain guards [TOOL]`: what stands between "allowed" and the tools, outermost first, and what each guard bounds.
// The list is the one that calls go through, not a description of it.

import type { GuardRow } from '../gate-contract.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput } from './command.ts'
import { sourcesFor, untilThere, withGate } from './open-gate.ts'
import { openProject } from './project.ts'
import type { Terminal } from './terminal.ts'

/** Names of tools that are printed beside a guard; the rest is counted. */
const NAMES_MAX = 6

export async function explainGuards(input: CommandInput, tool: string | undefined): Promise<ExitCode> {
  const { io, terminal } = input
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  const options = tool === undefined ? {} : { starts: sourcesFor([tool]) }
  return withGate(opened.value, input, options, async (gate): Promise<ExitCode> => {
    if (tool === undefined) await gate.settled()
    else await untilThere(gate, tool, io.signal)
    const rows = gate.guards(tool)
    if (rows.length === 0)
      terminal.line(`there is no tool \`${tool}\`; ${terminal.command('tools --all')} lists what there is`)
    printGuards(terminal, rows, tool)
    terminal.value(rows)
    return rows.length === 0 ? 1 : 0
  })
}

function printGuards(terminal: Terminal, rows: readonly GuardRow[], tool: string | undefined): void {
  const width = Math.max(...rows.map(({ name }) => name.length)) + 2
  for (const { name, bounds, tools } of rows) {
    terminal.line(['cyan', name.padEnd(width)], bounds)
    if (tool === undefined) terminal.line(' '.repeat(width), ['dim', `before ${beforeText(tools)}`])
  }
}

function beforeText(tools: GuardRow['tools']): string {
  if (tools === 'all') return 'every tool'
  if (tools.length === 0) return 'no tool'
  const more = tools.length - NAMES_MAX
  return `${tools.slice(0, NAMES_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
