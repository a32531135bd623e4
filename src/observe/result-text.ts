// The JSON text of what a call answers: made once, for whoever shows it and for the record, which says how long it was and
// what digest it has. It refuses to fail: a value that has no JSON text has none.

import type { Ending } from '../describe/call.ts'

export function resultText(ending: Ending): string | undefined {
  if (ending.kind !== 'value') return undefined
  try {
    return JSON.stringify(ending.value)
  } catch {
    return undefined
  }
}
