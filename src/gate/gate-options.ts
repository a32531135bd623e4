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
}

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
