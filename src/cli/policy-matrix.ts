// `lockgate policy matrix`: callers against tools. A star marks answers that arguments can change.

import type { Caller } from '../describe/caller.ts'
import type { MatrixRow, SessionOptions } from '../gate-contract.ts'
import { answerPiece } from './answer-piece.ts'
import { readCallerOptions } from './caller-options.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { withGate } from './open-gate.ts'
import { callerText } from './policy-explain.ts'
import { openProject } from './project.ts'
import type { Terminal } from './terminal.ts'

const CALLERS_MAX = 64
const CELL_WIDTH = 8

export const policyMatrix: RunCommand = async (input) => {
  const { line, terminal } = input
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  const callers = readCallers(input, opened.value.config.caller)
  if (typeof callers === 'string') return terminal.fail('usage', callers)
  const tools = line.texts('tool')
  return withGate(opened.value, input, {}, async (gate): Promise<ExitCode> => {
    await gate.settled()
    const rows = gate.policy.matrix(callers, tools.length === 0 ? undefined : tools)
    printMatrix(terminal, rows)
    terminal.value(rows)
    return 0
  })
}

/** One caller for each `--caller`, or the one that the other options name. */
function readCallers({ line }: CommandInput, fallback: Partial<Caller>): readonly SessionOptions[] | string {
  const given = line.texts('caller')
  if (given.length > CALLERS_MAX) return `at most ${CALLERS_MAX} callers`
  const callers: SessionOptions[] = []
  for (const whole of given.length === 0 ? [undefined] : given) {
    const read = readCallerOptions(line, fallback, whole)
    if (read.kind === 'bad') return read.reason
    callers.push(read.caller)
  }
  return callers
}

function printMatrix(terminal: Terminal, rows: readonly MatrixRow[]): void {
  const callers = [...new Set(rows.map(({ caller }) => caller))]
  const tools = [...new Set(rows.map(({ tool }) => tool))]
  const width = Math.min(64, Math.max(4, ...tools.map((name) => name.length))) + 2
  for (const [index, caller] of callers.entries()) terminal.line(['bold', `${index + 1} `], callerText(caller))
  terminal.line()
  terminal.line(
    ' '.repeat(width),
    ...callers.map((_, index) => ['bold', String(index + 1).padEnd(CELL_WIDTH)] as const),
  )
  for (const tool of tools) {
    const cells = callers.map((caller) => rows.find((row) => row.caller === caller && row.tool === tool))
    const only = callers.length === 1 ? cells[0]?.decision.reason : undefined
    terminal.line(['cyan', tool.padEnd(width)], ...cells.map((cell) => answerPiece(cellText(cell), CELL_WIDTH)), [
      'dim',
      only ?? '',
    ])
  }
  if (rows.length === 0) terminal.note('no tool answers to these callers')
  if (rows.some(({ depends }) => depends)) terminal.note(['dim', '* arguments can change this answer'])
}

/** `-`: there is no such tool for this caller. */
const cellText = (row: MatrixRow | undefined): string =>
  row === undefined ? '-' : `${row.decision.kind}${row.depends ? '*' : ''}`
