// One client of the gate, as the official server package speaks with it, in either era. Each client, and from 2026-07-28
// on each request, has a server object of its own, so that no answer can reach anybody else. Only tools are served, and
// nothing else is announced.

import type { CallToolResult, Server, ServerContext } from '@modelcontextprotocol/server'
import { isJsonObject } from '../base/json-value.ts'
import { VERSION } from '../base/version.ts'
import type { ToolListing } from '../describe/entry.ts'
import type { Progress } from '../describe/tool.ts'
import type { Session } from '../gate-contract.ts'
import { isConversationName } from './caller-sessions.ts'
import { mcpAnswer } from './mcp-outcome.ts'

/** The package, loaded by whoever serves. */
export type ServerSdk = Pick<typeof import('@modelcontextprotocol/server'), 'Server' | 'ProtocolError'>

/** The session of one conversation of this client; without a name, the client's own. */
export type SessionFor = (conversation: string | undefined) => Session

/** From 2026-07-28 on, a client may name the conversation that a request belongs to. */
const SESSION_META = 'dev.lockgate/session'
const INVALID_PARAMS = -32602
const METHOD_NOT_FOUND = -32601

type Request = { readonly method: string; readonly params?: unknown }

/**
 * `warm` holds the first requests until there is something to answer from. `method`: what will be asked of it where that is known, so that anything not served is turned away by the package
 * itself, with the status that the protocol wants.
 */
export function buildMcpServer(
  sdk: ServerSdk,
  sessionFor: SessionFor,
  warm: () => Promise<void>,
  method?: string,
): Server {
  const server = new sdk.Server(
    { name: 'lockgate', version: VERSION },
    {
      capabilities: { tools: { listChanged: true } },
      debouncedNotificationMethods: ['notifications/tools/list_changed'],
    },
  )
  const fault = (code: number, message: string): Error => new sdk.ProtocolError(code, message)
  const serve = async (request: Request, context: ServerContext): Promise<Record<string, unknown>> => {
    const params = isJsonObject(request.params) ? request.params : {}
    const session = sessionOf(params, server, sessionFor, fault)
    await warm()
    if (request.method === 'tools/list') return { tools: listed(session) }
    if (request.method !== 'tools/call') throw fault(METHOD_NOT_FOUND, 'Method not found')
    return callTool({ server, session, params, context, fault })
  }
  // The package would check each result a second time, and turn one that it does not like into an error after the tool has
  // run; what the gate has let through goes out as it is.
  if (method === undefined || method === 'tools/list' || method === 'tools/call') server.fallbackRequestHandler = serve
  return server
}

type Fault = (code: number, message: string) => Error

function sessionOf(
  params: Readonly<Record<string, unknown>>,
  server: Server,
  sessionFor: SessionFor,
  fault: Fault,
): Session {
  const meta = isJsonObject(params._meta) ? params._meta : {}
  const named = Object.hasOwn(meta, SESSION_META) ? meta[SESSION_META] : undefined
  // With a handshake the conversation is the connection's.
  if (named === undefined || !isStateless(server)) return sessionFor(undefined)
  if (typeof named !== 'string' || !isConversationName(named))
    throw fault(
      INVALID_PARAMS,
      `\`_meta["${SESSION_META}"]\`: expected 1 to 128 letters, digits, \`.\`, \`_\`, \`:\` and \`-\``,
    )
  return sessionFor(named)
}

const isStateless = (server: Server): boolean => (server.getNegotiatedProtocolVersion() ?? '') >= '2026-07-28'

type ToolCall = {
  readonly server: Server
  readonly session: Session
  readonly params: Readonly<Record<string, unknown>>
  readonly context: ServerContext
  readonly fault: Fault
}

async function callTool({ server, session, params, context, fault }: ToolCall): Promise<Record<string, unknown>> {
  const { name } = params
  if (typeof name !== 'string') throw fault(INVALID_PARAMS, '`name`: expected the name of a tool')
  const listing = listingsOf(session.tools()).get(name)
  const outcome = await session.call({
    name,
    arguments: params.arguments ?? {},
    id: String(context.mcpReq.id),
    signal: context.mcpReq.signal,
    ...progressOf(context),
  })
  const answer = mcpAnswer(outcome, listing)
  if (answer.kind === 'unknown-tool') throw fault(INVALID_PARAMS, answer.message)
  // Our content parts are MCP's content blocks, only read-only.
  return server.projectCallToolResult(answer.result as CallToolResult, listing?.outputSchema)
}

function progressOf({ mcpReq }: ServerContext): { onProgress?: (progress: Progress) => void } {
  const token = mcpReq._meta?.progressToken
  if (token === undefined) return {}
  let last = 0
  return {
    onProgress: ({ progress, total, message }) => {
      // The protocol wants a number that rises; a tool that only says words gets one counted for it.
      last = progress !== undefined && progress > last ? progress : last + 1
      const params = {
        progressToken: token,
        progress: last,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      }
      mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
    },
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
