// Serves a gate over HTTP: MCP at `/mcp`, the admin API under `/api`, one page at `/`. On the loopback unless told
// otherwise, with a token even there. Reading a request is bounded in bytes and time, and so is closing.

import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { type Clock, systemClock } from '../base/clock.ts'
import type { Caller } from '../describe/caller.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import type { Gate } from '../gate-contract.ts'
import { allowedOrigins } from './allowed-origins.ts'
import type { McpAsking } from './asking-options.ts'
import { CallerSessions } from './caller-sessions.ts'
import { EventFeed } from './events-feed.ts'
import { httpApp } from './http-app.ts'
import { mcpEndpoint } from './mcp-endpoint.ts'
import { OpeningLinks } from './opening-links.ts'
import type { Tokens } from './tokens.ts'

const HEADERS_MS = 10_000
const REQUEST_MS = 30_000
const KEEP_ALIVE_MS = 30_000
const HEADER_BYTES_MAX = 16 * 1024
const CONNECTIONS_MAX = 1_000
/** Milliseconds that requests under way are given when the server closes. */
const GRACE_MS = 2_000
const POLL_MS = 10

export type ServeHttpOptions = {
  readonly gate: Gate
  /** Port 0 takes a free one. */
  readonly listen: { readonly host: string; readonly port: number }
  readonly tokens: Tokens
  /** What a token does not say of its caller. */
  readonly caller?: Partial<Caller>
  /** Further names under which clients may come, as `name` or `name:port`. */
  readonly allowedHosts?: readonly string[]
  /** Whether questions can be answered over the admin API. Default: true. */
  readonly takesAnswers?: boolean
  readonly clock?: Clock
  readonly log?: (message: string) => void
  /** How MCP clients whose calls need a person are asked; see `McpAsking`. */
  readonly asking?: Omit<McpAsking, 'answerAt'>
}

export type HttpServing = {
  /** Such as `http://127.0.0.1:7420`. */
  readonly url: string
  readonly port: number
  /** A link that opens the page in a browser, once, within ten minutes. */
  openingLink(): string
  close(): Promise<void>
}

/** @throws GateConfigError for an address that cannot be listened on. */
export async function serveHttp(options: ServeHttpOptions): Promise<HttpServing> {
  const { gate, listen, tokens, caller = {}, allowedHosts = [], clock = systemClock, log = () => {} } = options
  const links = new OpeningLinks(clock)
  let answersAt: ((approvalId: string) => string) | undefined
  const mcp = mcpEndpoint({
    gate,
    sessions: new CallerSessions(gate, 'mcp', caller),
    clock,
    log,
    // The page at `/` takes no answers, so that callers are pointed to the API where it takes them.
    asking: { ...options.asking, answerAt: (id) => answersAt?.(id) },
    current: (credential) => tokens.current(credential),
  })
  let answer: (request: Request, environment: object) => Response | Promise<Response> = () =>
    new Response(null, { status: 503 })
  let underWay = 0
  const server = nodeServer(async (request, environment) => {
    underWay += 1
    try {
      return await answer(request, environment)
    } finally {
      underWay -= 1
    }
  })
  const port = await listenOn(server, listen.host, listen.port)
  const url = `http://${shownHost(listen.host)}:${port}`
  if (options.takesAnswers !== false) answersAt = (id) => `${url}/api/approvals/${id}`
  const adminSessions = new CallerSessions(gate, 'admin', caller)
  const feed = new EventFeed(gate, clock)
  const app = httpApp({
    gate,
    tokens,
    links,
    mcp,
    adminSessions,
    feed,
    caller,
    takesAnswers: options.takesAnswers ?? true,
    allowed: allowedOrigins(listen.host, port, allowedHosts),
    mcpUrl: `${url}/mcp`,
    clock,
    log,
  })
  answer = (request, environment) => app.fetch(request, environment)
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    feed.close()
    mcp.release()
    for (let waitedMs = 0; underWay + mcp.busy() > 0 && waitedMs < GRACE_MS; waitedMs += POLL_MS)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    await mcp.close()
    server.closeAllConnections()
    await closed
  }
  return {
    url,
    port,
    openingLink: () => `${url}/?open=${links.make()}`,
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

type Answer = (request: Request, environment: object) => Promise<Response>

function nodeServer(fetch: Answer): Server {
  const server = createAdaptorServer({
    fetch,
    overrideGlobalObjects: false,
    serverOptions: {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 5_000,
      maxHeaderSize: HEADER_BYTES_MAX,
      requireHostHeader: true,
    },
  }) as Server
  server.maxConnections = CONNECTIONS_MAX
  server.maxHeadersCount = 100
  return server
}

function listenOn(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new GateConfigError([{ key: 'server.listen', message: `cannot listen on ${host}:${port}: ${error.message}` }], {
          cause: error,
        }),
      ),
    )
    server.listen(port, host, () => {
      const address = server.address()
      if (typeof address === 'object' && address !== null) resolve(address.port)
      else reject(new Error('the server does not listen on a port'))
    })
  })
}

const shownHost = (host: string): string =>
  host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
