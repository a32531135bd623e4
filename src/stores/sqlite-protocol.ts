// What the caller's thread and the store's worker thread say to each other: batches of rows and requests one way, reports
// the other. Rows travel as one flat array, which costs a quarter of what objects do.

import type { FileChange } from '../describe/before-images.ts'
import type {
  Answered,
  ApprovalAnswer,
  ApprovalRow,
  ApprovalState,
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
  StopRow,
} from '../observe/store.ts'
import type { GrantFilter } from './memory-grants.ts'
import type { JournalFilter } from './memory-journal.ts'

export type WorkerStart = {
  readonly file: string
  readonly chain: string
  readonly port: import('node:worker_threads').MessagePort
  /** Counts reports; the caller's thread can sleep on it. */
  readonly reports: SharedArrayBuffer
}

/** What a row ends besides: an open intent by its call, or that intent together with the key that it has claimed. */
export type Closes = string | JournalEnd | undefined

/** For each row: kind, at, call id, body, and what it closes. */
export type FlatRows = (RecordKind | string | number | null | Closes)[]
export const FLAT_FIELDS = 5

/** What a row counts for where rows are bounded. */
export const charsOf = (body: string, closes: Closes): number =>
  body.length + (typeof closes === 'object' && closes.kind === 'done' ? (closes.answer?.length ?? 0) : 0)

export const flatRow = ({ kind, at, callId, body }: RecordDraft, closes?: Closes): FlatRows => [
  kind,
  at,
  callId,
  body,
  closes,
]

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
  | { readonly kind: 'claim' }
  | { readonly kind: 'flush' }

export type ReadRequest =
  | { readonly kind: 'records'; readonly query: RecordQuery }
  | { readonly kind: 'chains' }
  | { readonly kind: 'count' }
  | {
      readonly kind: 'approvals'
      readonly filter: { readonly id?: string; readonly state?: ApprovalState; readonly limit: number }
    }
  | { readonly kind: 'grants'; readonly filter: GrantFilter }
  | { readonly kind: 'stops' }
  | { readonly kind: 'journal'; readonly filter: JournalFilter }
  | { readonly kind: 'find'; readonly callId: string }
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
  readonly claim: readonly OpenIntent[]
  readonly flush: undefined
  readonly records: readonly RecordRow[]
  readonly chains: readonly string[]
  readonly count: number
  readonly approvals: readonly ApprovalRow[]
  readonly grants: readonly GrantRow[]
  readonly stops: readonly StopRow[]
  readonly journal: readonly JournalRow[]
  readonly find: FileChange | undefined
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
