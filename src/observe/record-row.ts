// Records as a store takes them and as it gives them back: drafts, rows, and what rows are asked for by.

export type RecordKind =
  | 'gate'
  | 'intent'
  | 'end'
  | 'late'
  | 'reconciled'
  | 'approval'
  | 'grant'
  | 'stop'
  | 'credential'
  | 'checkpoint'
  | 'retention'
  | 'erasure'

/** Whom a record is about: everything of them can be made unreadable together. */
export type RecordSubject = { readonly tenant: string; readonly user: string }

/** A row to be written. `body` is JSON text of an object. */
export type RecordDraft = {
  readonly kind: RecordKind
  readonly at: number
  readonly callId: string | null
  /** What may always be read: tool, rule, ends, sizes, times. */
  readonly body: string
  /**
   * The other members, as JSON text of an object: who asked and what exactly. A store that seals encrypts it with a key of the
   * subject's own and puts it into the body as `sealed`; another one merges it into the body. Needs `subject`.
   */
  readonly personal?: string
  readonly subject?: RecordSubject & { readonly session?: string }
  /** Canonical arguments as they were decided on. Not kept: the body gets `argsHmac`, made with a key of the store. Of an end only where its arguments do not stand there whole. */
  readonly argumentsText?: string
  /** The settled value as JSON text. Not kept: the body gets `result` with its `digest` and `bytes`. */
  readonly resultText?: string
}

/**
 * A row as kept. `seq` counts from 1 in each chain. Hashes are SHA-256 in hexadecimal; see `base/hash-chain.ts`. `body` is
 * the stored text, of which the chain speaks; `bodyOf` in `record-text.ts` reads it together with what was sealed.
 */
export type RecordRow = {
  readonly kind: RecordKind
  readonly at: number
  readonly callId: string | null
  readonly body: string
  readonly chain: string
  readonly seq: number
  readonly bodyDigest: string
  readonly hash: string
  /** The order of writing over all chains; pages go on after it. */
  readonly position: number
  /** It is found under another person than the one whose key sealed it: whoever has the file changed where it is looked for. */
  readonly misplaced?: true
  /** The personal members as JSON text, where they were sealed and can be opened. Absent besides after an erasure. */
  readonly personal?: string
}

/** The last row of a chain. */
export type ChainHead = { readonly chain: string; readonly seq: number; readonly hash: string }

/** Rows of a chain that follow one which is known, at most `limit`. */
export type ChainStretch = {
  readonly chain: string
  readonly after: { readonly seq: number; readonly hash: string }
  /** Ascending: rows whose hashes are asked for. */
  readonly wanted: readonly number[]
  readonly limit: number
}

/** `hashes`: of the wanted rows that the stretch has, in their order. */
export type StretchHeld = {
  readonly last: { readonly seq: number; readonly hash: string }
  readonly hashes: readonly string[]
  readonly isLast: boolean
}

/** Up to where the rows of a chain were dropped because they were old: `hash` is that of the last one dropped. */
export type ChainFloor = ChainHead

export type Erased = {
  /** Rows whose personal members nobody can read any more. */
  readonly records: number
  /** Other rows of the subject that were deleted: questions, grants, journal, images of files, artifacts. */
  readonly others: number
  /** Rows that were written without being sealed, and stay readable: the chain holds them as they are. */
  readonly unsealed: number
}

/** All that are given must hold. */
export type RecordQuery = {
  readonly chain?: string
  /** Rows after this one, within the chain. */
  readonly afterSeq?: number
  /** Rows after this one in the order asked for, over all chains: the cursor of pages. */
  readonly afterPosition?: number
  readonly callId?: string
  readonly kind?: RecordKind
  readonly tenant?: string
  readonly user?: string
  readonly agent?: string
  readonly session?: string
  readonly tool?: string
  readonly source?: string
  /** Milliseconds since the Unix epoch; `until` itself is not included. */
  readonly since?: number
  readonly until?: number
  /** How the calls ended, and what the policy answered. */
  readonly ok?: boolean
  readonly errorType?: string
  readonly decision?: 'allow' | 'ask' | 'deny'
  /** Newest first. Default: oldest first. */
  readonly newestFirst?: boolean
  /** Rows are not opened: `personal` is absent. For whoever only looks at what the chain speaks of. */
  readonly unopened?: boolean
  /** 1 to 10,000. */
  readonly limit: number
}
