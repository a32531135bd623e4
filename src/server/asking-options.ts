// How an MCP entrance asks about calls that need a person, as whoever serves says it. What is left out holds a call for a
// while and lets nothing outlive the process.

import type { Clock } from '../base/clock.ts'
import type { Gate } from '../gate-contract.ts'
import type { AskingParts } from './mcp-asking.ts'
import { SealedStates } from './sealed-state.ts'

export type McpAsking = {
  /** Milliseconds for which such a call may be held. Default: 45,000. */
  readonly holdMs?: number
  /** The key of sealed states, 32 bytes. Default: one of this process, so that a restart makes clients ask again. */
  readonly sealKey?: Uint8Array
  /** Where a person answers this question. */
  readonly answerAt?: (approvalId: string) => string | undefined
}

const HOLD_MS = 45_000

/** `closing`: held calls end when it aborts. */
export const askingParts = (
  { approvals }: Gate,
  clock: Clock,
  closing: AbortSignal,
  { holdMs = HOLD_MS, sealKey, answerAt = () => undefined }: McpAsking = {},
): AskingParts => ({ approvals, clock, closing, holdMs, answerAt, states: new SealedStates(clock, sealKey) })
