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
import type { BoundText, ChosenPlace, CommandFacts, Progress } from './tool.ts'
import type { TraceContext } from './trace-context.ts'

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
  /** Its place among the calls of its turn, or among the calls that one tool makes; absent: it stands alone. */
  readonly ticket?: LaneTicket
  /** The call whose tool makes this one. */
  readonly parent?: Call
  /** The caller's own key: the same call made again under it runs once. 1 to 256 characters. */
  readonly idempotencyKey?: string
  /** An approval to use; without it an equal granted one is found. */
  readonly approval?: string
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
  /** The trace that the caller makes this call in. */
  readonly trace?: TraceContext
}

/** A call's place in the order of its turn. The order of tickets is the order in which the model wrote the calls. */
export interface LaneTicket {
  /** Stands for the turn, or for the tool run whose calls these are: the same for all of them. */
  readonly turn: object
  /** From 0. Outcomes of calls that share an id are told apart by it. */
  readonly position: number
  /** Told once, when it is known what the call touches or that it touches nothing any more; at once where it is known. */
  whenPassed(listener: () => void): void
  /** The call is over, or never came so far as to touch anything: nobody waits for it any more. May be called again. */
  leave(): void
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
  /** Where the tool runs and why there. */
  place?: ChosenPlace
  /** Bounds that the work ran into, and bounds that could not be kept. */
  limitsHit?: readonly string[]
  limitsUnenforced?: readonly string[]
  /** Milliseconds that the call waited in its lane, where it did. */
  laneWaitMs?: number
  /** Why the call ran alone, where its own tool could not say what it touches. */
  exclusive?: string
  /** Milliseconds since the Unix epoch at which the tool was first started. */
  startedAtMs?: number
  /** When its last run ended; undefined while one goes on. */
  endedAtMs?: number | undefined
  /** The answer was kept from an earlier call, whose id this is. */
  cachedFrom?: string
  /** The answer is the recorded one of the call that first used the idempotency key. */
  replayOf?: string
  /** The row of the journal that this call has claimed. */
  journal?: JournalKey
  /** Of an intended call that acts again each time it is made: digest of who asks for what, equal for equal calls. */
  twin?: string
  /** Kinds of secrets that were taken out of the result. */
  redacted?: readonly string[]
  /** Under which id the whole of a cut result is kept. */
  artifactId?: string
  /** The settled, redacted value as JSON text, where it has one; or, of a large one, its SHA-256 (hex) and bytes. */
  result?: string | { readonly digest: string; readonly bytes: number }
  /** Names of secrets that were handed to the tool. */
  secrets?: readonly string[]
  /** The trace that the call's own work is part of: what goes to upstreams. */
  trace?: TraceContext
  /** Monotonic milliseconds at which the stages began, as far as the call came. */
  marks: StageMarks
  /** Longest stretch in which the event loop stood still while the tool ran, where over the threshold. */
  blockedMs?: number
}

/** When each stage began; the opening of the call is `openedMonotonicMs`. `shape` follows the tool, `closed` the record. */
export type StageMarks = {
  discover?: number | undefined
  admit?: number | undefined
  validate?: number | undefined
  decide?: number | undefined
  intend?: number | undefined
  execute?: number | undefined
  shape?: number | undefined
  closed?: number | undefined
}

/** Canonical arguments and what they mean. Frozen; nothing after this point changes a byte of it. */
export type CheckedInput = {
  readonly kind: 'ok'
  readonly args: JsonObject
  /** The canonical JSON text of `args`. */
  readonly text: string
  readonly effect: DeclaredEffect
  readonly touches: Touches
  /** The program that the call starts, where it starts one. */
  readonly command?: CommandFacts
  /** What an approval is for besides the arguments. */
  readonly binds?: readonly BoundText[]
  /** Why the tool's own `effect` could not be asked; the call then counts as its most, and runs alone. */
  readonly effectFailed?: string
}

/** Under which name the journal knows a call. `digest`: SHA-256 (hex) of fingerprint and canonical arguments. */
export type JournalKey = {
  readonly tenant: string
  readonly user: string
  readonly agent: string
  readonly tool: string
  readonly key: string
  readonly digest: string
}

/** How a call ends, before it is shaped for its readers. */
export type Ending =
  | {
      readonly kind: 'value'
      readonly value: unknown
      readonly content?: readonly ContentPart[]
      readonly display?: Display
    }
  | {
      readonly kind: 'failure'
      readonly error: OutcomeError
      readonly content?: readonly ContentPart[]
      readonly display?: Display
    }
