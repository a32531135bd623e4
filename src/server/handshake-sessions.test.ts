import { ProtocolError, Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Session } from '../gate-contract.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { HandshakeSessions } from './handshake-sessions.ts'
import { buildMcpServer } from './mcp-server.ts'
import type { TokenRow } from './token-rows.ts'

const clock = new FakeClock()
const row: TokenRow = { id: 'tok_0000000000000001', name: 'n', scopes: ['call'], hash: '', createdAt: 0 }
const waiting: (() => void)[] = []
const session = {
  tools: () => [],
  call: () =>
    new Promise((resolve) => waiting.push(() => resolve({ ok: true, value: 1, content: [], elapsedMs: 1, meta: {} }))),
} as unknown as Session
const sessions = new HandshakeSessions({
  Transport: WebStandardStreamableHTTPServerTransport,
  clock,
  build: () =>
    buildMcpServer(
      { Server, ProtocolError },
      () => session,
      async () => {},
    ),
})
afterEach(() => sessions.close())

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const send = (body: unknown, sessionId?: string): Promise<Response> =>
  sessions.handle(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { ...HEADERS, ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }) },
    }),
    body,
    row,
  )
const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
}
const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 't' } })

async function open(): Promise<string> {
  const response = await send(initialize)
  await response.text()
  return response.headers.get('mcp-session-id') ?? ''
}

describe('sessions of the handshake revisions', () => {
  test('one that is idle for half an hour ends; one that is used, waits or listens does not', async () => {
    const [idle, used, waits, listens] = [await open(), await open(), await open(), await open()]
    const answer = await send(call(1), waits)
    const stream = await sessions.handle(
      new Request('http://localhost/mcp', { method: 'GET', headers: { ...HEADERS, 'mcp-session-id': listens } }),
      undefined,
      row,
    )
    await clock.advance(20 * 60_000)
    await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, used)
    await clock.advance(12 * 60_000)
    expect(sessions.size).toBe(3)
    expect((await send(call(1), idle)).status).toBe(404)
    expect((await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, used)).status).toBe(202)
    for (const finish of waiting.splice(0)) finish()
    expect(await answer.text()).toContain('"id":1')
    await stream.body?.cancel()
    await clock.advance(32 * 60_000)
    expect(sessions.size).toBe(0)
  })

  test('an id is free again when its call was cancelled, and its stream ends', async () => {
    const id = await open()
    const answer = await send(call(5), id)
    await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } }, id)
    expect(await answer.text()).toBe('')
    expect((await send(call(5), id)).status).toBe(200)
  })

  test('a thousand sessions are kept; the one not used for longest makes room', async () => {
    const first = await open()
    for (let index = 1; index < 1_000; index++) await open()
    await clock.advance(1)
    expect(sessions.size).toBe(1_000)
    await open()
    await vi.waitFor(() => expect(sessions.size).toBe(1_000))
    expect((await send(call(1), first)).status).toBe(404)
  })

  test('a handshake that does not hold opens no session', async () => {
    expect((await send({ ...initialize, params: {} })).status).toBeGreaterThanOrEqual(200)
    expect((await send([initialize, initialize])).status).toBe(400)
    expect((await send(call(1))).status).toBe(400)
    expect(sessions.size).toBeLessThanOrEqual(1)
  })
})
