// `GET /api/events`: one credential listens, to the kinds of events that its scopes may read. The token comes in the header
// and nowhere else, so that it is in no address and no log.

import type { Hono } from 'hono'
import { needs } from './admin-needs.ts'
import type { EventFeed } from './events-feed.ts'
import { kindsFor } from './events-row.ts'
import type { HttpEnvironment } from './http-environment.ts'
import { problem } from './problem.ts'
import type { TokenRow } from './token-rows.ts'
import type { Tokens } from './tokens.ts'

export type EventRoutesParts = { readonly feed: EventFeed; readonly tokens: Pick<Tokens, 'current'> }

const RETRY_SECONDS = 5
const STREAM_HEADERS = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' } as const

export function eventRoutes(app: Hono<HttpEnvironment>, { feed, tokens }: EventRoutesParts): void {
  app.get('/api/events', needs('GET /api/events'), (context) => {
    // The routing answers HEAD with the head of this and never reads the body: a listener would stay for ever.
    if (context.req.method !== 'GET') return new Response(null, { headers: STREAM_HEADERS })
    const credential = context.get('credential')
    const stream = feed.open({
      id: credential.id,
      kinds: kindsFor(credential.scopes),
      lastEventId: context.req.header('last-event-id'),
      holds: () => stillHears(tokens, credential),
      cutOff: () => void context.env?.outgoing?.destroy(),
    })
    if (stream === undefined)
      return problem('busy', 'too many listen already', { headers: { 'retry-after': String(RETRY_SECONDS) } })
    return new Response(stream, { headers: STREAM_HEADERS })
  })
}

/** The token was good when the stream opened; it may have ended, or lost scopes, since. */
async function stillHears(tokens: EventRoutesParts['tokens'], credential: TokenRow): Promise<boolean> {
  const now = await tokens.current(credential)
  if (now === undefined) return false
  const kinds = kindsFor(now.scopes)
  return [...kindsFor(credential.scopes)].every((kind) => kinds.has(kind))
}
