// Goal: a call that ends before its server has answered costs the server nothing: it is told to stop, it lives on, and what it
// says after that is known. However many calls there are, and however a client leaves, there are as many processes as before.
// Method: real gates over the misbehaving server; processes are counted where the system lists them.

import { readdirSync, readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Outcome } from '../src/describe/outcome.ts'
import type { Gate, Session } from '../src/gate-contract.ts'
import { type McpSourceOptions, mcpSource } from '../src/sources/mcp/mcp-source.ts'
import { type MisbehavingSwitches, misbehavingServer, serveMisbehaving } from '../src/testing/misbehaving-server.ts'
import { CliProject } from './cli-project.ts'
import { openGate } from './opened.ts'
import { serve } from './serve-project.ts'

const ALLOW = { defaults: { undeclared: 'allow', write: 'allow', external: 'allow' } } as const
/** Looks often, and waits long where the machine is busy. */
const until = <Value>(check: () => Value) => vi.waitFor(check, { timeout: 15_000, interval: 20 })

const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function open(more: Partial<McpSourceOptions> = {}, switches: MisbehavingSwitches = {}) {
  const gate = await openGate({
    policy: ALLOW,
    sources: [mcpSource('up', { ...misbehavingServer(switches), ...more })],
  })
  return { gate, session: gate.session() }
}

const call = (session: Session, name: string, args: object = {}, signal?: AbortSignal): Promise<Outcome> =>
  session.call({ name: `mcp__up__${name}`, arguments: args, ...(signal === undefined ? {} : { signal }) })
const textOf = ({ content }: Outcome): string => content.map((part) => (part.type === 'text' ? part.text : '')).join('')
const errorOf = (outcome: Outcome) => (outcome.ok ? undefined : outcome.error)
const recordsOf = async (gate: Gate, callId: string, kind: 'late' | 'end') => {
  await gate.records.flush()
  const rows = await gate.records.query({ kind, limit: 1_000 })
  return rows
    .filter((row) => row.callId === callId)
    .map(({ body }) => JSON.parse(body ?? '{}') as Record<string, unknown>)
}

/** Processes that this one has started and that do something still. */
function children(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        return Number(parent) === process.pid && state !== 'Z' && state !== 'X'
      } catch {
        return false
      }
    })
    .map(Number)
}

describe('a call that ends before its server has answered', () => {
  test('at its deadline: the server is told to stop, lives on and serves the next call', async () => {
    const { session } = await open({ deadlineMs: 300 })
    const before = textOf(await call(session, 'pid'))
    expect(errorOf(await call(session, 'hang'))).toMatchObject({ type: 'timeout', effect: 'unknown' })
    expect(textOf(await call(session, 'cancelled'))).toBe('1')
    expect(textOf(await call(session, 'pid'))).toBe(before)
  })

  test('because its caller leaves: the same', async () => {
    const { session } = await open()
    const before = textOf(await call(session, 'pid'))
    const leaving = new AbortController()
    const hanging = call(session, 'hang', {}, leaving.signal)
    await until(async () => expect(textOf(await call(session, 'count'))).not.toBe('1'))
    leaving.abort()
    expect(errorOf(await hanging)).toMatchObject({ type: 'cancelled', effect: 'unknown' })
    expect(textOf(await call(session, 'cancelled'))).toBe('1')
    expect(textOf(await call(session, 'pid'))).toBe(before)
  })

  test('because its caller has left before it began: the server never hears of it', async () => {
    const { session } = await open()
    expect(errorOf(await call(session, 'hang', {}, AbortSignal.abort()))).toMatchObject({
      type: 'cancelled',
      effect: 'none',
    })
    expect(textOf(await call(session, 'cancelled'))).toBe('0')
    expect(textOf(await call(session, 'count'))).toBe('2')
  })

  test.each([
    ['stdio', 'what it did is known, though nobody waits any more'],
    ['http', 'over HTTP too'],
  ])('and is answered later all the same (%s): the answer is recorded, and goes to nobody: %s', async (wire) => {
    const server = wire === 'http' ? await serveMisbehaving() : undefined
    if (server !== undefined) closing.push(() => server.close())
    const reached = server === undefined ? misbehavingServer() : { url: server.url }
    const gate = await openGate({ policy: ALLOW, sources: [mcpSource('up', { ...reached, deadlineMs: 400 })] })
    const outcome = await call(gate.session(), 'slow', { ms: 1_200 })
    expect(errorOf(outcome)).toMatchObject({ type: 'timeout', effect: 'unknown' })
    await until(async () =>
      expect(await recordsOf(gate, outcome.meta.callId, 'late')).toMatchObject([{ ok: true, effect: 'done' }]),
    )
    expect(await recordsOf(gate, outcome.meta.callId, 'end')).toMatchObject([{ ok: false }])
    expect((await call(gate.session(), 'echo', { text: 'x' })).ok).toBe(true)
  })

  test('and is refused later: that is recorded too, without what the server said', async () => {
    const { gate, session } = await open({ deadlineMs: 300 })
    const outcome = await call(session, 'slow', { ms: 800, refuses: true })
    expect(errorOf(outcome)).toMatchObject({ type: 'timeout', effect: 'unknown' })
    await until(async () =>
      expect(await recordsOf(gate, outcome.meta.callId, 'late')).toMatchObject([
        { ok: false, error: { code: 'upstream_refused', effect: 'unknown' } },
      ]),
    )
  })

  test('idle and overall bounds are apart: one that goes on saying how far it is may go on, one that falls silent ends', async () => {
    const { session } = await open({ idleMs: 400, deadlineMs: 20_000 })
    const steps = { times: 8, ms: 100 }
    expect(textOf(await call(session, 'steps', steps))).toBe('done')
    expect(errorOf(await call(session, 'hang'))).toMatchObject({ type: 'timeout', details: { limit: 'idleMs' } })
    expect(textOf(await call(session, 'cancelled'))).toBe('1')
    const { session: bounded } = await open({ idleMs: 450, deadlineMs: 500 })
    expect(errorOf(await call(bounded, 'steps', { times: 100, ms: 50 }))).toMatchObject({ type: 'timeout' })
  })
})

describe('G20, G39: the number of processes', () => {
  const PARALLEL = 20

  test('is the same after thousands of calls, ended ones among them, and as before when the gate has closed', async () => {
    const before = children().length
    const { gate, session } = await open()
    const during = children()
    expect(during).toHaveLength(before + 1)
    for (let round = 0; round < 100; round++) {
      const calls = Array.from({ length: PARALLEL }, (_, index) => call(session, 'echo', { text: `${round} ${index}` }))
      const leaving = new AbortController()
      const left = call(session, 'hang', { round }, leaving.signal)
      expect((await Promise.all(calls)).every(({ ok }) => ok)).toBe(true)
      leaving.abort()
      expect((await left).ok).toBe(false)
    }
    expect(children()).toEqual(during)
    expect(Number(textOf(await call(session, 'count')))).toBeGreaterThan(2_000)
    await gate.close()
    await until(() => expect(children()).toHaveLength(before))
  })

  test('is the same however often the list is read again', async () => {
    const { session } = await open({}, { changeAtCall: 1, announce: 500 })
    const during = children()
    await call(session, 'count')
    await until(async () => {
      const listing = session.tools().find(({ name }) => name === 'mcp__up__echo')
      expect(listing?.description).toBe('Says it again, and more.')
    })
    expect(children()).toEqual(during)
  })

  test('is as before when a client on stdio is gone without a word, in the middle of a call', async () => {
    const { command, args } = misbehavingServer()
    const project = new CliProject(
      JSON.stringify({
        version: 1,
        store: 'memory',
        sources: { up: { command, args, effects: { '*': 'read' } } },
      }),
    )
    closing.push(() => project.remove())
    const before = children()
    const input = new PassThrough()
    let said = ''
    const hear = (text: string): void => {
      said = text
    }
    const run = project.run(['serve', '--stdio'], { input, onStdout: hear })
    const send = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    const clientInfo = { name: 'abrupt', version: '1.0.0' }
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } })
    await until(() => expect(said).toContain('"id":1'))
    send({ method: 'notifications/initialized' })
    send({ id: 2, method: 'tools/call', params: { name: 'mcp__up__echo', arguments: { text: 'here' } } })
    await until(() => expect(said).toContain('here'))
    expect(children()).toHaveLength(before.length + 1)
    send({ id: 3, method: 'tools/call', params: { name: 'mcp__up__hang', arguments: {} } })
    input.destroy()
    await run
    await until(() => expect(children()).toEqual(before))
  })

  test('is the same when a client over HTTP is gone in the middle of a call, and its call is ended', async () => {
    const { command, args } = misbehavingServer()
    const project = new CliProject(
      JSON.stringify({
        version: 1,
        store: 'memory',
        server: { listen: '127.0.0.1:0' },
        sources: { up: { command, args, effects: { '*': 'read' } } },
      }),
    )
    closing.push(() => project.remove())
    const served = await serve(project)
    closing.push(() => served.stop())
    expect((await served.call('mcp__up__echo', { text: 'x' })).ok).toBe(true)
    const during = children()
    for (let time = 1; time <= 3; time++) {
      const leaving = new AbortController()
      const gone = fetch(`${served.announced.api}/calls`, {
        method: 'POST',
        headers: { authorization: `Bearer ${served.announced.callToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'mcp__up__hang', arguments: { time } }),
        signal: leaving.signal,
      }).catch(() => undefined)
      const running = async () => (await served.call('mcp__up__count')) as { content?: { text?: string }[] }
      const count = Number((await running()).content?.[0]?.text)
      await served.until(async () => Number((await running()).content?.[0]?.text) > count)
      leaving.abort()
      await gone
      await served.until(async () => {
        const answer = (await served.call('mcp__up__cancelled')) as { content?: { text?: string }[] }
        return answer.content?.[0]?.text === `${time}`
      })
    }
    expect(children()).toEqual(during)
  })
})

describe('G10: nothing that looks after a server', () => {
  test('shakes hands with it again while it lives: not calls, lists read again, nor whoever asks how it is', async () => {
    const { gate, session } = await open({}, { changeAtCall: 2, announce: 3 })
    const before = textOf(await call(session, 'handshakes'))
    await call(session, 'count')
    await until(async () => {
      const listing = session.tools().find(({ name }) => name === 'mcp__up__echo')
      expect(listing?.description).toBe('Says it again, and more.')
    })
    await gate.settled()
    for (let time = 0; time < 50; time++) {
      expect(gate.catalogue.sources().find(({ name }) => name === 'up')?.state.kind).toBe('ready')
      gate.catalogue.rows()
      session.tools()
    }
    const leaving = new AbortController()
    const hanging = call(session, 'hang', {}, leaving.signal)
    leaving.abort()
    await hanging
    expect([before, textOf(await call(session, 'handshakes'))]).toEqual(['1', '1'])
  })
})

describe('failures that are told of a source', () => {
  test('are its own: a server that refuses requests works and is not left alone, one that dies again and again is', async () => {
    const { session } = await open()
    for (let time = 0; time < 8; time++)
      expect(errorOf(await call(session, 'protocol_error', { time }))).toMatchObject({ type: 'tool_error' })
    for (let time = 0; time < 8; time++) {
      const leaving = new AbortController()
      const left = call(session, 'hang', { time }, leaving.signal)
      leaving.abort()
      await left
    }
    expect((await call(session, 'echo', { text: 'x' })).ok).toBe(true)
    for (let time = 0; time < 8; time++) await call(session, 'crash', { time })
    expect(errorOf(await call(session, 'echo', { text: 'y' }))).toMatchObject({ type: 'busy', effect: 'none' })
  })
})

describe('progress', () => {
  test('of an upstream reaches its caller and whoever listens to the gate, the last of it before the answer', async () => {
    const { gate, session } = await open()
    const heard: unknown[] = []
    const seen: unknown[] = []
    gate.on('call-progress', ({ callId, tool, caller, progress }) =>
      heard.push({ callId, tool, user: caller.user, progress }),
    )
    const outcome = await session.call({
      name: 'mcp__up__steps',
      arguments: { times: 3, ms: 5 },
      onProgress: (progress) => void seen.push(progress),
    })
    expect(seen[0]).toEqual({ progress: 1, total: 3, message: 'step 1' })
    expect(seen.at(-1)).toEqual({ progress: 3, total: 3, message: 'step 3' })
    const { callId } = outcome.meta
    expect(heard).toEqual(
      seen.map((progress) => ({ callId, tool: 'mcp__up__steps', user: session.caller.user, progress })),
    )
  })
})
