// What a row must be to enter a chain. A link joins fields with line breaks, so no field may hold one, and an empty call id
// would make the same link as none. Such a row is a bug of the caller and throws before anything is kept.

import type { RecordDraft } from '../observe/store.ts'

export function checkDraft(draft: RecordDraft): void {
  const { at, callId } = draft
  if (!Number.isSafeInteger(at)) throw new TypeError('a record needs `at` in whole milliseconds')
  if (callId !== null && (callId === '' || callId.includes('\n'))) {
    throw new TypeError('a record needs a call id of one line, or null')
  }
  if (draft.personal !== undefined) checkPersonal(draft)
}

/** Whose they are must be said, or nobody could ever make them unreadable. */
function checkPersonal({ body, personal, subject }: RecordDraft): void {
  if (subject === undefined) throw new TypeError('personal members of a record need a `subject`')
  if (!isObjectText(body) || !isObjectText(personal ?? ''))
    throw new TypeError('a record is the JSON text of an object')
}

const isObjectText = (text: string): boolean => text.startsWith('{') && text.endsWith('}')

/** Bounds a page of rows, as the interface says: 1 to 10,000. */
export function checkLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) throw new RangeError('`limit` is 1 to 10,000')
}
