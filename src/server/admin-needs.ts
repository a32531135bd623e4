// What a credential needs for each route of the admin API. A refusal names the scope that is missing. What answers a
// question, or lifts what was stopped, is besides kept from every credential that can call.

import type { MiddlewareHandler } from 'hono'
import { refuseCaller, refuseScope } from './bearer.ts'
import type { HttpEnvironment } from './http-environment.ts'
import { SCOPES, type Scope } from './token-rows.ts'

/** The scopes of which a credential needs one. */
export const NEEDS = {
  'GET /api/health': ['call', 'admin'],
  'GET /api/openapi.json': SCOPES,
  'GET /api/tools': ['call'],
  'GET /api/tools?all': ['admin'],
  'POST /api/calls': ['call'],
  'GET /api/approvals': ['approve', 'admin'],
  'GET /api/approvals/{id}': ['approve', 'admin'],
  'POST /api/approvals/{id}': ['approve'],
  'GET /api/grants': ['approve', 'admin'],
  'DELETE /api/grants/{id}': ['approve', 'admin'],
  'POST /api/policy/explain': ['admin'],
  'POST /api/stop': ['admin'],
  'GET /api/stops': ['admin'],
  'DELETE /api/stops/{id}': ['admin'],
  'GET /api/records': ['audit', 'admin'],
  'GET /api/records/verify': ['audit', 'admin'],
  'GET /api/artifacts': ['audit', 'admin'],
  'GET /api/artifacts/{id}': ['call'],
  'GET /api/events': ['approve', 'audit', 'admin'],
  'GET /metrics': ['audit', 'admin'],
} as const satisfies Record<string, readonly Scope[]>

export type AdminRoute = keyof typeof NEEDS

/** Refused to a credential that has `call`, whatever else it has. */
export const NOT_FOR_CALLERS: ReadonlySet<AdminRoute> = new Set(['POST /api/approvals/{id}', 'DELETE /api/stops/{id}'])

/** Lets a request through to a route, or answers in its place. */
export const needs =
  (route: AdminRoute): MiddlewareHandler<HttpEnvironment> =>
  async (context, next) => {
    const credential = context.get('credential')
    const refused =
      refuseScope(credential, NEEDS[route]) ?? (NOT_FOR_CALLERS.has(route) ? refuseCaller(credential) : undefined)
    if (refused !== undefined) return refused
    await next()
    return undefined
  }
