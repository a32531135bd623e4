// What a host holds of a gate: the options that go in, the gate and the sessions that come out. Only shapes; `gate.ts` wires them.

import type { PolicyOptions } from './authorize/policy-options.ts'
import type { Clock } from './base/clock.ts'
import type { JsonObject } from './base/json-value.ts'
import type { Entrance } from './describe/call.ts'
import type { Caller } from './describe/caller.ts'
import type { Decision } from './describe/decision.ts'
import type { DeclaredEffect } from './describe/effect.ts'
import type { EntryState, Layer, ToolListing } from './describe/entry.ts'
import type { Outcome } from './describe/outcome.ts'
import type { Source, SourceState } from './describe/source.ts'
import type { Progress, Tool } from './describe/tool.ts'
import type { Answered, ApprovalRow, ApprovalState, RecordQuery, RecordRow, Store } from './observe/store.ts'
import type { Verification } from './observe/verify.ts'

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
  readonly approvals?: { readonly expiresMs?: number }
  readonly limits?: {
    /** Bytes of model content of one result; more is cut and said. Default 48 KiB. */
    readonly resultBytes?: number
    /** Milliseconds from the opening of a call to its end. Default 60,000. */
    readonly deadlineMs?: number
    /** Canonical bytes of arguments. Default and at most 1 MiB. */
    readonly argumentBytes?: number
  }
  /** Files and folders of the host that no tool may reach: configuration, keys, state. */
  readonly ownFiles?: readonly string[]
  /** Milliseconds that one source may take to start. Default 30,000. */
  readonly sourceStartMs?: number
  readonly clock?: Clock
  readonly log?: (entry: LogEntry) => void
}

export type SessionOptions = Partial<Caller>

export type NamedCall = {
  readonly name: string
  /** An object, or its JSON text as a model wrote it. */
  readonly arguments?: unknown
  readonly id?: string
  readonly approval?: string
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

export type CallOptions = Omit<NamedCall, 'name' | 'arguments'>

export interface Session {
  readonly caller: Caller
  /** Definitions for a model, in a stable order. */
  tools(): readonly ToolListing[]
  /** One call through all six stages. Never throws and never rejects. */
  call<Args, Value>(tool: Tool<Args, Value>, args: Args, options?: CallOptions): Promise<Outcome<Value>>
  call(request: NamedCall): Promise<Outcome>
  /** The calls of one model turn, run one after the other; outcomes stand in call order. */
  turn(calls: readonly NamedCall[]): Promise<readonly Outcome[]>
  /** What the policy would answer; runs nothing and records nothing. */
  decide(request: Pick<NamedCall, 'name' | 'arguments'>): Promise<DecisionPreview>
}

/** A decision, or why the call would not even come to one. */
export type DecisionPreview =
  | { readonly kind: 'decided'; readonly decision: Decision }
  | { readonly kind: 'refused'; readonly type: string; readonly message: string }

export type CatalogueRow = {
  readonly name: string
  readonly version: string
  readonly source: string
  readonly layer: Layer
  readonly effect: DeclaredEffect
  readonly fingerprint: string
  readonly state: EntryState
  /** The source of the stronger entry of the same name. */
  readonly shadowedBy?: string
}

export type SourceRow = {
  readonly name: string
  readonly layer: Layer
  readonly state: SourceState
  readonly tools: number
}

export type GateEvents = {
  'call-closed': Outcome
  'approval-opened': ApprovalRow
  'catalogue-changed': { readonly digest: string }
}

export interface Gate {
  /** A conversation of one caller. What is left out of `caller` takes the gate's defaults. Throws GateConfigError for a caller that does not hold. */
  session(caller?: SessionOptions, entrance?: Entrance): Session
  readonly approvals: {
    list(filter?: { readonly state?: ApprovalState; readonly limit?: number }): Promise<readonly ApprovalRow[]>
    show(id: string): Promise<ApprovalRow | undefined>
    /** The answer of a person, single and final. The host vouches for `by`. */
    decide(
      id: string,
      answer: { readonly decision: 'approve' | 'decline'; readonly by: string; readonly comment?: string },
    ): Promise<Answered>
  }
  readonly catalogue: {
    register(tool: AnyTool): void
    /** False where no such tool is registered by the host. */
    retire(name: string): boolean
    /** All that the gate knows, whoever may see it. For the operator. */
    rows(): readonly CatalogueRow[]
    sources(): readonly SourceRow[]
  }
  readonly records: {
    query(query: RecordQuery): Promise<readonly RecordRow[]>
    verify(): Promise<Verification>
    flush(): Promise<void>
  }
  /** Rules that match no known tool, and other things an operator should see. */
  warnings(): readonly string[]
  /** Calls that earlier gates left open, as they were found at the start. */
  readonly unsettled: readonly UnsettledCall[]
  on<Name extends keyof GateEvents>(event: Name, listener: (detail: GateEvents[Name]) => void): () => void
  /** Resolves once every source is ready or failed. */
  settled(): Promise<void>
  /** Ends running calls, closes sources and store. */
  close(): Promise<void>
}

export type UnsettledCall = {
  readonly callId: string
  readonly tool: string
  readonly at: number
  readonly effect: 'none' | 'done' | 'unknown'
}

export type { JsonObject }
