// Refused requests are recorded as they come, and a flood of them is counted instead.

import { expect, test } from 'vitest'
import type { RecordDraft } from '../observe/store.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { RefusedRequests } from './refused-requests.ts'

function started() {
  const rows: RecordDraft[] = []
  const clock = new FakeClock()
  const refused = new RefusedRequests({ clock, append: (row) => void rows.push(row) })
  return { refused, clock, bodies: () => rows.map(({ body }) => JSON.parse(body) as Record<string, unknown>) }
}

const REQUEST = { method: 'POST', path: '/mcp', status: 415, credential: 'tok_1' }

test('G01: a refused request is a record, with its door, its answer and its credential', () => {
  const { refused, bodies } = started()
  refused.note(REQUEST)
  expect(bodies()).toEqual([{ what: 'a request was refused', ...REQUEST }])
})

test('a flood is counted: 60 of a minute have a row of their own, the rest one together', async () => {
  const { refused, clock, bodies } = started()
  for (let index = 0; index < 1_000; index += 1) refused.note(REQUEST)
  expect(bodies()).toHaveLength(60)
  await clock.advance(60_000)
  expect(bodies().at(-1)).toEqual({ what: 'more requests were refused', count: 940 })
  refused.note(REQUEST)
  expect(bodies().at(-1)).toEqual({ what: 'a request was refused', ...REQUEST })
  refused.stop()
  expect(bodies()).toHaveLength(62)
})

test('what a client wrote is cut, and stays text', () => {
  const { refused, bodies } = started()
  refused.note({ method: 'X'.repeat(100), path: `/${'\ud800'.repeat(500)}`, status: 403 })
  const [{ path, method } = {}] = bodies()
  expect(String(path).length).toBeLessThanOrEqual(128)
  expect(String(path).isWellFormed()).toBe(true)
  expect(String(method).length).toBe(16)
})
