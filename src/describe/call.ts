// One call on its way through the gate. What is asked never changes; what has been found out is noted in `trail`, so that
// the record can tell how far the call came.

import type { JsonObject } from '../base/json-value.ts'
import type { Caller } from './caller.ts'
import type { ContentPart, Display } from './content.ts'
import type { Decision } from './decision.ts'
import type { DeclaredEffect } from './effect.ts'
import type { Entry } from './entry.ts'
import type { OutcomeError } from './outcome.ts'
import type { Touches } from './resource.ts'
import type { Progress } from './tool.ts'

/** The door that a call came through. */
export type Entrance = 'library' | 'mcp' | 'admin' | 'cli'

export type CallRequest = {
  readonly caller: Caller
  readonly entrance: Entrance
  readonly name: string
  /** Only this very definition will do; another tool under the name is not found. */
  readonly tool?: object
  /** An object, or the JSON text of one. */
  readonly arguments: unknown
  /** The caller's own id of the call, returned in `meta.id`. */
  readonly id?: string
  /** One of the calls of a model's turn. */
  readonly inTurn?: true
  /** An approval to use; without it an equal granted one is found. */
  readonly approval?: string
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

export type Call = {
  readonly id: string
  readonly runId: string
  readonly request: CallRequest
  readonly caller: Caller
  readonly openedAtMs: number
  readonly openedMonotonicMs: number
  readonly trail: Trail
}

/** How far a call came. Written by the walk, read by the records. */
export type Trail = {
  entry?: Entry
  input?: CheckedInput
  decision?: Decision
  /** The approval that was redeemed. */
  approvalId?: string
  /** The grant that stood in for an approval. */
  grantId?: string
  /** A remark of the gate for the model, such as the loop guard's: shown beside the content of the outcome. */
  remark?: string
  /** True once the intent row of this call is durable. */
  intended?: boolean
  attempts: number
  /** Longest stretch in which the event loop stood still while the tool ran, where over the threshold. */
  blockedMs?: number
}

/** Canonical arguments and what they mean. Frozen; nothing after this point changes a byte of it. */
export type CheckedInput = {
  readonly kind: 'ok'
  readonly args: JsonObject
  /** The canonical JSON text of `args`. */
  readonly text: string
  readonly effect: DeclaredEffect
  readonly touches: Touches
}

/** How a call ends, before it is shaped for its readers. */
export type Ending =
  | {
      readonly kind: 'value'
      readonly value: unknown
      readonly content?: readonly ContentPart[]
      readonly display?: Display
    }
  | { readonly kind: 'failure'; readonly error: OutcomeError; readonly content?: readonly ContentPart[] }
