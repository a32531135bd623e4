// What those ask who keep a gate running: whether the process lives and whether it can serve, which need no token and tell
// nothing of callers, and its numbers, which need one.

import type { Hono } from 'hono'
import type { Gate } from '../gate-contract.ts'
import { PROMETHEUS_TYPE } from '../observe/telemetry/prometheus-text.ts'
import { needs } from './admin-needs.ts'
import type { HttpEnvironment } from './http-environment.ts'

/** Before any guard. */
export function openHealthRoutes(app: Hono<HttpEnvironment>, gate: Pick<Gate, 'troubles'>): void {
  app.get('/livez', (context) => context.text('ok'))
  app.get('/readyz', (context) => {
    const troubles = gate.troubles()
    return troubles.length === 0 ? context.text('ok') : context.text(`${troubles.map(kindOf).join('\n')}\n`, 503)
  })
}

/** Behind the guard that asks for a token. */
export function metricRoute(app: Hono<HttpEnvironment>, gate: Pick<Gate, 'metrics'>): void {
  app.get(
    '/metrics',
    needs('GET /metrics'),
    () => new Response(gate.metrics(), { headers: { 'content-type': PROMETHEUS_TYPE } }),
  )
}

/** What stands behind the colon may name files, and is for the operator's log. */
const kindOf = (trouble: string): string => trouble.split(':', 1)[0] ?? ''
