// A connection as the official client holds it: lists page by page, calls, and tells when it is of no more use. Results
// come through as the server wrote them; the gate judges them, and not the client.

import type { Client, StandardSchemaV1 } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../base/json-value.ts'
import type { Progress } from '../../describe/tool.ts'
import { breaksConnection, endOf, protocolEnd } from './call-end.ts'
import type { LateAnswers } from './late-answers.ts'
import { LISTED } from './tap-transport.ts'
import type { CallEnd, CallUpstream, ConnectionEvents, UpstreamConnection } from './upstream-connection.ts'

/** Milliseconds for the handshake and for each page of a list. */
export const SETUP_MS = 60_000
/** Longer than any deadline: when a call is over is decided by the gate alone. */
const CALL_MS = 100_000_000
const PAGES_MAX = 100
const KEY_META = 'dev.lockgate/idempotencyKey'
/** Milliseconds in which a server that was told to stop may still say what became of the call. */
const LATE_MS = 30_000

export type ClientConnectionOptions = {
  readonly client: Client
  readonly transport: 'stdio' | 'http'
  readonly events: ConnectionEvents
  readonly late: LateAnswers
  /** Bounds that a local server ran into, once it has ended. */
  readonly limitsHit: () => readonly string[]
  /** Why the connection ended, for the operator. */
  readonly whyGone: () => string
}

export class ClientConnection implements UpstreamConnection {
  readonly #client: Client
  readonly #options: ClientConnectionOptions
  #calls = 0
  #isOver = false

  constructor(options: ClientConnectionOptions) {
    this.#options = options
    this.#client = options.client
    this.#client.onclose = () => {
      options.late.close()
      this.#goWith(options.whyGone())
    }
  }

  get era(): UpstreamConnection['era'] {
    return this.#client.getProtocolEra() === 'modern' ? 'modern' : 'handshake'
  }

  /** Has the server tell when its tools change, where it can. */
  watchTools(): void {
    const { events } = this.#options
    if (this.#client.getServerCapabilities()?.tools?.listChanged !== true) return
    this.#client.setNotificationHandler('notifications/tools/list_changed', () => events.onToolsChanged())
    if (this.era !== 'modern') return
    // From 2026-07-28 on, changes are told to those who ask.
    this.#client.listen({ toolsListChanged: true }, { timeout: SETUP_MS }).catch((error: unknown) => {
      if (!this.#isOver) events.log('it does not tell when its tools change', { error: String(error) })
    })
  }

  async list(): Promise<readonly unknown[]> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return []
    const tools: unknown[] = []
    const seen = new Set<string>()
    let cursor: string | undefined
    for (let page = 0; page < PAGES_MAX; page++) {
      const params = cursor === undefined ? {} : { cursor }
      const result = await this.#client.request({ method: 'tools/list', params }, AS_IT_CAME, { timeout: SETUP_MS })
      const listed = result[LISTED]
      if (!Array.isArray(listed)) throw new Error('its answer to tools/list holds no list of tools')
      tools.push(...listed)
      const next = result.nextCursor
      if (next === undefined || next === null) return tools
      if (typeof next !== 'string' || seen.has(next))
        throw new Error('its list of tools does not end: a cursor came back or is no text')
      seen.add(next)
      cursor = next
    }
    throw new Error(`its list of tools has more than ${PAGES_MAX} pages`)
  }

  async call(call: CallUpstream): Promise<CallEnd> {
    if (this.#client.transport === undefined) return { kind: 'unsent', reason: 'the connection is closed' }
    if (call.signal.aborted) return { kind: 'unsent', reason: 'the call was over before it was sent' }
    const sent = { ...call, args: { ...call.args } }
    this.#calls += 1
    try {
      return { kind: 'result', result: await this.#request(sent) }
    } catch (error) {
      // The client has told the server to stop.
      if (call.signal.aborted) return await this.#lateEnd(sent)
      const end = limited(endOf(error), this.#options.limitsHit())
      if (this.#options.transport === 'http' && breaksConnection(error))
        this.#goWith('reason' in end ? end.reason : 'the connection broke')
      return end
    } finally {
      this.#calls -= 1
      // Others that are under way over HTTP have exchanges of their own and are let come to their end.
      if (this.#isOver && this.#calls === 0) await this.#client.close().catch(() => {})
    }
  }

  async close(): Promise<void> {
    this.#isOver = true
    await this.#client.close()
  }

  /** What became of a call that was given up, where the server says so in time. */
  async #lateEnd({ args }: CallUpstream): Promise<CallEnd> {
    const answer = await this.#options.late.answerTo(args, LATE_MS)
    if (answer === undefined) return { kind: 'left' }
    return 'result' in answer ? { kind: 'result', result: answer.result } : protocolEnd(answer.error)
  }

  #goWith(reason: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.events.onGone(reason)
  }

  #request({ tool, args, key, trace, signal, onProgress }: CallUpstream): Promise<unknown> {
    // The very object: by it an answer that comes late is told from others.
    const told = tool.reads ? trace : { ...trace, [KEY_META]: key }
    const params = { name: tool.name, arguments: args, ...(told === undefined ? {} : { _meta: { ...told } }) }
    const options = {
      signal,
      timeout: CALL_MS,
      onprogress: (progress: ProgressParams) => onProgress(readProgress(progress)),
    }
    if (!this.#mirrors(tool.inputSchema))
      return this.#client.request({ method: 'tools/call', params }, AS_IT_CAME, options)
    const inputSchema = { ...tool.inputSchema, type: 'object' } as const
    return this.#client.callTool(params, { ...options, toolDefinition: { name: tool.name, inputSchema } })
  }

  /** Parameters that 2026-07-28 mirrors in headers over HTTP need the client's own way of calling. */
  #mirrors(inputSchema: JsonObject): boolean {
    return (
      this.#options.transport === 'http' &&
      this.era === 'modern' &&
      JSON.stringify(inputSchema).includes('"x-mcp-header"')
    )
  }
}

/** A server that is gone because of a bound is not merely lost. */
const limited = (end: CallEnd, limits: readonly string[]): CallEnd =>
  end.kind === 'lost' && limits.length > 0 ? { ...end, limits } : end

type Answer = Readonly<Record<string | symbol, unknown>>

/** A schema that takes every result and drops nothing. */
const AS_IT_CAME: StandardSchemaV1<unknown, Answer> = {
  '~standard': {
    version: 1,
    vendor: 'lockgate',
    validate: (value) => (isAnswer(value) ? { value } : { issues: [{ message: 'the result is no object' }] }),
  },
}

const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type ProgressParams = {
  readonly progress?: number | undefined
  readonly total?: number | undefined
  readonly message?: string | undefined
}

const readProgress = ({ progress, total, message }: ProgressParams): Progress => ({
  ...(progress === undefined ? {} : { progress }),
  ...(total === undefined ? {} : { total }),
  ...(message === undefined ? {} : { message }),
})
