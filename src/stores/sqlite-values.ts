// Reads what SQLite gives back. The file can be edited by others, so nothing is believed: text is selected as bytes
// (`CAST(… AS BLOB)`), because a driver may cut it at a NUL and `libsql` ends the whole process on bytes that are no UTF-8.

import type { SqlRow } from './sqlite-driver.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A select list that gives text columns as bytes under their own names. */
export const asBytes = (...columns: readonly string[]): string =>
  columns.map((column) => `CAST(${column} AS BLOB) AS ${column}`).join(', ')

/** Bytes that are no UTF-8 come back as Latin-1: readable, and never equal to any text that was written. */
export function textOf(row: SqlRow, column: string): string {
  const bytes = bytesOrNull(row, column)
  if (bytes === null) throw new Error(`the column \`${column}\` holds no text`)
  try {
    return utf8.decode(bytes)
  } catch {
    return Buffer.from(bytes).toString('latin1')
  }
}

export const textOrNull = (row: SqlRow, column: string): string | null =>
  row[column] === null ? null : textOf(row, column)

export function numberOf(row: SqlRow, column: string): number {
  const value = row[column]
  if (typeof value !== 'number') throw new Error(`the column \`${column}\` holds no number`)
  return value
}

export const numberOrNull = (row: SqlRow, column: string): number | null =>
  row[column] === null ? null : numberOf(row, column)

export function bytesOrNull(row: SqlRow, column: string): Uint8Array | null {
  const value = row[column]
  if (value === null || value instanceof Uint8Array) return value
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  throw new Error(`the column \`${column}\` holds no bytes`)
}
