// Goal: what a record of a call says and in which half, and what becomes of calls while records cannot be kept. Method: whole
// gates with both kinds of store; a disk that takes nothing is a trigger in the database, set from a connection beside it.

import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sha256 } from '../src/base/digest.ts'
import { type AnyTool, defineTool, type Gate, type GateOptions, type LogEntry } from '../src/index.ts'
import { bodyOf } from '../src/observe/record-text.ts'
import { until } from '../src/stores/conformance-files.ts'
import { findDriver, type SqlDatabase } from '../src/stores/sqlite-driver.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { createRecordingStore } from '../src/testing/recording-store.ts'
import { newFolder, openGate } from './opened.ts'

const tool = (name: string, effect: 'read' | 'write', run: unknown = () => ({ city: 'Oslo' })): AnyTool =>
  defineTool({
    ...{ name, version: '1.0.0', description: `Does ${name}.`, effect, run },
    input: { type: 'object', properties: { text: { type: 'string' } } },
  } as never) as AnyTool

const policy = { defaults: { write: 'allow' } } as const
const sqliteOptions = (): GateOptions & { readonly store: { readonly sqlite: string } } => ({
  tools: [tool('look', 'read'), tool('change', 'write')],
  store: { sqlite: join(newFolder(), 'state', 'lockgate.db') },
  policy,
})

async function lastEnd(gate: Gate) {
  await gate.records.flush()
  const [row] = await gate.records.query({ kind: 'end', newestFirst: true, limit: 1 })
  if (row === undefined) throw new Error('no call has ended')
  return { row, body: bodyOf(row) }
}

describe('what a record says', () => {
  test('openly: tool, decision, end, sizes, stages; and sealed: who, what exactly, and what would give that away', async () => {
    const gate = await openGate(sqliteOptions())
    await gate.session({ tenant: 'acme', user: 'eva' }).call({ name: 'look', arguments: { text: 'of eva' } })
    const { row, body } = await lastEnd(gate)
    const open = JSON.parse(row.body)
    expect(open).toMatchObject({
      ...{ entrance: 'library', tool: 'look', version: '1.0.0', effect: 'read', ok: true, attempts: 1 },
      decision: { kind: 'allow' },
      result: { bytes: JSON.stringify({ city: 'Oslo' }).length },
      runId: expect.stringMatching(/^run_/),
    })
    expect(Object.keys(open.stages)).toEqual(['discover', 'admit', 'validate', 'decide', 'intend', 'execute', 'shape'])
    for (const ms of Object.values(open.stages)) expect(ms).toBeGreaterThanOrEqual(0)
    for (const word of ['eva', 'acme', 'argsHmac', sha256(JSON.stringify({ city: 'Oslo' }))])
      expect(row.body).not.toContain(word)
    expect(body).toMatchObject({
      ...{ tenant: 'acme', user: 'eva', args: { text: 'of eva' } },
      result: { digest: sha256(JSON.stringify({ city: 'Oslo' })) },
      decision: { kind: 'allow', reason: expect.any(String) },
    })
  })

  test('a call that came as far as its arguments has the stages until there, and the error in two halves', async () => {
    const gate = await openGate(sqliteOptions())
    await gate.session({ user: 'eva' }).call({ name: 'look', arguments: { text: 5 } })
    const { row, body } = await lastEnd(gate)
    expect(Object.keys(JSON.parse(row.body).stages)).toEqual(['discover', 'admit', 'validate', 'shape'])
    expect(JSON.parse(row.body).error).toEqual({ type: 'invalid_args', effect: 'none' })
    expect(body.error).toMatchObject({ type: 'invalid_args', message: expect.stringContaining('text') })
  })

  test('why a call had to run alone is personal, and holds no secret', async () => {
    const secret = `ghp_${'aB3dE6gH9'.repeat(4)}`
    const alone = defineTool({
      ...{ name: 'alone', version: '1.0.0', description: 'Runs alone.', effect: 'read', run: () => 1 },
      input: { type: 'object' },
      touches: () => {
        throw new Error(`of eva ${secret}`)
      },
    } as never) as AnyTool
    const gate = await openGate({ ...sqliteOptions(), tools: [alone] })
    await gate.session({ user: 'eva' }).call({ name: 'alone', arguments: {} })
    const { row, body } = await lastEnd(gate)
    expect(row.body).not.toContain('of eva')
    expect(body.exclusive).toContain('of eva [redacted:github-token]')
  })

  test('a call inside another names its parent and the way to it', async () => {
    const outer = tool(
      'outer',
      'read',
      async (_args: unknown, context: { call(request: object): Promise<unknown> }) => {
        await context.call({ name: 'look', arguments: {} })
        return 'done'
      },
    )
    const gate = await openGate({ tools: [outer, tool('look', 'read')] })
    const outcome = await gate.session().call({ name: 'outer', arguments: {} })
    const [inner] = (await gate.records.query({ tool: 'look', limit: 1 })).map(bodyOf)
    expect(inner).toMatchObject({
      ...{ parentCall: outcome.meta.callId, path: [outcome.meta.callId], runId: outcome.meta.runId },
    })
  })

  test('secrets in arguments and errors are in no half, and the HMAC is over what was decided on', async () => {
    const secret = `ghp_${'aB3'.repeat(12)}`
    const failing = tool('fail', 'read', () => {
      throw new Error(`cannot use ${secret}`)
    })
    const gate = await openGate({ tools: [tool('look', 'read'), failing] })
    const hmacs = []
    for (const text of [secret, `${secret}x`]) {
      await gate.session().call({ name: 'look', arguments: { text } })
      const { body } = await lastEnd(gate)
      expect(JSON.stringify(body)).not.toContain(secret)
      expect(body).toMatchObject({ argsRedacted: [expect.any(String)] })
      expect(body.argsHmac).toMatch(/^[0-9a-f]{64}$/)
      hmacs.push(body.argsHmac)
    }
    expect(hmacs[0]).not.toBe(hmacs[1])
    await gate.session().call({ name: 'fail', arguments: {} })
    expect(JSON.stringify((await lastEnd(gate)).body)).not.toContain(secret)
  })

  test('a clock that steps back leaves a chain that verifies, and no negative time', async () => {
    const clock = new FakeClock()
    const gate = await openGate({ ...sqliteOptions(), clock })
    const session = gate.session()
    await session.call({ name: 'look', arguments: {} })
    clock.step(-3_600_000)
    await session.call({ name: 'change', arguments: {} })
    await session.call({ name: 'look', arguments: {} })
    await gate.records.flush()
    const ends = await gate.records.query({ kind: 'end', limit: 10 })
    expect(ends.map(({ at }) => at)).toEqual([...ends.map(({ at }) => at)].sort((one, other) => other - one))
    for (const row of ends) expect(bodyOf(row).ms).toBeGreaterThanOrEqual(0)
    expect(await gate.records.verify()).toMatchObject({ kind: 'ok' })
  })
})

/** From now on the database takes no row. Answers how to mend it. */
async function fill(file: string): Promise<() => void> {
  const found = await findDriver()
  if (found.kind === 'failed') throw new Error(found.reason)
  const database: SqlDatabase = found.driver.open(file)
  database.exec('PRAGMA busy_timeout = 5000')
  database.exec(`CREATE TRIGGER full BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
  return () => {
    database.exec('DROP TRIGGER full')
    database.close()
  }
}

describe('while records cannot be kept', () => {
  test.each(['refuse', 'reads'] as const)('nothing acts, and reads do as they are told: %s', async (onFailure) => {
    const log: LogEntry[] = []
    const options = sqliteOptions()
    const gate = await openGate({ ...options, audit: { onFailure }, log: (entry) => void log.push(entry) })
    const told: (string | undefined)[] = []
    gate.on('audit-failed', ({ reason }) => void told.push(reason))
    const session = gate.session()
    expect(gate.troubles()).toEqual([])
    await session.call({ name: 'look', arguments: {} })
    await gate.records.flush()
    const mend = await fill(options.store.sqlite)
    // The first read after the disk is full goes on: nobody knows yet. Its record waits.
    await session.call({ name: 'look', arguments: {} })
    await gate.records.flush().catch(() => undefined)
    for (let call = 0; call < 3; call += 1) {
      const read = await session.call({ name: 'look', arguments: {} })
      expect(read.ok || read.error.type).toBe(onFailure === 'reads' ? true : 'audit_unavailable')
      const write = await session.call({ name: 'change', arguments: {} })
      expect(write).toMatchObject({ ok: false, error: { type: 'audit_unavailable', effect: 'none' } })
      expect(write.ok || write.error.message).not.toContain('disk is full')
    }
    expect(gate.troubles()).toEqual([expect.stringContaining('the disk is full')])
    // Once for each change, however many calls there are.
    expect(told).toEqual([expect.stringContaining('the disk is full')])
    expect(log.filter(({ message }) => message === 'records cannot be kept')).toHaveLength(1)
    mend()
    await until(() => gate.troubles().length === 0).catch(() => expect(gate.troubles()).toEqual([]))
    expect(told.at(-1)).toBeUndefined()
    expect(await session.call({ name: 'change', arguments: {} })).toMatchObject({ ok: true })
    await gate.records.flush()
    // What was done meanwhile was not forgotten.
    const ends = await gate.records.query({ kind: 'end', limit: 100 })
    expect(ends.filter((row) => bodyOf(row).ok === true)).toHaveLength(onFailure === 'reads' ? 6 : 3)
    expect(await gate.records.verify()).toMatchObject({ kind: 'ok' })
  })

  test('a store that comes back by itself is heard of without a call', async () => {
    const clock = new FakeClock()
    const store = createRecordingStore({ clock })
    const gate = await openGate({ tools: [tool('look', 'read')], store, clock })
    const told: (string | undefined)[] = []
    gate.on('audit-failed', ({ reason }) => void told.push(reason))
    store.breakWith('no room')
    await gate.session().call({ name: 'look', arguments: {} })
    store.breakWith(undefined)
    await clock.advance(1_000)
    expect(told).toEqual(['no room', undefined])
  })
})

test('the version of the policy is recorded where a gate begins and where it is replaced', async () => {
  const gate = await openGate(sqliteOptions())
  await gate.policy.reload({ rules: [{ deny: 'change' }] })
  const bodies = (await gate.records.query({ kind: 'gate', limit: 10 })).map(bodyOf)
  expect(bodies).toMatchObject([{ what: 'the gate began' }, { what: 'the policy was replaced' }])
  expect(bodies[0]?.policy).not.toBe(bodies[1]?.policy)
})

test('old records go by themselves, and what is left verifies', async () => {
  const clock = new FakeClock()
  const store = createRecordingStore({ clock })
  const gate = await openGate({ tools: [tool('look', 'read')], store, clock, audit: { keepMs: 60_000 } })
  const session = gate.session()
  await session.call({ name: 'look', arguments: {} })
  await clock.advance(120_000)
  await session.call({ name: 'look', arguments: {} })
  await gate.records.retain()
  expect(await gate.records.query({ kind: 'end', limit: 10 })).toHaveLength(1)
  expect(await gate.records.verify()).toMatchObject({ kind: 'ok' })
})

test('an erasure of a person is asked of the gate: the rest is still there and verifies', async () => {
  const gate = await openGate(sqliteOptions())
  for (const user of ['eva', 'bob'])
    await gate.session({ tenant: 'acme', user }).call({ name: 'change', arguments: {} })
  await gate.records.flush()
  await expect(gate.records.erase({ tenant: 'acme', user: '' }, 'boss')).rejects.toThrow(/user/)
  // The intent and the end.
  expect(await gate.records.erase({ tenant: 'acme', user: 'eva' }, 'boss')).toMatchObject({ records: 2, unsealed: 0 })
  expect(await gate.records.query({ user: 'eva', limit: 10 })).toEqual([])
  expect(await gate.records.query({ user: 'bob', limit: 10 })).toHaveLength(2)
  expect(await gate.records.query({ tool: 'change', kind: 'end', limit: 10 })).toHaveLength(2)
  const [erasure] = (await gate.records.query({ kind: 'erasure', limit: 10 })).map(bodyOf)
  expect(erasure).toMatchObject({ by: 'boss', records: 2 })
  expect(JSON.stringify(erasure)).not.toContain('eva')
  expect(await gate.records.verify()).toMatchObject({ kind: 'ok' })
})
