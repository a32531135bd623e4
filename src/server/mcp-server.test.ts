import { PassThrough } from 'node:stream'
import { ProtocolError, Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { expect, test, vi } from 'vitest'
import { systemClock } from '../base/clock.ts'
import type { ToolListing } from '../describe/entry.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { Gate, NamedCall, Session } from '../gate-contract.ts'
import { askingParts } from './asking-options.ts'
import { LineTransport } from './line-transport.ts'
import type { McpClient } from './mcp-client.ts'
import { buildMcpServer } from './mcp-server.ts'

const listing: ToolListing = {
  name: 'numbers',
  description: 'Numbers.',
  inputSchema: { type: 'object' },
  outputSchema: { type: 'array', items: { type: 'number' } },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  meta: { 'x/y': 1 },
}
const tools: readonly ToolListing[] = [listing]

/** A server over a session that answers as it is told, spoken to in lines. */
function serve(answer: (call: NamedCall) => Promise<Outcome>) {
  const session = { caller: {}, tools: () => tools, call: answer } as unknown as Session
  const named: (string | undefined)[] = []
  const client: McpClient = {
    id: 'tok_1',
    name: 'token one',
    mayAnswer: false,
    session: (conversation) => {
      named.push(conversation)
      return session
    },
    now: async () => client,
  }
  const input = new PassThrough()
  const output = new PassThrough()
  serveStdio(
    () =>
      buildMcpServer({
        sdk: { Server, ProtocolError },
        client: () => client,
        warm: async () => {},
        asking: askingParts({} as Gate, systemClock, new AbortController().signal),
      }),
    { transport: new LineTransport(input, output, systemClock) },
  )
  const answers: {
    readonly id?: unknown
    readonly result?: unknown
    readonly error?: unknown
    readonly method?: string
    readonly params?: unknown
  }[] = []
  let rest = ''
  output.on('data', (chunk: Buffer) => {
    const lines = `${rest}${chunk.toString('utf8')}`.split('\n')
    rest = lines.pop() ?? ''
    answers.push(...lines.map((line) => JSON.parse(line)))
  })
  const send = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const answerTo = async (id: unknown) => {
    await vi.waitFor(() => expect(answers.some((one) => one.id === id)).toBe(true))
    return answers.find((one) => one.id === id)
  }
  return { send, answerTo, answers, named }
}

const ok = (value: unknown, content: Outcome['content'] = [{ type: 'text', text: 'x' }]): Outcome => ({
  ok: true,
  value,
  content,
  elapsedMs: 1,
  meta: { callId: 'c', runId: 'r', tool: 'numbers', attempts: 1 },
})
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const handshake = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
}

test('G28: a list as a value stays one for 2026-07-28, and is wrapped for older revisions, schema and value alike', async () => {
  const old = serve(async () => ok([1, 2]))
  old.send(handshake)
  old.send({ id: 1, method: 'tools/list' })
  old.send({ id: 2, method: 'tools/call', params: { name: 'numbers' } })
  expect(await old.answerTo(1)).toMatchObject({
    result: {
      tools: [{ outputSchema: { type: 'object', properties: { result: { type: 'array' } } }, _meta: { 'x/y': 1 } }],
    },
  })
  expect(await old.answerTo(2)).toMatchObject({ result: { structuredContent: { result: [1, 2] } } })

  const modern = serve(async () => ok([1, 2]))
  modern.send({ id: 1, method: 'tools/list', params: { _meta: META } })
  modern.send({ id: 2, method: 'tools/call', params: { name: 'numbers', _meta: META } })
  expect(await modern.answerTo(1)).toMatchObject({
    result: { tools: [{ outputSchema: { type: 'array' } }], cacheScope: 'private' },
  })
  expect(await modern.answerTo(2)).toMatchObject({ result: { structuredContent: [1, 2], content: [{ type: 'text' }] } })
})

test('content of a kind that the package does not know goes out as the gate let it through', async () => {
  const { send, answerTo } = serve(async () =>
    ok([1], [{ type: 'image', data: 'not quite Base64', mimeType: 'image/png' }]),
  )
  send(handshake)
  send({ id: 1, method: 'tools/call', params: { name: 'numbers' } })
  expect(await answerTo(1)).toMatchObject({
    result: { content: expect.arrayContaining([{ type: 'image', data: 'not quite Base64', mimeType: 'image/png' }]) },
  })
})

test('progress without a number is counted, and one that falls is made to rise', async () => {
  const { send, answerTo, answers } = serve(async ({ onProgress }) => {
    for (const progress of [{ message: 'a' }, { progress: 5 }, { progress: 2, total: 9 }, { message: 'b' }])
      onProgress?.(progress)
    return ok([1])
  })
  send(handshake)
  send({ id: 1, method: 'tools/call', params: { name: 'numbers', _meta: { progressToken: 'p' } } })
  await answerTo(1)
  expect(answers.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params)).toEqual([
    { progressToken: 'p', progress: 1, message: 'a' },
    { progressToken: 'p', progress: 5 },
    { progressToken: 'p', progress: 6, total: 9 },
    { progressToken: 'p', progress: 7, message: 'b' },
  ])
})

test('without a progress token nobody is told of progress', async () => {
  const { send, answerTo } = serve(async ({ onProgress }) => ok([onProgress === undefined ? 0 : 1]))
  send(handshake)
  send({ id: 1, method: 'tools/call', params: { name: 'numbers' } })
  expect(await answerTo(1)).toMatchObject({ result: { structuredContent: { result: [0] } } })
})

test("a conversation can be named from 2026-07-28 on; with a handshake it is the connection's", async () => {
  const modern = serve(async () => ok([1]))
  modern.send({
    id: 1,
    method: 'tools/call',
    params: { name: 'numbers', _meta: { ...META, 'dev.lockgate/session': 'desk:1' } },
  })
  modern.send({
    id: 2,
    method: 'tools/call',
    params: { name: 'numbers', _meta: { ...META, 'dev.lockgate/session': ['x'] } },
  })
  await modern.answerTo(1)
  expect(await modern.answerTo(2)).toMatchObject({ error: { code: -32602 } })
  expect(modern.named).toEqual(['desk:1'])

  const old = serve(async () => ok([1]))
  old.send(handshake)
  old.send({ id: 1, method: 'tools/call', params: { name: 'numbers', _meta: { 'dev.lockgate/session': 'desk:1' } } })
  await old.answerTo(1)
  expect(old.named).toEqual([undefined])
})

test('a call without a name, and a method that is not served, are errors of the protocol', async () => {
  const { send, answerTo } = serve(async () => ok([1]))
  send(handshake)
  send({ id: 1, method: 'tools/call', params: { name: 7 } })
  send({ id: 2, method: 'prompts/list' })
  send({ id: 3, method: '__proto__' })
  expect(await answerTo(1)).toMatchObject({ error: { code: -32602 } })
  expect(await answerTo(2)).toMatchObject({ error: { code: -32601 } })
  expect(await answerTo(3)).toMatchObject({ error: { code: -32601 } })
})
