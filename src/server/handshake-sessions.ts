// Clients of the handshake revisions over HTTP (2024-11-05 to 2025-11-25): one server and one transport for each, found
// by an unguessable session id and only with the credential that opened it. Bounded in number; idle ones end.

import { randomBytes } from 'node:crypto'
import type { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { Clock } from '../base/clock.ts'
import { isJsonObject } from '../base/json-value.ts'
import { isSame } from './caller-sessions.ts'
import { InFlight, requestsIn } from './in-flight.ts'
import type { TokenRow } from './token-rows.ts'

const SESSIONS_MAX = 1_000
/** Milliseconds without a request after which a session ends. */
const IDLE_MS = 30 * 60_000
const SWEEP_MS = 60_000

type Transport = WebStandardStreamableHTTPServerTransport
type TransportClass = typeof WebStandardStreamableHTTPServerTransport

export type HandshakeParts = {
  readonly Transport: TransportClass
  readonly clock: Clock
  /** The server of a new client; `credential` answers with the credential of its latest request. */
  readonly build: (credential: () => TokenRow, sessionId: string) => Server
  /** Told of each session that is over, whoever ended it. */
  readonly ended: (credential: TokenRow, sessionId: string) => void
}

type Live = {
  /** As it was with the latest request. The operator may change what it stands for, but never whose it is. */
  credential: TokenRow
  readonly server: Server
  readonly transport: Transport
  readonly inFlight: InFlight
  usedAtMs: number
  /** True once the handshake is done; nothing may be said before. */
  isReady: boolean
  /** Open streams on which the client listens. */
  readonly streams: Set<object>
}

export class HandshakeSessions {
  readonly #parts: HandshakeParts
  readonly #live = new Map<string, Live>()
  #cancelSweep: (() => void) | undefined

  constructor(parts: HandshakeParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#live.size
  }

  async handle(request: Request, body: unknown, credential: TokenRow): Promise<Response> {
    const sessionId = request.headers.get('mcp-session-id')
    if (sessionId === null)
      return isInitialize(body)
        ? this.#open(request, body, credential)
        : rpcError(400, -32600, 'Bad Request: initialize first, or send the Mcp-Session-Id header', idOf(body))
    const live = this.#live.get(sessionId)
    // A session of somebody else is as unknown as one that does not exist.
    if (live === undefined || live.credential.id !== credential.id)
      return rpcError(404, -32001, 'Session not found', idOf(body))
    noteCredential(live, credential)
    return this.#exchange(live, request, body)
  }

  /** Requests that are still to be answered. */
  busy(): number {
    return [...this.#live.values()].reduce((sum, { inFlight }) => sum + inFlight.size, 0)
  }

  /** Tells every client that its view may have changed. */
  toolsChanged(): void {
    for (const { server, isReady } of this.#live.values()) if (isReady) server.sendToolListChanged().catch(() => {})
  }

  async close(): Promise<void> {
    this.#cancelSweep?.()
    await Promise.all([...this.#live.values()].map(({ server }) => server.close().catch(() => {})))
    this.#live.clear()
  }

  async #open(request: Request, body: unknown, credential: TokenRow): Promise<Response> {
    if (!this.#makeRoom()) return rpcError(503, -32000, 'Too many sessions; try again later', idOf(body))
    const { Transport, build, clock, ended } = this.#parts
    const sessionId = randomBytes(24).toString('base64url')
    const transport = new Transport({ sessionIdGenerator: () => sessionId })
    const server = build(() => live.credential, sessionId)
    const live: Live = {
      credential,
      server,
      transport,
      inFlight: new InFlight(),
      usedAtMs: clock.monotonic(),
      isReady: false,
      streams: new Set(),
    }
    await server.connect(transport)
    watchAnswers(live)
    server.oninitialized = () => {
      live.isReady = true
    }
    server.onclose = () => {
      this.#live.delete(sessionId)
      ended(live.credential, sessionId)
    }
    this.#live.set(sessionId, live)
    this.#sweepLater()
    const response = await this.#exchange(live, request, body)
    if (response.status >= 400) await server.close()
    return response
  }

  async #exchange(live: Live, request: Request, body: unknown): Promise<Response> {
    live.usedAtMs = this.#parts.clock.monotonic()
    const ids = requestsIn(body)
    const twice = live.inFlight.add(ids)
    if (twice !== undefined)
      return rpcError(
        400,
        -32600,
        `Invalid Request: the id ${JSON.stringify(twice)} is still in use by another request of this session`,
        idOf(body),
      )
    const response = await live.transport.handleRequest(request, { parsedBody: body })
    // Where the transport refused, nothing will answer under these ids.
    if (response.status >= 400) live.inFlight.delete(ids)
    for (const id of cancelledIn(body)) this.#endStream(live, id)
    return request.method === 'GET' && response.ok ? countStream(live, response) : response
  }

  /** The package answers nothing to a cancelled request, and would keep its stream open. */
  #endStream({ inFlight, transport }: Live, id: string | number): void {
    if (!inFlight.delete([id])) return
    transport.closeSSEStream(id)
  }

  #makeRoom(): boolean {
    if (this.#live.size < SESSIONS_MAX) return true
    const idle = [...this.#live.values()].filter(isIdle).sort((one, other) => one.usedAtMs - other.usedAtMs)[0]
    idle?.server.close().catch(() => {})
    return idle !== undefined
  }

  #sweepLater(): void {
    this.#cancelSweep ??= this.#parts.clock.after(
      SWEEP_MS,
      () => {
        this.#cancelSweep = undefined
        const limitMs = this.#parts.clock.monotonic() - IDLE_MS
        for (const live of this.#live.values())
          if (isIdle(live) && live.usedAtMs < limitMs) live.server.close().catch(() => {})
        if (this.#live.size > 0) this.#sweepLater()
      },
      'background',
    )
  }
}

/** What a client sees may be another with another task or step. */
function noteCredential(live: Live, credential: TokenRow): void {
  const before = live.credential.caller
  live.credential = credential
  if (live.isReady && !isSame(before, credential.caller)) live.server.sendToolListChanged().catch(() => {})
}

const isIdle = ({ inFlight, streams }: Live): boolean => inFlight.size === 0 && streams.size === 0

function watchAnswers({ transport, inFlight }: Live): void {
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    if (!('method' in message) && message.id !== undefined) inFlight.delete([message.id])
    return send(message, options)
  }
}

/** A client that listens is not idle, however long nothing happens. */
function countStream(live: Live, response: Response): Response {
  const reader = response.body?.getReader()
  if (reader === undefined) return response
  const streams = live.streams
  streams.add(reader)
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (!done) return controller.enqueue(value)
      streams.delete(reader)
      controller.close()
    },
    async cancel(reason) {
      streams.delete(reader)
      await reader.cancel(reason)
    },
  })
  return new Response(body, { status: response.status, headers: response.headers })
}

const isInitialize = (body: unknown): boolean => isJsonObject(body) && body.method === 'initialize'

function cancelledIn(body: unknown): readonly (string | number)[] {
  return (Array.isArray(body) ? body : [body]).flatMap((message) => {
    if (!isJsonObject(message) || message.method !== 'notifications/cancelled' || !isJsonObject(message.params))
      return []
    const id = message.params.requestId
    return typeof id === 'string' || typeof id === 'number' ? [id] : []
  })
}

/** The id to answer a single request with; null where there is not exactly one (JSON-RPC 2.0, 5). */
function idOf(body: unknown): string | number | null {
  const [id, ...others] = requestsIn(body)
  return id === undefined || others.length > 0 || Array.isArray(body) ? null : id
}

export const rpcError = (
  status: number,
  code: number,
  message: string,
  id: string | number | null,
  headers: Readonly<Record<string, string>> = {},
): Response =>
  new Response(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })
