// Goal: tools that are slow, silent or late keep nobody else waiting and lose nothing that was done. Method: whole gates on a
// database, with tools that the test holds back.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createGate, defineTool, type Gate, type GateOptions, type RunContext, toolFailure } from '../src/index.ts'

let folder: string
const gates: Gate[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockgate-slow-'))
})
afterEach(async () => {
  await Promise.all(gates.splice(0).map((gate) => gate.close()))
  rmSync(folder, { recursive: true, force: true })
})

async function open(options: GateOptions): Promise<Gate> {
  const store = { sqlite: join(folder, 'gate.db') }
  const gate = await createGate({ policy: { defaults: { write: 'allow' } }, store, ...options })
  gates.push(gate)
  return gate
}

/** A tool whose runs the test ends one by one. */
function held(name: string, more: object = {}) {
  const runs: { readonly end: (answer: unknown) => void; readonly context: RunContext }[] = []
  const tool = defineTool({
    name,
    version: '1.0.0',
    description: 'A tool that the test holds back.',
    input: { type: 'object' },
    effect: 'write',
    run: (_args, context) => new Promise((resolve) => runs.push({ end: resolve, context })),
    ...more,
  })
  return { tool, runs }
}

test('G36: no transaction stays open while tools run: another gate on the same database writes meanwhile', async () => {
  const { tool, runs } = held('slow', { touches: ({ n }: { n: number }) => [`write item:${n}`] })
  const quick = defineTool({
    ...{ name: 'quick', version: '1.0.0', description: 'A tool that answers at once.', input: { type: 'object' } },
    effect: 'write',
    run: () => 'done',
  })
  const gate = await open({ tools: [tool] })
  const session = gate.session({ user: 'ana' })
  const calls = Array.from({ length: 30 }, (_, n) => session.call({ name: 'slow', arguments: { n } }))
  await vi.waitFor(() => expect(runs).toHaveLength(30))
  const other = await open({ tools: [quick] })
  for (let index = 0; index < 5; index++)
    expect(await other.session({ user: 'ben' }).call({ name: 'quick', arguments: { index } })).toMatchObject({
      ok: true,
    })
  for (const { end } of runs) end('done')
  expect((await Promise.all(calls)).every(({ ok }) => ok)).toBe(true)
})

test('child-within-parent: a call that a tool makes has no more time than the call that makes it', async () => {
  const inner = held('inner', { effect: 'read' })
  const lefts: number[] = []
  const outer = defineTool({
    ...{ name: 'outer', version: '1.0.0', description: 'A tool that calls another one.', input: { type: 'object' } },
    ...{ effect: 'read', deadlineMs: 300 },
    run: async (_args, { call, leftMs }) => {
      lefts.push(leftMs())
      return call({ name: 'inner' })
    },
  })
  const gate = await open({ tools: [inner.tool, outer] })
  const closed: string[] = []
  gate.on(
    'call-closed',
    (outcome) => void closed.push(`${outcome.meta.tool} ${outcome.ok ? 'ok' : outcome.error.type}`),
  )
  const outcome = await gate.session().call({ name: 'outer' })
  expect(outcome).toMatchObject({ ok: false, error: { type: 'timeout' } })
  await vi.waitFor(() => expect(closed).toHaveLength(2))
  expect(closed.find((text) => text.startsWith('inner'))).toMatch(/inner (timeout|cancelled)/)
  expect(inner.runs[0]?.context.leftMs()).toBeLessThanOrEqual(lefts[0] ?? 0)
  expect(inner.runs[0]?.context.signal.aborted).toBe(true)
})

describe('a keyed call of several tries', () => {
  const keyed = () => held('send', { repeat: 'keyed', attemptMs: 500, retry: { times: 1, backoffMs: 1 } })

  test('runs once under its key, whatever a try says that was given up', async () => {
    const { tool, runs } = keyed()
    const gate = await open({ tools: [tool] })
    const call = () => gate.session({ user: 'ana' }).call({ name: 'send', idempotencyKey: 'order-1' })
    const first = call()
    await vi.waitFor(() => expect(runs).toHaveLength(2))
    // The first try says late that it did nothing; the second one did it.
    runs[0]?.end(toolFailure({ code: 'x', message: 'stopped in time', effect: 'none' }))
    await gate.records.flush()
    runs[1]?.end('sent')
    expect(await first).toMatchObject({ ok: true, value: 'sent', meta: { attempts: 2 } })
    expect(new Set(runs.map(({ context }) => context.idempotencyKey))).toEqual(new Set(['order-1']))
    expect(await call()).toMatchObject({ ok: true, value: 'sent', meta: { attempts: 0, replayOf: expect.any(String) } })
    expect(runs).toHaveLength(2)
    const late = await gate.records.query({ limit: 100 })
    expect(late.filter(({ kind }) => kind === 'late')).toHaveLength(1)
  })

  test('stays unknown where no try answered in time, also when one of them says late that it did nothing', async () => {
    const { tool, runs } = keyed()
    const gate = await open({ tools: [tool] })
    const call = () => gate.session({ user: 'ana' }).call({ name: 'send', idempotencyKey: 'order-1' })
    expect(await call()).toMatchObject({ ok: false, error: { type: 'timeout', effect: 'unknown' } })
    runs[0]?.end(toolFailure({ code: 'x', message: 'stopped in time', effect: 'none' }))
    await gate.records.flush()
    expect(await call()).toMatchObject({ ok: false, error: { type: 'outcome_unknown' }, meta: { attempts: 0 } })
    expect(runs).toHaveLength(2)
  })
})
