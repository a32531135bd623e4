// A record as it is handed to whoever may read it: what was sealed stands in the body again where it can be opened. It adds
// nothing, and hides nothing that the body says.

import type { JsonObject } from '../base/json-value.ts'
import { bodyOf, isShut } from '../observe/record-text.ts'
import type { RecordRow } from '../observe/store.ts'

export type RecordView = Omit<RecordRow, 'body' | 'personal'> & {
  readonly body: JsonObject
  /** What is personal cannot be read: it was erased, or its key is not known here. */
  readonly shut?: true
}

export function recordView(row: RecordRow): RecordView {
  const { body: _, personal: __, ...columns } = row
  return { ...columns, body: bodyOf(row), ...(isShut(row) ? { shut: true } : {}) }
}
