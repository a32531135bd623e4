// Recomputes every digest and every link of the kept records, holds them against what checkpoints have signed, and names the
// first row that does not fit. It believes nothing that a row says of itself, nor the database's own keys: whoever can edit the
// file can rebuild its tables without them, so a row that no walk over the chains meets counts as broken too. What only a copy kept
// elsewhere would show it cannot see without one: rows cut from the end, or records that were rewritten and signed anew.

import { errorMessage } from '../base/error-text.ts'
import { isJsonObject } from '../base/json-value.ts'
import { type Finding, SignedState } from './checkpoints/signed-state.ts'
import { bodyOf } from './record-text.ts'
import type { RecordKind, RecordRow, Store } from './store.ts'
import { NOT_TEXT, type WalkableStore, type Walked, walkChain } from './walk-chain.ts'

export type VerifyOptions = {
  /** Rows read at a time, 1 to 10,000. Default: 1,000. */
  readonly pageRows?: number
  /** Signed notes of checkpoints as they were copied elsewhere, in any order. */
  readonly notes?: readonly string[]
  /** Whose signatures count, PEM, one key or several. Default: the keys that the records name, which proves less. */
  readonly publicKey?: string
}

export type VerifiableStore = WalkableStore & Pick<Store, 'chains' | 'recordCount'>

export type Verification =
  | {
      readonly kind: 'ok'
      readonly rows: number
      readonly chains: number
      /** Whose signatures held. */
      readonly checkpoints: number
      /** What this cannot show. */
      readonly notes: readonly string[]
    }
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

/** Old rows may go while others are walked, a few times in a row. Then what was found stands. */
const LOOKS_MAX = 5

const UNSEEN =
  'rows cut from the end of a chain, or a chain missing as a whole, show only against a copy of a checkpoint kept elsewhere'
const UNSIGNED = 'no checkpoint has signed these records: whoever can write them can recompute them'
const NAMED =
  'signatures were checked against the keys that the records themselves name: give the public key that you know'

/** Checks all chains of a store. A row that cannot even be read counts as broken; only a wrong `pageRows` rejects. */
export async function verifyRecords(store: VerifiableStore, options: VerifyOptions = {}): Promise<Verification> {
  const { pageRows = 1_000 } = options
  if (!Number.isInteger(pageRows) || pageRows < 1 || pageRows > PAGE_ROWS_MAX)
    throw new RangeError('`pageRows` is 1 to 10,000')
  try {
    // The copies as they are now: of one that comes meanwhile the record may have been looked for already.
    const notes = options.notes === undefined ? {} : { notes: [...options.notes] }
    return await walkUndropped(store, pageRows, { ...options, ...notes })
  } catch (error) {
    // A file so damaged that it cannot be read holds nothing that could be believed.
    return { kind: 'broken', chain: '', seq: 0, reason: `the records cannot be read: ${errorMessage(error)}`, rows: 0 }
  }
}

/** What is missing because it was dropped meanwhile was signed meanwhile: then all is looked at again. */
async function walkUndropped(store: VerifiableStore, limit: number, options: VerifyOptions): Promise<Verification> {
  for (let look = 1; ; look += 1) {
    const dropped = await lastDropping(store)
    const found = await walkChains(store, limit, options)
    if (found.kind === 'ok' || look === LOOKS_MAX || (await lastDropping(store)) === dropped) return found
  }
}

/** The row that the newest dropping left, in the transaction that it was. */
async function lastDropping(store: VerifiableStore): Promise<number | undefined> {
  try {
    const [row] = await store.records({ kind: 'retention', newestFirst: true, unopened: true, limit: 1 })
    return row?.position
  } catch {
    // What cannot be read is told where it is looked at.
    return undefined
  }
}

async function walkChains(store: VerifiableStore, limit: number, options: VerifyOptions): Promise<Verification> {
  // First of all: rows that others write meanwhile are walked as well, and never missing.
  const kept = await store.recordCount()
  const chains = await store.chains()
  const signed = new SignedState(options.publicKey)
  const contradiction = await readSigned(store, signed, options)
  let rows = 0
  let cutHeads = 0
  const seen = new Set<string>()
  for (const chain of chains) {
    const walked: Walked = seen.has(chain)
      ? { rows: 0, headCut: false, broken: { seq: 1, reason: NOT_TEXT } }
      : await walkChain({ store, chain, limit, signed })
    seen.add(chain)
    rows += walked.rows
    if (walked.broken !== undefined) return { kind: 'broken', chain, ...walked.broken, rows }
    if (walked.headCut) cutHeads += 1
  }
  const finding = strayRows(store, kept, rows) ?? missingChain(signed, seen) ?? contradiction
  if (finding !== undefined) return { kind: 'broken', ...finding, rows }
  const notes = notesFor(signed, options, cutHeads)
  return { kind: 'ok', rows, chains: chains.length, checkpoints: signed.count, notes }
}

/** Everything that was signed. What does not hold in it is told after the rows, whose own faults say more. */
async function readSigned(
  store: VerifiableStore,
  signed: SignedState,
  { notes = [] }: VerifyOptions,
): Promise<Finding | undefined> {
  let found: Finding | undefined
  for await (const row of rowsOfKind(store, 'checkpoint')) {
    const finding = signed.addRow(row)
    found ??= finding
  }
  for await (const row of rowsOfKind(store, 'retention')) addFloors(signed, row)
  found ??= signed.faultOfSeries(store.forgetsOldRows === true)
  for (const note of notes) {
    const finding = signed.addCopy(note)
    found ??= finding
  }
  return found
}

async function* rowsOfKind(store: VerifiableStore, kind: RecordKind): AsyncGenerator<RecordRow> {
  let after: number | undefined
  for (;;) {
    const from = after === undefined ? {} : { afterPosition: after }
    const page = await store.records({ kind, unopened: true, limit: PAGE_ROWS_MAX, ...from })
    for (const row of page) if (row.kind === kind) yield row
    after = page.at(-1)?.position
    if (page.length < PAGE_ROWS_MAX || after === undefined) return
  }
}

function addFloors(signed: SignedState, row: RecordRow): void {
  const { floors } = bodyOf(row)
  for (const floor of Array.isArray(floors) ? floors : []) {
    if (!isJsonObject(floor)) continue
    const { chain, seq, hash } = floor
    if (typeof chain === 'string' && typeof seq === 'number' && typeof hash === 'string')
      signed.addRecorded({ chain, seq, hash })
  }
}

function strayRows(store: VerifiableStore, kept: number, rows: number): Finding | undefined {
  if (rows >= kept || store.forgetsOldRows === true) return undefined
  return { chain: '', seq: 0, reason: `${kept - rows} of ${kept} rows belong to no chain that can be read` }
}

function missingChain(signed: SignedState, seen: ReadonlySet<string>): Finding | undefined {
  for (const chain of signed.chains()) {
    const last = signed.promised(chain)?.ordered().at(-1) ?? 0
    if (!seen.has(chain) && last > signed.floorOf(chain))
      return { chain, seq: 1, reason: `the chain is missing: a checkpoint has signed its row ${last}` }
  }
  return undefined
}

function notesFor(signed: SignedState, { notes = [], publicKey }: VerifyOptions, cutHeads: number): readonly string[] {
  return [
    ...(notes.length === 0 ? [UNSEEN] : []),
    ...(signed.count === 0 ? [UNSIGNED] : publicKey === undefined ? [NAMED] : []),
    ...(signed.namedKeys > 1 ? [`checkpoints are signed by ${signed.namedKeys} keys`] : []),
    ...(cutHeads === 0 ? [] : [`${cutHeads} chains begin after their first row: older rows were dropped`]),
  ]
}
