// The whole contract of a tool. It serves two readers: the runtime, which must know what a call touches and may do, and
// the model, which must know when to use it. Definitions are frozen; `run` is not part of what anybody can reach.

import type { Clock } from '../base/clock.ts'
import type { JsonObject } from '../base/json-value.ts'
import type { Caller } from './caller.ts'
import type { ContentPart, Display } from './content.ts'
import type { DeclaredEffect, VariableEffect } from './effect.ts'
import type { InferSchema, ToolSchema } from './schema/tool-schema.ts'
import type { ToolFailure } from './tool-failure.ts'
import type { ToolResult } from './tool-result.ts'

/** When to take this tool and when another one. Shown to the model, within a byte budget. */
export type Guidance = {
  readonly useWhen?: string
  readonly avoidWhen?: string
  readonly limits?: string
  /** Nearby tools and why they may fit better. */
  readonly instead?: readonly { readonly tool: string; readonly because: string }[]
}

/** `safe`: repeating changes nothing more. `keyed`: safe under an idempotency key. `never`: each run acts again. */
export type Repeat = 'safe' | 'keyed' | 'never'

/** Bounds of one tool. Those of the gate hold where none is given; a tool can only tighten them. */
export type ToolLimits = {
  /** Canonical bytes of the arguments. At most 1 MiB. */
  readonly argumentBytes?: number
  /** Bytes of model content; more is cut and said. */
  readonly resultBytes?: number
}

/** Where a tool runs. `upstream`: another server does the work. */
export type Place = 'process' | 'upstream'

export type Progress = { readonly message?: string; readonly progress?: number; readonly total?: number }

/** A tool's own refusal: its safety rules stand beside the side effect that they guard. */
export type Refusal = {
  readonly kind: 'refused'
  readonly code?: 'unsafe_args' | 'invalid_args'
  readonly message: string
}

/** What a tool can use while it runs. */
export type RunContext = {
  readonly callId: string
  readonly caller: Caller
  /** Aborts when the caller leaves or the deadline passes. */
  readonly signal: AbortSignal
  readonly clock: Clock
  progress(progress: Progress): void
  /** Whether the policy lets this call also touch a resource, e.g. `read file:/ws/a.txt`. For tools that walk. */
  mayTouch(resource: string): boolean
  log(message: string, details?: Readonly<Record<string, unknown>>): void
}

/** What `run` may return: a value, a value with its own content, or a failure that it describes. */
export type RunAnswer<Value> = Value | ToolResult<Value> | ToolFailure

/** Async, or an async generator whose yields are progress and whose return is the answer. */
export type Run<Args, Value> = (
  args: Args,
  context: RunContext,
) => Promise<RunAnswer<Value>> | RunAnswer<Value> | AsyncGenerator<Progress, RunAnswer<Value>, void>

/** The parts of a contract that do not depend on the schemas' types. */
type Described = {
  /** `[A-Za-z0-9_-]{1,64}`. */
  readonly name: string
  /** Semantic Versioning 2.0.0, e.g. `1.0.0`. */
  readonly version: string
  readonly title?: string
  /** What it does. */
  readonly description: string
  /** What comes back, in one sentence. */
  readonly returns?: string
  readonly guidance?: Guidance
  readonly repeat?: Repeat
  /** Milliseconds from the opening of the call; the gate's own deadline holds where it is shorter. */
  readonly deadlineMs?: number
  readonly limits?: ToolLimits
  readonly place?: Place
  /** Asks `mayTouch` for each entry below a folder that it touches. Of a tool that only reads, rules then filter what it shows. */
  readonly walks?: boolean
  /** The tool's own permission, asked for listings and calls alike: anything but `true` refuses, and so does a throw. */
  readonly admit?: (caller: Caller) => boolean
}

/** What depends on the types of the arguments and of the value. */
type Acting<Args, Value> = {
  readonly effect: DeclaredEffect | VariableEffect<Args>
  /** What the call touches: `read file:/ws/a.txt`, `write repo:*`. */
  readonly touches?: (args: Args, caller: Caller) => readonly string[] | Promise<readonly string[]>
  /** Puts names of things into the form that will be opened; rules, approvals and `run` see that form. */
  readonly resolve?: (args: Args, caller: Caller) => Args | Refusal | Promise<Args | Refusal>
  /** Decides on meaning, without touching anything. */
  readonly check?: (args: Args, caller: Caller) => Refusal | undefined
  /** Did this call take effect? Asked after a deadline, a lost contact or a crash. */
  readonly happened?: (args: Args) => boolean | undefined | Promise<boolean | undefined>
  /** What the model reads and a person sees of a value. A throw falls back to JSON. */
  readonly present?: (value: Value) => { readonly content: readonly ContentPart[]; readonly display?: Display }
}

/** What an author writes. Arguments and value are inferred from `input` and `output`. */
export type ToolDefinition<
  Input extends ToolSchema = ToolSchema,
  Output extends ToolSchema | undefined = ToolSchema | undefined,
  Value = Output extends ToolSchema ? InferSchema<Output> : unknown,
> = Described &
  Acting<InferSchema<Input>, Value> & {
    /** A Standard Schema with a JSON Schema face (zod, valibot, arktype) or plain JSON Schema 2020-12. */
    readonly input: Input
    /** Enforced: a value that it refuses ends the call as `output_invalid`. */
    readonly output?: Output
    /** Arguments that `input` must take, checked at registration. */
    readonly examples?: readonly unknown[]
    readonly run: Run<InferSchema<Input>, Value>
  }

declare const valueType: unique symbol

/** A defined tool: the frozen contract without `run`. Types carry the arguments and the value for `session.call(tool, …)`. */
export type Tool<Args = JsonObject, Value = unknown> = Described &
  Acting<JsonObject, unknown> & {
    readonly input: ToolSchema
    readonly output?: ToolSchema
    readonly examples?: readonly unknown[]
    /** Only for inference; no such property exists. */
    readonly [valueType]?: (args: Args) => Value
  }
