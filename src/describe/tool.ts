// The whole contract of a tool. It serves two readers: the runtime, which must know what a call touches and may do, and
// the model, which must know when to use it. Definitions are frozen; `run` is not part of what anybody can reach.

import type { Clock } from '../base/clock.ts'
import type { JsonObject } from '../base/json-value.ts'
import type { ProcessLimit, SandboxMode } from '../machine/abilities.ts'
import type { Caller } from './caller.ts'
import type { ContentPart, Display } from './content.ts'
import type { DeclaredEffect, VariableEffect } from './effect.ts'
import type { Outcome } from './outcome.ts'
import type { Place } from './place.ts'
import type { InferSchema, ToolSchema } from './schema/tool-schema.ts'
import type { ToolFailure } from './tool-failure.ts'
import type { ToolResult } from './tool-result.ts'
import type { TraceContext } from './trace-context.ts'

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

/**
 * Bounds of one tool. Those of the gate hold where none is given; a tool can only tighten them. `memoryBytes` also bounds the
 * heap of a tool in a worker; the other bounds of processes are for tools in a child or a sandbox. One that the machine cannot
 * keep is an error where the sandbox is `required`, and noted in the record elsewhere.
 */
export type ToolLimits = Partial<Readonly<Record<ProcessLimit, number>>> & {
  /** Canonical bytes of the arguments. At most 1 MiB. */
  readonly argumentBytes?: number
  /** Bytes of model content; more is cut and said. */
  readonly resultBytes?: number
  /** Bytes of output that are kept of a command. */
  readonly outputBytes?: number
}

/** Where a call runs and why there. */
export type ChosenPlace = { readonly place: Place; readonly why: string }

/** Tries after the first, for failures that say that nothing happened, or of tools that may be repeated. */
export type RetryOptions = {
  /** 1 to 10. */
  readonly times: number
  /** Milliseconds before the first retry; each further one waits twice as long, with jitter. Default: 200. */
  readonly backoffMs?: number
}

/** How long an answer of a read may be given again, and what makes it stale before that. */
export type CacheOptions<Args> = {
  readonly forMs: number
  /** Good for every caller, and not only for one like the first. Default: false. */
  readonly shared?: boolean
  /** A text that is another one as soon as the answer would be; undefined: not to be kept. E.g. identity, size and time of a file. */
  readonly validator?: (args: Args) => string | undefined | Promise<string | undefined>
}

/** A call that a running tool makes. It has no more authority and no more time than the call that makes it. */
export type NestedCall = { readonly name: string; readonly arguments?: unknown }

/** A function tool in a worker thread: an absolute path or `file:` address of a module, and the name of its export. */
export type WorkerRun = { readonly module: string; readonly export: string }

export type Progress = { readonly message?: string; readonly progress?: number; readonly total?: number }

/** A tool's own refusal: its safety rules stand beside the side effect that they guard. */
export type Refusal = {
  readonly kind: 'refused'
  readonly code?: 'unsafe_args' | 'invalid_args' | 'permission_denied' | 'unavailable'
  readonly message: string
}

/** Of a tool that starts programs: which one, by the bare name that a caller knows, and whether it certainly only reads. */
export type CommandFacts = { readonly program: string; readonly reads: boolean }

/** Text outside of the arguments that decides what a call does, such as a package script: an approval is for this text too. */
export type BoundText = { readonly title: string; readonly text: string }

/** What a tool can use while it runs. */
export type RunContext = {
  readonly callId: string
  readonly caller: Caller
  /** Aborts when the caller leaves or the deadline passes. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** The same for every try of this call, and what the caller gave where it gave one. For upstreams that honour such keys. */
  readonly idempotencyKey: string
  /** Counts the tries of this call from 1. */
  readonly attempt: number
  readonly place: ChosenPlace
  /** Milliseconds that are left of the call. */
  leftMs(): number
  /** A person's answer to this call, or a grant of one, let it happen: it was for what `binds` named too. */
  readonly approved: boolean
  /**
   * For work that goes on after its call: `end` is called, once, when the call would not be allowed any more (rules changed, or
   * somebody stopped it) or the gate closes. The answer ends the asking.
   */
  goesOn(end: (reason: Error) => void): () => void
  /** Notes a bound that the tool's work ran into, or that could not be kept, for the record and the outcome. */
  noteLimit(limit: string, kind: 'hit' | 'unenforced'): void
  /** Another call, made inside this one: through every stage, inside this call's lane, ended with it. */
  call(request: NestedCall): Promise<Outcome>
  progress(progress: Progress): void
  /** The trace that this call is part of, for whatever the tool asks in turn. */
  readonly trace?: TraceContext | undefined
  /**
   * Whether the policy lets this call also touch a resource, e.g. `read file:/ws/a.txt`. For tools that walk. Of a folder as a
   * whole (`read file:/ws/*`): whether nothing below it is kept back.
   */
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

export type Presentation = {
  readonly content: readonly ContentPart[]
  readonly display?: Display
  /**
   * Of content that is one text: how to ask this tool for what comes after so many of its lines. Said to the model, up to 120
   * characters, where the text is cut there.
   */
  readonly more?: (lines: number) => string
}

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
  /** Milliseconds of each try; with `retry`, a try that takes longer is followed by another. */
  readonly attemptMs?: number
  /** Milliseconds without progress or output after which the call is ended. */
  readonly idleMs?: number
  /** Only with `repeat` `safe` or `keyed`, or for failures that say that nothing happened. */
  readonly retry?: RetryOptions
  readonly limits?: ToolLimits
  readonly place?: Exclude<Place, 'sandbox'>
  /** Of tools in a child. Default: `preferred`. */
  readonly sandbox?: SandboxMode
  /**
   * `touches`: the call changes nothing but what `touches` names, so that only calls that touch the same wait for it.
   * `barrier`: within a turn it runs alone. Default: `touches` for reads and writes that declare them, else `barrier`.
   */
  readonly lane?: 'touches' | 'barrier'
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
  /** Which program a call starts, for rules about programs. A throw counts as one that does not only read. */
  readonly command?: (args: Args) => CommandFacts | undefined
  /** What else an approval of this call is for. Read again before the tool acts. A throw refuses the call. */
  readonly binds?: (args: Args, caller: Caller) => readonly BoundText[] | Promise<readonly BoundText[]>
  /** Decides on meaning, without touching anything. */
  readonly check?: (args: Args, caller: Caller) => Refusal | undefined
  /** Did this call take effect? Asked after a deadline, a lost contact or a crash. */
  readonly happened?: (args: Args) => boolean | undefined | Promise<boolean | undefined>
  /** For reads only: their answer may be kept. Off where it is left out. */
  readonly cache?: CacheOptions<Args>
  /** What the model reads and a person sees of a value. A throw falls back to the default shape. */
  readonly present?: (value: Value) => Presentation
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
    /** With `place: 'worker'` the name of a module's export, which is called as `run(args, { callId, signal, progress, … })`. */
    readonly run: Run<InferSchema<Input>, Value> | WorkerRun
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
