// Goal: under one idempotency key a call acts once, whoever makes it how often, and a key never stands in the way of a call
// that has certainly done nothing. Method: whole gates with both kinds of store, tools that count what they did, and a second
// gate on the same file for what another process would do. Refusals first.

import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { defineTool, type Gate, type GateOptions, type Outcome, toolFailure } from '../src/index.ts'
import { bodyOf } from '../src/observe/record-text.ts'
import { until } from '../src/stores/conformance-files.ts'
import { findDriver } from '../src/stores/sqlite-driver.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { door } from './doors.ts'
import { newFolder, openGate } from './opened.ts'

type Acting = Parameters<typeof defineTool>[0]

/** A tool that notes each time it acts, and does as it is told before it answers. */
function payTool(more: { readonly before?: () => Promise<unknown>; readonly tool?: Partial<Acting> } = {}) {
  const acted: unknown[] = []
  const keys: string[] = []
  const tool = defineTool({
    ...{ name: 'pay', version: '1.0.0', description: 'Pays.', effect: 'external' },
    input: { type: 'object', properties: { sum: { type: 'integer' } } },
    run: async (args: unknown, context: { readonly idempotencyKey: string }) => {
      acted.push(args)
      keys.push(context.idempotencyKey)
      await more.before?.()
      return { paid: acted.length }
    },
    ...more.tool,
  } as never)
  return { tool, acted, keys }
}

const policy = { defaults: { write: 'allow', external: 'allow', execute: 'allow' } } as const
const open = (tools: GateOptions['tools'], more: Partial<GateOptions> = {}) =>
  openGate({ policy, ...(tools === undefined ? {} : { tools }), ...more })
const pay = (gate: Gate, idempotencyKey: string | undefined, sum = 1, more: object = {}) =>
  gate.session({ user: 'ana' }).call({
    ...{ name: 'pay', arguments: { sum }, ...more },
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  })
const errorOf = (outcome: Outcome) => (outcome.ok ? undefined : outcome.error)
const file = () => ({ sqlite: join(newFolder(), 'state', 'lockgate.db') })

describe.each(['memory', 'sqlite'] as const)('one key, one effect (%s)', (kind) => {
  const store = (): { store: NonNullable<GateOptions['store']> } => ({ store: kind === 'memory' ? 'memory' : file() })

  test('what is no key is refused before anything runs', async () => {
    const { tool, acted } = payTool()
    const gate = await open([tool], store())
    for (const bad of ['', 'x'.repeat(257), 7, null, {}, '\ud800']) {
      expect(errorOf(await pay(gate, bad as string))).toMatchObject({ type: 'invalid_args', effect: 'none' })
    }
    expect(acted).toEqual([])
    expect((await pay(gate, 'x'.repeat(256))).ok).toBe(true)
    expect((await pay(gate, 'Schlüssel 🔑')).ok).toBe(true)
  })

  test('G42: the same key with other arguments is refused, and the first answer stays', async () => {
    const { tool, acted } = payTool()
    const gate = await open([tool], store())
    await pay(gate, 'k', 1)
    expect(errorOf(await pay(gate, 'k', 2))).toMatchObject({ type: 'key_conflict', effect: 'none' })
    expect(await pay(gate, 'k', 1)).toMatchObject({ ok: true, value: { paid: 1 } })
    expect(acted).toEqual([{ sum: 1 }])
  })

  test('a call made again gets the recorded answer: marked, not run, with records of both', async () => {
    const { tool, acted } = payTool()
    const gate = await open([tool], store())
    const first = await pay(gate, 'k')
    const second = await pay(gate, 'k')
    expect(second).toMatchObject({ ok: true, value: { paid: 1 }, content: first.content })
    expect(second.meta).toMatchObject({ attempts: 0, replayOf: first.meta.callId })
    expect(second.meta.callId).not.toBe(first.meta.callId)
    expect(acted).toHaveLength(1)
    await gate.records.flush()
    const rows = await gate.records.query({ callId: second.meta.callId, limit: 10 })
    expect(rows.map((row) => row.kind)).toEqual(['end'])
    expect(bodyOf(rows[0] ?? { body: '' })).toMatchObject({ key: 'k', replayOf: first.meta.callId, attempts: 0 })
  })

  test('a key is of one principal and one tool', async () => {
    const { tool, acted } = payTool()
    const other = payTool({ tool: { name: 'pay_other' } })
    const gate = await open([tool, other.tool], store())
    await pay(gate, 'k')
    for (const options of [{ user: 'bob' }, { user: 'ana', agent: 'x' }, { user: 'ana', tenant: 'x' }]) {
      await gate.session(options).call({ name: 'pay', arguments: { sum: 1 }, idempotencyKey: 'k' })
    }
    await gate.session({ user: 'ana' }).call({ name: 'pay_other', arguments: { sum: 1 }, idempotencyKey: 'k' })
    expect([acted.length, other.acted.length]).toEqual([4, 1])
  })

  test('the second of two at once waits for the first and gets its answer; of twenty one acts', async () => {
    const gateway = door()
    const { tool, acted } = payTool({ before: () => gateway.opened })
    const gate = await open([tool], store())
    const all = Array.from({ length: 20 }, () => pay(gate, 'k'))
    await until(() => acted.length > 0)
    gateway.open()
    const outcomes = await Promise.all(all)
    expect(outcomes.every((outcome) => outcome.ok)).toBe(true)
    expect(outcomes.filter(({ meta }) => meta.replayOf !== undefined)).toHaveLength(19)
    expect(acted).toHaveLength(1)
  })

  test('a call that certainly did nothing frees its key: whoever waited for it runs', async () => {
    const gateway = door()
    let fails = true
    const { tool, acted } = payTool({
      before: async () => {
        await gateway.opened
        if (fails) {
          fails = false
          throw toolFailure({ code: 'closed', message: 'closed', effect: 'none' })
        }
      },
    })
    const gate = await open([tool], store())
    const first = pay(gate, 'k')
    await until(() => acted.length > 0)
    const second = pay(gate, 'k')
    gateway.open()
    expect(errorOf(await first)).toMatchObject({ type: 'tool_error', effect: 'none' })
    expect((await second).meta).toMatchObject({ attempts: 1 })
    expect((await second).ok).toBe(true)
  })

  test('a failure that took effect is the answer as well, and is not run again', async () => {
    const { tool, acted } = payTool({
      before: async () => {
        throw toolFailure({ code: 'half', message: 'paid, and no receipt', effect: 'done' })
      },
    })
    const gate = await open([tool], store())
    const first = errorOf(await pay(gate, 'k'))
    const again = await pay(gate, 'k')
    expect(errorOf(again)).toEqual(first)
    expect(again.meta.attempts).toBe(0)
    expect(acted).toHaveLength(1)
  })

  test('G42: an end that nobody knows stays unknown, until an operator settles it as done or as none', async () => {
    const { tool, acted } = payTool({ before: () => Promise.reject(new Error('the line is dead')) })
    const gate = await open([tool], store())
    const first = await pay(gate, 'k')
    expect(errorOf(first)).toMatchObject({ effect: 'unknown' })
    const again = await pay(gate, 'k')
    expect(errorOf(again)).toMatchObject({ type: 'outcome_unknown', effect: 'unknown' })
    expect(acted).toHaveLength(1)
    expect(await gate.journal.list({ state: 'unknown' })).toMatchObject([{ key: 'k', callId: first.meta.callId }])
    expect(await gate.journal.settle('no such call', 'done', 'boss')).toBe(false)
    expect(await gate.journal.settle(first.meta.callId, 'done', 'boss')).toBe(true)
    expect(await gate.journal.settle(first.meta.callId, 'none', 'boss')).toBe(false)
    expect(errorOf(await pay(gate, 'k'))).toMatchObject({ type: 'outcome_unknown', effect: 'done' })
    const other = await pay(gate, 'other', 2)
    expect(await gate.journal.settle(other.meta.callId, 'none', 'boss')).toBe(true)
    await pay(gate, 'other', 2)
    expect(acted).toHaveLength(3)
    const [row] = await gate.records.query({ kind: 'reconciled', limit: 10 })
    expect(bodyOf(row ?? { body: '' })).toMatchObject({ effect: 'done', by: 'boss', key: 'k' })
  })

  test('no approval is spent on an answer that is there', async () => {
    const { tool, acted } = payTool()
    const gate = await open([tool], { ...store(), policy: { defaults: { external: 'ask' } } })
    const asked = errorOf(await pay(gate, 'k'))
    expect(await gate.journal.list()).toEqual([])
    await gate.approvals.decide(String(asked?.details?.approvalId), { decision: 'approve', by: 'boss' })
    expect((await pay(gate, 'k')).ok).toBe(true)
    expect(await pay(gate, 'k')).toMatchObject({ ok: true, meta: { attempts: 0 } })
    const without = errorOf(await pay(gate, undefined))
    expect(without?.type).toBe('approval_required')
    expect(acted).toHaveLength(1)
  })

  test('an answer that is too large, or is no JSON, is not given again by half: it is done, and said so', async () => {
    for (const value of ['x'.repeat(1_100_000), new Date(0), { at: new Map() }]) {
      const { tool, acted } = payTool({ tool: { run: async () => value } as never })
      const gate = await open([tool], store())
      expect((await pay(gate, 'k')).ok).toBe(true)
      expect(errorOf(await pay(gate, 'k'))).toMatchObject({ type: 'outcome_unknown', effect: 'done' })
      expect(acted).toEqual([])
    }
  })

  test('a key on a read is taken and changes nothing', async () => {
    const { tool, acted } = payTool({ tool: { effect: 'read' } })
    const gate = await open([tool], store())
    await pay(gate, 'k', 1)
    expect(await pay(gate, 'k', 2)).toMatchObject({ ok: true, value: { paid: 2 } })
    expect(acted).toHaveLength(2)
    expect(await gate.journal.list()).toEqual([])
  })

  test('the tool is told the key; without one it gets one of its own for each call', async () => {
    const { tool, keys } = payTool()
    const gate = await open([tool], store())
    await pay(gate, 'k')
    await pay(gate, undefined, 2)
    await pay(gate, undefined, 3)
    expect(keys[0]).toBe('k')
    expect(new Set(keys).size).toBe(3)
  })

  test('two calls of one turn under one key: the second gets the answer of the first', async () => {
    const { tool, acted } = payTool()
    const gate = await open([tool], store())
    const call = { name: 'pay', arguments: { sum: 1 }, idempotencyKey: 'k' }
    const outcomes = await gate.session().turn([call, call, { ...call, arguments: { sum: 2 } }])
    expect(outcomes.map((outcome) => (outcome.ok ? outcome.value : outcome.error.type))).toEqual([
      { paid: 1 },
      { paid: 1 },
      'key_conflict',
    ])
    expect(acted).toHaveLength(1)
  })
})

describe('waiting for a call that runs under the key', () => {
  test('inside a turn: whichever call comes to its key first runs, and none waits for the other for ever', async () => {
    let first = true
    const { tool, acted } = payTool({
      tool: {
        touches: () => ['write account:1'],
        resolve: async (args: unknown) => {
          const isFirst = first
          first = false
          if (isFirst) await new Promise((resolve) => setTimeout(resolve, 30))
          return args
        },
      } as never,
    })
    const gate = await open([tool])
    const call = { name: 'pay', arguments: { sum: 1 }, idempotencyKey: 'k' }
    const outcomes = await gate.session().turn([call, call])
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, true])
    expect(outcomes.map(({ meta }) => meta.attempts)).toEqual([0, 1])
    expect(acted).toHaveLength(1)
  })

  test('across turns: two that wait for calls of each other in the opposite order both go on', async () => {
    const first = door()
    const second = door()
    let firsts = 0
    let seconds = 0
    const write = (name: string, touches: () => Promise<readonly string[]>) =>
      payTool({ tool: { name, effect: 'write', touches } })
    // The call that stands first in each turn comes to its key after the one that stands second in the other.
    const a = write('a', async () => {
      if (++firsts === 1) await first.opened
      return ['write item:1']
    })
    const b = write('b', async () => {
      if (++seconds === 2) await second.opened
      return ['write item:2']
    })
    const gate = await open([a.tool, b.tool], { limits: { deadlineMs: 20_000 } })
    const session = gate.session({ user: 'ana' })
    const call = (name: string) => ({ name, arguments: {}, idempotencyKey: name })
    const turns = [session.turn([call('a'), call('b')]), session.turn([call('b'), call('a')])]
    await until(async () => (await gate.journal.list({ state: 'running' })).length === 2)
    first.open()
    second.open()
    const outcomes = (await Promise.all(turns)).flat()
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, true, true])
    expect([a.acted.length, b.acted.length]).toEqual([1, 1])
  })

  test.each([
    [
      'the rules',
      (gate: Gate) => gate.policy.reload({ ...policy, rules: [{ deny: { tool: 'pay' }, for: { role: 'low' } }] }),
    ],
    ['a stop', (gate: Gate) => gate.stop({ session: 'second' }, { by: 'operator' })],
  ])('whoever is denied by %s meanwhile does not get the answer', async (_what, deny) => {
    const gateway = door()
    const { tool, acted } = payTool({ before: () => gateway.opened })
    const gate = await open([tool])
    const call = { name: 'pay', arguments: { sum: 1 }, idempotencyKey: 'k' }
    const running = gate.session({ user: 'ana', session: 'first' }).call(call)
    await until(() => acted.length === 1)
    const waiting = gate.session({ user: 'ana', session: 'second', roles: ['low'] }).call(call)
    await new Promise((resolve) => setImmediate(resolve))
    await deny(gate)
    gateway.open()
    expect((await running).ok).toBe(true)
    const outcome = await waiting
    expect(errorOf(outcome)).toMatchObject({ type: 'permission_denied', effect: 'none' })
    expect(outcome.meta.replayOf).toBeUndefined()
  })

  test('whose tool is gone meanwhile runs nothing', async () => {
    const gateway = door()
    const { tool, acted } = payTool({
      tool: {
        run: async () => {
          acted.push('')
          await gateway.opened
          return toolFailure({ code: 'x', message: 'y', effect: 'none' })
        },
      },
    })
    const gate = await open([tool])
    const running = pay(gate, 'k')
    await until(() => acted.length === 1)
    const waiting = pay(gate, 'k')
    await new Promise((resolve) => setImmediate(resolve))
    gate.catalogue.retire('pay')
    gateway.open()
    await running
    expect(errorOf(await waiting)).toMatchObject({ type: 'unavailable', effect: 'none' })
    expect(acted).toHaveLength(1)
  })

  test('lasts as long as its own time, and does not say that nothing happened', async () => {
    const clock = new FakeClock()
    const gateway = door()
    const { tool, acted } = payTool({ before: () => gateway.opened, tool: { deadlineMs: 60_000 } })
    const gate = await open([tool], { clock })
    const first = pay(gate, 'k')
    await until(() => acted.length > 0)
    await clock.advance(10_000)
    const second = pay(gate, 'k')
    await clock.advance(50_000)
    expect(errorOf(await first)).toMatchObject({ type: 'timeout', effect: 'unknown' })
    // Its end is known by now: nobody knows what it did.
    expect(errorOf(await second)).toMatchObject({ type: 'outcome_unknown', effect: 'unknown' })
    gateway.open()
    await until(async () => (await gate.journal.list({ state: 'done' })).length === 1)
    // What came late is recorded, and what the call did is known.
    expect(await pay(gate, 'k')).toMatchObject({ ok: true, value: { paid: 1 } })
    expect(acted).toHaveLength(1)
  })

  test('ends with the signal of its own caller, and with the gate', async () => {
    const gateway = door()
    const { tool, acted } = payTool({ before: () => gateway.opened })
    const gate = await open([tool])
    const first = pay(gate, 'k')
    await until(() => acted.length > 0)
    const controller = new AbortController()
    const second = pay(gate, 'k', 1, { signal: controller.signal })
    const third = pay(gate, 'k')
    await new Promise((resolve) => setImmediate(resolve))
    controller.abort()
    expect(errorOf(await second)).toMatchObject({ type: 'cancelled', effect: 'unknown' })
    const closing = gate.close()
    expect(errorOf(await third)).toMatchObject({ type: 'cancelled', effect: 'unknown' })
    gateway.open()
    await closing
    expect((await first).ok).toBe(false)
  })

  test('the call of another process is waited for, and its answer given', async () => {
    const store = file()
    const gateway = door()
    const { tool, acted } = payTool({ before: () => gateway.opened })
    const one = await open([tool], { store })
    const other = await open([tool], { store })
    const first = pay(one, 'k')
    await until(() => acted.length > 0)
    const second = pay(other, 'k')
    const impatient = await pay(other, 'k', 1, { signal: AbortSignal.timeout(80) })
    expect(errorOf(impatient)).toMatchObject({ type: 'cancelled', effect: 'unknown' })
    gateway.open()
    expect(await first).toMatchObject({ ok: true, value: { paid: 1 } })
    expect(await second).toMatchObject({ ok: true, value: { paid: 1 }, meta: { attempts: 0 } })
    expect(acted).toHaveLength(1)
  })

  test('a call whose time is over while it waits is a timeout, and nobody says that nothing happened', async () => {
    const store = file()
    const gateway = door()
    const { tool, acted } = payTool({ before: () => gateway.opened })
    const one = await open([tool], { store })
    const other = await open([tool], { store, limits: { deadlineMs: 150 } })
    const first = pay(one, 'k')
    await until(() => acted.length > 0)
    expect(errorOf(await pay(other, 'k'))).toMatchObject({ type: 'timeout', effect: 'unknown' })
    gateway.open()
    await first
  })
})

describe('what a gate that is gone had begun under a key', () => {
  /** As if the processes of all owners had been killed. */
  async function forsake(database: { readonly sqlite: string }): Promise<void> {
    const found = await findDriver()
    if (found.kind === 'failed') throw new Error(found.reason)
    const connection = found.driver.open(database.sqlite)
    connection.exec('PRAGMA busy_timeout = 5000')
    connection.exec(`UPDATE open_intents SET owner = 'gone'`)
    connection.close()
  }
  /** Begins one call that never ends, in a gate that is then gone. */
  async function begun(store: { readonly sqlite: string }): Promise<void> {
    const { tool, acted } = payTool({ before: () => new Promise(() => {}) })
    void pay(await open([tool], { store }), 'k')
    await until(() => acted.length > 0)
    await forsake(store)
  }

  test.each([
    ['it took effect', true, { type: 'outcome_unknown', effect: 'done' }],
    ['nobody can tell', undefined, { type: 'outcome_unknown', effect: 'unknown' }],
    ['it did not: the call may be made', false, undefined],
  ] as const)('is settled at the start of the next one by what the tool says: %s', async (_, happened, error) => {
    const store = file()
    await begun(store)
    const { tool, acted } = payTool({ tool: { happened: () => happened } })
    const gate = await open([tool], { store })
    const effect = happened === undefined ? 'unknown' : happened ? 'done' : 'none'
    expect(gate.unsettled).toMatchObject([{ tool: 'pay', effect }])
    const outcome = await pay(gate, 'k')
    if (error === undefined) expect(outcome.ok).toBe(true)
    else expect(errorOf(outcome)).toMatchObject(error)
    expect(acted).toHaveLength(error === undefined ? 1 : 0)
    const [row] = await gate.records.query({ kind: 'reconciled', limit: 1 })
    expect(bodyOf(row ?? { body: '' })).toMatchObject({ effect, key: 'k' })
  })

  test('is settled by a call that waits for it, in a gate that was there before', async () => {
    const store = file()
    const { tool, acted } = payTool({ tool: { happened: () => false } })
    const gate = await open([tool], { store })
    const gone = payTool({ before: () => new Promise(() => {}) })
    void pay(await open([gone.tool], { store }), 'k')
    await until(() => gone.acted.length > 0)
    const waiting = pay(gate, 'k')
    await forsake(store)
    expect((await waiting).ok).toBe(true)
    expect(acted).toHaveLength(1)
  })
})

describe('what the tool itself can tell', () => {
  test('a repeated call asks whether the first took effect: it did', async () => {
    let happened: boolean | undefined
    const { tool, acted } = payTool({
      before: () => Promise.reject(new Error('the line is dead')),
      tool: { happened: () => happened },
    })
    const gate = await open([tool])
    expect(errorOf(await pay(gate, 'k'))).toMatchObject({ effect: 'unknown' })
    expect(errorOf(await pay(gate, 'k'))).toMatchObject({ type: 'outcome_unknown', effect: 'unknown' })
    happened = true
    expect(errorOf(await pay(gate, 'k'))).toMatchObject({ type: 'outcome_unknown', effect: 'done' })
    expect(acted).toHaveLength(1)
  })

  test('it did not: then the call runs, and only then', async () => {
    let happened: boolean | undefined
    let fails = true
    const { tool, acted } = payTool({
      before: async () => {
        if (fails) throw new Error('the line is dead')
      },
      tool: { happened: () => happened },
    })
    const gate = await open([tool])
    await pay(gate, 'k')
    await pay(gate, 'k')
    expect(acted).toHaveLength(1)
    ;[happened, fails] = [false, false]
    expect(await pay(gate, 'k')).toMatchObject({ ok: true, meta: { attempts: 1 } })
    expect(acted).toHaveLength(2)
    expect(await pay(gate, 'k')).toMatchObject({ ok: true, meta: { attempts: 0 } })
  })

  test('a try that answers late, while the next one runs, settles nothing: the call is not over', async () => {
    const clock = new FakeClock()
    const gateways = [door(), door()]
    let tries = 0
    const { tool, acted } = payTool({
      before: async () => {
        const mine = gateways[tries]
        tries += 1
        await mine?.opened
        if (mine === gateways[0]) throw toolFailure({ code: 'closed', message: 'closed', effect: 'none' })
      },
      tool: { repeat: 'keyed', attemptMs: 1_000, retry: { times: 1, backoffMs: 1 } },
    })
    const gate = await open([tool], { clock })
    const first = pay(gate, 'k')
    await until(() => acted.length > 0)
    await clock.advance(1_000)
    await until(async () => {
      await clock.advance(1)
      return acted.length > 1
    })
    gateways[0]?.open()
    await until(async () => (await gate.records.query({ kind: 'late', limit: 1 })).length > 0)
    expect(await gate.journal.list()).toMatchObject([{ key: 'k', state: 'running' }])
    gateways[1]?.open()
    expect((await first).ok).toBe(true)
    expect(await pay(gate, 'k')).toMatchObject({ ok: true, meta: { attempts: 0 } })
    expect(acted).toHaveLength(2)
  })

  test('a tool that has not stopped is not asked: it may act after the answer', async () => {
    const clock = new FakeClock()
    const gateway = door()
    const { tool, acted } = payTool({ before: () => gateway.opened, tool: { happened: () => false } })
    const gate = await open([tool], { clock })
    const first = pay(gate, 'k')
    await until(() => acted.length > 0)
    await clock.advance(61_100)
    expect(errorOf(await first)).toMatchObject({ type: 'timeout', effect: 'unknown' })
    expect(errorOf(await pay(gate, 'k'))).toMatchObject({ type: 'outcome_unknown', effect: 'unknown' })
    expect(acted).toHaveLength(1)
    gateway.open()
  })
})
