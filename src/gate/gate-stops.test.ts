// Goal: what is stopped stays stopped from the word on, whatever the store is doing meanwhile. Method: a store whose reading
// and writing the test lets go on one by one.

import { expect, test } from 'vitest'
import type { Caller } from '../describe/caller.ts'
import type { Entry } from '../describe/entry.ts'
import type { StopRow } from '../observe/store.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { GateStops } from './gate-stops.ts'

const CALLER = { session: 's' } as Caller
const ENTRY = { tool: { name: 'a' }, source: 'host' } as Entry

function setUp() {
  let rows: readonly StopRow[] = []
  const waiting: (() => void)[] = []
  const turn = (): Promise<void> => new Promise((resolve) => waiting.push(resolve))
  const stops = new GateStops({
    log: () => undefined,
    store: {
      async stops() {
        const read = rows
        await turn()
        return read
      },
      async stop(row) {
        await turn()
        rows = [...rows, row]
      },
      async lift(id) {
        rows = rows.filter((row) => row.id !== id)
        return true
      },
    },
    clock: new FakeClock(),
    changed: () => undefined,
  })
  const step = async (): Promise<void> => {
    waiting.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { stops, step, isStopped: () => stops.find(CALLER, ENTRY) !== undefined }
}

test('a list that was read before a stop was written does not lift it', async () => {
  const { stops, step, isStopped } = setUp()
  const reading = stops.refresh()
  await new Promise((resolve) => setImmediate(resolve))
  const stopping = stops.stop({ tool: 'a' }, { by: 'boss' })
  expect(isStopped()).toBe(true)
  await step()
  await reading
  expect(isStopped()).toBe(true)
  await step()
  expect(isStopped()).toBe(true)
  await step()
  await stopping
  expect(isStopped()).toBe(true)
})

test('what somebody has lifted by the time it is read is lifted', async () => {
  const { stops, step, isStopped } = setUp()
  const stopping = stops.stop({ tool: 'a' }, { by: 'boss' })
  await step()
  await step()
  const { id } = await stopping
  expect(isStopped()).toBe(true)
  const lifting = stops.lift(id, 'boss')
  await new Promise((resolve) => setImmediate(resolve))
  await step()
  expect(await lifting).toBe(true)
  expect(isStopped()).toBe(false)
})
