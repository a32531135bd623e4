import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { metricRoute, openHealthRoutes } from './health-routes.ts'
import type { HttpEnvironment } from './http-environment.ts'
import type { Scope, TokenRow } from './token-rows.ts'

function appOf(troubles: readonly string[], scopes: readonly Scope[] = []): Hono<HttpEnvironment> {
  const app = new Hono<HttpEnvironment>()
  openHealthRoutes(app, { troubles: () => troubles })
  app.use('/metrics', async (context, next) => {
    context.set('credential', { id: 'tok', name: 'x', scopes } as unknown as TokenRow)
    await next()
  })
  metricRoute(app, { metrics: () => 'a_total 1\n' })
  return app
}

test('a gate that can serve is alive and ready', async () => {
  const app = appOf([])
  for (const path of ['/livez', '/readyz']) {
    const response = await app.request(path)
    expect([response.status, await response.text()]).toEqual([200, 'ok'])
  }
})

test('one that cannot is alive, not ready, and says why without what is for the operator alone', async () => {
  const app = appOf(['records cannot be kept: /home/ana/state/gate.db is full', 'the gate is closing'])
  expect((await app.request('/livez')).status).toBe(200)
  const response = await app.request('/readyz')
  expect([response.status, await response.text()]).toEqual([503, 'records cannot be kept\nthe gate is closing\n'])
})

test('numbers are for credentials with `audit` or `admin`, and for no other', async () => {
  for (const scope of ['audit', 'admin'] as const) {
    const response = await appOf([], [scope]).request('/metrics')
    expect([response.status, await response.text()]).toEqual([200, 'a_total 1\n'])
    expect(response.headers.get('content-type')).toContain('version=0.0.4')
  }
  for (const scope of ['call', 'approve'] as const)
    expect((await appOf([], [scope]).request('/metrics')).status).toBe(403)
})
