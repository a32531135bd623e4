// MCP over Streamable HTTP, every revision at one address: requests that carry the envelope of 2026-07-28 are served one
// by one, clients that shake hands get a session of their own. Bodies are read and judged before the official server
// package sees them. Who may come in has been decided before.

import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Clock } from '../base/clock.ts'
import { isJsonObject } from '../base/json-value.ts'
import type { Gate } from '../gate-contract.ts'
import { askingParts, type McpAsking } from './asking-options.ts'
import type { CallerSessions } from './caller-sessions.ts'
import { HandshakeSessions, rpcError } from './handshake-sessions.ts'
import type { McpClient } from './mcp-client.ts'
import { buildMcpServer } from './mcp-server.ts'
import { readJsonBody } from './read-body.ts'
import type { TokenRow } from './token-rows.ts'
import { onViewsChanged } from './view-changes.ts'
import { warmUp } from './warm-up.ts'

export type McpEndpointOptions = {
  readonly gate: Gate
  readonly sessions: CallerSessions
  readonly clock: Clock
  readonly log: (message: string) => void
  readonly asking?: McpAsking
  /** The credential as it stands now; undefined once it has ended. Default: as it was with the request. */
  readonly current?: (credential: TokenRow) => Promise<TokenRow | undefined>
}

/** What a request of 2026-07-28 is about, for whoever builds its server. */
type Asked = { readonly credential: TokenRow; readonly method: string | undefined }

export type McpEndpoint = {
  /** Answers one HTTP request of a caller whose credential holds. */
  handle(request: Request, credential: TokenRow): Promise<Response>
  /** Calls of clients with a handshake that are still under way. */
  busy(): number
  /** Ends the wait of calls that are held for a person: each gets its result, and its question stays open. */
  release(): void
  close(): Promise<void>
}

const METHODS = new Set(['GET', 'POST', 'DELETE'])

export function mcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  const { gate, sessions, clock, log, current = async (credential) => credential } = options
  const sdk = { Server, ProtocolError }
  const closing = new AbortController()
  const asking = askingParts(gate, clock, closing.signal, options.asking)
  const clientOf = (credential: TokenRow, connection?: string): McpClient => ({
    id: credential.id,
    name: `token ${credential.name}`,
    mayAnswer: credential.elicitation === true,
    session: (conversation = connection) => sessions.of(credential, conversation),
    now: async () => {
      const row = await current(credential)
      return row?.scopes.includes('call') === true ? clientOf(row, connection) : undefined
    },
  })
  const warm = warmUp(gate, clock)
  // The package hands the very request to whoever builds its server; nothing that a client sends can reach in here.
  const asked = new WeakMap<Request, Asked>()
  const stateless = createMcpHandler(
    ({ requestInfo }) => {
      const about = requestInfo === undefined ? undefined : asked.get(requestInfo)
      if (about === undefined) throw new Error('a request came without a credential')
      const { credential, method } = about
      const client = (): McpClient => clientOf(credential)
      return buildMcpServer({ sdk, client, warm, asking, ...(method === undefined ? {} : { method }) })
    },
    { legacy: 'reject', onerror: (error) => log(`mcp: ${error.message.slice(0, 300)}`) },
  )
  const handshakes = new HandshakeSessions({
    Transport: WebStandardStreamableHTTPServerTransport,
    clock,
    build: (credential, sessionId) =>
      buildMcpServer({ sdk, warm, asking, client: () => clientOf(credential(), sessionId) }),
    ended: (credential, sessionId) => sessions.of(credential, sessionId).end(),
  })
  const stopListening = onViewsChanged(gate, () => {
    stateless.notify.toolsChanged()
    handshakes.toolsChanged()
  })
  return {
    handle: async (request, credential) => {
      if (!METHODS.has(request.method))
        return rpcError(405, -32000, 'Method not allowed', null, { allow: 'GET, POST, DELETE' })
      const body = request.method === 'POST' ? await readJsonBody(request) : undefined
      if (body?.kind === 'refused') return refuseBody(body)
      const message = body?.value
      if (await isLegacyRequest(request, message)) return handshakes.handle(request, message, credential)
      asked.set(request, { credential, method: methodOf(message) })
      return stateless.fetch(request, { parsedBody: message })
    },
    busy: () => handshakes.busy(),
    release: () => closing.abort(),
    close: async () => {
      closing.abort()
      stopListening()
      await Promise.all([stateless.close(), handshakes.close()])
    },
  }
}

const STATUS = { 'media-type': 415, 'too-large': 413, malformed: 400 } as const
const CODE = { 'media-type': -32000, 'too-large': -32000, malformed: -32700 } as const

const refuseBody = ({ why, reason }: { readonly why: keyof typeof STATUS; readonly reason: string }): Response =>
  rpcError(STATUS[why], CODE[why], why === 'malformed' ? `Parse error: ${reason}` : reason, null)

const methodOf = (message: unknown): string | undefined =>
  isJsonObject(message) && typeof message.method === 'string' ? message.method : undefined
