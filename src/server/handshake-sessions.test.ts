import { ProtocolError, Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Gate, Session } from '../gate-contract.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { askingParts } from './asking-options.ts'
import { HandshakeSessions } from './handshake-sessions.ts'
import type { McpClient } from './mcp-client.ts'
import { buildMcpServer } from './mcp-server.ts'
import type { TokenRow } from './token-rows.ts'

const clock = new FakeClock()
const row: TokenRow = { id: 'tok_0000000000000001', name: 'n', scopes: ['call'], hash: '', createdAt: 0 }
const waiting: (() => void)[] = []
const ended: string[] = []
const session = {
  tools: () => [],
  call: () =>
    new Promise((resolve) => waiting.push(() => resolve({ ok: true, value: 1, content: [], elapsedMs: 1, meta: {} }))),
} as unknown as Session
const client: McpClient = { id: 'x', name: 'x', mayAnswer: false, session: () => session, now: async () => client }
const sessions = new HandshakeSessions({
  Transport: WebStandardStreamableHTTPServerTransport,
  clock,
  ended: (_credential, sessionId) => ended.push(sessionId),
  build: () =>
    buildMcpServer({
      sdk: { Server, ProtocolError },
      client: () => client,
      warm: async () => {},
      asking: askingParts({} as Gate, clock, new AbortController().signal),
    }),
})
afterEach(() => sessions.close())

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const send = (body: unknown, sessionId?: string, by = row): Promise<Response> =>
  sessions.handle(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { ...HEADERS, ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }) },
    }),
    body,
    by,
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
    expect(ended).toEqual([idle])
    await clock.advance(32 * 60_000)
    expect(sessions.size).toBe(0)
    expect(new Set(ended)).toEqual(new Set([idle, used, waits, listens]))
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

  test('a client is told when the operator gives its credential another step, and not for anything else', async () => {
    const id = await open()
    await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, id)
    const listening = new Request('http://localhost/mcp', { headers: { ...HEADERS, 'mcp-session-id': id } })
    const reader = (await sessions.handle(listening, undefined, row)).body?.getReader()
    let heard = ''
    const hear = async (): Promise<void> => {
      for (let read = await reader?.read(); read?.done === false; read = await reader?.read())
        heard += Buffer.from(read.value).toString('utf8')
    }
    const hearing = hear()
    const list = (rpcId: number, by: TokenRow) =>
      send({ jsonrpc: '2.0', id: rpcId, method: 'tools/list' }, id, by).then((response) => response.text())
    await list(1, { ...row, name: 'another name', hash: '1', caller: undefined } as unknown as TokenRow)
    expect(heard).not.toContain('list_changed')
    await list(2, { ...row, caller: { step: 'publish' } })
    await vi.waitFor(() => expect(heard).toContain('notifications/tools/list_changed'))
    await reader?.cancel()
    await hearing
  })
})
