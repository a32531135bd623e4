// Recomputes one chain, page by page, and names the first row that does not fit: what the rows themselves have to hold, and what
// checkpoints have promised of them. It believes nothing that a row says of itself, nor the database's own keys.

import { sha256 } from '../base/digest.ts'
import { CHAIN_START, linkHash } from '../base/hash-chain.ts'
import type { SignedState } from './checkpoints/signed-state.ts'
import type { RecordRow, Store, StretchHeld } from './store.ts'

/** A bounded store forgets its oldest rows and says so: a chain may then begin after row 1, and is checked from there. */
export type WalkableStore = Pick<Store, 'records' | 'held'> & { readonly forgetsOldRows?: boolean }

export type Walk = {
  readonly store: WalkableStore
  readonly chain: string
  readonly limit: number
  readonly signed: SignedState
}

export type Walked = {
  readonly rows: number
  /** Rows before its first one are gone, as they may be. */
  readonly headCut: boolean
  readonly broken?: { readonly seq: number; readonly reason: string }
}

const PAGE_ROWS_MAX = 10_000
export const NOT_TEXT = 'a row names the chain as something else than text'

/** What the next row of a chain has to follow. */
type Position = { readonly seq: number; readonly hash: string }

export async function walkChain(walk: Walk): Promise<Walked> {
  const { store, chain, signed } = walk
  const promised = signed.promised(chain)
  const wanted = promised?.ordered() ?? []
  let next = 0
  let position: Position = { seq: 0, hash: CHAIN_START }
  let rows = 0
  let headCut = false
  for (;;) {
    const held = rows === 0 ? undefined : await heldAfter(walk, position, wanted, next)
    if (held !== undefined) {
      const stranger = held.hashes.findIndex((hash, index) => promised?.holds(wanted[next + index] ?? 0, hash) !== true)
      // Named below, row by row.
      if (stranger === -1) {
        rows += held.last.seq - position.seq
        next += held.hashes.length
        position = held.last
        if (held.isLast) break
        continue
      }
    }
    const page = await readPage(walk, rows === 0 ? undefined : position)
    if ('reason' in page) return { rows, headCut, broken: { seq: position.seq + 1, reason: page.reason } }
    if (rows === 0 && page.rows.length === 0) return { rows, headCut, broken: { seq: 1, reason: NOT_TEXT } }
    for (const [index, row] of page.rows.entries()) {
      // Rows may be forgotten between two pages as well.
      const forgets = store.forgetsOldRows === true && index === 0 && row.seq > position.seq + 1
      const floor = rows === 0 && row.seq > 1 ? floorBefore(walk, row) : undefined
      if (floor !== undefined) position = floor
      const reason = faultOfRow(row, chain) ?? (forgets ? undefined : faultOfLink(row, position))
      if (reason !== undefined) return { rows, headCut, broken: { seq: row.seq, reason } }
      headCut ||= forgets || floor !== undefined
      position = { seq: row.seq, hash: row.hash }
      rows += 1
      // What stands before the first row that is kept is gone, as it may be.
      while (next < wanted.length && (wanted[next] ?? 0) < row.seq) next += 1
      if (wanted[next] !== row.seq) continue
      next += 1
      if (promised?.holds(row.seq, row.hash) !== true)
        return {
          rows,
          headCut,
          broken: { seq: row.seq, reason: `row ${row.seq} is another one than a checkpoint has signed` },
        }
    }
    if (page.isLast) break
  }
  const last = wanted.at(-1) ?? 0
  if (next >= wanted.length || last <= position.seq) return { rows, headCut }
  const reason = `rows were cut from the end: a checkpoint has signed row ${last}, and the chain ends with row ${position.seq}`
  return { rows, headCut, broken: { seq: position.seq + 1, reason } }
}

/** Most rows hold, and need not be brought here to see that. */
async function heldAfter(
  { store, chain, limit }: Walk,
  after: Position,
  wanted: readonly number[],
  next: number,
): Promise<StretchHeld | undefined> {
  if (store.held === undefined) return undefined
  const ahead: number[] = []
  for (let index = next; (wanted[index] ?? Number.POSITIVE_INFINITY) <= after.seq + limit; index += 1)
    ahead.push(wanted[index] ?? 0)
  try {
    return await store.held({ chain, after, wanted: ahead, limit })
  } catch {
    // What cannot be read shows where the rows are looked at.
    return undefined
  }
}

/** Where a chain may begin that begins later: only behind a row that was signed, or recorded, to be the last that is gone. */
function floorBefore({ signed, chain }: Walk, row: RecordRow): Position | undefined {
  const seq = row.seq - 1
  const hash = seq <= signed.floorOf(chain) ? signed.hashBelow(chain, seq) : undefined
  return hash === undefined ? undefined : { seq, hash }
}

type Page = { readonly rows: readonly RecordRow[]; readonly isLast: boolean }

/**
 * The rows after a position. Each page begins with the row before it, so that a second row of the same number shows even
 * where a page ends. The first page asks for all there is: a row counted below 1 shall show.
 */
async function readPage(
  { store, chain, limit: pageRows }: Walk,
  after: Position | undefined,
): Promise<Page | { readonly reason: string }> {
  const limit = Math.min(PAGE_ROWS_MAX, pageRows + 1)
  try {
    const from = after === undefined ? {} : { afterSeq: after.seq - 1 }
    const rows = await store.records({ chain, limit, unopened: true, ...from })
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
  if (row.misplaced === true) return 'the row is found under another person than the one whom it is about'
  return undefined
}

function faultOfLink(row: RecordRow, before: Position): string | undefined {
  if (row.seq <= before.seq) return `row ${row.seq} is there twice, or out of order`
  if (row.seq > before.seq + 1) return `the rows from ${before.seq + 1} to ${row.seq - 1} are missing`
  if (linkHash(before.hash, row) !== row.hash) return 'the row, or the one before it, was changed, moved or replaced'
  return undefined
}
