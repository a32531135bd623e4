// The records over the admin API: pages of them, and whether they are as they were written. It changes none.

import type { Hono } from 'hono'
import type { Clock } from '../base/clock.ts'
import type { Gate } from '../gate-contract.ts'
import type { Verification } from '../observe/verify.ts'
import { needs } from './admin-needs.ts'
import { json, readLimit, readQuery } from './admin-request.ts'
import type { HttpEnvironment } from './http-environment.ts'
import { problem } from './problem.ts'
import { RECORD_FILTERS, readRecordFilters } from './record-filters.ts'
import { recordView } from './record-view.ts'

export type RecordRoutesParts = { readonly gate: Pick<Gate, 'records'>; readonly clock: Pick<Clock, 'now'> }

export function recordRoutes(app: Hono<HttpEnvironment>, { gate, clock }: RecordRoutesParts): void {
  app.get('/api/records', needs('GET /api/records'), async (context) => {
    const asked = readQuery(context.req.url, [...RECORD_FILTERS, 'limit'])
    if (asked.kind === 'refused') return asked.response
    const { limit: given, ...filters } = asked.value
    const limit = readLimit(given)
    if (limit.kind === 'refused') return limit.response
    const read = readRecordFilters(filters, clock.now())
    if (read.kind === 'bad') return problem('invalid_args', `\`${read.name}\`: ${read.reason}`, { status: 400 })
    // One more than asked for tells whether there is another page.
    const rows = await gate.records.query({ ...read.filters, limit: limit.value + 1 })
    const page = rows.slice(0, limit.value)
    const next = rows.length > limit.value ? page.at(-1)?.position : undefined
    return json({ records: page.map(recordView), ...(next === undefined ? {} : { next: String(next) }) })
  })
  let verifying: Promise<Verification> | undefined
  app.get('/api/records/verify', needs('GET /api/records/verify'), async (context) => {
    const asked = readQuery(context.req.url, [])
    if (asked.kind === 'refused') return asked.response
    // Whoever asks while the records are walked gets the answer of that walk: it reads all that there is.
    verifying ??= gate.records.verify().finally(() => {
      verifying = undefined
    })
    return json(await verifying)
  })
}
