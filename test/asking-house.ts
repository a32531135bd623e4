// A serving gate whose tools ask, and clients of every kind in front of it: what the tests of asking over MCP share.

import { mkdtemp, rm } from 'node:fs/promises'
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
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { type Clock, systemClock } from '../src/base/clock.ts'
import { type AnyTool, createGate, defineTool, type Gate, type GateOptions } from '../src/index.ts'
import type { ApprovalRow } from '../src/observe/store.ts'
import { type HttpServing, serveHttp } from '../src/server/http-server.ts'
import { type McpStdio, serveMcpStdio } from '../src/server/mcp-stdio.ts'
import { type MadeToken, type NewToken, openTokens, type Tokens } from '../src/server/tokens.ts'
import type { FakeClock } from '../src/testing/fake-clock.ts'

export type HouseOptions = Pick<GateOptions, 'store' | 'policy' | 'approvals'> & {
  readonly clock?: Clock
  readonly holdMs?: number
  readonly sealKey?: Uint8Array
  /** Where tokens are kept; default: a new folder that goes with the house. */
  readonly folder?: string
}

export type House = {
  readonly gate: Gate
  readonly http: HttpServing
  readonly tokens: Tokens
  /** What ran, as `tool text`. */
  readonly runs: readonly string[]
  token(given?: Partial<NewToken>): Promise<MadeToken>
  /** Serves the client of a pipe. */
  stdio(options: { readonly elicitation?: boolean }): PipeTransport
  /** The open questions, once there are so many. */
  opened(count?: number): Promise<readonly ApprovalRow[]>
  close(): Promise<void>
}

const houses: House[] = []
const clients: AskedClient[] = []

/** Ends everything that a test has opened. */
export async function closeAll(): Promise<void> {
  await Promise.all(clients.splice(0).map((client) => client.close().catch(() => {})))
  for (const house of houses.splice(0)) await house.close()
}

export async function openHouse(options: HouseOptions = {}): Promise<House> {
  const { clock = systemClock, holdMs = 30_000, sealKey, store = 'memory', approvals } = options
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'lockgate-asking-')))
  const runs: string[] = []
  const gate = await createGate({
    tools: [tool('pay', 'write', runs), tool('wipe', 'destructive', runs), tool('look', 'read', runs)],
    policy: options.policy ?? { defaults: { write: 'ask', destructive: 'ask' } },
    store,
    clock,
    ...(approvals === undefined ? {} : { approvals }),
  })
  const tokens = await openTokens({ folder, clock, log: () => {} })
  const asking = { holdMs, ...(sealKey === undefined ? {} : { sealKey }) }
  const http = await serveHttp({ gate, listen: { host: '127.0.0.1', port: 0 }, tokens, clock, asking })
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    await http.close()
    await gate.close()
    if (options.folder === undefined) await rm(folder, { recursive: true })
  }
  const house: House = {
    gate,
    http,
    tokens,
    runs,
    token: (given = {}) => tokens.create({ name: `client ${tokens.list().length}`, scopes: ['call'], ...given }),
    stdio: ({ elicitation = false }) => new PipeTransport({ gate, clock, elicitation, asking }),
    opened: (count = 1) =>
      until(async () => {
        const rows = await gate.approvals.list({ state: 'open' })
        return rows.length >= count ? rows : undefined
      }),
    close: () => {
      closing ??= close()
      return closing
    },
  }
  houses.push(house)
  return house
}

function tool(name: string, effect: 'read' | 'write' | 'destructive', runs: string[]): AnyTool {
  return defineTool({
    name,
    version: '1.0.0',
    description: 'Notes that it ran, and says so.',
    input: { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false } as const,
    effect,
    run: async (args) => {
      const { text = '' } = args as { text?: string }
      runs.push(`${name} ${text}`)
      return `ran ${text}`
    },
  }) as unknown as AnyTool
}

/** The value, once there is one. */
export async function until<Value>(look: () => Promise<Value | undefined> | Value | undefined): Promise<Value> {
  for (let tries = 0; tries < 2_000; tries++) {
    const value = await look()
    if (value !== undefined) return value
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error('it did not come')
}

/** Moves time on until a promise has settled, at most as far as told. */
export async function passing<Value>(clock: FakeClock, atMostMs: number, promise: Promise<Value>): Promise<Value> {
  let settled = false
  const note = (): void => {
    settled = true
  }
  promise.then(note, note)
  const end = clock.monotonic() + atMostMs
  while (!settled && clock.monotonic() < end) await clock.advance(500)
  return promise
}

export type Answer = {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly isError?: boolean
  readonly _meta?: Readonly<Record<string, unknown>>
}
export const textOf = ({ content }: Answer): string => content.map(({ text = '' }) => text).join('')
export const errorOf = ({ _meta }: Answer): unknown => _meta?.['dev.lockgate/error']

export type Form = {
  readonly message: string
  readonly requestedSchema: {
    readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    readonly required?: readonly string[]
  }
}
export type Filled = { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: Record<string, unknown> }
/** The person at a client. */
export type Person = (form: Form, signal: AbortSignal) => Promise<Filled> | Filled
export const says = (content: Record<string, unknown>): Filled => ({ action: 'accept', content })

export type CallOptions = {
  readonly signal?: AbortSignal
  readonly onprogress?: (progress: { readonly progress: number; readonly message?: string | undefined }) => void
}

export type AskedClient = {
  list(): Promise<readonly string[]>
  call(name: string, args?: object, options?: CallOptions): Promise<Answer>
  /** Every form that was shown. */
  readonly forms: readonly Form[]
  close(): Promise<void>
}

/** How a client comes: undefined for `person` is one that can show no forms. */
export type Connect = (where: Place, person?: Person) => Promise<AskedClient>
export type Place =
  | { readonly house: House; readonly token: string }
  | { readonly house: House; readonly elicitation: boolean }

type Kind = 'v2 of 2026-07-28' | 'v2 with a handshake' | 'v1'
export const KINDS: Readonly<Record<Kind, Connect>> = {
  'v2 of 2026-07-28': (where, person) => v2('auto', where, person),
  'v2 with a handshake': (where, person) => v2('legacy', where, person),
  v1: (where, person) => v1(where, person),
}

const init = (token: string) => ({ requestInit: { headers: { Authorization: `Bearer ${token}` } } })
const urlOf = ({ http }: House): URL => new URL(`${http.url}/mcp`)
const CAPABLE = { capabilities: { elicitation: { form: {} } } }

async function v2(mode: 'auto' | 'legacy', where: Place, person?: Person): Promise<AskedClient> {
  const forms: Form[] = []
  const options = { versionNegotiation: { mode }, ...(person === undefined ? {} : CAPABLE) }
  const client = new Client({ name: 'v2', version: '1.0.0' }, options)
  if (person !== undefined)
    client.setRequestHandler('elicitation/create', async ({ params }, context) => {
      const form = params as unknown as Form
      forms.push(form)
      return (await person(form, context.mcpReq.signal)) as never
    })
  const transport =
    'token' in where
      ? new StreamableHTTPClientTransport(urlOf(where.house), init(where.token))
      : (where.house.stdio(where) as unknown as Transport)
  await client.connect(transport)
  return keep({
    forms,
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, given = {}) =>
      (await client.callTool({ name, arguments: { ...args } }, given)) as unknown as Answer,
    close: () => client.close(),
  })
}

async function v1(where: Place, person?: Person): Promise<AskedClient> {
  const forms: Form[] = []
  const client = new OldClient({ name: 'v1', version: '1.0.0' }, person === undefined ? {} : CAPABLE)
  if (person !== undefined)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => {
      const form = params as unknown as Form
      forms.push(form)
      return (await person(form, signal)) as never
    })
  const transport =
    'token' in where ? new OldHttpTransport(urlOf(where.house), init(where.token)) : where.house.stdio(where)
  await client.connect(transport as never)
  return keep({
    forms,
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, given = {}) =>
      (await client.callTool({ name, arguments: { ...args } }, undefined, given as never)) as unknown as Answer,
    close: () => client.close(),
  })
}

function keep(client: AskedClient): AskedClient {
  clients.push(client)
  return client
}

type PipeOptions = Pick<Parameters<typeof serveMcpStdio>[0], 'gate'> & {
  readonly clock: Clock
  readonly elicitation: boolean
  readonly asking: { readonly holdMs: number }
}

/** A client's end of a stdio connection that is served in this process. */
export class PipeTransport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: never) => void
  // Both libraries take this for a child process, which it stands for.
  readonly pid = 1
  readonly stderr = null
  readonly #toServer = new PassThrough()
  readonly #fromServer = new PassThrough()
  readonly #options: PipeOptions
  #served: McpStdio | undefined

  constructor(options: PipeOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const streams = { input: this.#toServer, output: this.#fromServer }
    this.#served = serveMcpStdio({ ...this.#options, ...streams, caller: {}, log: () => {} })
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
