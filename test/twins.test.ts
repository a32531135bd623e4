// Goal: without a key nothing is deduplicated, but a call that acts each time it is made is not made beside an equal one that
// nobody meant twice, nor right after one of which nobody knows what it did. Method: whole gates, tools that count and wait;
// each refusal beside the call that has to pass.

import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { defineTool, type Gate, type GateOptions, type Outcome, toolFailure } from '../src/index.ts'
import { until } from '../src/stores/conformance-files.ts'
import { findDriver } from '../src/stores/sqlite-driver.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { door } from './doors.ts'
import { newFolder, openGate } from './opened.ts'

const MINUTE_MS = 60_000
const policy = { defaults: { write: 'allow', external: 'allow' } } as const

/** Acts, and then answers as `answer` says. */
function sendTool(answer: () => unknown, more: object = {}) {
  const acted: unknown[] = []
  const tool = defineTool({
    ...{ name: 'send', version: '1.0.0', description: 'Sends.', effect: 'external' },
    input: { type: 'object', properties: { to: { type: 'string' } } },
    run: async (args: unknown) => {
      acted.push(args)
      return answer()
    },
    ...more,
  } as never)
  return { tool, acted }
}
const send = (gate: Gate, to = 'ana', more: object = {}) =>
  gate.session({ user: 'ana' }).call({ name: 'send', arguments: { to }, ...more })
const open = (tool: unknown, more: Partial<GateOptions> = {}) => openGate({ policy, tools: [tool] as never, ...more })
const errorOf = (outcome: Outcome) => (outcome.ok ? undefined : outcome.error)
const dead = (): never => {
  throw new Error('the line is dead')
}

describe('while an equal call runs', () => {
  test('a second one is not started, says so, and passes once the first is over', async () => {
    const gateway = door()
    const { tool, acted } = sendTool(() => gateway.opened)
    const gate = await open(tool)
    const first = send(gate)
    await until(() => acted.length > 0)
    const second = await send(gate)
    expect(errorOf(second)).toMatchObject({ type: 'outcome_unknown', effect: 'none', details: { state: 'running' } })
    expect(second.meta.attempts).toBe(0)
    gateway.open()
    const { meta } = await first
    expect(errorOf(second)?.details?.twin).toBe(meta.callId)
    expect((await send(gate)).ok).toBe(true)
    expect(acted).toHaveLength(2)
  })

  test('other arguments, another principal and other tools pass; so does a call with a key', async () => {
    const gateway = door()
    const { tool, acted } = sendTool(() => gateway.opened)
    const gate = await open(tool)
    const all = [send(gate), send(gate, 'bob'), send(gate, 'ana', { idempotencyKey: 'k' })]
    for (const options of [{ user: 'bob' }, { user: 'ana', agent: 'x' }, { user: 'ana', tenant: 'x' }]) {
      all.push(gate.session(options).call({ name: 'send', arguments: { to: 'ana' } }))
    }
    await until(() => acted.length === 6)
    gateway.open()
    expect((await Promise.all(all)).every(({ ok }) => ok)).toBe(true)
  })

  test.each([
    ['reads', { effect: 'read' }],
    ['may be repeated', { repeat: 'safe' }],
  ])('a tool that %s is called as often as anybody likes', async (_, more) => {
    const gateway = door()
    const { tool, acted } = sendTool(() => gateway.opened, more)
    const gate = await open(tool)
    const all = [send(gate), send(gate), send(gate)]
    await until(() => acted.length === 3)
    gateway.open()
    expect((await Promise.all(all)).every(({ ok }) => ok)).toBe(true)
  })

  test('two equal calls of one turn are both meant; of another turn at the same time none is', async () => {
    const gateway = door()
    const { tool, acted } = sendTool(() => gateway.opened)
    const gate = await open(tool)
    const call = { name: 'send', arguments: { to: 'ana' } }
    const turn = gate.session({ user: 'ana' }).turn([call, call])
    await until(() => acted.length > 0)
    const [other] = await gate.session({ user: 'ana', session: 'other' }).turn([call])
    expect(other !== undefined && errorOf(other)).toMatchObject({ type: 'outcome_unknown', effect: 'none' })
    gateway.open()
    expect((await turn).map(({ ok }) => ok)).toEqual([true, true])
    expect(acted).toHaveLength(2)
  })
})

describe('after an equal call that ended with nobody knowing what it did', () => {
  test('for five minutes none is started, and then it is', async () => {
    const clock = new FakeClock()
    let answer: () => unknown = dead
    const { tool, acted } = sendTool(() => answer())
    const gate = await open(tool, { clock })
    expect(errorOf(await send(gate))).toMatchObject({ effect: 'unknown' })
    answer = () => 'sent'
    expect(errorOf(await send(gate))).toMatchObject({ type: 'outcome_unknown', details: { state: 'unknown' } })
    expect((await send(gate, 'bob')).ok).toBe(true)
    await clock.advance(5 * MINUTE_MS - 1)
    expect(errorOf(await send(gate))?.message).toContain('in 1 min')
    await clock.advance(1)
    expect((await send(gate)).ok).toBe(true)
    expect(acted).toHaveLength(3)
  })

  test('an end that is known keeps nobody: done, failed without effect, failed with one', async () => {
    for (const effect of ['none', 'done'] as const) {
      const { tool, acted } = sendTool(() => toolFailure({ code: 'x', message: 'no', effect }))
      const gate = await open(tool)
      await send(gate)
      expect(errorOf(await send(gate))).toMatchObject({ type: 'tool_error', effect })
      expect(acted).toHaveLength(2)
    }
  })

  test('a call that ran out of its time counts, also while its tool does not stop', async () => {
    const clock = new FakeClock()
    const gateway = door()
    const { tool, acted } = sendTool(() => gateway.opened, { deadlineMs: 1_000 })
    const gate = await open(tool, { clock })
    const first = send(gate)
    await until(() => acted.length > 0)
    await clock.advance(2_100)
    expect(errorOf(await first)).toMatchObject({ type: 'timeout', effect: 'unknown' })
    expect(errorOf(await send(gate))).toMatchObject({ type: 'outcome_unknown', details: { state: 'unknown' } })
    gateway.open()
    await until(async () => (await gate.records.query({ kind: 'late', limit: 1 })).length > 0)
    // It took effect, and its caller never heard of it.
    expect(errorOf(await send(gate))).toMatchObject({ type: 'outcome_unknown' })
    await clock.advance(5 * MINUTE_MS)
    expect((await send(gate)).ok).toBe(true)
  })

  test('a tool that says late that it did nothing lets the next one pass', async () => {
    const clock = new FakeClock()
    const gateway = door()
    const { tool, acted } = sendTool(
      async () => {
        if (acted.length > 1) return 'sent'
        await gateway.opened
        return toolFailure({ code: 'closed', message: 'closed', effect: 'none' })
      },
      { deadlineMs: 1_000 },
    )
    const gate = await open(tool, { clock })
    const first = send(gate)
    await until(() => acted.length > 0)
    await clock.advance(2_100)
    expect(errorOf(await first)).toMatchObject({ type: 'timeout' })
    gateway.open()
    await until(async () => (await gate.records.query({ kind: 'late', limit: 1 })).length > 0)
    expect((await send(gate)).ok).toBe(true)
  })

  test('of two equal calls of one turn the second is not made when nobody knows what the first did', async () => {
    const { tool, acted } = sendTool(dead)
    const gate = await open(tool)
    const call = { name: 'send', arguments: { to: 'ana' } }
    const outcomes = await gate.session().turn([call, call, { ...call, arguments: { to: 'bob' } }])
    expect(outcomes.map((outcome) => errorOf(outcome)?.type)).toEqual([
      'tool_crashed',
      'outcome_unknown',
      'tool_crashed',
    ])
    expect(acted).toEqual([{ to: 'ana' }, { to: 'bob' }])
  })

  test('what a gate before this one left open, and nobody knows, counts from the start of this one', async () => {
    const file = join(newFolder(), 'state', 'lockgate.db')
    const store = { sqlite: file }
    const { tool, acted } = sendTool(() => new Promise(() => {}))
    const gone = await open(tool, { store })
    void send(gone)
    await until(() => acted.length > 0)
    // As if its process had been killed: the row of its owner goes, and its call stays open.
    const found = await findDriver()
    if (found.kind === 'failed') throw new Error(found.reason)
    const database = found.driver.open(file)
    database.exec(`PRAGMA busy_timeout = 5000`)
    database.exec(`UPDATE open_intents SET owner = 'gone'`)
    database.close()
    const { tool: again, acted: actedAgain } = sendTool(() => 'sent')
    const gate = await open(again, { store })
    expect(gate.unsettled).toMatchObject([{ tool: 'send', effect: 'unknown' }])
    expect(errorOf(await send(gate))).toMatchObject({ type: 'outcome_unknown', details: { state: 'unknown' } })
    expect((await send(gate, 'bob')).ok).toBe(true)
    expect(actedAgain).toHaveLength(1)
  })
})

test('G36: hundreds of calls that take long hold no transaction: others write to the same database all the while', async () => {
  const file = join(newFolder(), 'state', 'lockgate.db')
  const gateway = door()
  const { tool, acted } = sendTool(() => gateway.opened)
  const gate = await open(tool, { store: { sqlite: file } })
  const other = await open(sendTool(() => 'sent').tool, { store: { sqlite: file } })
  const slow = Array.from({ length: 300 }, (_, number) =>
    send(gate, `slow-${number}`, number % 2 === 0 ? { idempotencyKey: `key-${number}` } : {}),
  )
  await until(() => acted.length === 300)
  const found = await findDriver()
  if (found.kind === 'failed') throw new Error(found.reason)
  const database = found.driver.open(file)
  // Without any patience: a lock that is held fails at once. The stores themselves hold it for single commits.
  let free = 0
  for (let turn = 0; turn < 20_000 && free < 20; turn += 1) {
    try {
      database.exec('BEGIN EXCLUSIVE')
      database.exec('COMMIT')
      free += 1
    } catch {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  expect(free).toBe(20)
  database.close()
  for (let number = 0; number < 20; number += 1) {
    expect((await send(other, `fast-${number}`, { idempotencyKey: `fast-${number}` })).ok).toBe(true)
  }
  gateway.open()
  expect((await Promise.all(slow)).every(({ ok }) => ok)).toBe(true)
})
