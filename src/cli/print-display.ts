// A display on a terminal: tables in columns, output of programs and changes of files in their colours. What has no better form
// there than the content that a model reads is left to that.

import { cutToBytes } from '../base/text-cut.ts'
import type { Display } from '../describe/content.ts'
import type { Terminal } from './terminal.ts'

const ROWS_MAX = 100
const CELL_BYTES_MAX = 60

/** False where nothing was printed. */
export function printDisplay(terminal: Terminal, display: Display): boolean {
  switch (display.kind) {
    case 'table':
      printTable(terminal, display)
      return true
    case 'terminal':
      terminal.styled(display.text === '' ? '[no output]' : display.text)
      return true
    case 'diff':
      terminal.styled(display.text.split('\n').map(colouredLine).join('\n'))
      return true
    case 'text':
      terminal.block(display.text)
      return true
    case 'link':
      terminal.block(display.title === undefined ? display.uri : `${display.title}: ${display.uri}`)
      return true
    case 'file':
    case 'image':
      return false
  }
}

const COLOURS = new Map([
  ['+', 32],
  ['-', 31],
  ['@', 36],
])

function colouredLine(line: string): string {
  const colour = COLOURS.get(line[0] ?? '')
  return colour === undefined ? line : `\u001b[${colour}m${line}\u001b[39m`
}

function printTable(terminal: Terminal, { columns, rows, total }: Display & { kind: 'table' }): void {
  if (columns.length === 0) {
    terminal.block('no rows')
    return
  }
  const shown = rows.slice(0, ROWS_MAX).map((row) => columns.map((_column, index) => cellText(row[index] ?? '')))
  const titles = columns.map(cellText)
  const widths = titles.map((title, index) =>
    Math.max(widthOf(title), ...shown.map((row) => widthOf(row[index] ?? ''))),
  )
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => cell + ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(cell))))
      .join('  ')
      .trimEnd()
  terminal.block([line(titles), line(widths.map((width) => '-'.repeat(width))), ...shown.map(line)].join('\n'))
  const all = Math.max(total ?? 0, rows.length)
  if (all > shown.length) terminal.note(['dim', `${shown.length} of ${all} rows`])
}

/** One line, and not too long. */
function cellText(cell: string): string {
  const line = cell.replace(/\s+/g, ' ')
  const kept = cutToBytes(line, CELL_BYTES_MAX)
  return kept === line ? line : `${kept}…`
}

const widthOf = (text: string): number => [...text].length
