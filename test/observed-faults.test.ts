// Goal: faults of other gates that show in what is said and kept: whose no it was, what a broken call leaves behind, which tools
// there are. Method: one gate in this process for each, and what it answers, lists and records.

import './property-seed.ts'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '../src/base/clock.ts'
import { isJsonObject, type JsonObject } from '../src/base/json-value.ts'
import { type AnyTool, defineTool, type Gate, type LogEntry, mcpSource, type Session } from '../src/index.ts'
import { bodyOf } from '../src/observe/record-text.ts'
import { serveHttp } from '../src/server/http-server.ts'
import { openTokens } from '../src/server/tokens.ts'
import { serveMisbehaving } from '../src/testing/misbehaving-server.ts'
import { ScriptedSource } from '../src/testing/scripted-source.ts'
import { newFolder, openGate } from './opened.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const tool = (name: string, more: object = {}): AnyTool =>
  defineTool({
    name,
    version: '1.0.0',
    description: `Does ${name}.`,
    input: { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false },
    effect: 'read',
    run: () => 'done',
    ...more,
  } as never) as AnyTool

async function endsOf(gate: Gate): Promise<readonly JsonObject[]> {
  await gate.records.flush()
  const rows = await gate.records.query({ kind: 'end', limit: 100 })
  return rows.map((row) => {
    const body = bodyOf(row)
    return isJsonObject(body) ? body : {}
  })
}

describe('L43: the record of a refusal says whose no it was, and a person is named only where one answered', () => {
  const refusals: readonly (readonly [string, (gate: Gate) => Promise<unknown>, object])[] = [
    ['a rule', (gate) => gate.session().call({ name: 'ruled', arguments: {} }), { kind: 'deny', by: 'rule' }],
    [
      'a hook that throws',
      (gate) => gate.session().call({ name: 'hooked', arguments: {} }),
      { kind: 'deny', by: 'tool' },
    ],
    ['the stop of an operator', (gate) => stopped(gate), { kind: 'deny', by: 'stop' }],
  ]
  test.each(refusals)('%s', async (_who, act, decision) => {
    const gate = await openGate({
      tools: [
        tool('ruled'),
        tool('plain'),
        tool('hooked', {
          admit: () => {
            throw new Error('the directory of roles does not answer')
          },
        }),
      ],
      policy: { rules: [{ deny: 'ruled', because: 'not here' }] },
    })
    await act(gate)
    const [end] = await endsOf(gate)
    expect(end).toMatchObject({ ok: false, error: { type: 'permission_denied' }, decision })
    expect(JSON.stringify(end)).not.toMatch(/declined|user rejected/)
  })

  async function stopped(gate: Gate): Promise<void> {
    await gate.stop({ tool: 'plain' }, { by: 'ops' })
    await gate.session().call({ name: 'plain', arguments: {} })
  }
})

describe('a call that is broken', () => {
  test('L66: the text of truncated arguments is recorded nowhere as arguments, and replayed as none', async () => {
    const gate = await openGate({ tools: [tool('plain')] })
    const session = gate.session({ session: 'chat-1' })
    const outcome = await session.call({ name: 'plain', arguments: '{"text": "half of i' })
    expect(outcome).toMatchObject({
      ok: false,
      error: { type: 'invalid_args', message: expect.stringContaining('line 1 column 20') },
    })
    const [end] = await endsOf(gate)
    expect(end).not.toHaveProperty('args')
    expect(JSON.stringify(end)).not.toContain('{\\"text\\"')
    const { steps } = await gate.replay('chat-1')
    expect(steps).toHaveLength(1)
    expect(steps[0]).not.toHaveProperty('arguments')
  })
})

describe('one effective set of tools', () => {
  const CORE = ['read_core', 'write_core'] as const
  const OPTIONAL = ['plug_a', 'plug_b', 'plug_c'] as const
  const change = fc.oneof(
    fc.record({ kind: fc.constantFrom('register', 'retire'), name: fc.constantFrom(...OPTIONAL) }),
    fc.record({ kind: fc.constant('offer' as const), count: fc.integer({ min: 0, max: 3 }) }),
  )

  test('L70: whatever comes and goes beside them, core tools stay, and listed is callable and callable is listed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
        const far = new ScriptedSource({ name: 'far', tools: [] })
        const gate = await openGate({
          tools: CORE.map((name) => tool(name)),
          sources: [far],
          policy: { rules: [{ allow: 'plug_*' }] },
        })
        const session = gate.session()
        for (const one of changes) {
          if (one.kind === 'register') gate.catalogue.register(tool(one.name))
          else if (one.kind === 'retire') gate.catalogue.retire(one.name)
          else if ('count' in one) far.offer(OPTIONAL.slice(0, one.count).map((name) => tool(`far_${name}`)))
          const listed = session.tools().map(({ name }) => name)
          expect(listed).toEqual(expect.arrayContaining([...CORE]))
          expect(listed.filter((name) => name !== 'read_artifact')).toEqual(await callable(session))
        }
        await gate.close()
      }),
      { numRuns: 40 },
    )
  })

  async function callable(session: Session): Promise<readonly string[]> {
    const names: string[] = []
    for (const name of [...CORE, ...OPTIONAL, ...OPTIONAL.map((one) => `far_${one}`)]) {
      const preview = await session.decide({ name, arguments: { text: 7 } })
      if (preview.kind === 'refused' && preview.type === 'invalid_args') names.push(name)
    }
    return names.sort()
  }
})

describe('a stream with more on it than the answer', () => {
  test('G03: each event is judged alone, what a rule hides stays hidden, and the rubbish is told', async () => {
    const server = await serveMisbehaving({ answerOnStream: true, garbage: true })
    closing.push(() => server.close())
    const log: LogEntry[] = []
    const gate = await openGate({
      sources: [mcpSource('web', { url: server.url })],
      policy: { defaults: { undeclared: 'allow' }, rules: [{ deny: 'mcp__web__env', because: 'it shows too much' }] },
      log: (entry) => void log.push(entry),
    })
    const session = gate.session()
    const listed = session.tools().map(({ name }) => name)
    expect(listed).toContain('mcp__web__echo')
    expect(listed).not.toContain('mcp__web__env')
    const outcome = await session.call({ name: 'mcp__web__echo', arguments: { text: 'still here' } })
    expect(outcome).toMatchObject({ ok: true, content: [{ type: 'text', text: 'still here' }] })
    expect(log.map(({ message }) => message).join('\n')).toContain('the connection reports a fault')
  })
})

describe('a request that never became a call', () => {
  const BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'plain', arguments: {} } })

  test('G01: it runs nothing, and is recorded as refused, with its credential and without its text', async () => {
    let runs = 0
    const gate = await openGate({ tools: [tool('plain', { run: () => (runs += 1) })] })
    const made = await openTokens({ folder: newFolder(), clock: systemClock, log: () => {} })
    const { token, row } = await made.create({ name: 'a', scopes: ['call'], caller: {} })
    const http = await serveHttp({ gate, listen: { host: '127.0.0.1', port: 0 }, tokens: made, caller: {} })
    closing.push(() => http.close())
    const authorization = `Bearer ${token}`
    const post = (headers: Record<string, string>) =>
      fetch(`${http.url}/mcp?hush=hush`, { method: 'POST', headers, body: BODY })
    expect((await post({ authorization, 'content-type': 'text/plain' })).status).toBe(415)
    expect((await post({ 'content-type': 'application/json' })).status).toBe(401)
    expect((await post({ authorization, origin: 'https://elsewhere.example' })).status).toBe(403)
    await gate.records.flush()
    const rows = (await gate.records.query({ kind: 'gate', limit: 50 })).map(bodyOf)
    const refused = rows.filter((body) => body.what === 'a request was refused')
    const door = { what: 'a request was refused', method: 'POST', path: '/mcp' }
    expect(refused).toEqual([
      { ...door, status: 415, credential: row.id },
      { ...door, status: 401 },
      { ...door, status: 403 },
    ])
    expect(runs).toBe(0)
  })
})
