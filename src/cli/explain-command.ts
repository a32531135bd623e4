// `lockgate explain tool NAME`: what the gate knows of one tool, and whether a caller can call it. The question is put to
// the same rooms that a call goes through; nothing is run and nothing is recorded.

import type { CatalogueRow, DecisionPreview, Gate, Session } from '../gate-contract.ts'
import { readCallerOptions } from './caller-options.ts'
import type { ExitCode } from './cli-io.ts'
import type { RunCommand } from './command.ts'
import { sourcesFor, untilThere, withGate } from './open-gate.ts'
import { openProject } from './project.ts'
import type { Terminal } from './terminal.ts'
import { printSource } from './tools-command.ts'

export const explainCommand: RunCommand = async (input) => {
  const { io, line, terminal } = input
  const [what, name] = line.positionals
  if (what !== 'tool' || name === undefined)
    return terminal.fail('usage', 'expected `tool NAME`', ['see `lockgate explain --help`'])
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  const caller = readCallerOptions(line, opened.value.config.caller)
  if (caller.kind === 'bad') return terminal.fail('usage', caller.reason)
  return withGate(opened.value, input, { starts: sourcesFor([name]) }, async (gate) => {
    const session = gate.session(caller.caller, 'cli')
    await untilThere(gate, name, io.signal)
    return explain(terminal, gate, session, name)
  })
}

async function explain(terminal: Terminal, gate: Gate, session: Session, name: string): Promise<ExitCode> {
  const rows = gate.catalogue.rows().filter((row) => row.name === name)
  const sources = gate.catalogue.sources()
  const listed = session.tools().find((tool) => tool.name === name)
  // Without arguments only what holds for every call of it can be answered; a tool that needs some says so.
  const preview = await session.decide({ name, arguments: {} })
  for (const row of rows) printRow(terminal, row)
  if (rows.length === 0) {
    terminal.line(`there is no tool \`${name}\`; \`lockgate tools --all\` lists what there is`)
    for (const source of sources.filter(({ state }) => state.kind === 'failed')) printSource(terminal, source)
  }
  const { user, agent, tenant, task } = session.caller
  terminal.line(
    `for ${tenant}/${user}/${agent}${task === undefined ? '' : ` with the task ${task.name}`}: `,
    listed === undefined ? ['red', 'not listed'] : ['green', 'listed'],
    `; ${previewText(preview)}`,
  )
  if (listed !== undefined)
    terminal.block(`\n${listed.description}\n${JSON.stringify(listed.inputSchema, undefined, 2)}`)
  terminal.value({ name, entries: rows, listed: listed ?? null, preview, sources })
  return rows.length === 0 ? 1 : 0
}

function printRow(terminal: Terminal, row: CatalogueRow): void {
  terminal.line(['bold', row.name], ` ${row.version}, ${row.effect}, of ${row.source} (${row.layer})`)
  terminal.line('  ', ['dim', 'fingerprint '], row.fingerprint)
  if (row.state.kind === 'held') terminal.line('  ', ['yellow', `held: ${row.state.reason}`])
  if (row.shadowedBy !== undefined) terminal.line('  ', ['yellow', `shadowed by the one of ${row.shadowedBy}`])
}

function previewText(preview: DecisionPreview): string {
  if (preview.kind === 'refused') {
    return preview.type === 'invalid_args'
      ? 'it may be called, and the arguments decide'
      : `${preview.type}: ${preview.message}`
  }
  const { decision } = preview
  const rule =
    decision.rule === undefined
      ? ''
      : ` (${decision.rule.text}${decision.rule.file === undefined ? '' : `, ${decision.rule.file}:${decision.rule.line ?? ''}`})`
  return `without arguments: ${decision.kind}, ${decision.reason}${rule}`
}
