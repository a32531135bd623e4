// Goal: a replay tells what was recorded, and of each call the answer that it would get today; where nobody can know that, it
// says so. Method: whole gates over one store, whose tools count their runs.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createGate } from '../gate.ts'
import type { Gate, GateOptions, Replay, ReplayStep, SessionOptions } from '../gate-contract.ts'
import { defineTool } from '../index.ts'

const text = { type: 'string' }
const input = (names: readonly string[]) => ({
  ...{ type: 'object', properties: Object.fromEntries(names.map((name) => [name, text])), required: [...names] },
  additionalProperties: false,
})

let runs: string[] = []
const tool = (name: string, effect: 'read' | 'write' | 'external', names: readonly string[]) =>
  defineTool({
    ...{ name, version: '1.0.0', description: `Does ${name}.`, effect },
    input: input(names),
    run: async (args, context) => {
      runs.push(name)
      if (name === 'both') await context.call({ name: 'look', arguments: { path: String(args.path) } })
      if (args.path === 'broken') throw new Error('it broke')
      return `${name} done`
    },
  })
const TOOLS = [
  tool('look', 'read', ['path']),
  tool('both', 'read', ['path']),
  tool('note', 'write', ['path', 'content']),
  tool('sign_in', 'read', ['name', 'password']),
]

const ANA: SessionOptions = { tenant: 'acme', user: 'ana', agent: 'helper', roles: ['dev'], session: 's1' }
const folder = mkdtempSync(join(tmpdir(), 'lockgate-replay-'))
let files = 0
const gates: Gate[] = []

async function open(policy: GateOptions['policy'], more: Partial<GateOptions> = {}): Promise<Gate> {
  const gate = await createGate({ tools: TOOLS, ...(policy === undefined ? {} : { policy }), ...more })
  gates.push(gate)
  return gate
}
const onDisk = (): NonNullable<GateOptions['store']> => {
  files += 1
  return { sqlite: join(folder, `${files}.db`) }
}
afterEach(async () => {
  runs = []
  for (const gate of gates.splice(0)) await gate.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const briefly = ({ tool: name, today }: ReplayStep): readonly unknown[] => [
  name,
  today.kind === 'decided' ? today.decision.kind : today.kind === 'refused' ? today.type : 'untold',
  today.kind !== 'untold' && today.differs,
]

describe('replay', () => {
  it('runs nothing, records nothing and answers the same each time', async () => {
    const gate = await open({ defaults: { write: 'allow' } })
    const session = gate.session(ANA)
    await session.call({ name: 'note', arguments: { path: 'a', content: 'x' } })
    await session.call({ name: 'look', arguments: { path: 'broken' } })
    await session.call({ name: 'look', arguments: { wrong: 1 } })
    const [ran, rows] = [[...runs], await gate.records.query({ limit: 1_000 })]
    const first = await gate.replay('s1')
    expect(await gate.replay('s1')).toEqual(first)
    expect(runs).toEqual(ran)
    expect(await gate.records.query({ limit: 1_000 })).toEqual(rows)
    expect(first).toMatchObject({ session: 's1', more: false })
    expect(first.steps.map(briefly)).toEqual([
      ['note', 'allow', false],
      ['look', 'allow', false],
      ['look', 'untold', false],
    ])
    const [noted, broken, refused] = first.steps
    expect(noted).toMatchObject({
      caller: { tenant: 'acme', user: 'ana', agent: 'helper', roles: ['dev'], session: 's1' },
      arguments: { path: 'a', content: 'x' },
      recorded: { ok: true, decision: { kind: 'allow' }, effect: 'write', attempts: 1 },
    })
    expect(broken?.recorded).toMatchObject({ ok: false, error: { type: 'tool_crashed', effect: 'none' } })
    expect(refused).not.toHaveProperty('arguments')
    expect(refused?.recorded).toMatchObject({ ok: false, attempts: 0, error: { type: 'invalid_args' } })
  })

  it('shows each answer as it is today, with the rule that speaks', async () => {
    const store = onDisk()
    const before = await open(
      { defaults: { write: 'allow' }, rules: [{ deny: 'look', where: { path: 'b' } }] },
      { store },
    )
    const session = before.session(ANA)
    for (const path of ['a', 'b']) await session.call({ name: 'look', arguments: { path } })
    await session.call({ name: 'note', arguments: { path: 'a', content: 'x' } })
    await session.call({ name: 'gone', arguments: {} })
    await before.close()
    const after = await open({ rules: [{ deny: 'look', where: { path: 'a' }, because: 'not a' }] }, { store })
    const { steps } = await after.replay('s1')
    expect(steps.map(briefly)).toEqual([
      ['look', 'deny', true],
      ['look', 'allow', true],
      ['note', 'ask', true],
      ['gone', 'not_found', false],
    ])
    expect(steps[0]?.today).toMatchObject({ decision: { by: 'rule', rule: { because: 'not a' } } })
    expect(steps[1]?.recorded).toMatchObject({ decision: { kind: 'deny' }, error: { type: 'permission_denied' } })
  })

  it('a call that was made inside another one stands after it, whichever was recorded first', async () => {
    const gate = await open({})
    await gate.session(ANA).call({ name: 'both', arguments: { path: 'a' } })
    await gate.session(ANA).call({ name: 'look', arguments: { path: 'b' } })
    const { steps } = await gate.replay('s1')
    expect(steps.map(({ tool: name }) => name)).toEqual(['both', 'look', 'look'])
    expect(steps.map((step) => step.arguments?.path)).toEqual(['a', 'a', 'b'])
  })

  it('tells the oldest calls first, at most as many as asked for, and that there are more', async () => {
    const gate = await open({})
    for (const path of ['a', 'b', 'c']) await gate.session(ANA).call({ name: 'look', arguments: { path } })
    const paths = ({ steps }: Replay) => steps.map((step) => step.arguments?.path)
    const some = await gate.replay('s1', { callsMax: 2 })
    expect([paths(some), some.more]).toEqual([['a', 'b'], true])
    const all = await gate.replay('s1', { callsMax: 3 })
    expect([paths(all), all.more]).toEqual([['a', 'b', 'c'], false])
  })

  it('a session of that name of another user or tenant is left out where one is named, and other sessions always', async () => {
    const gate = await open({})
    await gate.session(ANA).call({ name: 'look', arguments: { path: 'a' } })
    await gate.session({ ...ANA, user: 'bo' }).call({ name: 'look', arguments: { path: 'b' } })
    await gate.session({ ...ANA, session: 's2' }).call({ name: 'look', arguments: { path: 'c' } })
    expect((await gate.replay('s1')).steps).toHaveLength(2)
    expect((await gate.replay('s1', { user: 'bo' })).steps.map((step) => step.arguments?.path)).toEqual(['b'])
    expect((await gate.replay('s1', { user: 'ana', tenant: 'other' })).steps).toEqual([])
    expect((await gate.replay('nobody')).steps).toEqual([])
  })

  it('what is stopped now is denied today, and what the loop guard refused then is not its answer today', async () => {
    const gate = await open({}, { limits: { repeats: { warn: 2, refuse: 3, paceMs: 0 } } })
    const session = gate.session(ANA)
    for (let time = 0; time < 6; time += 1) await session.call({ name: 'look', arguments: { path: 'a' } })
    const { steps } = await gate.replay('s1')
    expect(steps.at(-1)?.recorded).toMatchObject({ ok: false, decision: { kind: 'deny' } })
    for (const { today } of steps) expect(today).toMatchObject({ kind: 'decided', decision: { kind: 'allow' } })
    await gate.stop({ tool: 'look' })
    for (const { today } of (await gate.replay('s1')).steps)
      expect(today).toMatchObject({ kind: 'decided', decision: { kind: 'deny', by: 'stop' } })
  })

  it('nothing is guessed about a secret that was taken out: untold where rules look at it, and told where none does', async () => {
    const rules = [{ deny: 'sign_in', where: { password: 'admin*' } }]
    const [store, args] = [onDisk(), { name: 'ana', password: 'hunter2-and-more' }]
    const looking = await open({ rules }, { store })
    await looking.session(ANA).call({ name: 'sign_in', arguments: args })
    const [step] = (await looking.replay('s1')).steps
    expect(step).not.toHaveProperty('arguments')
    expect(step?.today).toMatchObject({ kind: 'untold', why: expect.stringContaining('`password`') })
    await looking.close()
    const blind = await open({ rules: [{ deny: 'sign_in', where: { name: 'bo' } }] }, { store })
    const [now] = (await blind.replay('s1')).steps
    expect(now?.today).toMatchObject({ kind: 'decided', decision: { kind: 'allow' }, differs: false })
  })

  it('the calls of a person who was erased are gone from every session', async () => {
    const gate = await open({}, { store: onDisk() })
    await gate.session(ANA).call({ name: 'look', arguments: { path: 'a' } })
    await gate.session({ ...ANA, user: 'bo' }).call({ name: 'look', arguments: { path: 'b' } })
    await gate.records.erase({ tenant: 'acme', user: 'ana' }, 'the operator')
    const { steps } = await gate.replay('s1')
    expect(steps.map(({ caller }) => caller.user)).toEqual(['bo'])
  })

  it('a call that never ended says so', async () => {
    const gate = await open({ defaults: { write: 'allow' } })
    const session = gate.session(ANA)
    let entered = (): void => {}
    const inside = new Promise<void>((resolve) => {
      entered = resolve
    })
    let leave = (): void => {}
    const left = new Promise<string>((resolve) => {
      leave = () => resolve('late')
    })
    gate.catalogue.register(
      defineTool({
        ...{ name: 'hang', version: '1.0.0', description: 'Hangs.', effect: 'write', input: input([]) },
        run: () => {
          entered()
          return left
        },
      }),
    )
    const call = session.call({ name: 'hang', arguments: {} })
    await inside
    const [open_] = (await gate.replay('s1')).steps
    expect(open_).toMatchObject({
      tool: 'hang',
      recorded: { ok: false, error: { type: 'outcome_unknown', effect: 'unknown' } },
    })
    leave()
    await call
    const [ended] = (await gate.replay('s1')).steps
    expect(ended).toMatchObject({ tool: 'hang', recorded: { ok: true } })
  })
})
