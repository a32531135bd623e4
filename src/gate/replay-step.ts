// What a replay tells: each recorded call of a session beside the answer of today. Only shapes.

import type { JsonObject } from '../base/json-value.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'

/** `callsMax`: default 1,000, at most 100,000. The oldest calls come first. */
export type ReplayOptions = { readonly tenant?: string; readonly user?: string; readonly callsMax?: number }

export type Replay = {
  readonly session: string
  readonly steps: readonly ReplayStep[]
  /** True where the session has more calls than were asked for. */
  readonly more: boolean
}

export type ReplayStep = {
  readonly callId: string
  readonly at: number
  readonly tool: string
  readonly caller: Caller
  /** Absent where they are no longer there: cut, erased, or they held secrets. */
  readonly arguments?: JsonObject
  /** What was recorded: the decision then, and how the call ended. */
  readonly recorded: {
    readonly decision?: { readonly kind: 'allow' | 'ask' | 'deny'; readonly rule?: string; readonly reason: string }
    readonly ok: boolean
    readonly error?: { readonly type: string; readonly effect: string; readonly message: string }
    readonly effect?: string
    readonly attempts: number
    readonly result?: { readonly digest: string; readonly bytes: number }
    readonly artifact?: string
    readonly elapsedMs: number
  }
  /** What the policy answers today, or why nothing can be said. */
  readonly today:
    | { readonly kind: 'decided'; readonly decision: Decision; readonly differs: boolean }
    | { readonly kind: 'refused'; readonly type: string; readonly message: string; readonly differs: boolean }
    | { readonly kind: 'untold'; readonly why: string }
}
