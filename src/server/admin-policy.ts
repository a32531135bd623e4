// Policy and kill switch over the admin API: why one call would get its answer, what is stopped, and stopping. Runs no tool
// and changes no rule.

import type { Hono } from 'hono'
import { readCaller } from '../authorize/caller-identity.ts'
import { isJsonObject, type JsonValue } from '../base/json-value.ts'
import type { Caller } from '../describe/caller.ts'
import type { Gate, SessionOptions } from '../gate-contract.ts'
import type { StopTarget } from '../observe/store.ts'
import { needs } from './admin-needs.ts'
import { actorOf, type Fields, json, ok, type Read, readId, readObject, readText, refuse } from './admin-request.ts'
import type { HttpEnvironment } from './http-environment.ts'
import { problem } from './problem.ts'

export type PolicyRoutesParts = {
  readonly gate: Pick<Gate, 'policy' | 'stop' | 'lift' | 'stops'>
  /** What a request does not say of a caller. */
  readonly caller: Partial<Caller>
}

const NAME_CHARACTERS_MAX = 256
const REASON_CHARACTERS_MAX = 256
const TARGETS = ['tool', 'source', 'session'] as const

export function policyRoutes(app: Hono<HttpEnvironment>, { gate, caller }: PolicyRoutesParts): void {
  app.post('/api/policy/explain', needs('POST /api/policy/explain'), async (context) => {
    const body = await readObject(context.req.raw, ['caller', 'name', 'arguments'])
    if (body.kind === 'refused') return body.response
    const { name, arguments: given = {} } = body.value
    if (typeof name !== 'string' || name === '' || name.length > NAME_CHARACTERS_MAX)
      return problem('invalid_args', '`name`: expected the name of a tool', { status: 400 })
    const asking = readAsking(body.value.caller, caller)
    if (asking.kind === 'refused') return asking.response
    return json(await gate.policy.explain(asking.value, { name, arguments: given }))
  })
  app.post('/api/stop', needs('POST /api/stop'), async (context) => {
    const body = await readObject(context.req.raw, [...TARGETS, 'reason'])
    if (body.kind === 'refused') return body.response
    const target = readTarget(body.value)
    if (target.kind === 'refused') return target.response
    const reason = readText(body.value.reason, 'reason', REASON_CHARACTERS_MAX)
    if (reason.kind === 'refused') return reason.response
    const by = actorOf(context.get('credential'))
    const why = reason.value === undefined ? {} : { reason: reason.value }
    return json(await gate.stop(target.value, { by, ...why }))
  })
  app.get('/api/stops', needs('GET /api/stops'), () => json({ stops: gate.stops() }))
  app.delete('/api/stops/:id', needs('DELETE /api/stops/{id}'), async (context) => {
    const id = readId(context.req.param('id'))
    if (id === undefined || !(await gate.lift(id, actorOf(context.get('credential')))))
      return problem('not_found', 'nothing is stopped under this id')
    return json({ id, lifted: true })
  })
}

/** Who would call. Only asked about: nobody gets a session from this. */
function readAsking(given: JsonValue | undefined, defaults: Partial<Caller>): Read<SessionOptions> {
  if (given !== undefined && !isJsonObject(given)) return refuse('`caller`: expected an object')
  const read = readCaller(given ?? {}, defaults)
  return read.kind === 'ok' ? ok(read.caller) : refuse(`\`caller\`: ${read.reason}`)
}

/** All that are named have to hold of a call; none stops everything. */
function readTarget(body: Fields<(typeof TARGETS)[number]>): Read<StopTarget> {
  const named: [string, string][] = []
  for (const key of TARGETS) {
    const name = readText(body[key], key, NAME_CHARACTERS_MAX)
    if (name.kind === 'refused') return name
    if (name.value !== undefined) named.push([key, name.value])
  }
  return ok(Object.fromEntries(named))
}
