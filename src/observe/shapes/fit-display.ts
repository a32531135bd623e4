// What a person sees has caps of its own, one for each kind, and takes nothing of a model's budget. What is cut says so, what is
// too large to be shown at all is named, and nothing that a browser or a terminal could act on comes through.

import { styledTerminalText } from '../../base/terminal-text.ts'
import { utf8Bytes } from '../../base/text-cut.ts'
import type { Display } from '../../describe/content.ts'
import { cutText } from './cut-text.ts'
import { DISPLAY_ROWS_MAX } from './table-shape.ts'

const TEXT_BYTES_MAX = 256 * 1024
const TABLE_BYTES_MAX = 1_048_576
const COLUMNS_MAX = 64
/** Base64 characters. */
const IMAGE_BYTES_MAX = 4 * 1_048_576
const ADDRESS_CHARACTERS_MAX = 4_096
const TITLE_CHARACTERS_MAX = 256
const PATH_CHARACTERS_MAX = 4_096
const NOTICE_BYTES = 96

export function fitDisplay(display: Display): Display {
  switch (display.kind) {
    case 'table':
      return fitTable(display)
    case 'image':
      return fitImage(display)
    case 'link':
      return fitLink(display)
    case 'terminal':
      // Cut first: what is not shown need not be made fit to be shown.
      return { ...display, text: styledTerminalText(fitText(display.text, 'ends')) }
    case 'text':
      return { ...display, text: fitText(display.text, 'start') }
    case 'diff':
    case 'file':
      return { ...display, path: display.path.slice(0, PATH_CHARACTERS_MAX), text: fitText(display.text, 'start') }
  }
}

function fitText(text: string, keeps: 'start' | 'ends'): string {
  if (text.length * 3 <= TEXT_BYTES_MAX) return text
  const bytes = utf8Bytes(text)
  if (bytes <= TEXT_BYTES_MAX) return text
  const cut = cutText(text, keeps, { bytesMax: TEXT_BYTES_MAX - NOTICE_BYTES, budgetBytes: TEXT_BYTES_MAX })
  return `${cut.text}\n[cut for display: ${utf8Bytes(cut.text)} of ${bytes} bytes]`
}

function fitTable(table: Display & { kind: 'table' }): Display {
  const columns = table.columns.slice(0, COLUMNS_MAX)
  const bytesOf = isSmall(table) ? () => 0 : bytesOfCells
  let left = TABLE_BYTES_MAX - bytesOf(columns)
  const rows: (readonly string[])[] = []
  for (const row of table.rows.slice(0, DISPLAY_ROWS_MAX)) {
    const cells = row.length > columns.length ? row.slice(0, columns.length) : row
    left -= bytesOf(cells)
    if (left < 0) break
    rows.push(cells)
  }
  const total = Math.max(table.total ?? 0, table.rows.length)
  return { kind: 'table', columns, rows, ...(total > rows.length ? { total } : {}) }
}

/** Three bytes a UTF-16 unit is the most that UTF-8 takes; most tables need no measuring. */
const isSmall = ({ columns, rows }: Display & { kind: 'table' }): boolean =>
  rows.reduce((units, row) => units + unitsOf(row), unitsOf(columns)) * 3 <= TABLE_BYTES_MAX

const unitsOf = (cells: readonly string[]): number => cells.reduce((units, cell) => units + cell.length, 0)
const bytesOfCells = (cells: readonly string[]): number => cells.reduce((sum, cell) => sum + utf8Bytes(cell), 0)

function fitImage(image: Display & { kind: 'image' }): Display {
  const { data, mimeType } = image
  if (data.length > IMAGE_BYTES_MAX)
    return { kind: 'text', text: `[an image of ${bytesOfBase64(data)} bytes is too large to be shown]` }
  return /^image\/[\w.+-]{1,64}$/.test(mimeType)
    ? image
    : { kind: 'text', text: '[an image of a kind that is not shown]' }
}

const bytesOfBase64 = (data: string): number => Math.floor((data.length * 3) / 4)

/** Only addresses that a browser opens as a page or hands to a mail program. */
function fitLink({ uri, title }: Display & { kind: 'link' }): Display {
  const shown = title?.slice(0, TITLE_CHARACTERS_MAX)
  if (uri.length > ADDRESS_CHARACTERS_MAX || !/^(?:https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu.test(uri))
    return { kind: 'text', text: `${shown ?? 'link'}: ${uri.slice(0, ADDRESS_CHARACTERS_MAX)}` }
  return { kind: 'link', uri, ...(shown === undefined ? {} : { title: shown }) }
}
