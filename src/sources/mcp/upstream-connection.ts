// One connection to one MCP server, whatever era and transport it speaks. Only shapes, so that what decides about calls
// knows nothing of the protocol's library. The life of a connection:
// 1. It is opened, with the era found out; opening rejects with a reason for the operator.
// 2. It lists and calls. Each call has its own end, and none of them throws.
// 3. It tells once when it is gone. Every call that is still open ends as `lost`.
// 4. It is closed, which ends whatever it started.

import type { JsonObject } from '../../base/json-value.ts'
import type { Progress } from '../../describe/tool.ts'
import type { TraceContext } from '../../describe/trace-context.ts'
import type { UpstreamTool } from './offer-tools.ts'

/** Bytes of one message in either direction. */
export const MESSAGE_BYTES_MAX = 4 * 1024 * 1024

export type CallEnd =
  | { readonly kind: 'result'; readonly result: unknown }
  /** The server answered with an error of the protocol. */
  | { readonly kind: 'refused'; readonly code: number; readonly reason: string }
  /** The answer was larger than a message may be, and was thrown away. */
  | { readonly kind: 'oversized' }
  /** The server wants to ask somebody something before it goes on. */
  | { readonly kind: 'needs-input' }
  /** The server answered something that is no answer. */
  | { readonly kind: 'malformed'; readonly reason: string }
  /** The request certainly did not reach the server. */
  | { readonly kind: 'unsent'; readonly reason: string }
  /** Contact was lost after the request had left. `limits`: because the server ran into these bounds. */
  | { readonly kind: 'lost'; readonly reason: string; readonly limits?: readonly string[] }
  /** Nobody waits for the answer any more. */
  | { readonly kind: 'left' }

export type CallUpstream = {
  readonly tool: UpstreamTool
  readonly args: JsonObject
  /** The same for every try of a call; a server that honours it acts once. */
  readonly key: string
  /** The trace that the call is part of; the server is told. */
  readonly trace?: TraceContext | undefined
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
}

export interface UpstreamConnection {
  /** What was found out, so that it need not be asked again: 2026-07-28 or a revision with a handshake. */
  readonly era: 'modern' | 'handshake'
  /** Every tool as the server lists it, unchecked. Rejects for a list that does not end. */
  list(): Promise<readonly unknown[]>
  call(call: CallUpstream): Promise<CallEnd>
  close(): Promise<void>
}

export type ConnectionEvents = {
  /** Called once; the reason is for the operator. Not called for a connection that was closed on purpose. */
  readonly onGone: (reason: string) => void
  readonly onToolsChanged: () => void
  readonly log: (message: string, details?: Readonly<Record<string, unknown>>) => void
}
