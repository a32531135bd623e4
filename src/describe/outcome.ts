// The one answer to a call. Expected ends are values: whoever holds an outcome knows whether something happened.

import type { ContentPart, Display } from './content.ts'
import type { DeclaredEffect } from './effect.ts'
import type { ErrorType, RetryAdvice } from './error-types.ts'
import type { Place } from './place.ts'

/** Whether the call changed anything: certainly not, certainly, or nobody can say. */
export type EffectState = 'none' | 'done' | 'unknown'

export type Retry = {
  readonly advice: RetryAdvice /** With `later`: not before this many milliseconds. */
  readonly afterMs?: number
}

export type OutcomeError = {
  readonly type: ErrorType
  /** For the model: what to do next. */
  readonly message: string
  readonly retry: Retry
  readonly effect: EffectState
  /** True only when the whole gate has failed; nothing else should stop a loop. */
  readonly fatal: boolean
  /** For the operator: which rule, which file and line. Never shown to a model. */
  readonly help?: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** Which answer the policy gave and why. */
export type DecisionSummary = {
  readonly kind: 'allow' | 'ask' | 'deny'
  readonly rule?: string
  readonly reason: string
}

/** What a result is counted in where it is cut. */
export type CutUnit = 'bytes' | 'lines' | 'rows' | 'parts'

/** What was cut from the content. */
export type Truncation = {
  /** The part of the gate that cut. `presentation`: its default shape shows only so much of such a value. */
  readonly layer: 'result budget' | 'turn budget' | 'presentation'
  readonly originalBytes: number
  readonly keptBytes: number
  /** SHA-256 of the whole text, in hexadecimal. */
  readonly digest: string
  /** What was cut along, how many of them there were, and which are shown: each range from 0, its end not included. */
  readonly unit: CutUnit
  readonly originalUnits: number
  readonly kept: readonly { readonly from: number; readonly to: number }[]
  /** How this caller can get the rest, in words for the model. */
  readonly next: string
}

export type OutcomeMeta = {
  readonly callId: string
  /** The caller's own id of the call, where it gave one. */
  readonly id?: string
  readonly runId: string
  readonly tool: string
  readonly version?: string
  readonly source?: string
  readonly fingerprint?: string
  readonly decision?: DecisionSummary
  /** What answered an `ask`. */
  readonly approval?: string
  readonly grant?: string
  /** A remark of the gate, shown to the model besides the content. */
  readonly remark?: string
  readonly effect?: DeclaredEffect
  /** How many times the tool was started: 0 where the call was refused. */
  readonly attempts: number
  readonly place?: Place
  /** Its place among the calls of its turn, or among those that one tool made, from 0. Tells calls apart that share an id. */
  readonly position?: number
  /** The call whose tool made this one. */
  readonly parent?: string
  /** Milliseconds from the opening of the call to the first start of its tool; absent where it was not started. */
  readonly startedMs?: number
  /** The same to the end of its last run, after which the gate only had to settle and record it. Absent where one goes on. */
  readonly endedMs?: number
  /** When the call was opened, in milliseconds since 1970, so that calls can be compared. Absent like `startedMs`. */
  readonly openedAtMs?: number
  /** The answer was kept: the call that first got it. */
  readonly cached?: string
  /** The recorded answer of the call that first used the idempotency key: its id. */
  readonly replayOf?: string
  /** Bounds that the work ran into. */
  readonly limitsHit?: readonly string[]
  readonly truncated?: Truncation
  /** The whole of what was cut is kept under this id, for `read_artifact` and as `{ "$artifact": id }` in arguments. */
  readonly artifact?: string
  /** Kinds of secrets that were taken out of value, content, display and error; each stands there as `[redacted:kind]`. */
  readonly redacted?: readonly string[]
  /** The structured value is larger than what is sent beside content: a client that is given it there does not get it. */
  readonly valueTooLarge?: true
  /** What the model content takes of a context window, as the gate's counter estimates it. */
  readonly tokens?: number
}

type OutcomeCommon = {
  readonly content: readonly ContentPart[]
  readonly display?: Display
  readonly elapsedMs: number
  readonly meta: OutcomeMeta
}

/** `ok` tells the two apart; `value` is complete and validated, `content` is bounded and for the model. */
export type Outcome<Value = unknown> = OutcomeCommon &
  ({ readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: OutcomeError })
