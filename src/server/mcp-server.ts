// One client of the gate, as the official server package speaks with it, in either era. Each client, and from 2026-07-28
// on each request, has a server object of its own, so that no answer can reach anybody else. Only tools are served, and
// nothing else is announced.

import type { CallToolResult, Server, ServerContext } from '@modelcontextprotocol/server'
import { isJsonObject, type JsonObject } from '../base/json-value.ts'
import { VERSION } from '../base/version.ts'
import type { ToolListing } from '../describe/entry.ts'
import { ERROR_TYPES } from '../describe/error-types.ts'
import type { Session } from '../gate-contract.ts'
import { isConversationName } from './caller-sessions.ts'
import { type AskingParts, makeCall } from './mcp-asking.ts'
import { type Fault, INVALID_PARAMS, isStateless, keyOf, type Made, traceOf } from './mcp-call.ts'
import type { McpClient } from './mcp-client.ts'
import { ERROR_META, mcpAnswer } from './mcp-outcome.ts'
import { progressOf } from './mcp-progress.ts'

/** The package, loaded by whoever serves. */
export type ServerSdk = Pick<typeof import('@modelcontextprotocol/server'), 'Server' | 'ProtocolError'>

export type McpServerParts = {
  readonly sdk: ServerSdk
  /** Who is at the other end, as of this request. */
  readonly client: () => McpClient
  /** Holds the first requests until there is something to answer from. */
  readonly warm: () => Promise<void>
  readonly asking: AskingParts
  /**
   * What will be asked of it where that is known, so that anything not served is turned away by the package itself, with the
   * status that the protocol wants.
   */
  readonly method?: string
}

/** From 2026-07-28 on, a client may name the conversation that a request belongs to. */
const SESSION_META = 'dev.lockgate/session'
const METHOD_NOT_FOUND = -32601

type Request = { readonly method: string; readonly params?: unknown }

export function buildMcpServer({ sdk, client, warm, asking, method }: McpServerParts): Server {
  const server = new sdk.Server(
    { name: 'lockgate', version: VERSION },
    {
      capabilities: { tools: { listChanged: true } },
      debouncedNotificationMethods: ['notifications/tools/list_changed'],
    },
  )
  const fault: Fault = (code, message, data) => new sdk.ProtocolError(code, message, data)
  const serve = async (request: Request, context: ServerContext): Promise<Record<string, unknown>> => {
    const params = isJsonObject(request.params) ? request.params : {}
    const asks = { server, context, client: client(), conversation: conversationOf(params, server, fault), fault }
    await warm()
    if (request.method === 'tools/list') return { tools: listed(asks.client.session(asks.conversation)) }
    if (request.method !== 'tools/call') throw fault(METHOD_NOT_FOUND, 'Method not found')
    const { name, arguments: given = {} } = params
    if (typeof name !== 'string') throw fault(INVALID_PARAMS, '`name`: expected the name of a tool')
    const key = keyOf(params, fault)
    const telling = progressOf(context, asking.clock)
    const trace = traceOf(params, context)
    const made = makeCall(asking, { ...asks, name, given, key, trace, tell: telling?.tell })
    return answer(await made.finally(() => telling?.end()), name, server, fault)
  }
  // The package would check each result a second time, and turn one that it does not like into an error after the tool has
  // run; what the gate has let through goes out as it is.
  if (method === undefined || method === 'tools/list' || method === 'tools/call') server.fallbackRequestHandler = serve
  return server
}

function conversationOf(params: JsonObject, server: Server, fault: Fault): string | undefined {
  const meta = isJsonObject(params._meta) ? params._meta : {}
  const named = Object.hasOwn(meta, SESSION_META) ? meta[SESSION_META] : undefined
  // With a handshake the conversation is the connection's.
  if (named === undefined || !isStateless(server)) return undefined
  if (typeof named !== 'string' || !isConversationName(named))
    throw fault(
      INVALID_PARAMS,
      `\`_meta["${SESSION_META}"]\`: expected 1 to 128 letters, digits, \`.\`, \`_\`, \`:\` and \`-\``,
    )
  return named
}

function answer(made: Made, name: string, server: Server, fault: Fault): Record<string, unknown> {
  switch (made.kind) {
    case 'ask':
      return made.result
    case 'refused': {
      const { type, message, details } = made
      const error = { type, message, retry: { advice: ERROR_TYPES[type].retry }, effect: 'none', fatal: false, details }
      return { content: [{ type: 'text', text: message }], isError: true, _meta: { [ERROR_META]: error } }
    }
    case 'outcome': {
      const listing = listingsOf(made.session.tools()).get(name)
      const said = mcpAnswer(made.outcome, listing)
      if (said.kind === 'unknown-tool') throw fault(INVALID_PARAMS, said.message)
      // Our content parts are MCP's content blocks, only read-only.
      return server.projectCallToolResult(said.result as CallToolResult, listing?.outputSchema)
    }
  }
}

const listingMaps = new WeakMap<readonly ToolListing[], ReadonlyMap<string, ToolListing>>()

/** By name; a view stays the same list until it changes. */
function listingsOf(tools: readonly ToolListing[]): ReadonlyMap<string, ToolListing> {
  const known = listingMaps.get(tools)
  if (known !== undefined) return known
  const made = new Map(tools.map((tool) => [tool.name, tool]))
  listingMaps.set(tools, made)
  return made
}

const listed = (session: Session): readonly Record<string, unknown>[] =>
  session.tools().map(({ meta, ...tool }) => ({ ...tool, ...(meta === undefined ? {} : { _meta: meta }) }))
