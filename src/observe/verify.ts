// Recomputes every digest and every link of the kept records, page by page, and names the first row that does not fit.
// It believes nothing that a row says of itself, nor the database's own keys: whoever can edit the file can rebuild its
// tables without them, so a row that no walk over the chains meets counts as broken too. It cannot see what only a copy kept elsewhere would show: a chain that is
// gone as a whole, or rows cut from the end of one.

import { sha256 } from '../base/digest.ts'
import { errorMessage } from '../base/error-text.ts'
import { CHAIN_START, linkHash } from '../base/hash-chain.ts'
import type { RecordRow, Store } from './store.ts'

export type VerifyOptions = {
  /** Rows read at a time, 1 to 10,000. Default: 1,000. */
  readonly pageRows?: number
}

/** A bounded store forgets its oldest rows and says so: a chain may then begin after row 1, and is checked from there. */
export type VerifiableStore = Pick<Store, 'records' | 'chains' | 'recordCount'> & { readonly forgetsOldRows?: boolean }

export type Verification =
  | { readonly kind: 'ok'; readonly rows: number; readonly chains: number; readonly notes: readonly string[] }
  /** `rows`: how many held before the one that does not. */
  | {
      readonly kind: 'broken'
      /** Empty, with `seq` 0, for rows that belong to no chain. */
      readonly chain: string
      readonly seq: number
      readonly reason: string
      readonly rows: number
    }

const PAGE_ROWS_MAX = 10_000

type Break = { readonly seq: number; readonly reason: string }

/** What the next row of a chain has to follow. */
type Position = { readonly seq: number; readonly hash: string }

const UNSEEN =
  'rows cut from the end of a chain, or a chain missing as a whole, show only against a checkpoint kept elsewhere'

const NOT_TEXT = 'a row names the chain as something else than text'

/** Checks all chains of a store. A row that cannot even be read counts as broken; only a wrong `pageRows` rejects. */
export async function verifyRecords(store: VerifiableStore, options: VerifyOptions = {}): Promise<Verification> {
  const { pageRows = 1_000 } = options
  if (!Number.isInteger(pageRows) || pageRows < 1 || pageRows > PAGE_ROWS_MAX)
    throw new RangeError('`pageRows` is 1 to 10,000')
  try {
    return await walkChains(store, pageRows)
  } catch (error) {
    // A file so damaged that it cannot be read holds nothing that could be believed.
    return { kind: 'broken', chain: '', seq: 0, reason: `the records cannot be read: ${errorMessage(error)}`, rows: 0 }
  }
}

async function walkChains(store: VerifiableStore, pageRows: number): Promise<Verification> {
  let rows = 0
  let cutHeads = 0
  // First of all: rows that others write meanwhile are walked as well, and never missing.
  const kept = await store.recordCount()
  const chains = await store.chains()
  const seen = new Set<string>()
  for (const chain of chains) {
    const walked: Walked = seen.has(chain)
      ? { rows: 0, headCut: false, broken: { seq: 1, reason: NOT_TEXT } }
      : await walkChain(store, chain, pageRows)
    seen.add(chain)
    rows += walked.rows
    if (walked.broken !== undefined) return { kind: 'broken', chain, ...walked.broken, rows }
    if (walked.headCut) cutHeads += 1
  }
  if (rows < kept && store.forgetsOldRows !== true) {
    const reason = `${kept - rows} of ${kept} rows belong to no chain that can be read`
    return { kind: 'broken', chain: '', seq: 0, reason, rows }
  }
  const notes =
    cutHeads === 0 ? [UNSEEN] : [UNSEEN, `${cutHeads} chains begin after their first row: older rows were dropped`]
  return { kind: 'ok', rows, chains: chains.length, notes }
}

type Walked = { readonly rows: number; readonly headCut: boolean; readonly broken?: Break }

async function walkChain(store: VerifiableStore, chain: string, limit: number): Promise<Walked> {
  let position: Position = { seq: 0, hash: CHAIN_START }
  let rows = 0
  let headCut = false
  for (;;) {
    const page = await readPage(store, chain, rows === 0 ? undefined : position, limit)
    if ('reason' in page) return { rows, headCut, broken: { seq: position.seq + 1, reason: page.reason } }
    if (rows === 0 && page.rows.length === 0) return { rows, headCut, broken: { seq: 1, reason: NOT_TEXT } }
    for (const [index, row] of page.rows.entries()) {
      // Rows may be forgotten between two pages as well.
      const first = store.forgetsOldRows === true && index === 0 && row.seq > position.seq + 1
      const reason = faultOfRow(row, chain) ?? (first ? undefined : faultOfLink(row, position))
      if (reason !== undefined) return { rows, headCut, broken: { seq: row.seq, reason } }
      headCut ||= first
      position = { seq: row.seq, hash: row.hash }
      rows += 1
    }
    if (page.isLast) return { rows, headCut }
  }
}

type Page = { readonly rows: readonly RecordRow[]; readonly isLast: boolean }

/**
 * The rows after a position. Each page begins with the row before it, so that a second row of the same number shows even
 * where a page ends. The first page asks for all there is: a row counted below 1 shall show.
 */
async function readPage(
  store: VerifiableStore,
  chain: string,
  after: Position | undefined,
  pageRows: number,
): Promise<Page | { readonly reason: string }> {
  const limit = Math.min(PAGE_ROWS_MAX, pageRows + 1)
  try {
    const rows = await store.records({ chain, limit, ...(after === undefined ? {} : { afterSeq: after.seq - 1 }) })
    const isLast = rows.length < limit
    const [first] = rows
    if (after === undefined || first === undefined || first.seq !== after.seq) return { rows, isLast }
    return first.hash === after.hash
      ? { rows: rows.slice(1), isLast }
      : { reason: `row ${after.seq} is there twice, or was changed while it was read` }
  } catch (error) {
    return { reason: `the rows cannot be read: ${error instanceof Error ? error.message : String(error)}` }
  }
}

function faultOfRow(row: RecordRow, chain: string): string | undefined {
  if (row.chain !== chain) return 'the row belongs to another chain'
  // Absent and empty call ids make the same link, so an empty one is never written.
  if (row.callId === '') return 'the call id was changed'
  if (sha256(row.body) !== row.bodyDigest) return 'the body does not match its digest'
  return undefined
}

function faultOfLink(row: RecordRow, before: Position): string | undefined {
  if (row.seq <= before.seq) return `row ${row.seq} is there twice, or out of order`
  if (row.seq > before.seq + 1) return `the rows from ${before.seq + 1} to ${row.seq - 1} are missing`
  if (linkHash(before.hash, row) !== row.hash) return 'the row, or the one before it, was changed, moved or replaced'
  return undefined
}
