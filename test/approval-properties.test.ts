// Goal: an approval is worth one call, this one. Any change to arguments, tool, definition, caller, task, step, parent,
// workspace or rules makes it useless, and of calls made at once exactly one runs. Method: gates that differ in one thing
// share one store; fast-check picks the call and what is changed about it, then the unchanged call is made twice.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { type AnyTool, createGate, defineTool, type Gate, type Outcome, type PolicyOptions } from '../src/index.ts'
import { createMemoryStore } from '../src/stores/memory-store.ts'
import { FakeClock } from '../src/testing/index.ts'
import './property-seed.ts'

const folders = ['a', 'b', 'c'].map(() => mkdtempSync(join(tmpdir(), 'lockgate-properties-')))
const [here = '', elsewhere = '', database = ''] = folders
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

let runs = 0
const tool = (name: string, more: object = {}): AnyTool =>
  defineTool({
    ...{ name, version: '1.0.0', description: 'Changes a thing.', input: { type: 'object' }, effect: 'write' },
    run: () => {
      runs += 1
      return 'ran'
    },
    ...more,
  }) as AnyTool

const POLICY: PolicyOptions = {
  defaults: { write: 'ask' },
  steps: { one: { effects: ['write'] }, two: { effects: ['write'] } },
}
const CALLER = { tenant: 't', user: 'ana', agent: 'helper', session: 's', task: { name: 'triage' }, step: 'one' }

const isOk = (outcome: Outcome): boolean => outcome.ok
const idOf = (outcome: Outcome): string => (outcome.ok ? '' : String(outcome.error.details?.approvalId))

describe('an approval', async () => {
  const clock = new FakeClock()
  const store = createMemoryStore({ clock })
  const open = (more: object = {}): Promise<Gate> =>
    createGate({ store, clock, workspace: here, policy: POLICY, tools: [tool('change'), tool('other')], ...more })
  const gate = await open()
  const gates = {
    policy: await open({ policy: { ...POLICY, rules: [{ deny: 'nothing_of_this_name' }] } }),
    defaults: await open({ policy: { ...POLICY, defaults: { ...POLICY.defaults, execute: 'deny' } } }),
    workspace: await open({ workspace: elsewhere }),
    version: await open({ tools: [tool('change', { version: '1.0.1' })] }),
    description: await open({ tools: [tool('change', { description: 'Changes another thing.' })] }),
    input: await open({ tools: [tool('change', { input: { type: 'object', properties: { n: {} } } })] }),
    effect: await open({ tools: [tool('change', { effect: 'execute' })] }),
  }
  afterAll(() => gate.close())

  type Args = Record<string, unknown>
  type Make = (args: Args, approval?: string) => Promise<Outcome>
  const made =
    (at: Gate, caller: object = {}, name = 'change'): Make =>
    (args, approval) =>
      at.session({ ...CALLER, ...caller }).call({ name, arguments: args, ...(approval && { approval }) })

  const CHANGES: Readonly<Record<string, Make>> = {
    ...Object.fromEntries(Object.entries(gates).map(([name, at]) => [name, made(at)])),
    tool: made(gate, {}, 'other'),
    tenant: made(gate, { tenant: 't2' }),
    user: made(gate, { user: 'bo' }),
    agent: made(gate, { agent: 'other' }),
    task: made(gate, { task: { name: 'other' } }),
    'no task': made(gate, { task: undefined }),
    step: made(gate, { step: 'two' }),
    'no step': made(gate, { step: undefined }),
    child: (args, approval) =>
      gate
        .session(CALLER)
        .child({})
        .call({ name: 'change', arguments: args, ...(approval && { approval }) }),
    'a value': (args, approval) => made(gate)({ ...args, n: [args.n] }, approval),
    'an argument more': (args, approval) => made(gate)({ ...args, more: null }, approval),
    'an argument less': ({ n: _, ...args }, approval) => made(gate)(args, approval),
  }

  let asked = 0
  const value = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.integer(),
    fc.boolean(),
    fc.array(fc.integer(), { maxLength: 3 }),
  )
  const args = fc
    .dictionary(fc.string({ minLength: 1, maxLength: 6 }), value, { maxKeys: 4 })
    // Another call in each run, so that runs do not meet each other's approvals.
    .map((some) => ({ ...some, n: asked++ }))

  test('is useless for a call that differs in one thing, and serves the call itself once', async () => {
    await fc.assert(
      fc.asyncProperty(args, fc.constantFrom(...Object.keys(CHANGES)), async (given, change) => {
        const id = idOf(await made(gate)(given))
        expect(id).toMatch(/^apr_/)
        expect(await gate.approvals.decide(id, { decision: 'approve', by: 'boss' })).toMatchObject({ kind: 'answered' })
        const before = runs
        const changed = CHANGES[change] ?? made(gate)
        expect([change, isOk(await changed(given, id)), isOk(await changed(given))]).toEqual([change, false, false])
        expect(runs).toBe(before)
        expect([isOk(await made(gate)(given)), isOk(await made(gate)(given, id))]).toEqual([true, false])
        expect(runs).toBe(before + 1)
      }),
      { numRuns: 200 },
    )
  })

  test('each of the changes has been one', async () => {
    for (const [change, changed] of Object.entries(CHANGES)) {
      const given = { n: asked++ }
      const id = idOf(await made(gate)(given))
      await gate.approvals.decide(id, { decision: 'approve', by: 'boss' })
      expect([change, isOk(await changed(given, id))]).toEqual([change, false])
      expect([change, isOk(await made(gate)(given, id))]).toEqual([change, true])
    }
  })

  test('is the same for the same arguments in another order, or as text', async () => {
    const id = idOf(await made(gate)({ n: 'order', a: 1, b: { c: 1, d: 2 } }))
    await gate.approvals.decide(id, { decision: 'approve', by: 'boss' })
    const outcome = await gate
      .session(CALLER)
      .call({ name: 'change', arguments: '{ "b": {"d":2,"c":1.0}, "a": 1, "n": "order" }', approval: id })
    expect(isOk(outcome)).toBe(true)
  })
})

test('an approval serves exactly one of many calls that are made at once, over two gates on one file', async () => {
  const options = { tools: [tool('change')], policy: POLICY, store: { sqlite: join(database, 'lockgate.db') } }
  const gates = await Promise.all([createGate(options), createGate(options)])
  const [first, second] = gates
  try {
    for (let round = 0; round < 5; round += 1) {
      const call = (at: Gate, approval?: string): Promise<Outcome> =>
        at.session(CALLER).call({ name: 'change', arguments: { round }, ...(approval && { approval }) })
      const id = idOf(await call(first))
      await second.approvals.decide(id, { decision: 'approve', by: 'boss' })
      const before = runs
      const outcomes = await Promise.all(
        Array.from({ length: 40 }, (_, number) =>
          call(number % 2 === 0 ? first : second, number % 3 === 0 ? undefined : id),
        ),
      )
      expect(outcomes.filter(isOk)).toHaveLength(1)
      expect(runs).toBe(before + 1)
      expect(await first.approvals.show(id)).toMatchObject({
        ...{ state: 'redeemed', redeemedBy: outcomes.find(isOk)?.meta.callId },
      })
    }
  } finally {
    await Promise.all(gates.map((gate) => gate.close()))
  }
})
