// MCP over standard input and output, for the one client that launched this process. It speaks every revision; the
// client's first message says which. Nothing else may write to the output.

import { randomUUID } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { ProtocolError, Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { type Clock, systemClock } from '../base/clock.ts'
import type { Caller } from '../describe/caller.ts'
import type { Gate } from '../gate-contract.ts'
import { askingParts, type McpAsking } from './asking-options.ts'
import { CallerSessions } from './caller-sessions.ts'
import { LineTransport } from './line-transport.ts'
import type { McpClient } from './mcp-client.ts'
import { buildMcpServer } from './mcp-server.ts'
import { onViewsChanged } from './view-changes.ts'
import { warmUp } from './warm-up.ts'

/** Milliseconds that calls under way are given when the server closes. */
const GRACE_MS = 2_000

export type McpStdioOptions = {
  readonly gate: Gate
  /** Who is at the other end; a client of 2026-07-28 may name conversations below its session. */
  readonly caller: Partial<Caller>
  readonly input: Readable
  readonly output: Writable
  readonly clock?: Clock
  readonly log: (message: string) => void
  /** Marked by the operator: a person at the client may answer questions about its own calls there. Default: false. */
  readonly elicitation?: boolean
  readonly asking?: McpAsking
}

export type McpStdio = {
  /** Resolves when the client has left or the connection was closed. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

export function serveMcpStdio(options: McpStdioOptions): McpStdio {
  const { gate, caller, input, output, clock = systemClock, log } = options
  const sessions = new CallerSessions(gate, 'mcp', caller)
  const connection = { id: caller.session ?? `stdio-${randomUUID()}` }
  const transport = new LineTransport(input, output, clock)
  const ready = new Set<Server>()
  const warm = warmUp(gate, clock)
  const closing = new AbortController()
  const asking = askingParts(gate, clock, closing.signal, options.asking)
  const client: McpClient = {
    // Not the connection's: a client that was launched again goes on where it was.
    id: 'stdio',
    name: 'client on stdio',
    mayAnswer: options.elicitation === true,
    session: (conversation) => sessions.of(connection, conversation),
    now: async () => client,
  }
  const build = (era: 'legacy' | 'modern'): Server => {
    const server = buildMcpServer({ sdk: { Server, ProtocolError }, client: () => client, warm, asking })
    // With a handshake, nothing may be said before it is done.
    if (era === 'modern') ready.add(server)
    else server.oninitialized = () => void ready.add(server)
    server.onclose = () => void ready.delete(server)
    return server
  }
  const stopListening = onViewsChanged(gate, () => {
    for (const server of ready) server.sendToolListChanged().catch(() => {})
  })
  // Nobody waits for a person once the client has said its last, so that each held call still gets its result.
  const release = (): void => closing.abort()
  for (const event of ['end', 'close'] as const) input.once(event, release)
  void transport.closed.then(() => {
    release()
    stopListening()
    for (const event of ['end', 'close'] as const) input.off(event, release)
  })
  const handle = serveStdio(({ era }) => build(era), {
    transport,
    onerror: (error) => log(`mcp: ${error.message.slice(0, 300)}`),
  })
  return {
    closed: transport.closed,
    close: async () => {
      release()
      await transport.end(GRACE_MS)
      await handle.close()
    },
  }
}
