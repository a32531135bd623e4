// What the caller's thread and the store's worker thread say to each other: batches of rows and requests one way, reports
// the other. Rows travel as one flat array, which costs a quarter of what objects do.

import type { Growing } from '../base/growing.ts'
import type { FileChange } from '../describe/before-images.ts'
import type { Principal } from '../describe/caller.ts'
import type {
  Answered,
  ApprovalAnswer,
  ApprovalRow,
  ApprovalState,
  Artifact,
  ArtifactBounds,
  ArtifactKept,
  ArtifactRow,
  ChainFloor,
  ChainHead,
  ChainStretch,
  Erased,
  GrantRow,
  Intended,
  IntentDraft,
  JournalEnd,
  JournalRow,
  OpenIntent,
  RecordDraft,
  RecordKind,
  RecordQuery,
  RecordRow,
  RecordSubject,
  StopRow,
  StretchHeld,
} from '../observe/store.ts'
import type { GrantFilter } from './memory-grants.ts'
import type { JournalFilter } from './memory-journal.ts'
import type { ArtifactFilter } from './sqlite-artifacts.ts'
import { type BodyParts, draftChars } from './stored-body.ts'

export type WorkerStart = {
  readonly file: string
  readonly chain: string
  readonly seal?: boolean
  /** The operator's own key, 32 bytes in base64. */
  readonly key?: string
  readonly port: import('node:worker_threads').MessagePort
  /** Counts reports; the caller's thread can sleep on it. */
  readonly reports: SharedArrayBuffer
}

/** What a row ends besides: an open intent by its call, or that intent together with the key that it has claimed. */
export type Closes = string | JournalEnd | undefined

/**
 * For each row: kind, at, call id, body, what it closes; then its personal members, tenant and user that they are about, the
 * texts of arguments and result, and the session, each of them undefined where there are none.
 */
export type FlatRows = (RecordKind | string | number | null | Closes)[]
export const FLAT_FIELDS = 11

/** What a row counts for where rows are bounded. */
export const charsOf = (parts: BodyParts, closes: Closes): number =>
  draftChars(parts) + (typeof closes === 'object' && closes.kind === 'done' ? (closes.answer?.length ?? 0) : 0)

type Whose = { readonly tenant?: string; readonly user?: string; readonly session?: string }
const NOBODY: Whose = {}

export function addFlat(rows: FlatRows, draft: RecordDraft, closes: Closes): void {
  const { kind, at, callId, body, personal, subject, argumentsText, resultText } = draft
  const { tenant, user, session } = subject ?? NOBODY
  rows.push(kind, at, callId, body, closes, personal, tenant, user, argumentsText, resultText, session)
}

export function flatRow(draft: RecordDraft, closes?: Closes): FlatRows {
  const rows: FlatRows = []
  addFlat(rows, draft, closes)
  return rows
}

/** `charsOf` of a row that travels. */
export function flatChars(rows: FlatRows, row: number): number {
  const closes = closesOf(rows, row)
  let chars = typeof closes === 'object' && closes.kind === 'done' ? (closes.answer?.length ?? 0) : 0
  for (const field of COUNTED) {
    const text = rows[row + field]
    if (typeof text === 'string') chars += text.length
  }
  return chars
}

/** Body, personal members, arguments and result. */
const COUNTED = [3, 5, 8, 9]

/** Field 4 of a row. */
export const closesOf = (rows: FlatRows, row: number): Closes => rows[row + 4] as Closes

export function sessionOf(rows: FlatRows, row: number): string | undefined {
  const session = rows[row + 10]
  return typeof session === 'string' ? session : undefined
}

export function bodyParts(rows: FlatRows, row: number): BodyParts {
  const parts: Growing<BodyParts> = { body: String(rows[row + 3]) }
  const [personal, tenant, user] = [rows[row + 5], rows[row + 6], rows[row + 7]]
  if (typeof personal === 'string') parts.personal = personal
  if (typeof tenant === 'string' && typeof user === 'string') parts.subject = { tenant, user }
  const [argumentsText, resultText] = [rows[row + 8], rows[row + 9]]
  if (typeof argumentsText === 'string') parts.argumentsText = argumentsText
  if (typeof resultText === 'string') parts.resultText = resultText
  return parts
}

/** What people decide, each with the record of it. */
export type DeskWrite = { readonly record: RecordDraft } & (
  | { readonly kind: 'answer'; readonly approval: string; readonly answer: ApprovalAnswer; readonly now: number }
  | { readonly kind: 'renew-proof'; readonly approval: string; readonly proof: string; readonly now: number }
  | {
      readonly kind: 'revoke'
      readonly grant: string
      readonly by: string
      readonly at: number
      readonly now: number
    }
  | { readonly kind: 'stop'; readonly row: StopRow }
  | { readonly kind: 'lift'; readonly stop: string }
)

export type WriteRequest =
  | { readonly kind: 'intend'; readonly draft: IntentDraft; readonly now: number }
  | DeskWrite
  | { readonly kind: 'keep'; readonly change: FileChange }
  | { readonly kind: 'keep-artifact'; readonly artifact: Artifact; readonly bounds: ArtifactBounds }
  | { readonly kind: 'claim' }
  | { readonly kind: 'drop'; readonly before: number; readonly now: number }
  | { readonly kind: 'erase'; readonly subject: RecordSubject; readonly record: RecordDraft }
  | { readonly kind: 'flush' }

export type ReadRequest =
  | { readonly kind: 'records'; readonly query: RecordQuery }
  | { readonly kind: 'chains' }
  | { readonly kind: 'heads' }
  | { readonly kind: 'held'; readonly stretch: ChainStretch }
  | { readonly kind: 'count' }
  | {
      readonly kind: 'approvals'
      readonly filter: { readonly id?: string; readonly state?: ApprovalState; readonly limit: number }
    }
  | { readonly kind: 'grants'; readonly filter: GrantFilter }
  | { readonly kind: 'stops' }
  | { readonly kind: 'journal'; readonly filter: JournalFilter }
  | { readonly kind: 'find'; readonly callId: string }
  | { readonly kind: 'find-artifact'; readonly artifact: string; readonly principal: Principal; readonly now: number }
  | { readonly kind: 'artifacts'; readonly filter: ArtifactFilter }
  /** Whether `changed` is reported from now on. */
  | { readonly kind: 'watch'; readonly on: boolean }

/** Ends the worker, once everything before it is written or cannot be. */
export type CloseRequest = { readonly kind: 'close' }

export type Request = WriteRequest | ReadRequest | CloseRequest

/** What each kind of request is answered with. */
export type Answers = {
  readonly intend: Intended
  readonly answer: Answered
  readonly 'renew-proof': boolean
  readonly revoke: boolean
  readonly stop: undefined
  readonly lift: boolean
  readonly keep: undefined
  readonly 'keep-artifact': ArtifactKept
  readonly claim: readonly OpenIntent[]
  readonly drop: readonly ChainFloor[]
  readonly erase: Erased
  readonly flush: undefined
  readonly records: readonly RecordRow[]
  readonly chains: readonly string[]
  readonly heads: readonly ChainHead[]
  readonly held: StretchHeld | undefined
  readonly count: number
  readonly approvals: readonly ApprovalRow[]
  readonly grants: readonly GrantRow[]
  readonly stops: readonly StopRow[]
  readonly journal: readonly JournalRow[]
  readonly find: FileChange | undefined
  readonly 'find-artifact': Artifact | undefined
  readonly artifacts: readonly ArtifactRow[]
  readonly watch: undefined
  readonly close: undefined
}

export type Numbered<R extends Request = Request> = { readonly id: number; readonly request: R }

export type Batch = { readonly rows: FlatRows; readonly requests: readonly Numbered[] }

export type Reply =
  | { readonly id: number; readonly kind: 'done'; readonly value: unknown }
  | { readonly id: number; readonly kind: 'failed'; readonly reason: string }

export type Report =
  | { readonly kind: 'opened' }
  | { readonly kind: 'unopened'; readonly reason: string }
  /** Another connection has changed approvals, grants or stops. */
  | { readonly kind: 'changed' }
  | {
      readonly kind: 'progress'
      /** Rows and characters of bodies made durable since the worker began. */
      readonly rowsDone: number
      readonly charsDone: number
      /** Why rows cannot be written now. */
      readonly failure: string | undefined
      readonly replies: readonly Reply[]
    }
