// What a host gives a gate when it makes one. Only shapes; `gate-options-check.ts` refuses what does not hold.

import type { PolicyOptions } from '../authorize/policy-options.ts'
import type { Clock } from '../base/clock.ts'
import type { Reach } from '../describe/decision.ts'
import type { Source } from '../describe/source.ts'
import type { Tool } from '../describe/tool.ts'
import type { GuardOptions } from '../execute/guard-options.ts'
import type { ApprovalRow, Store } from '../observe/store.ts'

/** A tool whatever its types. */
export type AnyTool = Tool<never, unknown>

/** A line for the operator. Never shown to a model. */
export type LogEntry = {
  readonly level: 'info' | 'warning' | 'error'
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}

export type GateOptions = {
  readonly tools?: readonly AnyTool[]
  readonly sources?: readonly Source[]
  /** The root folder of file tools, or several by name. Default: none, and file tools cannot be used. */
  readonly workspace?: string | Readonly<Record<string, string>>
  /** `memory` (the default) keeps the newest 1,000 records; `{ sqlite: FILE }` keeps them all. Or a store of your own. */
  readonly store?: 'memory' | { readonly sqlite: string } | Store
  readonly policy?: PolicyOptions
  readonly approvals?: ApprovalsOptions
  readonly limits?: {
    /** Bytes of model content of one result; more is cut and said. Default 48 KiB. */
    readonly resultBytes?: number
    /** Bytes of model content of all results of one turn, shared fairly. Default 120 KiB. */
    readonly turnBytes?: number
    /** Milliseconds from the opening of a call to its end. Default 60,000. */
    readonly deadlineMs?: number
    /** Canonical bytes of arguments. Default and at most 1 MiB. */
    readonly argumentBytes?: number
    /**
     * The loop guard: equal calls with equal results of one session, one after the other. Default: warn 5, refuse 10. Outside a turn, calls less than `paceMs` (50) apart are a program's and do not count; 0 counts all.
     */
    readonly repeats?: { readonly warn?: number; readonly refuse?: number; readonly paceMs?: number }
    /** Calls of one turn that run at the same time. Default: 8. */
    readonly parallel?: number
    /** Calls a minute: of one caller (a number alone), of one tenant, and of single tools by name or glob. Default: no bound. */
    readonly perMinute?: number | PerMinute
  }
  /** Files and folders of the host that no tool may reach: configuration, keys, state. */
  readonly ownFiles?: readonly string[]
  /** Further guards around tools, besides those that every call passes; `explain guards` prints the whole list. */
  readonly guards?: readonly GuardOptions[]
  /** Milliseconds that one source may take to start. Default 30,000. */
  readonly sourceStartMs?: number
  readonly clock?: Clock
  readonly log?: (entry: LogEntry) => void
  /** What becomes of the whole of a result that is cut. `false`: it is not kept, and there is no `read_artifact`. */
  readonly artifacts?: false | ArtifactsOptions
  readonly redaction?: RedactionOptions
  readonly audit?: AuditOptions
  /** Spans and metrics through `@opentelemetry/api`, which the host has installed. Default: false. */
  readonly telemetry?: boolean
  /** Tokens of a text. Default: an estimate of one for each four characters. A throw counts as the default. */
  readonly countTokens?: (text: string) => number
}

export type ArtifactsOptions = {
  /** Milliseconds. Default: one day. */
  readonly keepMs?: number
  /** Bytes of all that is kept. Default: 256 MiB. */
  readonly bytesMax?: number
  /** Bytes of one principal. Default: 64 MiB. */
  readonly principalBytesMax?: number
  /** Bytes of a single one; a larger one is not kept, and the notice says so. Default: 32 MiB. */
  readonly eachBytesMax?: number
}

/** Which texts count as secrets by their shape. Values that the gate itself hands out are always taken out. */
export type RedactionOptions = {
  /** Shipped rules by name that are on besides the default ones; `all`: every one of them. */
  readonly on?: readonly string[] | 'all'
  /** Shipped rules by name that are off. */
  readonly off?: readonly string[]
  /** Further keys of values that are secret, each as one word or several joined: `pin_code`. Letter case does not matter. */
  readonly keys?: readonly string[]
  /** Rules of one's own: a linear-time regular expression, whose first group, or else the whole, is the secret. */
  readonly patterns?: readonly { readonly name: string; readonly pattern: string }[]
}

export type AuditOptions = {
  /** Rows between two checkpoints. Default: 1,000. */
  readonly checkpointEvery?: number
  /** Milliseconds after which rows that no checkpoint covers get one. Default: 60,000. */
  readonly checkpointMs?: number
  /** Where copies of checkpoints go: lines on stderr, lines of a file outside of every workspace, or a function of the host. */
  readonly checkpointTo?: readonly CheckpointPlace[]
  /** Ed25519 private key, PKCS #8 in PEM, or the file of one. Made where the file does not exist. Default: beside the database. */
  readonly signingKey?: { readonly pem: string } | { readonly file: string }
  /** What happens to calls while records cannot be kept: all are refused, or those that only read go on. Default: `refuse`. */
  readonly onFailure?: 'refuse' | 'reads'
  /** Milliseconds after which records are dropped. Default: never. */
  readonly keepMs?: number
  /** Personal members of records, artifacts and answers of the journal are encrypted with a key of each person. Default: true, with SQLite. */
  readonly seal?: boolean
  /** 32 bytes in base64: encrypts those keys in turn. Without it they stand in the database beside what they open. */
  readonly key?: string
}

/** Told of each checkpoint as a signed note; a throw or rejection is logged and tried again with the next. */
export type CheckpointPlace = 'stderr' | { readonly file: string } | ((note: string) => void | Promise<void>)

export type PerMinute = {
  readonly caller?: number
  readonly tenant?: number
  readonly tools?: Readonly<Record<string, number>>
}

/** Questions to a person, and who puts them. */
export type ApprovalsOptions = {
  /** Milliseconds for which a question stays open and its answer can be used. Default: one hour. */
  readonly expiresMs?: number
  /** Milliseconds for which an entrance may hold a call for its answer. Default: 45,000. */
  readonly holdMs?: number
  /** Milliseconds for which a grant holds. Default: twelve hours. */
  readonly grantMs?: number
  /**
   * Asked by the library's own `call` and `turn`: the answer of a person, or undefined for none. The call that was asked
   * about is made anew once it is approved. A throw is no answer.
   */
  readonly onRequest?: (
    approval: ApprovalRow,
    context: { readonly signal: AbortSignal },
  ) => Promise<PersonsAnswer | undefined>
  /** `code`: whoever answers has to bring a code that only `showCode` has seen. */
  readonly proof?: 'none' | 'code'
  /** Shows a code to the person at the gate's own terminal or console, and to nobody else. Needed where `proof` is `code`. */
  readonly showCode?: (code: string, approval: ApprovalRow) => void
}

/** `scope`: how far the answer reaches, one of the reaches that the question offers. Default: `once`. */
export type PersonsAnswer = {
  readonly decision: 'approve' | 'decline'
  /** Who answers; the host vouches for it. */
  readonly by: string
  readonly scope?: Reach
  readonly comment?: string
  readonly code?: string
  readonly clientAsserted?: boolean
}
