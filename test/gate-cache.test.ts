// Goal: through a whole gate, a kept answer is given again exactly where it may be, and says so in the outcome and the record.

import { describe, expect, test } from 'vitest'
import type { RunContext } from '../src/describe/tool.ts'
import { defineTool, type GateOptions } from '../src/index.ts'
import { openGate } from './opened.ts'

const NUMBER = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const

async function open(options: GateOptions = {}) {
  const things = new Map<unknown, number>()
  let runs = 0
  const look = defineTool({
    ...{ name: 'look', version: '1.0.0', description: 'Looks at a thing.', effect: 'read', input: NUMBER },
    touches: ({ n }) => [`read thing:${n}`],
    cache: { forMs: 60_000 },
    run: async ({ n }) => {
      runs += 1
      return { n, value: things.get(n) ?? 0 }
    },
  })
  const change = defineTool({
    ...{ name: 'change', version: '1.0.0', description: 'Changes a thing.', effect: 'write', input: NUMBER },
    touches: ({ n }) => [`write thing:${n}`],
    run: async ({ n }) => void things.set(n, (things.get(n) ?? 0) + 1),
  })
  const work = defineTool({
    ...{
      name: 'work',
      version: '1.0.0',
      description: 'Looks, changes and looks again.',
      effect: 'write',
      input: NUMBER,
    },
    touches: ({ n }) => [`write thing:${n}`],
    run: async (args: object, { call }: RunContext) => {
      const outcomes = []
      for (const name of ['look', 'change', 'look']) outcomes.push(await call({ name, arguments: args }))
      return outcomes.map((outcome) => (outcome.ok ? outcome.value : outcome.error.type))
    },
  })
  const gate = await openGate({ policy: { defaults: { write: 'allow' } }, tools: [look, change, work], ...options })
  return { gate, session: gate.session({ user: 'ana' }), runs: () => runs }
}

describe('a kept answer', () => {
  test('names the call that got it, starts nothing, and is recorded', async () => {
    const { gate, session, runs } = await open()
    const first = await session.call({ name: 'look', arguments: { n: 1 } })
    const again = await session.call({ name: 'look', arguments: { n: 1 } })
    expect(again).toMatchObject({ ok: true, value: { n: 1, value: 0 }, content: first.content })
    expect(again.meta).toMatchObject({ cached: first.meta.callId, attempts: 0, decision: { kind: 'allow' } })
    expect(again.meta.startedMs).toBeUndefined()
    expect(first.meta.cached).toBeUndefined()
    expect(runs()).toBe(1)
    await gate.records.flush()
    const ends = await gate.records.query({ kind: 'end', limit: 10 })
    expect(ends.map(({ callId }) => callId)).toEqual(expect.arrayContaining([first.meta.callId, again.meta.callId]))
  })

  test('is stale once a call through the gate has written what it is about, by whomever, and not for another thing', async () => {
    const { gate, session, runs } = await open()
    for (const n of [1, 2]) await session.call({ name: 'look', arguments: { n } })
    await gate.session({ user: 'bo' }).call({ name: 'change', arguments: { n: 1 } })
    expect(await session.call({ name: 'look', arguments: { n: 1 } })).toMatchObject({ value: { value: 1 } })
    expect((await session.call({ name: 'look', arguments: { n: 2 } })).meta.cached).toBeDefined()
    expect(runs()).toBe(3)
  })

  test('is neither given to nor made by the calls of a tool that is changing what it is about', async () => {
    const { session } = await open()
    await session.call({ name: 'look', arguments: { n: 1 } })
    expect(await session.call({ name: 'work', arguments: { n: 1 } })).toMatchObject({
      value: [{ value: 0 }, undefined, { value: 1 }],
    })
    expect(await session.call({ name: 'look', arguments: { n: 1 } })).toMatchObject({ value: { value: 1 } })
  })

  test('is for nobody who may not call the tool, whatever was kept before', async () => {
    const { gate, session } = await open()
    await session.call({ name: 'look', arguments: { n: 1 } })
    await gate.policy.reload({ rules: [{ deny: 'look' }] })
    expect(await session.call({ name: 'look', arguments: { n: 1 } })).toMatchObject({
      error: { type: 'permission_denied' },
    })
    await gate.policy.reload({ defaults: { read: 'ask' } })
    expect(await session.call({ name: 'look', arguments: { n: 1 } })).toMatchObject({
      error: { type: 'approval_required' },
    })
  })

  test('is not given where a person was asked: each approval is for a run', async () => {
    const { gate, session, runs } = await open({ policy: { defaults: { read: 'ask', write: 'allow' } } })
    for (let time = 1; time <= 2; time++) {
      const asked = await session.call({ name: 'look', arguments: { n: 1 } })
      const id = asked.ok ? '' : String(asked.error.details?.approvalId)
      await gate.approvals.decide(id, { decision: 'approve', by: 'boss' })
      expect((await session.call({ name: 'look', arguments: { n: 1 } })).ok).toBe(true)
      expect(runs()).toBe(time)
    }
  })

  test('is gone with its definition', async () => {
    const { gate, session, runs } = await open()
    await session.call({ name: 'look', arguments: { n: 1 } })
    gate.catalogue.register(
      defineTool({
        ...{ name: 'look', version: '1.0.0', description: 'Looks at a thing.', effect: 'read', input: NUMBER },
        touches: ({ n }) => [`read thing:${n}`],
        cache: { forMs: 60_000 },
        run: async () => 'another code under the same definition',
      }),
    )
    expect(await session.call({ name: 'look', arguments: { n: 1 } })).toMatchObject({
      value: 'another code under the same definition',
    })
    expect(runs()).toBe(1)
  })

  test('equal calls of one turn run once', async () => {
    const { session, runs } = await open()
    const outcomes = await session.turn(Array.from({ length: 6 }, () => ({ name: 'look', arguments: { n: 1 } })))
    expect(outcomes.every(({ ok }) => ok)).toBe(true)
    expect(runs()).toBe(1)
    expect(outcomes.filter(({ meta }) => meta.cached !== undefined)).toHaveLength(5)
  })
})
