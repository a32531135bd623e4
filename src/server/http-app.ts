// The routes of a serving gate, in the order in which a request is judged: by which name and from which page it comes,
// then by its token, then by its scope. Nothing but `/livez`,
// `/readyz` and the closed page is answered without a token.

import { type Context, Hono } from 'hono'
import type { Clock } from '../base/clock.ts'
import type { Caller } from '../describe/caller.ts'
import type { Gate } from '../gate-contract.ts'
import { adminRoutes } from './admin-api.ts'
import { type AllowedOrigins, judgeOrigin } from './allowed-origins.ts'
import { authenticate, refuseScope } from './bearer.ts'
import type { CallerSessions } from './caller-sessions.ts'
import type { EventFeed } from './events-feed.ts'
import { metricRoute, openHealthRoutes } from './health-routes.ts'
import type { HttpEnvironment } from './http-environment.ts'
import type { McpEndpoint } from './mcp-endpoint.ts'
import { type OpeningLinks, setCookie } from './opening-links.ts'
import { problem } from './problem.ts'
import { closedPage, openPage, PAGE_POLICY } from './start-page.ts'
import type { Tokens } from './tokens.ts'

export type HttpAppParts = {
  readonly gate: Gate
  readonly tokens: Tokens
  readonly links: OpeningLinks
  readonly mcp: McpEndpoint
  readonly adminSessions: CallerSessions
  readonly feed: EventFeed
  /** What a credential does not say of its caller. */
  readonly caller: Partial<Caller>
  /** Whether questions can be answered over the admin API. */
  readonly takesAnswers: boolean
  readonly allowed: AllowedOrigins
  /** Where clients find MCP, for the page. */
  readonly mcpUrl: string
  readonly clock: Clock
  readonly log: (message: string) => void
}

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const

/** Where a route says nothing else. */
const DEFAULT_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const

export function httpApp(parts: HttpAppParts): Hono<HttpEnvironment> {
  const { gate, tokens, mcp, allowed, adminSessions, feed, caller, takesAnswers, clock, log } = parts
  const app = new Hono<HttpEnvironment>()
  app.use('*', async (context, next) => {
    const verdict = judgeOrigin(allowed, hostsOf(context), context.req.header('origin'))
    if (verdict.kind === 'refused') {
      noteRefused(gate, context, verdict.status)
      return secured(
        problem(verdict.status === 403 ? 'permission_denied' : 'invalid_args', verdict.reason, {
          status: verdict.status,
        }),
      )
    }
    await next()
    if (REFUSED.has(context.res.status)) noteRefused(gate, context, context.res.status)
    secured(context.res)
    return undefined
  })
  openHealthRoutes(app, gate)
  app.get('/', (context) => startPage(context, parts))
  const guard = async (context: Context<HttpEnvironment>, next: () => Promise<void>): Promise<Response | undefined> => {
    const authenticated = await authenticate(context.req.header('authorization'), tokens)
    if (authenticated.kind === 'refused') return authenticated.response
    context.set('credential', authenticated.credential)
    await next()
    return undefined
  }
  app.use('/mcp', guard)
  app.use('/api/*', guard)
  app.use('/metrics', guard)
  app.all('/mcp', (context) => {
    const credential = context.get('credential')
    return refuseScope(credential, ['call']) ?? mcp.handle(context.req.raw, credential)
  })
  metricRoute(app, gate)
  adminRoutes(app, { gate, sessions: adminSessions, feed, tokens, caller, takesAnswers, clock })
  app.notFound(() => problem('not_found', 'there is nothing at this address'))
  app.onError((error) => {
    log(`http: ${error.stack ?? error.message}`)
    return problem('internal', 'the server failed; the operator finds the reason in its log')
  })
  return app
}

/** Answers by which a door says no: no token, not this one, too much, not that kind. */
const REFUSED = new Set([401, 403, 413, 415])

// A request that never became a call leaves a trace all the same. Its query and its body are not in it.
function noteRefused({ records }: Gate, context: Context<HttpEnvironment>, status: number): void {
  const { method, path } = context.req
  const credential: { readonly id: string } | undefined = context.get('credential')
  records.refused({ method, path, status, ...(credential === undefined ? {} : { credential: credential.id }) })
}

function secured(response: Response): Response {
  const { headers } = response
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) headers.set(name, value)
  for (const [name, value] of Object.entries(DEFAULT_HEADERS)) if (!headers.has(name)) headers.set(name, value)
  return response
}

function startPage(context: Context<HttpEnvironment>, { gate, links, mcpUrl }: HttpAppParts): Response {
  const headers = new Headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PAGE_POLICY })
  if (links.admits(context.req.header('cookie'))) return new Response(openPage(gate, mcpUrl), { headers })
  const secret = context.req.query('open')
  const cookie = secret === undefined ? undefined : links.redeem(secret)
  if (cookie === undefined) return new Response(closedPage(), { status: secret === undefined ? 200 : 403, headers })
  headers.set('set-cookie', setCookie(cookie))
  return new Response(openPage(gate, mcpUrl), { headers })
}

/** Every `Host` header as it came; a library would show one of several. */
function hostsOf(context: Context<HttpEnvironment>): readonly string[] {
  const raw = context.env?.incoming?.rawHeaders
  if (raw === undefined) return [context.req.header('host') ?? ''].filter((host) => host !== '')
  return raw.filter((_, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === 'host')
}
