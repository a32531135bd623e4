// One `tools/call` of one client, as it can be made: a first time, and again once a person has answered. Making it again is
// a new call in every respect, under the authority that the client has by then.

import type { Server, ServerContext } from '@modelcontextprotocol/server'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json-value.ts'
import type { ErrorType } from '../describe/error-types.ts'
import type { Outcome } from '../describe/outcome.ts'
import { readTraceContext } from '../describe/read-trace-context.ts'
import type { TraceContext } from '../describe/trace-context.ts'
import type { Session } from '../gate-contract.ts'
import type { McpClient } from './mcp-client.ts'
import type { TellProgress } from './mcp-progress.ts'

const INVALID_REQUEST = -32600
export const INVALID_PARAMS = -32602

/** Makes an error of the protocol. */
export type Fault = (code: number, message: string, data?: unknown) => Error

export type McpCall = {
  readonly server: Server
  readonly context: ServerContext
  readonly client: McpClient
  readonly conversation: string | undefined
  readonly name: string
  readonly given: JsonValue
  readonly key: string | undefined
  readonly trace: TraceContext | undefined
  readonly tell: TellProgress | undefined
  readonly fault: Fault
}

/** The client's own key of a call: the same call made again under it gets the recorded answer. */
export const KEY_META = 'dev.lockgate/idempotencyKey'
const KEY_CHARACTERS_MAX = 256

/** @throws an error of the protocol for what is no key. */
export function keyOf({ _meta: meta }: JsonObject, fault: Fault): string | undefined {
  const key = isJsonObject(meta) && Object.hasOwn(meta, KEY_META) ? meta[KEY_META] : undefined
  if (key === undefined) return undefined
  if (typeof key === 'string' && key !== '' && key.length <= KEY_CHARACTERS_MAX && key.isWellFormed()) return key
  throw fault(INVALID_PARAMS, `\`_meta["${KEY_META}"]\`: expected a text of 1 to ${KEY_CHARACTERS_MAX} characters`)
}

/** The trace that the client makes its call in: as the message says, or else as the HTTP request does. */
export function traceOf({ _meta: meta }: JsonObject, { http }: ServerContext): TraceContext | undefined {
  const said = isJsonObject(meta) ? readTraceContext(meta.traceparent, meta.tracestate) : undefined
  return said ?? traceOfHeaders(http?.req?.headers)
}

export const traceOfHeaders = (headers: Headers | undefined): TraceContext | undefined =>
  headers === undefined ? undefined : readTraceContext(headers.get('traceparent'), headers.get('tracestate'))

/** What came of a call, before it is said in MCP. `ask`: the client has to bring an answer with its next request. */
export type Made =
  | { readonly kind: 'outcome'; readonly outcome: Outcome; readonly session: Session }
  | { readonly kind: 'ask'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly kind: 'refused'; readonly type: ErrorType; readonly message: string; readonly details: object }

/** `approval`: the one question whose answer this call may use, and no other. */
export async function attempt(call: McpCall, session: Session, approval?: string): Promise<Made & { kind: 'outcome' }> {
  const { context, name, given, key, tell, trace } = call
  const outcome = await session.call({
    name,
    arguments: given,
    id: String(context.mcpReq.id),
    signal: context.mcpReq.signal,
    ...(tell === undefined ? {} : { onProgress: tell }),
    ...(approval === undefined ? {} : { approval }),
    ...(key === undefined ? {} : { idempotencyKey: key }),
    ...(trace === undefined ? {} : { trace }),
  })
  return { kind: 'outcome', outcome, session }
}

/** The client as its credential stands now. @throws an error of the protocol where it has ended. */
export async function clientNow({ client, fault }: McpCall): Promise<McpClient> {
  const now = await client.now()
  if (now !== undefined) return now
  throw fault(INVALID_REQUEST, 'Invalid Request: the credential ended while the call waited; nothing was done')
}

/**
 * Makes the call again, as the client may by now. Where the rules or the tool have changed since it was asked about, that
 * answer is void, and the call is judged as one that nobody was asked about.
 */
export async function attemptAgain(call: McpCall, approval: string): Promise<Made & { kind: 'outcome' }> {
  const client = await clientNow(call)
  const session = client.session(call.conversation)
  const made = await attempt(call, session, approval)
  const { outcome } = made
  const isVoid = !outcome.ok && outcome.error.details?.reason === 'withdrawn'
  return isVoid && !call.context.mcpReq.signal.aborted ? attempt(call, session) : made
}

export const isStateless = (server: Server): boolean => (server.getNegotiatedProtocolVersion() ?? '') >= '2026-07-28'

/** Elicitation came with this revision. */
const FORMS_SINCE = '2025-06-18'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/** How the client can be asked itself: in the result of its call, by a request beside it, or not at all. */
export function wayToAsk({ server, context }: McpCall): 'result' | 'request' | 'none' {
  if (isStateless(server)) {
    const envelope: unknown = context.mcpReq.envelope
    return isJsonObject(envelope) && takesForms(envelope[CAPABILITIES]) ? 'result' : 'none'
  }
  if ((server.getNegotiatedProtocolVersion() ?? '') < FORMS_SINCE) return 'none'
  return takesForms(server.getClientCapabilities()) ? 'request' : 'none'
}

/** A bare declaration is the older way of saying forms. */
function takesForms(capabilities: unknown): boolean {
  if (!isJsonObject(capabilities) || !isJsonObject(capabilities.elicitation)) return false
  const { form, url } = capabilities.elicitation
  return form !== undefined || url === undefined
}
