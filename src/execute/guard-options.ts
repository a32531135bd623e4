// Guards that a host puts around tools of its choice. Each stands at a place that the order allows; `guard-list.ts` checks
// the whole list when the gate is made.

import type { JsonObject } from '../base/json-value.ts'
import type { Ending } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { ToolFailure } from '../describe/tool-failure.ts'

/** All keys must hold; names or globs. Built-in tools are of the source `builtin` and of the family `files` or `shell`. */
export type GuardSubject = {
  readonly tool?: string | readonly string[]
  readonly family?: string | readonly string[]
  readonly source?: string | readonly string[]
}

/** What a guard is told of the call that it stands before. */
export type GuardedCall = {
  readonly callId: string
  readonly caller: Caller
  readonly tool: string
  readonly args: JsonObject
  readonly effect: string
  /** From 1; 0 outside of the retries. */
  readonly attempt: number
  readonly signal: AbortSignal
}

export type GuardOptions = { readonly for: GuardSubject } & (
  | { readonly guard: 'breaker'; readonly failures?: number; readonly coolMs?: number }
  | { readonly guard: 'retry'; readonly times: number; readonly backoffMs?: number }
  /** Milliseconds of each try. */
  | { readonly guard: 'attempt'; readonly ms: number }
  /** Milliseconds of all tries together; shorter than the call's own deadline. */
  | { readonly guard: 'tries'; readonly ms: number }
  | {
      readonly guard: 'own'
      readonly name: string
      readonly bounds: string
      /** `call`: once, around the retries. `try`: around each try. */
      readonly at: 'call' | 'try'
      /**
       * Refuses with a described failure, or passes on what came of `next`; anything else ends the call as a fault. `next` may
       * be called again only for tools that may be repeated.
       */
      readonly run: (call: GuardedCall, next: () => Promise<Ending>) => Promise<Ending | ToolFailure>
    }
)
