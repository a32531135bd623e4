// Records as they come: those that this process or another one writes after a place, until the operator asks for an end.

import { setTimeout as sleep } from 'node:timers/promises'
import type { RecordRow } from '../observe/store.ts'
import type { RecordFilters } from '../server/record-filters.ts'
import { pageAfter } from './audit-filters.ts'
import type { Desk } from './open-desk.ts'

const LOOK_MS = 500
const PAGE = 1_000

/** Where the records end now; 0 where there are none. */
export async function endOfRecords({ records }: Pick<Desk, 'records'>): Promise<number> {
  const [last] = await records.query({ newestFirst: true, limit: 1 })
  return last?.position ?? 0
}

/** Tells of each row after `position`, oldest first. Resolves once `signal` aborts. */
export async function followRecords(
  desk: Pick<Desk, 'records'>,
  filters: RecordFilters,
  position: number,
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (row: RecordRow) => void | Promise<void> },
): Promise<void> {
  let after = position
  while (!signal.aborted) {
    // First of all: what is written after this is found at the next look.
    const end = await endOfRecords(desk)
    const rows = await desk.records.query(pageAfter({ ...filters, newestFirst: false }, after, PAGE))
    for (const row of rows) await tell(row)
    const isLast = rows.length < PAGE
    after = isLast ? Math.max(after, end, rows.at(-1)?.position ?? 0) : (rows.at(-1)?.position ?? after)
    if (isLast) await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
  }
}
