// Goal: every kind of client that there is lists and calls through the gate, over HTTP and over stdio, sees what it may
// call and nothing else, and gets its own answers. Method: the official v2 client in both eras and the v1 client, in front
// of real upstreams.

import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import {
  Client,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../src/base/clock.ts'
import { type AnyTool, createGate, defineTool, type Gate, mcpSource } from '../src/index.ts'
import { type HttpServing, serveHttp } from '../src/server/http-server.ts'
import { type McpStdio, serveMcpStdio } from '../src/server/mcp-stdio.ts'
import { openTokens } from '../src/server/tokens.ts'

const require = createRequire(import.meta.url)
const script = (name: string): string => require.resolve(`@modelcontextprotocol/${name}/dist/index.js`)

let folder = ''
let gate: Gate
let http: HttpServing
let token = ''
/** Ends of calls to `wait`, by the text that they were called with. */
const aborted: string[] = []

const wait = defineTool({
  name: 'wait',
  version: '1.0.0',
  description: 'Waits until it is told to stop.',
  input: { type: 'object', properties: { mark: { type: 'string' } } } as const,
  effect: 'read',
  run: (args, context) =>
    new Promise((_resolve, reject) => {
      context.progress({ message: 'waiting' })
      context.signal.addEventListener('abort', () => {
        aborted.push(String((args as { mark: string }).mark))
        reject(new Error('stopped'))
      })
    }),
}) as unknown as AnyTool

const prices = defineTool({
  name: 'prices',
  version: '1.0.0',
  description: 'Lists prices.',
  input: { type: 'object', properties: { count: { type: 'integer' } } } as const,
  output: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } } as const,
  effect: 'read',
  run: async (args) =>
    Array.from({ length: (args as { count?: number }).count ?? 2 }, (_, id) => ({ id, name: `price ${id}` })) as never,
})

const say = defineTool({
  name: 'say',
  version: '1.0.0',
  description: 'Says who called, after a while.',
  input: { type: 'object', properties: { text: { type: 'string' }, ms: { type: 'number' } } } as const,
  output: {
    type: 'object',
    properties: { said: { type: 'string' }, session: { type: 'string' } },
    required: ['said'],
  } as const,
  effect: 'read',
  run: async (args, { caller }) => {
    const { text = '', ms = 0 } = args as { text?: string; ms?: number }
    await new Promise((resolve) => setTimeout(resolve, ms))
    return { said: text, session: caller.session } as never
  },
}) as unknown as AnyTool

const POLICY = { rules: [{ deny: 'mcp__everything__get-env', because: 'the environment stays in' }] }

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'lockgate-serving-')))
  await writeFile(join(folder, 'note.txt'), 'hello from a file')
  gate = await createGate({
    tools: [wait, prices, say],
    sources: [
      mcpSource('everything', {
        command: process.execPath,
        args: [script('server-everything'), 'stdio'],
        trust: 'annotations',
      }),
      mcpSource('files', {
        command: process.execPath,
        args: [script('server-filesystem'), folder],
        effects: { 'read_*': 'read', 'list_*': 'read', write_file: 'write' },
      }),
    ],
    policy: POLICY,
  })
  await gate.settled()
  expect(gate.catalogue.sources()).toMatchObject([{ state: { kind: 'ready' } }, { state: { kind: 'ready' } }])
  const tokens = await openTokens({ folder: join(folder, 'state'), clock: systemClock, log: () => {} })
  token = (await tokens.create({ name: 'test', scopes: ['call'] })).token
  http = await serveHttp({ gate, listen: { host: '127.0.0.1', port: 0 }, tokens, asking: { holdMs: 0 } })
})

afterAll(async () => {
  await http.close()
  await gate.close()
  await rm(folder, { recursive: true })
})

/** A client's end of a stdio connection that is served in this process. */
class PipeTransport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: never) => void
  // Both libraries take this for a child process, which it stands for.
  readonly pid = 1
  readonly stderr = null
  readonly #toServer = new PassThrough()
  readonly #fromServer = new PassThrough()
  #served: McpStdio | undefined

  async start(): Promise<void> {
    const streams = { input: this.#toServer, output: this.#fromServer }
    this.#served = serveMcpStdio({ gate, caller: {}, ...streams, log: () => {}, asking: { holdMs: 0 } })
    let rest = ''
    this.#fromServer.on('data', (chunk: Buffer) => {
      const lines = `${rest}${chunk.toString('utf8')}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.onmessage?.(JSON.parse(line) as never)
    })
    void this.#served.closed.then(() => this.onclose?.())
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#toServer.write(`${JSON.stringify(message)}\n`)
  }

  async close(): Promise<void> {
    this.#toServer.end()
    await this.#served?.close()
  }
}

type Answer = {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly isError?: boolean
  readonly structuredContent?: unknown
  readonly _meta?: Readonly<Record<string, unknown>>
}
type Progress = {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/** What the tests need of a client, whichever it is. */
type AnyClient = {
  readonly version: () => string | undefined
  list(): Promise<readonly { readonly name: string; readonly annotations?: unknown }[]>
  call(
    name: string,
    args?: object,
    options?: { readonly signal?: AbortSignal; readonly onprogress?: (progress: Progress) => void },
  ): Promise<Answer>
  onListChanged(listener: () => void): void
  close(): Promise<void>
}

const opened: AnyClient[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((client) => client.close()))
})

const headers = () => ({ Authorization: `Bearer ${token}` })

async function v2(mode: 'auto' | 'legacy', transport: Transport): Promise<AnyClient> {
  let listener = (): void => {}
  const client = new Client(
    { name: 'v2', version: '1.0.0' },
    {
      versionNegotiation: { mode },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => listener() } },
    },
  )
  await client.connect(transport)
  return keep({
    version: () => client.getNegotiatedProtocolVersion(),
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}, options = {}) =>
      (await client.callTool({ name, arguments: { ...args } }, options)) as unknown as Answer,
    onListChanged: (given) => {
      listener = given
    },
    close: () => client.close(),
  })
}

async function v1(transport: unknown): Promise<AnyClient> {
  const client = new OldClient({ name: 'v1', version: '1.0.0' })
  await client.connect(transport as never)
  return keep({
    version: () => '2025-11-25',
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}, options = {}) =>
      (await client.callTool({ name, arguments: { ...args } }, undefined, options as never)) as unknown as Answer,
    onListChanged: (listener) => client.setNotificationHandler(ToolListChangedNotificationSchema, () => listener()),
    close: () => client.close(),
  })
}

function keep(client: AnyClient): AnyClient {
  opened.push(client)
  return client
}

const url = (): URL => new URL(`${http.url}/mcp`)
const CLIENTS: readonly (readonly [string, string, () => Promise<AnyClient>])[] = [
  [
    'v2 of 2026-07-28 over HTTP',
    '2026-07-28',
    () => v2('auto', new StreamableHTTPClientTransport(url(), { requestInit: { headers: headers() } })),
  ],
  [
    'v2 with a handshake over HTTP',
    '2025-11-25',
    () => v2('legacy', new StreamableHTTPClientTransport(url(), { requestInit: { headers: headers() } })),
  ],
  ['v1 over HTTP', '2025-11-25', () => v1(new OldHttpTransport(url(), { requestInit: { headers: headers() } }))],
  ['v2 of 2026-07-28 over stdio', '2026-07-28', () => v2('auto', new PipeTransport() as unknown as Transport)],
  ['v2 with a handshake over stdio', '2025-11-25', () => v2('legacy', new PipeTransport() as unknown as Transport)],
  ['v1 over stdio', '2025-11-25', () => v1(new PipeTransport())],
]

const textOf = ({ content }: Answer): string => content.map(({ text = '' }) => text).join('')
const errorOf = ({ _meta }: Answer): unknown => _meta?.['dev.lockgate/error']

describe.each(CLIENTS)('a client: %s', (_name, version, open) => {
  test('lists and calls real upstreams, and is told what each tool may do', async () => {
    const client = await open()
    expect(client.version()).toBe(version)
    const tools = await client.list()
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['mcp__everything__echo', 'mcp__files__read_text_file', 'say']),
    )
    expect(tools.find(({ name }) => name === 'mcp__files__write_file')?.annotations).toMatchObject({
      readOnlyHint: false,
    })
    expect(textOf(await client.call('mcp__everything__echo', { message: 'hi' }))).toBe('Echo: hi')
    expect(await client.call('mcp__files__read_text_file', { path: join(folder, 'note.txt') })).toMatchObject({
      structuredContent: { content: 'hello from a file' },
    })
  })

  test('G28: a list is wrapped where clients want an object, has a twin in text, and is left out where it is too large', async () => {
    const client = await open()
    await client.list()
    const small = await client.call('prices')
    const list = [0, 1].map((id) => ({ id, name: `price ${id}` }))
    expect(small.structuredContent).toEqual(version === '2026-07-28' ? list : { result: list })
    expect(textOf(small)).toContain('price 1')
    const many = await client.call('prices', { count: 5_000 })
    expect(many.isError).not.toBe(true)
    expect(JSON.stringify(many.structuredContent)).toContain('price 4999')
    expect(Buffer.byteLength(textOf(many))).toBeLessThanOrEqual(48 * 1024)
    const large = await client.call('prices', { count: 40_000 })
    expect(large.structuredContent).toBeUndefined()
    expect(Buffer.byteLength(textOf(large))).toBeLessThanOrEqual(48 * 1024)
    expect(textOf(large)).toMatch(/the call was done; its structured value has \d+ bytes.*read_artifact/)
    expect(errorOf(large)).toMatchObject({ type: 'oversized', effect: 'none' })
  })

  test('G06: a denied tool is not listed, and calling it by name reaches nobody', async () => {
    const client = await open()
    expect((await client.list()).map(({ name }) => name)).not.toContain('mcp__everything__get-env')
    const answer = await client.call('mcp__everything__get-env')
    expect(answer.isError).toBe(true)
    expect(errorOf(answer)).toMatchObject({ type: 'permission_denied', effect: 'none' })
    expect(textOf(answer)).not.toContain('PATH')
  })

  test("an unknown tool is the protocol's invalid-params error, and a failed call is a result", async () => {
    const client = await open()
    await expect(client.call('mcp__everything__nothing')).rejects.toMatchObject({ code: -32602 })
    expect(errorOf(await client.call('mcp__everything__get-sum', { a: 'x' }))).toMatchObject({
      type: 'invalid_args',
      retry: { advice: 'fix_args' },
    })
    const failed = await client.call('mcp__files__read_text_file', { path: '/etc/passwd' })
    expect(errorOf(failed)).toMatchObject({ type: 'tool_error', details: { code: 'upstream_error' } })
    expect(textOf(failed)).toContain('Access denied')
  })

  test('a call that needs a person says so, with what to do', async () => {
    const client = await open()
    const answer = await client.call('mcp__files__write_file', { path: join(folder, 'new.txt'), content: 'x' })
    expect(errorOf(answer)).toMatchObject({
      type: 'approval_required',
      retry: { advice: 'ask' },
      effect: 'none',
      details: { approvalId: expect.any(String) },
    })
  })

  test('progress rises, and the last of it comes before the answer', async () => {
    const client = await open()
    const seen: Progress[] = []
    await client.call(
      'mcp__everything__trigger-long-running-operation',
      { duration: 0.4, steps: 2 },
      { onprogress: (progress) => seen.push(progress) },
    )
    expect(seen.map(({ progress }) => progress)).toEqual([1, 2])
  })

  test('a client that gives up ends its call, and goes on with others', async () => {
    const client = await open()
    const mark = `${_name} ${Math.random()}`
    const leaving = new AbortController()
    const started: Progress[] = []
    const onprogress = (progress: Progress): void => void started.push(progress)
    const call = client.call('wait', { mark }, { signal: leaving.signal, onprogress })
    call.catch(() => {})
    await vi.waitFor(() => expect(started).toHaveLength(1))
    leaving.abort('enough')
    await expect(call).rejects.toThrow()
    await vi.waitFor(() => expect(aborted).toContain(mark))
    expect(textOf(await client.call('mcp__everything__echo', { message: 'on' }))).toBe('Echo: on')
  })

  test('it is told when the tools change', async () => {
    const client = await open()
    const told: true[] = []
    client.onListChanged(() => void told.push(true))
    // A listening stream opens a moment after the handshake; each change is told, so change until one arrives.
    const added = { ...say, name: 'added' }
    const change = (): void => {
      gate.catalogue.register(defineTool({ ...added, run: () => 'x' } as never) as unknown as AnyTool)
      gate.catalogue.retire('added')
      expect(told.length).toBeGreaterThan(0)
    }
    await vi.waitFor(change, { timeout: 10_000 })
  })

  test('it is told when the rules change, or something is stopped, for then it sees other tools', async () => {
    const client = await open()
    const told: true[] = []
    client.onListChanged(() => void told.push(true))
    const changes = [() => gate.policy.reload(POLICY), async () => gate.lift((await gate.stop({ tool: 'nothing' })).id)]
    for (const change of changes) {
      told.splice(0)
      const looked = async (): Promise<void> => {
        await change()
        await new Promise((resolve) => setImmediate(resolve))
        expect(told.length).toBeGreaterThan(0)
      }
      await vi.waitFor(looked, { timeout: 10_000 })
    }
  })

  test('G25: clients that use the same ids at the same time each get their own answers', async () => {
    const clients = await Promise.all(Array.from({ length: 4 }, open))
    const answers = await Promise.all(
      clients.flatMap((client, index) =>
        [40, 0].map((ms, turn) => client.call('say', { text: `${index}.${turn}`, ms })),
      ),
    )
    expect(answers.map((answer) => textOf(answer).match(/\d\.\d/)?.[0])).toEqual([
      '0.0',
      '0.1',
      '1.0',
      '1.1',
      '2.0',
      '2.1',
      '3.0',
      '3.1',
    ])
  })
})

describe('a gate in front of a gate', () => {
  test('speaks 2026-07-28 to it over HTTP, passes answers, failures and progress on, and gets in with its token only', async () => {
    const outer = await createGate({
      sources: [
        mcpSource('inner', { url: url().href, headers: headers(), trust: 'annotations' }),
        mcpSource('stranger', { url: url().href }),
      ],
    })
    await outer.settled()
    expect(outer.catalogue.sources()).toMatchObject([{ state: { kind: 'ready' } }, { state: { kind: 'failed' } }])
    const session = outer.session()
    const seen: unknown[] = []
    const name = 'mcp__inner__mcp__everything__trigger-long-running-operation'
    const onProgress = (progress: unknown): void => void seen.push(progress)
    const slow = await session.call({ name, arguments: { duration: 0.4, steps: 2 }, onProgress })
    expect(slow.ok).toBe(true)
    expect(seen).toMatchObject([{ progress: 1 }, { progress: 2 }])
    const said = await session.call({ name: 'mcp__inner__say', arguments: { text: 'through two' } })
    expect(said).toMatchObject({ ok: true, value: { said: 'through two' } })
    const outside = { name: 'mcp__inner__mcp__files__read_text_file', arguments: { path: '/etc/passwd' } }
    expect(await session.call(outside)).toMatchObject({ ok: false, error: { type: 'tool_error' } })
    const stopping = new AbortController()
    const started: unknown[] = []
    const waits = session.call({
      name: 'mcp__inner__wait',
      arguments: { mark: 'two gates' },
      signal: stopping.signal,
      onProgress: (progress) => void started.push(progress),
    })
    await vi.waitFor(() => expect(started).toHaveLength(1))
    stopping.abort()
    expect(await waits).toMatchObject({ ok: false, error: { type: 'cancelled' } })
    await vi.waitFor(() => expect(aborted).toContain('two gates'))
    await outer.close()
  })
})
