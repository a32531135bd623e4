// The kill switch. Goal: what is stopped neither starts nor runs on, for every process on the database and over restarts,
// until it is lifted; all else goes on.

import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type AnyTool, defineTool, type Gate, type GateOptions } from '../src/index.ts'
import { ScriptedSource } from '../src/testing/scripted-source.ts'
import { newFolder, openGate } from './opened.ts'

const tool = (name: string, run: () => unknown = () => 'ran', effect = 'read'): AnyTool =>
  defineTool({
    name,
    version: '1.0.0',
    description: `Does ${name}.`,
    input: { type: 'object' },
    effect,
    run,
  } as never) as AnyTool

const typeOf = async (gate: Gate, name: string, session = 's'): Promise<string> => {
  const outcome = await gate.session({ session }).call({ name })
  return outcome.ok ? 'ok' : outcome.error.type
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    if (tries > 500) throw new Error('it did not come to be in time')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const setUp = () =>
  openGate({ tools: [tool('a'), tool('b')], sources: [new ScriptedSource({ name: 'far', tools: [tool('c')] })] })

describe('what is stopped', () => {
  test.each([
    ['a tool', { tool: 'a' }, { a: false, b: true, c: true }],
    ['a source', { source: 'far' }, { a: true, b: true, c: false }],
    ['everything', {}, { a: false, b: false, c: false }],
    ['a session', { session: 's' }, { a: false, b: false, c: false }],
    ['another session', { session: 'other' }, { a: true, b: true, c: true }],
    ['a tool of a source that has none of the name', { tool: 'a', source: 'far' }, { a: true, b: true, c: true }],
  ] as const)('%s: it is neither listed nor called, and all else is', async (_what, target, expected) => {
    const gate = await setUp()
    const told: number[] = []
    gate.on('stops-changed', (rows) => told.push(rows.length))
    const row = await gate.stop(target, { by: 'ana', reason: 'it runs wild' })
    const listed = gate
      .session({ session: 's' })
      .tools()
      .map(({ name }) => name)
    for (const [name, open] of Object.entries(expected)) {
      expect([name, await typeOf(gate, name)]).toEqual([name, open ? 'ok' : 'permission_denied'])
      expect([name, listed.includes(name)]).toEqual([name, open])
    }
    expect(gate.stops()).toEqual([row])
    expect(await gate.lift(row.id, 'ana')).toBe(true)
    expect(await gate.lift(row.id, 'ana')).toBe(false)
    for (const name of Object.keys(expected)) expect(await typeOf(gate, name)).toBe('ok')
    expect(told).toEqual([1, 0])
    await gate.records.flush()
    const records = await gate.records.query({ limit: 100 })
    expect(records.filter(({ kind }) => kind === 'stop')).toHaveLength(2)
  })

  test('a session counts for whoever works for it, and the model is not told who stopped it or why', async () => {
    const gate = await setUp()
    await gate.stop({ session: 's' }, { by: 'ana', reason: 'it runs wild' })
    const child = gate.session({ session: 's' }).child({ session: 'sub' })
    const outcome = await child.call({ name: 'a' })
    expect(outcome).toMatchObject({ ok: false, error: { type: 'permission_denied' } })
    expect(JSON.stringify(outcome)).not.toMatch(/ana|wild/)
  })

  test('closed: a target that is misspelt, empty or no text stops nothing and says so', async () => {
    const gate = await setUp()
    for (const bad of [{ tol: 'a' }, { tool: '' }, { tool: 7 }, [], null, 'a'])
      await expect(gate.stop(bad as never)).rejects.toThrow(TypeError)
    expect(gate.stops()).toEqual([])
  })
})

describe('what runs', () => {
  test('honest-effect: a running call is ended at once; another one runs on', async () => {
    const running: (() => void)[] = []
    const hang = () => new Promise((resolve) => running.push(() => resolve('done')))
    const gate = await openGate({
      tools: [tool('w', hang, 'write'), tool('r', hang)],
      policy: { defaults: { write: 'allow' } },
    })
    const stopped = gate.session().call({ name: 'w' })
    const other = gate.session().call({ name: 'r' })
    await until(() => running.length === 2)
    await gate.stop({ tool: 'w' })
    expect(await stopped).toMatchObject({ ok: false, error: { type: 'permission_denied', effect: 'unknown' } })
    for (const go of running) go()
    expect(await other).toMatchObject({ ok: true })
  })
})

describe('what is on its way', () => {
  test('a call whose arguments are still looked at is denied before anything is written for it', async () => {
    let go = (): void => {}
    let begun = (): void => {}
    const started = new Promise<void>((resolve) => (begun = resolve))
    const slow = defineTool({
      ...{ name: 'w', version: '1.0.0', description: 'Writes.', input: { type: 'object' }, effect: 'write' },
      resolve: async (args: object) => {
        begun()
        await new Promise<void>((resolve) => (go = resolve))
        return args
      },
      run: () => 'ran',
    } as never) as AnyTool
    const gate = await openGate({ tools: [slow], policy: { defaults: { write: 'allow' } } })
    const outcome = gate.session().call({ name: 'w' })
    await started
    await gate.stop({ tool: 'w' })
    go()
    expect(await outcome).toMatchObject({ ok: false, error: { type: 'permission_denied', effect: 'none' } })
    await gate.records.flush()
    const records = await gate.records.query({ limit: 100 })
    expect(records.map(({ kind }) => kind)).toEqual(['stop', 'end'])
  })
})

describe('one database', () => {
  test('a stop reaches the other process and is there after a restart; so does lifting it', async () => {
    const folder = newFolder()
    const options = (): GateOptions => ({ tools: [tool('a')], store: { sqlite: join(folder, 'gate.db') } })
    const one = await openGate(options())
    const other = await openGate(options())
    expect(await typeOf(other, 'a')).toBe('ok')
    const row = await one.stop({ tool: 'a' }, { by: 'ana' })
    await until(() => other.stops().length === 1)
    expect(await typeOf(other, 'a')).toBe('permission_denied')
    const later = await openGate(options())
    expect(later.stops()).toEqual([row])
    expect(await typeOf(later, 'a')).toBe('permission_denied')
    expect(await later.lift(row.id, 'ben')).toBe(true)
    await until(() => one.stops().length === 0 && other.stops().length === 0)
    expect(await typeOf(one, 'a')).toBe('ok')
    expect(await typeOf(other, 'a')).toBe('ok')
  })
})
