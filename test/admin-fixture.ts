// A serving gate over a database on disk, with one credential for each scope, for tests of the admin API.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../src/base/clock.ts'
import { type AnyTool, createGate, defineTool, type Gate, type GateOptions } from '../src/index.ts'
import { type HttpServing, type ServeHttpOptions, serveHttp } from '../src/server/http-server.ts'
import { openTokens, type Tokens } from '../src/server/tokens.ts'

export type Holder = 'call' | 'approve' | 'audit' | 'admin' | 'operator' | 'callAdmin'

const HOLDERS = {
  call: ['call'],
  approve: ['approve'],
  audit: ['audit'],
  admin: ['admin'],
  operator: ['approve', 'audit', 'admin'],
  callAdmin: ['call', 'admin'],
} as const

export type Reply = { readonly status: number; readonly body: unknown; readonly text: string }

export class AdminFixture {
  readonly folder = mkdtempSync(join(tmpdir(), 'lockgate-admin-'))
  readonly runs: string[] = []
  readonly tokens = new Map<Holder, string>()
  readonly #options: GateOptions
  readonly #serving: Partial<ServeHttpOptions>
  #gate: Gate | undefined
  #http: HttpServing | undefined
  #tokens: Tokens | undefined

  constructor(options: GateOptions = {}, serving: Partial<ServeHttpOptions> = {}) {
    this.#options = options
    this.#serving = serving
  }

  get gate(): Gate {
    if (this.#gate === undefined) throw new Error('not started')
    return this.#gate
  }

  get http(): HttpServing {
    if (this.#http === undefined) throw new Error('not started')
    return this.#http
  }

  async start(): Promise<void> {
    this.#gate = await createGate({
      store: { sqlite: join(this.folder, 'lockgate.db') },
      tools: [this.#noting('note', 'write'), this.#noting('look', 'read'), this.#noting('wipe', 'destructive')],
      policy: { rules: [{ ask: 'wipe' }, { deny: 'note', where: { text: 'secret*' } }] },
      ...this.#options,
    })
    this.#tokens ??= await openTokens({ folder: this.folder, clock: systemClock, log: () => {} })
    for (const [holder, scopes] of Object.entries(HOLDERS) as [Holder, (typeof HOLDERS)[Holder]][]) {
      if (!this.tokens.has(holder))
        this.tokens.set(holder, (await this.#tokens.create({ name: `the ${holder}`, scopes })).token)
    }
    this.#http = await serveHttp({
      gate: this.#gate,
      listen: { host: '127.0.0.1', port: 0 },
      tokens: this.#tokens,
      clock: this.#options.clock ?? systemClock,
      ...this.#serving,
    })
  }

  /** Closes server and gate; what stands on disk stays. */
  async stop(): Promise<void> {
    await this.#http?.close()
    await this.#gate?.close()
    this.#http = undefined
    this.#gate = undefined
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  headers(holder: Holder): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${this.tokens.get(holder) ?? ''}`, 'content-type': 'application/json' }
  }

  async send(holder: Holder, method: string, path: string, body?: unknown): Promise<Reply> {
    const response = await fetch(`${this.http.url}/api${path}`, {
      method,
      headers: this.headers(holder),
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, body: JSON.parse(text) as unknown }
  }

  /** One call with the `call` credential; answers its outcome. */
  async call(name: string, given: object, more: object = {}): Promise<CallOutcome> {
    const { body } = await this.send('call', 'POST', '/calls', { name, arguments: given, ...more })
    return body as CallOutcome
  }

  /** Makes a call that asks, and answers the id of its question. */
  async ask(text: string, name = 'note'): Promise<string> {
    const outcome = await this.call(name, { text })
    const id = outcome.error?.details?.approvalId
    if (typeof id !== 'string') throw new Error(`no question: ${JSON.stringify(outcome)}`)
    return id
  }

  #noting(name: string, effect: 'read' | 'write' | 'destructive'): AnyTool {
    return defineTool({
      name,
      version: '1.0.0',
      description: 'Notes what it is run with.',
      input: {
        type: 'object',
        properties: { text: { type: 'string' } },
        required: ['text'],
        additionalProperties: false,
      } as const,
      effect,
      run: (args) => {
        this.runs.push(String((args as { text: string }).text))
        return 'noted'
      },
    }) as unknown as AnyTool
  }
}

export type CallOutcome = {
  readonly ok: boolean
  readonly error?: { readonly type: string; readonly details?: Readonly<Record<string, unknown>> }
  readonly meta: { readonly callId: string; readonly approval?: string; readonly grant?: string }
}
