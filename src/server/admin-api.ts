// The admin API: what runs, which tools there are, one call at a time, and beside it the routes of those who answer, stop
// and listen. A call is answered with its outcome, whatever became of it. There is no route that shows a token.

import type { Hono } from 'hono'
import type { Clock } from '../base/clock.ts'
import { VERSION } from '../base/version.ts'
import type { Caller } from '../describe/caller.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { Gate, NamedCall } from '../gate-contract.ts'
import { approvalRoutes } from './admin-approvals.ts'
import { artifactRoutes } from './admin-artifacts.ts'
import { eventRoutes } from './admin-events.ts'
import { NEEDS, needs } from './admin-needs.ts'
import { policyRoutes } from './admin-policy.ts'
import { recordRoutes } from './admin-records.ts'
import { json, ok, type Read, readObject, readText, refuse } from './admin-request.ts'
import { refuseScope } from './bearer.ts'
import { type CallerSessions, isConversationName } from './caller-sessions.ts'
import type { EventFeed } from './events-feed.ts'
import type { HttpEnvironment } from './http-environment.ts'
import { traceOfHeaders } from './mcp-call.ts'
import { publicError } from './mcp-outcome.ts'
import { OPENAPI } from './openapi.ts'
import type { Tokens } from './tokens.ts'

const KEY_CHARACTERS_MAX = 256

export type AdminApiParts = {
  readonly gate: Gate
  readonly sessions: CallerSessions
  readonly feed: EventFeed
  readonly tokens: Tokens
  /** What is not said of a caller. */
  readonly caller: Partial<Caller>
  readonly clock: Clock
  /** Whether questions can be answered here. */
  readonly takesAnswers: boolean
}

export function adminRoutes(app: Hono<HttpEnvironment>, parts: AdminApiParts): void {
  const { gate, sessions } = parts
  app.get('/api/health', needs('GET /api/health'), () => json(health(gate)))
  app.get('/api/openapi.json', needs('GET /api/openapi.json'), () => json(OPENAPI))
  app.get('/api/tools', (context) => {
    const credential = context.get('credential')
    if (context.req.query('all') === '1') {
      return (
        refuseScope(credential, NEEDS['GET /api/tools?all']) ??
        json({ tools: gate.catalogue.rows(), sources: gate.catalogue.sources(), warnings: gate.warnings() })
      )
    }
    return refuseScope(credential, NEEDS['GET /api/tools']) ?? json({ tools: sessions.of(credential).tools() })
  })
  app.post('/api/calls', needs('POST /api/calls'), async (context) => {
    const credential = context.get('credential')
    const asked = await readCall(context.req.raw)
    if (asked.kind === 'refused') return asked.response
    const { call, conversation } = asked.value
    const { headers, signal } = context.req.raw
    const trace = traceOfHeaders(headers)
    const made = { ...call, signal, ...(trace === undefined ? {} : { trace }) }
    const outcome = await sessions.of(credential, conversation).call(made)
    return json(credential.scopes.includes('admin') ? outcome : withoutHelp(outcome))
  })
  approvalRoutes(app, parts)
  policyRoutes(app, parts)
  recordRoutes(app, parts)
  artifactRoutes(app, parts)
  eventRoutes(app, parts)
}

function health(gate: Gate): object {
  const sources = gate.catalogue.sources()
  const count = (kind: string): number => sources.filter(({ state }) => state.kind === kind).length
  return {
    status: 'ok',
    version: VERSION,
    sources: { ready: count('ready'), starting: count('starting'), failed: count('failed') },
  }
}

type CallRead = { readonly call: NamedCall; readonly conversation: string | undefined }

async function readCall(request: Request): Promise<Read<CallRead>> {
  const body = await readObject(request, ['name', 'arguments', 'id', 'approval', 'idempotencyKey', 'session'])
  if (body.kind === 'refused') return body
  const { name, arguments: given = {}, id, approval, session } = body.value
  const key = readText(body.value.idempotencyKey, 'idempotencyKey', KEY_CHARACTERS_MAX)
  if (key.kind === 'refused') return key
  if (typeof name !== 'string') return refuse('`name`: expected the name of a tool')
  if (id !== undefined && typeof id !== 'string') return refuse('`id`: expected a text')
  if (approval !== undefined && typeof approval !== 'string')
    return refuse('`approval`: expected the id of an approval')
  if (session !== undefined && (typeof session !== 'string' || !isConversationName(session)))
    return refuse('`session`: expected 1 to 128 letters, digits, `.`, `_`, `:` and `-`')
  const call = {
    name,
    arguments: given,
    ...(id === undefined ? {} : { id }),
    ...(approval === undefined ? {} : { approval }),
    ...(key.value === undefined ? {} : { idempotencyKey: key.value }),
  }
  return ok({ call, conversation: session })
}

/** Which rule spoke, and where it stands, is for operators only. */
function withoutHelp(outcome: Outcome): Outcome {
  const { decision } = outcome.meta
  const meta =
    decision === undefined
      ? outcome.meta
      : { ...outcome.meta, decision: { kind: decision.kind, reason: decision.reason } }
  return outcome.ok ? { ...outcome, meta } : { ...outcome, meta, error: publicError(outcome.error) }
}
