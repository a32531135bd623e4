// The admin API: what runs, which tools there are, and one call at a time. Each route needs its scope, and a refusal
// names the one that is missing. A call is answered with its outcome, whatever became of it.

import type { Hono } from 'hono'
import { isJsonObject, type JsonValue } from '../base/json-value.ts'
import { VERSION } from '../base/version.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { Gate, NamedCall } from '../gate-contract.ts'
import { refuseScope } from './bearer.ts'
import { type CallerSessions, isConversationName } from './caller-sessions.ts'
import type { HttpEnvironment } from './http-environment.ts'
import { publicError } from './mcp-outcome.ts'
import { OPENAPI } from './openapi.ts'
import { problem } from './problem.ts'
import { readJsonBody } from './read-body.ts'
import type { Scope } from './token-rows.ts'

export type AdminApiParts = { readonly gate: Gate; readonly sessions: CallerSessions }

/** The scopes of which a credential needs one, for each route. */
const NEEDS = {
  'GET /api/health': ['call', 'admin'],
  'GET /api/tools': ['call'],
  'GET /api/tools?all': ['admin'],
  'POST /api/calls': ['call'],
  'GET /api/openapi.json': ['call', 'approve', 'audit', 'admin'],
} as const satisfies Record<string, readonly Scope[]>

export function adminRoutes(app: Hono<HttpEnvironment>, { gate, sessions }: AdminApiParts): void {
  app.get(
    '/api/health',
    (context) => refuseScope(context.get('credential'), NEEDS['GET /api/health']) ?? json(health(gate)),
  )
  app.get(
    '/api/openapi.json',
    (context) => refuseScope(context.get('credential'), NEEDS['GET /api/openapi.json']) ?? json(OPENAPI),
  )
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
  app.post('/api/calls', async (context) => {
    const credential = context.get('credential')
    const refused = refuseScope(credential, NEEDS['POST /api/calls'])
    if (refused !== undefined) return refused
    const body = await readJsonBody(context.req.raw)
    if (body.kind === 'refused') return refuseBody(body.why, body.reason)
    const asked = readCall(body.value)
    if (asked.kind === 'bad') return problem('invalid_args', asked.reason, { status: 400 })
    const outcome = await sessions
      .of(credential, asked.conversation)
      .call({ ...asked.call, signal: context.req.raw.signal })
    return json(credential.scopes.includes('admin') ? outcome : withoutHelp(outcome))
  })
}

const json = (value: unknown): Response =>
  new Response(JSON.stringify(value), { headers: { 'content-type': 'application/json' } })

function health(gate: Gate): object {
  const sources = gate.catalogue.sources()
  const count = (kind: string): number => sources.filter(({ state }) => state.kind === kind).length
  return {
    status: 'ok',
    version: VERSION,
    sources: { ready: count('ready'), starting: count('starting'), failed: count('failed') },
  }
}

function refuseBody(why: 'media-type' | 'too-large' | 'malformed', reason: string): Response {
  if (why === 'too-large') return problem('oversized', reason)
  return problem('invalid_args', reason, { status: why === 'media-type' ? 415 : 400 })
}

type CallRead =
  | { readonly kind: 'ok'; readonly call: NamedCall; readonly conversation: string | undefined }
  | { readonly kind: 'bad'; readonly reason: string }

const CALL_KEYS = new Set(['name', 'arguments', 'id', 'approval', 'session'])

function readCall(body: JsonValue): CallRead {
  if (!isJsonObject(body)) return { kind: 'bad', reason: 'expected an object with `name` and `arguments`' }
  const unknown = Object.keys(body).find((key) => !CALL_KEYS.has(key))
  if (unknown !== undefined)
    return { kind: 'bad', reason: `unknown key \`${unknown.slice(0, 80)}\`; known: ${[...CALL_KEYS].join(', ')}` }
  const { name, arguments: given = {}, id, approval, session } = body
  if (typeof name !== 'string') return { kind: 'bad', reason: '`name`: expected the name of a tool' }
  if (id !== undefined && typeof id !== 'string') return { kind: 'bad', reason: '`id`: expected a text' }
  if (approval !== undefined && typeof approval !== 'string')
    return { kind: 'bad', reason: '`approval`: expected the id of an approval' }
  if (session !== undefined && (typeof session !== 'string' || !isConversationName(session)))
    return { kind: 'bad', reason: '`session`: expected 1 to 128 letters, digits, `.`, `_`, `:` and `-`' }
  const call = {
    name,
    arguments: given,
    ...(id === undefined ? {} : { id }),
    ...(approval === undefined ? {} : { approval }),
  }
  return { kind: 'ok', call, conversation: session }
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
