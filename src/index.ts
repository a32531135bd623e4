// The public library. Every name is listed; nothing else is part of it.

export type { RuleFinding } from './authorize/explain.ts'
export type {
  ArgumentTest,
  PolicyOptions,
  ProfileName,
  RuleExamples,
  RuleOptions,
  StepOptions,
} from './authorize/policy-options.ts'
export type { Clock } from './base/clock.ts'
export type { JsonObject, JsonValue } from './base/json-value.ts'
export type { Ending, Entrance } from './describe/call.ts'
export type { Caller, Principal, Task } from './describe/caller.ts'
export type { ContentPart, Display } from './describe/content.ts'
export type { Decision, Reach, RuleOrigin, RuleReference } from './describe/decision.ts'
export { defineTool } from './describe/define-tool.ts'
export type { DeclaredEffect, Effect, VariableEffect } from './describe/effect.ts'
export type { EntryState, ToolAnnotations, ToolListing } from './describe/entry.ts'
export { ERROR_TYPES, type ErrorType, type RetryAdvice, type Stage } from './describe/error-types.ts'
export { type ConfigProblem, GateConfigError } from './describe/gate-config-error.ts'
export type { Layer } from './describe/layer.ts'
export type {
  DecisionSummary,
  EffectState,
  Outcome,
  OutcomeError,
  OutcomeMeta,
  Retry,
  Truncation,
} from './describe/outcome.ts'
export type { Place } from './describe/place.ts'
export type { Activation, OfferedTool, Source, SourceHost, SourceState } from './describe/source.ts'
export type {
  BoundText,
  CacheOptions,
  ChosenPlace,
  CommandFacts,
  Guidance,
  NestedCall,
  Progress,
  Refusal,
  Repeat,
  RetryOptions,
  RunContext,
  Tool,
  ToolDefinition,
  ToolLimits,
  WorkerRun,
} from './describe/tool.ts'
export { type ToolFailure, type ToolFailureOptions, toolFailure } from './describe/tool-failure.ts'
export { ToolResult } from './describe/tool-result.ts'
export { createGate } from './gate.ts'
export type {
  AnyTool,
  ApprovalsOptions,
  CallOptions,
  CaseResult,
  CatalogueRow,
  ChildOptions,
  CredentialChange,
  DecisionPreview,
  ExplainedCall,
  Gate,
  GateEvents,
  GateOptions,
  GuardedCall,
  GuardOptions,
  GuardRow,
  GuardSubject,
  LogEntry,
  MatrixRow,
  NamedCall,
  PerMinute,
  PersonsAnswer,
  PolicyCase,
  PolicyDesk,
  PolicyReloaded,
  RecordedRange,
  Replay,
  ReplayOptions,
  ReplayStep,
  Session,
  SessionOptions,
  SimulatedCall,
  Simulation,
  SourceRow,
  Suggestion,
  TurnOptions,
  UnsettledCall,
  ViewRow,
} from './gate-contract.ts'
export type {
  Answered,
  ApprovalAnswer,
  ApprovalOffer,
  ApprovalRow,
  ApprovalState,
  AskedAbout,
  GrantRow,
  Intended,
  IntentAsk,
  IntentDraft,
  JournalEnd,
  JournalRow,
  OpenIntent,
  RecordDraft,
  RecordKind,
  RecordQuery,
  RecordRow,
  StopRow,
  StopTarget,
  Store,
} from './observe/store.ts'
export type { Verification } from './observe/verify.ts'
export { type BuiltinFamily, type BuiltinOptions, builtinTools } from './sources/builtin/builtin-tools.ts'
export type {
  OperandKind,
  OperandSlot,
  ProgramGrammar,
  ProgramOption,
  ProgramsOption,
} from './sources/builtin/shell/program-grammar.ts'
export type {
  CommandLimits,
  JobOptions,
  NarrowCommandOptions,
  NarrowInput,
  ShellOptions,
} from './sources/builtin/shell/shell-options.ts'
export { mcpSource } from './sources/mcp/mcp-source.ts'
