// What a gate keeps, as one interface with two databases behind it. The life of a store:
// 1. It is opened with a chain id of its own and takes a lease as the owner of what it will write.
// 2. `intend` is one transaction: redeem or open an approval, write the intent row, note the intent as open. It resolves
//    when that is durable, or says why nothing was written.
// 3. `append` takes a row at once and makes it durable soon after, many rows in one transaction.
// 4. `lapsedIntents` hands over what owners that are gone have left open; appending a row that closes each ends it.
// 5. `close` flushes, gives the lease back and resolves.

import type { BeforeImages } from '../describe/before-images.ts'
import type { JournalKey } from '../describe/call.ts'
import type { Principal } from '../describe/caller.ts'
import type { Reach } from '../describe/decision.ts'
import type { ArtifactStore } from './artifact-store.ts'
import type {
  ChainFloor,
  ChainHead,
  ChainStretch,
  Erased,
  RecordDraft,
  RecordQuery,
  RecordRow,
  RecordSubject,
  StretchHeld,
} from './record-row.ts'

export type { Artifact, ArtifactBounds, ArtifactKept, ArtifactRow, ArtifactStore } from './artifact-store.ts'
export type {
  ChainFloor,
  ChainHead,
  ChainStretch,
  Erased,
  RecordDraft,
  RecordKind,
  RecordQuery,
  RecordRow,
  RecordSubject,
  StretchHeld,
} from './record-row.ts'
// Stores know this file and no other of the rooms.
export type { JournalKey }

export type ApprovalState = 'open' | 'approved' | 'declined' | 'redeemed'

/** What an answer may reach, as it is offered to the person. `shown` says exactly what it would cover. */
export type ApprovalOffer = {
  readonly reach: Reach
  readonly shown: string
  /** Of `pattern` and `session`: argument name → globs that calls have to fit besides; absent: any arguments. */
  readonly where?: Readonly<Record<string, readonly string[]>>
  /** Calls with an argument that `where` does not name are not covered. */
  readonly onlyNamed?: true
}

/** Wrong codes after which a question is closed as declined, by nobody. */
export const PROOF_FAILURES_MAX = 5

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
  /** Names the workspace of the call. */
  readonly workspace: string
  readonly task?: string
  /** Everything that asked: rules and defaults. A wider answer is good for calls that nothing else asks about. */
  readonly askedBy: readonly string[]
  /** What the person may choose from; the first is always `once`. */
  readonly offers: readonly ApprovalOffer[]
  /** `proofDigest` of the code that a yes has to bring, where one is asked for. A gate hands rows out with `code` here. */
  readonly proof?: string
  /** Wrong codes so far; the question is closed as declined after a few. */
  readonly proofFailures?: number
  readonly openedAt: number
  readonly expiresAt: number
  /** The reach that the person chose. */
  readonly reach?: Reach
  /** Whoever answered only said so through the calling client, and nobody else saw it. */
  readonly clientAsserted?: boolean
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
  /** Default: `once`. A reach that was not offered is refused. */
  readonly reach?: Reach
  readonly clientAsserted?: boolean
  /** The one-time code, where the question asks for one. A no needs none. */
  readonly code?: string
  /** Milliseconds since the Unix epoch: when a grant of this answer ends. */
  readonly grantUntil?: number
}

/** What a wider answer left: calls that fit need not be asked again. It turns an ask into an allow, and never a deny. */
export type GrantRow = {
  readonly id: string
  readonly approvalId: string
  readonly reach: 'session' | 'pattern'
  readonly tenant: string
  readonly user: string
  readonly agent: string
  /** The one session that it is good for; a `pattern` is good for every session of the principal. */
  readonly session?: string
  readonly workspace: string
  readonly task?: string
  readonly tool: string
  readonly fingerprint: string
  readonly effect: string
  readonly where?: Readonly<Record<string, readonly string[]>>
  readonly onlyNamed?: true
  readonly policyVersion: string
  readonly askedBy: readonly string[]
  /** What it covers, as the person read it. */
  readonly shown: string
  readonly grantedBy: string
  readonly grantedAt: number
  readonly expiresAt: number
  readonly revokedAt?: number
  readonly revokedBy?: string
}

/** The kill switch: what is stopped. All keys absent: everything. */
export type StopTarget = { readonly tool?: string; readonly source?: string; readonly session?: string }

export type StopRow = {
  readonly id: string
  readonly target: StopTarget
  readonly by: string
  readonly at: number
  readonly reason?: string
}

export type Answered =
  | { readonly kind: 'answered'; readonly approval: ApprovalRow; readonly grant?: GrantRow }
  /** Nothing was changed, or only the count of wrong codes. */
  | {
      readonly kind: 'refused'
      readonly why: 'reach-not-offered' | 'code-missing' | 'code-wrong' | 'client-asserted'
      readonly approval: ApprovalRow
    }
  | { readonly kind: 'missing' }
  /** Answered, used or expired before. */
  | { readonly kind: 'closed'; readonly approval: ApprovalRow }

/** As much of a question as an answer to it is found by. */
export type AskedAbout = Pick<
  ApprovalRow,
  | 'digest'
  | 'tenant'
  | 'user'
  | 'agent'
  | 'session'
  | 'workspace'
  | 'task'
  | 'tool'
  | 'fingerprint'
  | 'effect'
  | 'policyVersion'
>

/** What the store does with approvals when it writes an intent. */
export type IntentAsk = {
  /** Redeem this one, and no other. */
  readonly approvalId?: string
  /** A grant that covers the call: used, and nothing is asked, where it is still good in this very transaction. */
  readonly grantId?: string
} & (
  | {
      /**
       * Looks for an answer and opens nothing. Where nobody has answered exactly this call, the live grants of its principal for
       * its tool are handed back, nothing is written, and the caller asks again: with one of them, or with a question to open.
       * Without grants an open question is still joined.
       */
      readonly about: AskedAbout
    }
  | {
      /** Opened, or joined where an equal one is open, when nothing can be redeemed. */
      readonly open: ApprovalRow
    }
)

export type IntentDraft = {
  readonly callId: string
  readonly tool: string
  readonly effect: string
  readonly argumentsText: string
  readonly record: RecordDraft
  readonly ask?: IntentAsk
  /** Digest of who asks for what: equal for equal calls. Handed out again with an intent that was left open. */
  readonly twin?: string
  /**
   * Claimed in the same transaction, before any approval is spent: a key that is free is this call's until it ends. Keys whose
   * call was done longer ago than `JOURNAL_MS` are free again.
   */
  readonly journal?: JournalKey
}

/** Milliseconds for which the journal remembers that a keyed call was done: a day. An unknown end is kept until it is settled. */
export const JOURNAL_MS = 86_400_000

/**
 * How a keyed call ended. `free`: it certainly changed nothing, so the key can be used again. `done`: `answer` is given again;
 * null where it is lost or too large to keep. `unknown`: nothing runs under the key until somebody says what happened.
 */
export type JournalEnd = {
  readonly key: JournalKey
  readonly callId: string
} & (
  | { readonly kind: 'free' }
  | { readonly kind: 'done'; readonly answer: string | null }
  | { readonly kind: 'unknown' }
)

/** One row of the journal, for the operator. */
export type JournalRow = JournalKey & {
  readonly callId: string
  readonly state: 'running' | 'done' | 'unknown'
  readonly claimedAt: number
  readonly endedAt?: number
}

export type Intended =
  | { readonly kind: 'recorded'; readonly approvalId?: string; readonly grantId?: string }
  /** Nothing was written but, for `open`, the question itself. */
  | {
      readonly kind: 'unapproved'
      readonly state: 'open' | 'declined' | 'expired' | 'used' | 'mismatch' | 'withdrawn'
      readonly approval?: ApprovalRow
    }
  /** The key has its answer: nothing was written and no approval was spent. `answer`: see `JournalEnd`. */
  | { readonly kind: 'replay'; readonly callId: string; readonly answer: string | null }
  /** Nothing was written: another call runs under the key, ended without anybody knowing how, or had other arguments. */
  | { readonly kind: 'key'; readonly state: 'running' | 'unknown' | 'conflict'; readonly callId: string }
  /** Nothing was written; newest first. */
  | { readonly kind: 'grants'; readonly grants: readonly GrantRow[] }
  | { readonly kind: 'failed'; readonly reason: string }

export type OpenIntent = {
  readonly callId: string
  readonly chain: string
  readonly tool: string
  readonly effect: string
  readonly argumentsText: string
  readonly at: number
  readonly twin?: string
  readonly journal?: JournalKey
}

export interface Store {
  readonly chain: string
  readonly images: BeforeImages
  readonly artifacts: ArtifactStore
  /** Undefined while rows can be kept; else why not. */
  failure(): string | undefined
  /** `closes`: the open intent that this row ends. */
  append(draft: RecordDraft, closes?: string): void
  /**
   * Appends the end of a keyed call, ends its open intent and settles its key in one transaction; resolves when that is
   * durable. It rejects where that cannot be written now: the row then stays in line like any other. A key that another call
   * has by now is left alone.
   */
  settle(draft: RecordDraft, end: JournalEnd): Promise<void>
  /** Newest first. */
  journal(filter: {
    readonly callId?: string
    readonly state?: JournalRow['state']
    readonly limit: number
  }): Promise<readonly JournalRow[]>
  intend(draft: IntentDraft): Promise<Intended>
  /** Resolves when everything appended so far is durable; rejects where it cannot be. */
  flush(): Promise<void>
  approvals(filter: {
    readonly id?: string
    readonly state?: ApprovalState
    readonly limit: number
  }): Promise<readonly ApprovalRow[]>
  /** One transaction: the answer, the grant that it leaves where its reach is wider than once, and the record. */
  answer(id: string, answer: ApprovalAnswer, record: RecordDraft): Promise<Answered>
  /** Puts the digest of a new code in the place of the old one. False where no open question asks for a code. */
  renewProof(id: string, proof: string, record: RecordDraft): Promise<boolean>
  /** Newest first. `live`: neither revoked nor expired at this time. */
  grants(filter: {
    readonly id?: string
    readonly live?: { readonly at: number }
    readonly tool?: string
    readonly principal?: Principal
    readonly limit: number
  }): Promise<readonly GrantRow[]>
  /**
   * Ends a grant, and the approval that it came from where nobody has used that yet. False where there is no such grant, or
   * it was revoked before.
   */
  revokeGrant(id: string, by: string, at: number, record: RecordDraft): Promise<boolean>
  /** What is stopped now, oldest first. */
  stops(): Promise<readonly StopRow[]>
  stop(row: StopRow, record: RecordDraft): Promise<void>
  /** False where nothing is stopped under this id. */
  lift(id: string, record: RecordDraft): Promise<boolean>
  /** Calls `changed` soon after another process has changed something in the same database; the answer ends that. */
  watch(changed: () => void): () => void
  records(query: RecordQuery): Promise<readonly RecordRow[]>
  chains(): Promise<readonly string[]>
  /** Recomputes a stretch of a chain where its rows lie. Undefined: it does not hold, or cannot be said. */
  held?(stretch: ChainStretch): Promise<StretchHeld | undefined>
  /** The last row of every chain, after everything appended so far. */
  heads(): Promise<readonly ChainHead[]>
  /**
   * Drops rows that are older than a time, from the beginning of their chains, and says where each chain begins now. Rows of
   * open intents stay, and so do the newest checkpoint and everything after it.
   */
  dropBefore(at: number): Promise<readonly ChainFloor[]>
  /** Makes everything about a person unreadable: destroys their key and deletes their rows elsewhere. One transaction. */
  erase(subject: RecordSubject, record: RecordDraft): Promise<Erased>
  /** All rows that are kept, those that belong to no chain included. */
  recordCount(): Promise<number>
  /** Open intents whose owner's lease has lapsed, or whose owner's process is gone; each is handed out once. */
  lapsedIntents(): Promise<readonly OpenIntent[]>
  close(): Promise<void>
}
