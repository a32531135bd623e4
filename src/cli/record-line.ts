// One record as a line for a person: when, what kind, about what, who, and how it stands after it. It reads bodies of any
// version, and leaves empty what they do not say.

import { isJsonObject, type JsonObject } from '../base/json-value.ts'
import { bodyOf, isShut } from '../observe/record-text.ts'
import type { RecordRow } from '../observe/store.ts'
import type { Piece } from './terminal.ts'

/** `tools`: of each question, which tool it was about; the record of an answer names only the question. */
export function recordLine(row: RecordRow, tools: ReadonlyMap<string, string>): readonly Piece[] {
  const body = bodyOf(row)
  const who = ['user', 'agent'].flatMap((key) => (textOf(body, key) === '' ? [] : [textOf(body, key)])).join('/')
  const about = textOf(body, 'tool') || (tools.get(textOf(body, 'approval')) ?? '') || concerned(row, body)
  return [
    ['dim', `${new Date(row.at).toISOString()} `],
    row.kind.padEnd(11),
    ['cyan', about.padEnd(28)],
    '  ',
    isShut(row) ? '(erased)  ' : who === '' ? '' : `${who}  `,
    endPiece(row, body),
    ['dim', `  ${row.callId ?? ''}`],
  ]
}

/** Of which question a record of an approval speaks. */
export const questionOf = (body: JsonObject): string => textOf(body, 'approvalId') || textOf(body, 'approval')

export function textOf(body: JsonObject, key: string): string {
  const value = Object.hasOwn(body, key) ? body[key] : undefined
  return typeof value === 'string' ? value : ''
}

/** In one word or two, how it stands after this row. */
function endPiece({ kind }: RecordRow, body: JsonObject): Piece {
  const { error } = body
  if (isJsonObject(error)) return ['red', textOf(error, 'type')]
  if (body.ok === true) return ['green', 'done']
  const by = textOf(body, 'by')
  switch (kind) {
    case 'approval':
      if (by === '') return ['yellow', textOf(body, 'code') === 'renewed' ? 'a new code' : 'asked']
      return ['yellow', `${textOf(body, 'decision') || textOf(body, 'refused')} by ${by}`]
    case 'grant':
      return ['yellow', `${textOf(body, 'state')} by ${by}`]
    case 'stop':
      return ['yellow', `${textOf(body, 'lifted') === '' ? 'stopped' : 'lifted'} by ${by}`]
    case 'credential':
      return ['yellow', `${textOf(body, 'what')} by ${by}`]
    case 'erasure':
      return ['yellow', `erased by ${by}`]
    case 'retention':
      return ['dim', 'dropped']
    case 'checkpoint':
      return ['dim', 'signed']
    default:
      return ['dim', textOf(body, 'effect')]
  }
}

/** What a row is about that names no tool: a grant or a stop by its id, or all that was stopped. */
function concerned({ kind }: RecordRow, body: JsonObject): string {
  const { target } = body
  if (isJsonObject(target)) {
    const named = ['tool', 'source', 'session'].flatMap((key) => textOf(target, key) || [])
    return named.length === 0 ? 'everything' : named.join(' ')
  }
  if (kind === 'credential') return textOf(body, 'name') || textOf(body, 'credential')
  if (kind === 'gate') return textOf(body, 'what')
  return textOf(body, 'grant') || textOf(body, 'lifted')
}
