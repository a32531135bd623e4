// The default shape of rows: a list of flat objects, or an object with the list `rows` and perhaps `total` and a cursor. A model
// gets the first of them as compact text, a line each; a person gets a table. The value itself stays as it is.

import { cutToBytes } from '../../base/text-cut.ts'
import type { Display } from '../../describe/content.ts'
import type { Shown } from './shaped.ts'

const MODEL_ROWS_MAX = 20
export const DISPLAY_ROWS_MAX = 1_000
const COLUMNS_MAX = 64
const COLUMNS_LOOKED_AT_MAX = 10_000
/** UTF-8 bytes of one cell of a display. */
const CELL_BYTES_MAX = 1_024
/** Rows that are looked at to tell whether a list is one of flat objects. */
const LOOKED_AT_MAX = 100

type Row = Readonly<Record<string, unknown>>
type Rows = {
  readonly rows: readonly unknown[]
  readonly total: number | undefined
  readonly cursor: string | undefined
  /** Members besides these; they are shown too. */
  readonly others: Row | undefined
}

/** Undefined for a value that is no table. `text` answers with the JSON text of the value. */
export function tableShape(value: unknown, text: () => string): Shown | undefined {
  const table = rowsOf(value)
  if (table === undefined) return undefined
  const { rows, total, cursor, others } = table
  const shown = rows.length > DISPLAY_ROWS_MAX ? rows.slice(0, DISPLAY_ROWS_MAX) : rows
  const all = columnsOf(shown)
  const columns = all.slice(0, COLUMNS_MAX)
  const besides = others === undefined ? undefined : othersText(others)
  const count = total ?? rows.length
  const cells = shown.map((row) => columns.map((column) => cellOf(row, column)))
  const display: Display = {
    kind: 'table',
    columns,
    rows: cells.map((row) => row.map(displayCell)),
    ...(count > shown.length ? { total: count } : {}),
  }
  return {
    display,
    body: {
      ...{ kind: 'table', rows: rows.length, text },
      header: rows.length === 0 ? 'no rows' : lineOf(columns).toWellFormed(),
      lines: cells.slice(0, MODEL_ROWS_MAX).map(lineOf),
      isPartial: all.length > columns.length || besides?.isCut === true,
      beyond: beyondOf({ rows, total, cursor }, all.length - columns.length, besides?.text),
    },
  }
}

/** How many rows a value has, where it is a list or has one: what can be paged by rows. */
export function rowCount(value: unknown): number | undefined {
  if (Array.isArray(value)) return value.length
  return isRecord(value) && Array.isArray(value.rows) ? value.rows.length : undefined
}

function rowsOf(value: unknown): Rows | undefined {
  if (Array.isArray(value))
    return value.length > 0 && value.slice(0, LOOKED_AT_MAX).every(isFlat)
      ? { rows: value, total: undefined, cursor: undefined, others: undefined }
      : undefined
  if (!isRecord(value) || !Array.isArray(value.rows)) return undefined
  const { rows, total, nextCursor, cursor = nextCursor, ...others } = value
  if (!Array.isArray(rows) || !rows.slice(0, LOOKED_AT_MAX).every(isRecord)) return undefined
  return {
    rows,
    total: typeof total === 'number' && Number.isFinite(total) ? total : undefined,
    cursor: typeof cursor === 'string' || typeof cursor === 'number' ? String(cursor) : undefined,
    others: Object.keys(others).length === 0 ? undefined : others,
  }
}

const isRecord = (value: unknown): value is Row => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const shape: unknown = Object.getPrototypeOf(value)
  return shape === Object.prototype || shape === null
}

const isFlat = (row: unknown): boolean =>
  isRecord(row) && Object.values(row).every((cell) => cell === null || typeof cell !== 'object')

function columnsOf(rows: readonly unknown[]): readonly string[] {
  const columns = new Set<string>()
  for (const row of rows) {
    if (typeof row !== 'object' || row === null) continue
    for (const key of Object.keys(row)) if (columns.size < COLUMNS_LOOKED_AT_MAX) columns.add(key)
  }
  return [...columns]
}

/** Nothing where a row has no such member; null is said. */
function cellOf(row: unknown, column: string): string {
  if (typeof row !== 'object' || row === null || !Object.hasOwn(row, column)) return ''
  const cell: unknown = Reflect.get(row, column)
  if (typeof cell === 'string') return cell.isWellFormed() ? cell : cell.toWellFormed()
  if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell)
  return cell === undefined ? '' : (JSON.stringify(cell) ?? '')
}

const displayCell = (cell: string): string =>
  cell.length * 3 <= CELL_BYTES_MAX ? cell : withEllipsis(cell, cutToBytes(cell, CELL_BYTES_MAX))

const withEllipsis = (cell: string, kept: string): string => (kept === cell ? cell : `${kept}…`)

/** A row is one line, and a cell ends where the next `|` stands by itself. */
const lineOf = (cells: readonly string[]): string => cells.map(escaped).join(' | ')

const escaped = (cell: string): string =>
  /[\\|\r\n]/.test(cell) ? cell.replace(/[\\|]/g, '\\$&').replaceAll('\r', '\\r').replaceAll('\n', '\\n') : cell

const OTHERS_BYTES_MAX = 1_024

/** What else is known: how many there are, how to get more, and what stands beside the rows. */
function beyondOf(
  { rows, total, cursor }: Omit<Rows, 'others'>,
  columnsLeftOut: number,
  besides: string | undefined,
): string {
  const said: string[] = []
  if (total !== undefined && total !== rows.length) said.push(`${total} rows in all`)
  if (cursor !== undefined) said.push(`next cursor: ${escaped(cursor)}`)
  if (columnsLeftOut > 0) said.push(`${columnsLeftOut} more columns are not shown`)
  if (besides !== undefined) said.push(besides)
  return said.length === 0 ? '' : `[${said.join('; ')}]`.toWellFormed()
}

function othersText(others: Row): { readonly text: string; readonly isCut: boolean } {
  const text = JSON.stringify(others)
  const kept = cutToBytes(text, OTHERS_BYTES_MAX)
  return { text: withEllipsis(text, kept), isCut: kept !== text }
}
