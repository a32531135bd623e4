// `lockgate tools`: the view of a caller. With `--all` the whole catalogue, so that what is missing from a view has a reason.

import type { ToolListing } from '../describe/entry.ts'
import type { SourceState } from '../describe/source.ts'
import type { CatalogueRow, Gate, SourceRow } from '../gate-contract.ts'
import { readCallerOptions } from './caller-options.ts'
import type { ExitCode } from './cli-io.ts'
import type { RunCommand } from './command.ts'
import { withGate } from './open-gate.ts'
import { openProject } from './project.ts'
import type { Piece, Terminal } from './terminal.ts'

const NAME_WIDTH_MAX = 64
const LINE_MAX = 100

/** Wide enough for every name that is shown. */
const widthOf = (rows: readonly { readonly name: string }[]): number =>
  Math.min(NAME_WIDTH_MAX, Math.max(0, ...rows.map(({ name }) => name.length))) + 2

export const toolsCommand: RunCommand = async (input) => {
  const { line, terminal } = input
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  const caller = readCallerOptions(line, opened.value.config.caller)
  if (caller.kind === 'bad') return terminal.fail('usage', caller.reason)
  return withGate(opened.value, input, {}, async (gate): Promise<ExitCode> => {
    const session = gate.session(caller.caller, 'cli')
    await gate.settled()
    if (line.flag('all')) printAll(terminal, gate)
    else printView(terminal, session.tools())
    return 0
  })
}

function printView(terminal: Terminal, tools: readonly ToolListing[]): void {
  const width = widthOf(tools)
  for (const { name, description } of tools) terminal.line(['cyan', name.padEnd(width)], firstSentence(description))
  if (tools.length === 0)
    terminal.note(`this caller can call nothing; ${terminal.command('tools --all')} says what there is`)
  terminal.value(tools)
}

/** As much as fits on a line, and a mark where that is not the whole line; models are shown all of it. */
function firstSentence(text: string): string {
  const [line = ''] = text.split('\n')
  return line.length <= LINE_MAX ? line : `${line.slice(0, LINE_MAX - 1)}…`
}

function printAll(terminal: Terminal, gate: Gate): void {
  const tools = gate.catalogue.rows()
  const sources = gate.catalogue.sources()
  const warnings = gate.warnings()
  const width = widthOf(tools)
  for (const row of tools)
    terminal.line(
      ['cyan', row.name.padEnd(width)],
      `${row.effect.padEnd(11)} ${row.source} (${row.layer})  `,
      statePiece(row),
    )
  terminal.line()
  for (const source of sources) printSource(terminal, source)
  for (const warning of warnings) terminal.note(['yellow', 'warning: '], warning)
  terminal.value({ tools, sources, warnings })
}

function statePiece({ state, shadowedBy }: CatalogueRow): Piece {
  if (state.kind === 'held') return ['yellow', `held: ${state.reason}`]
  if (shadowedBy !== undefined) return ['dim', `shadowed by the one of ${shadowedBy}`]
  return state.kind === 'active' ? ['green', 'active'] : ['dim', 'retired']
}

/** One source, with the reason where it has failed. */
export function printSource(terminal: Terminal, { name, layer, state, tools }: SourceRow): void {
  terminal.line(
    'source ',
    ['bold', name],
    ` (${layer}, ${tools} ${tools === 1 ? 'tool' : 'tools'})  `,
    sourcePiece(state),
  )
}

function sourcePiece(state: SourceState): Piece {
  switch (state.kind) {
    case 'failed':
      return ['red', `failed: ${state.reason}`]
    case 'ready':
      return ['green', 'ready']
    default:
      return ['dim', state.kind]
  }
}
