// Recomputes every digest and every link of the kept records, page by page, and names the first row that does not fit.
// It believes nothing that a row says of itself. It cannot see what only a copy kept elsewhere would show: a chain that is
// gone as a whole, or rows cut from the end of one.

import { sha256 } from '../base/digest.ts'
import { CHAIN_START, linkHash } from '../base/hash-chain.ts'
import type { RecordQuery, RecordRow, Store } from './store.ts'

export type VerifyOptions = {
  /** Rows read at a time, 1 to 10,000. Default: 1,000. */
  readonly pageRows?: number
}

/** A bounded store forgets its oldest rows and says so: a chain may then begin after row 1, and is checked from there. */
export type VerifiableStore = Pick<Store, 'records' | 'chains'> & { readonly forgetsOldRows?: boolean }

export type Verification =
  | { readonly kind: 'ok'; readonly rows: number; readonly chains: number; readonly notes: readonly string[] }
  /** `rows`: how many held before the one that does not. */
  | {
      readonly kind: 'broken'
      readonly chain: string
      readonly seq: number
      readonly reason: string
      readonly rows: number
    }

type Break = { readonly seq: number; readonly reason: string }

/** What the next row of a chain has to follow. */
type Position = { readonly seq: number; readonly hash: string }

const UNSEEN =
  'rows cut from the end of a chain, or a chain missing as a whole, show only against a checkpoint kept elsewhere'

/** Checks all chains of a store. A row that cannot even be read counts as broken; only a wrong `pageRows` rejects. */
export async function verifyRecords(store: VerifiableStore, options: VerifyOptions = {}): Promise<Verification> {
  const { pageRows = 1_000 } = options
  if (!Number.isInteger(pageRows) || pageRows < 1 || pageRows > 10_000)
    throw new RangeError('`pageRows` is 1 to 10,000')
  let rows = 0
  let cutHeads = 0
  const chains = await store.chains()
  for (const chain of chains) {
    const walked = await walkChain(store, chain, pageRows)
    rows += walked.rows
    if (walked.broken !== undefined) return { kind: 'broken', chain, ...walked.broken, rows }
    if (walked.headCut) cutHeads += 1
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
    // The first page asks for all there is: a row counted below 1 shall show.
    const page = await readPage(store, { chain, limit, ...(rows === 0 ? {} : { afterSeq: position.seq }) })
    if ('reason' in page) return { rows, headCut, broken: { seq: position.seq + 1, reason: page.reason } }
    for (const [index, row] of page.rows.entries()) {
      // Rows may be forgotten between two pages as well.
      const first = store.forgetsOldRows === true && index === 0 && row.seq > position.seq + 1
      const reason = faultOfRow(row, chain) ?? (first ? undefined : faultOfLink(row, position))
      if (reason !== undefined) return { rows, headCut, broken: { seq: row.seq, reason } }
      headCut ||= first
      position = { seq: row.seq, hash: row.hash }
      rows += 1
    }
    if (page.rows.length < limit) return { rows, headCut }
  }
}

async function readPage(
  store: VerifiableStore,
  query: RecordQuery,
): Promise<{ readonly rows: readonly RecordRow[] } | { readonly reason: string }> {
  try {
    return { rows: await store.records(query) }
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
