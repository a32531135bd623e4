// What a gate keeps, as one interface with two databases behind it. The life of a store:
// 1. It is opened with a chain id of its own and takes a lease as the owner of what it will write.
// 2. `intend` is one transaction: redeem or open an approval, write the intent row, note the intent as open. It resolves
//    when that is durable, or says why nothing was written.
// 3. `append` takes a row at once and makes it durable soon after, many rows in one transaction.
// 4. `lapsedIntents` hands over what owners that are gone have left open; appending a row that closes each ends it.
// 5. `close` flushes, gives the lease back and resolves.

import type { BeforeImages } from '../describe/before-images.ts'

export type RecordKind = 'gate' | 'intent' | 'end' | 'late' | 'reconciled' | 'approval'

/** A row to be written. `body` is JSON text. */
export type RecordDraft = {
  readonly kind: RecordKind
  readonly at: number
  readonly callId: string | null
  readonly body: string
}

/** A row as kept. `seq` counts from 1 in each chain. Hashes are SHA-256 in hexadecimal; see `base/hash-chain.ts`. */
export type RecordRow = RecordDraft & {
  readonly chain: string
  readonly seq: number
  readonly bodyDigest: string
  readonly hash: string
}

export type ApprovalState = 'open' | 'approved' | 'declined' | 'redeemed'

/** One question to a person about one exact call. Expired: `expiresAt` has passed while open or approved. */
export type ApprovalRow = {
  readonly id: string
  /** SHA-256 (hex) over principal, workspace, task, fingerprint, canonical arguments and policy version. */
  readonly digest: string
  readonly state: ApprovalState
  readonly tenant: string
  readonly user: string
  readonly agent: string
  readonly session: string
  readonly tool: string
  readonly fingerprint: string
  readonly effect: string
  readonly policyVersion: string
  readonly reason: string
  /** The escaped rendering of the call that a person reads. */
  readonly shown: string
  readonly openedAt: number
  readonly expiresAt: number
  readonly answeredAt?: number
  readonly answeredBy?: string
  readonly comment?: string
  readonly redeemedBy?: string
}

export type ApprovalAnswer = {
  readonly decision: 'approve' | 'decline'
  readonly by: string
  readonly at: number
  readonly comment?: string
}

export type Answered =
  | { readonly kind: 'answered'; readonly approval: ApprovalRow }
  | { readonly kind: 'missing' }
  /** Answered, used or expired before. */
  | { readonly kind: 'closed'; readonly approval: ApprovalRow }

/** What the store does with approvals when it writes an intent. */
export type IntentAsk = {
  /** Redeem this one, and no other. */
  readonly approvalId?: string
  /** Opened, or joined where an equal one is open, when nothing can be redeemed. */
  readonly open: ApprovalRow
}

export type IntentDraft = {
  readonly callId: string
  readonly tool: string
  readonly effect: string
  readonly argumentsText: string
  readonly record: RecordDraft
  readonly ask?: IntentAsk
}

export type Intended =
  | { readonly kind: 'recorded'; readonly approvalId?: string }
  /** Nothing was written but, for `open`, the question itself. */
  | {
      readonly kind: 'unapproved'
      readonly state: 'open' | 'declined' | 'expired' | 'used' | 'mismatch'
      readonly approval?: ApprovalRow
    }
  | { readonly kind: 'failed'; readonly reason: string }

export type OpenIntent = {
  readonly callId: string
  readonly chain: string
  readonly tool: string
  readonly effect: string
  readonly argumentsText: string
  readonly at: number
}

export type RecordQuery = {
  readonly chain?: string
  /** Rows after this one, within the chain. */
  readonly afterSeq?: number
  readonly callId?: string
  readonly kind?: RecordKind
  /** Newest first. Default: oldest first. */
  readonly newestFirst?: boolean
  /** 1 to 10,000. */
  readonly limit: number
}

export interface Store {
  readonly chain: string
  readonly images: BeforeImages
  /** Undefined while rows can be kept; else why not. */
  failure(): string | undefined
  /** `closes`: the open intent that this row ends. */
  append(draft: RecordDraft, closes?: string): void
  intend(draft: IntentDraft): Promise<Intended>
  /** Resolves when everything appended so far is durable; rejects where it cannot be. */
  flush(): Promise<void>
  approvals(filter: {
    readonly id?: string
    readonly state?: ApprovalState
    readonly limit: number
  }): Promise<readonly ApprovalRow[]>
  answer(id: string, answer: ApprovalAnswer, record: RecordDraft): Promise<Answered>
  records(query: RecordQuery): Promise<readonly RecordRow[]>
  chains(): Promise<readonly string[]>
  /** All rows that are kept, those that belong to no chain included. */
  recordCount(): Promise<number>
  /** Open intents whose owner's lease has lapsed, or whose owner's process is gone; each is handed out once. */
  lapsedIntents(): Promise<readonly OpenIntent[]>
  close(): Promise<void>
}
