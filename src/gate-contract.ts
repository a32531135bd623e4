// What a host holds of a gate and of its sessions; what goes into one stands in `gate/gate-options.ts`. Only shapes; `gate.ts` wires them.

import type { RuleFinding } from './authorize/explain.ts'
import type { PolicyOptions, ProfileName, RuleOptions } from './authorize/policy-options.ts'
import type { JsonObject } from './base/json-value.ts'
import type { Entrance } from './describe/call.ts'
import type { Caller } from './describe/caller.ts'
import type { Decision, RuleReference } from './describe/decision.ts'
import type { DeclaredEffect } from './describe/effect.ts'
import type { EntryState, ToolListing } from './describe/entry.ts'
import type { ErrorType } from './describe/error-types.ts'
import type { ConfigProblem } from './describe/gate-config-error.ts'
import type { Layer } from './describe/layer.ts'
import type { Outcome } from './describe/outcome.ts'
import type { SourceState } from './describe/source.ts'
import type { CommandFacts, Progress, Tool } from './describe/tool.ts'
import type { TraceContext } from './describe/trace-context.ts'
import type { CredentialChange } from './gate/credential-record.ts'
import type { AnyTool, PersonsAnswer } from './gate/gate-options.ts'
import type { RefusedRequest } from './gate/refused-requests.ts'
import type { Replay, ReplayOptions } from './gate/replay-step.ts'
import type {
  Answered,
  ApprovalRow,
  ApprovalState,
  Artifact,
  ArtifactRow,
  Erased,
  GrantRow,
  JournalRow,
  RecordQuery,
  RecordRow,
  RecordSubject,
  StopRow,
  StopTarget,
} from './observe/store.ts'
import type { Verification, VerifyOptions } from './observe/verify.ts'

export type { CredentialChange } from './gate/credential-record.ts'
export type {
  AnyTool,
  ApprovalsOptions,
  ArtifactsOptions,
  AuditOptions,
  CheckpointPlace,
  GateOptions,
  LogEntry,
  PerMinute,
  PersonsAnswer,
  RedactionOptions,
} from './gate/gate-options.ts'
export type { Replay, ReplayOptions, ReplayStep } from './gate/replay-step.ts'

/** `rules`: of origin `session`, for this session and its children; judged together with all others. */
export type SessionOptions = Partial<Omit<Caller, 'parent'>> & { readonly rules?: readonly RuleOptions[] }

/** What a child may be given; the rest is its parent's. Roles and layers can only be fewer, and a step or task only narrower. */
export type ChildOptions = Partial<Pick<Caller, 'agent' | 'roles' | 'session' | 'task' | 'step' | 'layers'>> & {
  readonly rules?: readonly RuleOptions[]
}

export type NamedCall = {
  readonly name: string
  /** An object, or its JSON text as a model wrote it. */
  readonly arguments?: unknown
  readonly id?: string
  readonly approval?: string
  /** The same call made again under the same key runs once; the second gets the recorded answer. 1 to 256 characters. */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
  /** The W3C trace that the call is part of. Default: the active one, where `telemetry` is on. */
  readonly trace?: TraceContext
}

export type CallOptions = Omit<NamedCall, 'name' | 'arguments'>

export type TurnOptions = {
  /** Ends all calls that are still open. */
  readonly signal?: AbortSignal
  /**
   * Puts the question of a call that asks to somebody, one question after the other; true once it is answered: the same call is
   * then made anew, in its place. A throw is no answer. Default: as `approvals.onRequest` says.
   */
  readonly ask?: (approvalId: string, signal: AbortSignal | undefined) => Promise<boolean>
}

export interface Session {
  readonly caller: Caller
  /** The same conversation in another phase of its task. A step that the gate does not know sees and calls nothing. */
  atStep(step: string): Session
  /** A caller that works for this one, with no more authority. Throws GateConfigError for more than this one has. */
  child(options: ChildOptions): Session
  /** Definitions for a model, in a stable order. */
  tools(): readonly ToolListing[]
  /** One call through all six stages. Never throws and never rejects. */
  call<Args, Value>(tool: Tool<Args, Value>, args: Args, options?: CallOptions): Promise<Outcome<Value>>
  call(request: NamedCall): Promise<Outcome>
  /**
   * The calls of one model turn: those that touch nothing in common run side by side, the others in call order. Outcomes
   * stand in call order.
   */
  turn(calls: readonly NamedCall[], options?: TurnOptions): Promise<readonly Outcome[]>
  /**
   * The conversation is over: what its calls, and those of its children, have left going on in the background ends. Calls that
   * are under way end by themselves, and calls made after this are calls like any other.
   */
  end(): void
  /** What the policy would answer; runs nothing and records nothing. */
  decide(request: Pick<NamedCall, 'name' | 'arguments'>): Promise<DecisionPreview>
}

/** A decision, or why the call would not even come to one. */
export type DecisionPreview =
  /** `grant`: of an ask, the grant that would answer it now, so that nobody would be asked. */
  | { readonly kind: 'decided'; readonly decision: Decision; readonly grant?: string }
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
  /** What a running tool says of how far it is. */
  'call-progress': {
    readonly callId: string
    readonly tool: string
    readonly caller: Caller
    readonly progress: Progress
  }
  'approval-opened': ApprovalRow
  /** Answered, used or withdrawn, by this process or another one. */
  'approval-changed': ApprovalRow
  'policy-changed': { readonly version: string }
  'stops-changed': readonly StopRow[]
  'catalogue-changed': { readonly digest: string }
  /** The records cannot be kept, for this reason; or, without one, they can be again. */
  'audit-failed': { readonly reason?: string }
  'checkpoint-made': { readonly note: string }
}

export interface Gate {
  /** A conversation of one caller. What is left out of `caller` takes the gate's defaults. Throws GateConfigError for a caller that does not hold. */
  session(caller?: SessionOptions, entrance?: Entrance): Session
  readonly approvals: {
    list(filter?: { readonly state?: ApprovalState; readonly limit?: number }): Promise<readonly ApprovalRow[]>
    show(id: string): Promise<ApprovalRow | undefined>
    /** The answer of a person, single and final. The host vouches for `by`. */
    decide(id: string, answer: PersonsAnswer): Promise<Answered>
    /**
     * The row once it is no longer open, or as it is when the time is over or the caller has left. Also hears of answers
     * that another process gives.
     */
    settled(
      id: string,
      wait: { readonly forMs: number; readonly signal?: AbortSignal },
    ): Promise<ApprovalRow | undefined>
    /**
     * A new code for an open question that asks for one, shown by `showCode`, in the place of the old one; for a gate that
     * took the question over from one that is gone. False where no open question asks for a code, or it cannot be shown.
     */
    renewCode(id: string): Promise<boolean>
  }
  readonly grants: {
    list(filter?: { readonly live?: boolean; readonly limit?: number }): Promise<readonly GrantRow[]>
    /** False where there is no such grant, or it was revoked before. */
    revoke(id: string, by: string): Promise<boolean>
  }
  readonly policy: PolicyDesk
  /** Stops what is named, or everything, running calls too; it lasts, over restarts, until it is lifted. */
  stop(target: StopTarget, by?: { readonly by: string; readonly reason?: string }): Promise<StopRow>
  lift(id: string, by?: string): Promise<boolean>
  stops(): readonly StopRow[]
  /** Keeps more files and folders of the host out of the reach of tools, for as long as the gate lives. */
  protect(paths: readonly string[]): void
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
    /** `notes`: checkpoints that were kept elsewhere; rows that they cover and that are gone show against them. */
    verify(options?: VerifyOptions): Promise<Verification>
    flush(): Promise<void>
    /** A checkpoint now, and its note; undefined where no row came since the last one. */
    checkpoint(): Promise<string | undefined>
    /** The public half of the signing key, PEM. */
    publicKey(): Promise<string>
    /** Makes everything about a person unreadable. The chain of records still verifies. */
    erase(subject: RecordSubject, by: string): Promise<Erased>
    /** For doors: a request that was refused before it could be a call. So many of a minute are recorded, the rest counted. */
    refused(request: RefusedRequest): void
    /** Drops what is older than `audit.keepMs` now. Answers how many chains begin later than before. */
    retain(): Promise<number>
    /** Records that a credential of callers was made, renewed or ended. Resolves when that is durable; else it rejects. */
    credential(change: CredentialChange): Promise<void>
  }
  readonly artifacts: {
    /** As its own caller would be given it: only what that principal may still read. */
    find(id: string, caller: SessionOptions): Promise<Artifact | undefined>
    /** Newest first. For the operator. */
    list(filter?: { readonly limit?: number }): Promise<readonly ArtifactRow[]>
  }
  /** The recorded calls of a session, in their order, each beside the answer that the policy would give today. Runs nothing. */
  replay(session: string, options?: ReplayOptions): Promise<Replay>
  /** Counters and timings in the Prometheus text format, version 0.0.4. */
  metrics(): string
  /** Why the gate cannot serve as it should; empty where it can. */
  troubles(): readonly string[]
  /** Rules that match no known tool, and other things an operator should see. */
  warnings(): readonly string[]
  /** The guards of a tool in their order, outermost first; of every tool where none is named. */
  guards(tool?: string): readonly GuardRow[]
  /** What is known under idempotency keys. */
  readonly journal: {
    list(filter?: { readonly state?: JournalRow['state']; readonly limit?: number }): Promise<readonly JournalRow[]>
    /** Says what a call whose end nobody knows did; `none` frees its key. False where no such call ended unknown. */
    settle(callId: string, effect: 'none' | 'done', by: string): Promise<boolean>
  }
  /** Calls that earlier gates left open, as they were found at the start. */
  readonly unsettled: readonly UnsettledCall[]
  on<Name extends keyof GateEvents>(event: Name, listener: (detail: GateEvents[Name]) => void): () => void
  /** Resolves once every source is ready or failed. */
  settled(): Promise<void>
  /** Ends running calls, closes sources and store. */
  close(): Promise<void>
}

/** The rules, for those who write them. Runs no tool. */
export interface PolicyDesk {
  readonly version: string
  readonly profile: ProfileName
  /** Every rule in force, and the known tools that it speaks of now; none is worth a warning. */
  rules(): readonly RuleRow[]
  /** Why one call gets its answer: every rule that speaks of its tool, and whether it holds. */
  explain(caller: SessionOptions, call: Pick<NamedCall, 'name' | 'arguments'>): Promise<ExplainedCall>
  /** The answer to each tool for each caller, as far as it holds whatever the arguments are. */
  matrix(callers: readonly SessionOptions[], tools?: readonly string[]): readonly MatrixRow[]
  /** Takes other rules, or keeps those that it has and says why. Running calls go on as far as the new rules allow them. */
  reload(policy: PolicyOptions): Promise<PolicyReloaded>
  /** Which view a caller has, and why each tool is in it or not. */
  view(caller: SessionOptions): readonly ViewRow[]
  /** A table of calls with the answers that they should get. */
  test(cases: readonly PolicyCase[]): Promise<readonly CaseResult[]>
  /** Recorded calls under other rules: every decision that would differ. Changes nothing. */
  simulate(policy: PolicyOptions, range?: RecordedRange): Promise<Simulation>
  /** The narrowest rules that answered asks would justify. Applies none. */
  suggest(range?: RecordedRange): Promise<readonly Suggestion[]>
}

/**
 * Milliseconds since the Unix epoch; default: all that is kept. `callsMax`: the newest, default and at most 100,000.
 * `against`: what `simulate` compares with. `current`, the default: what the rules in force answer. `recorded`: what was
 * answered then, under whatever rules.
 */
export type RecordedRange = {
  readonly since?: number
  readonly callsMax?: number
  readonly against?: 'current' | 'recorded'
}

export type PolicyCase = {
  readonly name?: string
  readonly caller?: SessionOptions
  readonly call: Pick<NamedCall, 'name' | 'arguments'>
  /** `not_found`, `invalid_args`, …: an error type, where the call should not come as far as the policy. */
  readonly expect: 'allow' | 'ask' | 'deny' | ErrorType
}

export type CaseResult = {
  readonly name: string
  readonly ok: boolean
  readonly expected: string
  readonly got: string
  readonly why: string
}

export type Simulation = {
  /** How many recorded calls were decided again. */
  readonly calls: number
  readonly differing: readonly SimulatedCall[]
  /** Calls about which nothing can be said, with the reason: a tool that is gone, arguments that were cut or redacted. */
  readonly untold: readonly { readonly callId: string; readonly tool: string; readonly why: string }[]
}

export type SimulatedCall = {
  readonly callId: string
  readonly at: number
  readonly tool: string
  readonly arguments: JsonObject
  readonly caller: Caller
  readonly before: Decision
  /** Whether `before` is what was recorded, or the call was decided again under the rules in force. */
  readonly beforeBy: 'record' | 'again'
  readonly after: Decision
}

export type Suggestion = {
  /** The rule, as a configuration file would have it, with examples. */
  readonly rule: RuleOptions
  /** The same as YAML. */
  readonly yaml: string
  /** How many answered asks it would have spared. */
  readonly asks: number
  readonly why: string
}

/** `refused`: the call does not come as far as the exact half of the policy. */
export type ExplainedCall =
  | { readonly kind: 'refused'; readonly type: string; readonly message: string }
  | {
      readonly kind: 'decided'
      readonly decision: Decision
      readonly findings: readonly RuleFinding[]
      /** The canonical arguments that were judged. */
      readonly arguments: JsonObject
      readonly resources: readonly string[]
      readonly effect: DeclaredEffect
      /** The program that the call would start; empty where its tool failed to say which. */
      readonly command?: CommandFacts
    }

/** `depends`: some rule looks at arguments; `decision` is then what holds where none of these rules does. */
export type MatrixRow = {
  readonly caller: Caller
  readonly tool: string
  readonly decision: Decision
  readonly depends: boolean
}

export type RuleRow = { readonly rule: RuleReference; readonly tools: readonly string[] }

export type ViewRow = { readonly tool: string; readonly source: string; readonly seen: boolean; readonly why: string }

export type PolicyReloaded =
  | { readonly kind: 'ok'; readonly version: string; readonly warnings: readonly string[] }
  | { readonly kind: 'kept'; readonly problems: readonly ConfigProblem[] }

/** A guard as it stands before a tool. */
export type GuardRow = { readonly name: string; readonly bounds: string; readonly tools: readonly string[] | 'all' }

export type UnsettledCall = {
  readonly callId: string
  readonly tool: string
  readonly at: number
  readonly effect: 'none' | 'done' | 'unknown'
}

export type { GuardedCall, GuardOptions, GuardSubject } from './execute/guard-options.ts'
export type { JsonObject }
