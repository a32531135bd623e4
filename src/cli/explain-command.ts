// `lockgate explain`: why a tool is there or not, what a caller sees, what stands before a tool, what a profile and the
// effects mean. The questions are put to the same rooms that a call goes through; nothing is run and nothing is recorded.

import type { CatalogueRow, DecisionPreview, Gate, Session } from '../gate-contract.ts'
import { readCallerOptions } from './caller-options.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { sourcesFor, untilThere, withGate } from './open-gate.ts'
import { callerText } from './policy-explain.ts'
import { openProject } from './project.ts'
import { ruleLine } from './rule-place.ts'
import type { Terminal } from './terminal.ts'
import { printSource } from './tools-command.ts'

const SUBJECTS = 'tool NAME, view, guards [TOOL], profile [NAME] or effects'

export const explainCommand: RunCommand = async (input) => {
  const { terminal, line } = input
  const [what, name] = line.positionals
  if (what === 'tool' && name !== undefined) return explainTool(input, name)
  if (what === 'profile') return (await import('./explain-profile.ts')).explainProfile(input, name)
  if (what === 'view' && name === undefined) return (await import('./explain-view.ts')).explainView(input)
  if (what === 'guards') return (await import('./explain-guards.ts')).explainGuards(input, name)
  if (what === 'effects' && name === undefined) return (await import('./explain-effects.ts')).explainEffects(input)
  return terminal.fail('usage', `expected ${SUBJECTS}`, ['see `lockgate explain --help`'])
}

async function explainTool(input: CommandInput, name: string): Promise<ExitCode> {
  const { io, line, terminal } = input
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  const caller = readCallerOptions(line, opened.value.config.caller)
  if (caller.kind === 'bad') return terminal.fail('usage', caller.reason)
  return withGate(opened.value, input, { starts: sourcesFor([name]) }, async (gate) => {
    const session = gate.session(caller.caller, 'cli')
    await untilThere(gate, name, io.signal)
    return explain(input, gate, session, name)
  })
}

async function explain({ io, terminal }: CommandInput, gate: Gate, session: Session, name: string): Promise<ExitCode> {
  const rows = gate.catalogue.rows().filter((row) => row.name === name)
  const sources = gate.catalogue.sources()
  const listed = session.tools().find((tool) => tool.name === name)
  // Without arguments only what holds for every call of it can be answered; a tool that needs some says so.
  const preview = await session.decide({ name, arguments: {} })
  for (const row of rows) printRow(terminal, row)
  if (rows.length === 0) {
    terminal.line(`there is no tool \`${name}\`; ${terminal.command('tools --all')} lists what there is`)
    for (const source of sources.filter(({ state }) => state.kind === 'failed')) printSource(terminal, source)
  }
  terminal.line(
    `for ${callerText(session.caller)}: `,
    listed === undefined ? ['red', 'not listed'] : ['green', 'listed'],
    `; ${previewText(preview, io.cwd)}`,
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

function previewText(preview: DecisionPreview, cwd: string): string {
  if (preview.kind === 'refused') {
    return preview.type === 'invalid_args'
      ? 'it may be called, and the arguments decide'
      : `${preview.type}: ${preview.message}`
  }
  const { kind, reason, rule } = preview.decision
  return `without arguments: ${kind}, ${reason}${rule === undefined ? '' : `; ${ruleLine(rule, cwd)}`}`
}
