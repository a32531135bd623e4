// The transport of the official server package over two streams, one message a line. Lines are bounded and judged before
// the package sees them; one that does not hold is answered as the protocol says and costs nobody else anything.

import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { CappedLines } from '../base/capped-lines.ts'
import type { Clock } from '../base/clock.ts'
import { decodeUtf8 } from '../base/decode-utf8.ts'
import { isJsonObject } from '../base/json-value.ts'
import { InFlight, type RequestId, requestsIn } from './in-flight.ts'
import { BODY_BYTES_MAX, readJsonBytes } from './read-body.ts'
import { readableId } from './readable-id.ts'

/** A line over the bound is read to its end, so that the connection lives on; beyond this it has no end. */
const DISCARD_BYTES_MAX = 64 * 1024 * 1024
/** Requests that one client may have open. */
const IN_FLIGHT_MAX = 1_000
/** Milliseconds for answers that are under way when the input ends. */
const DRAIN_MS = 5_000

type Judged =
  | { readonly kind: 'message'; readonly message: JSONRPCMessage }
  | { readonly kind: 'refused'; readonly code: number; readonly reason: string; readonly id: RequestId | null }

const refused = (code: number, reason: string): Judged & { kind: 'refused' } => ({
  kind: 'refused',
  code,
  reason,
  id: null,
})

export class LineTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: NonNullable<Transport['onmessage']>
  /** Resolves once, however the connection ends. */
  readonly closed: Promise<void>
  #resolveClosed: () => void = () => {}
  readonly #input: Readable
  readonly #output: Writable
  readonly #clock: Clock
  readonly #inFlight = new InFlight()
  #isClosed = false
  #isEnding = false

  constructor(input: Readable, output: Writable, clock: Clock) {
    this.#input = input
    this.#output = output
    this.#clock = clock
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve
    })
  }

  async start(): Promise<void> {
    const lines = new CappedLines({
      lineBytesMax: BODY_BYTES_MAX,
      discardBytesMax: DISCARD_BYTES_MAX,
      onLine: (line) => this.#receive(line),
      onOversized: ({ bytes }) =>
        this.#refuse(-32600, `a message of ${bytes} bytes is over the limit of ${BODY_BYTES_MAX}`),
      onEndless: () => void this.close(),
    })
    this.#input.on('data', (chunk: Buffer) => {
      if (!this.#isClosed) lines.push(chunk)
    })
    for (const event of ['end', 'close'] as const) this.#input.once(event, () => this.#inputEnded())
    this.#input.on('error', (error) => this.onerror?.(error))
    this.#output.on('error', () => void this.close())
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message) && message.id !== undefined) this.#inFlight.delete([message.id])
    const written = this.#write(message)
    if (this.#isEnding && this.#inFlight.size === 0) void written.then(() => this.close())
    return written
  }

  /** Closes once what is under way is answered, or after this many milliseconds. */
  async end(withinMs: number = DRAIN_MS): Promise<void> {
    if (this.#isClosed) return
    this.#isEnding = true
    if (this.#inFlight.size === 0) return this.close()
    const cancel = this.#clock.after(withinMs, () => void this.close())
    await this.closed.finally(cancel)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#input.pause()
    this.onclose?.()
    this.#resolveClosed()
  }

  #receive(line: Buffer): void {
    const judged = line.length === 0 ? undefined : this.#judge(line)
    if (judged === undefined) return
    if (judged.kind === 'refused') this.#refuse(judged.code, judged.reason, judged.id)
    else {
      this.onmessage?.(judged.message)
      if ('method' in judged.message && judged.message.method === 'notifications/cancelled')
        this.#forget(judged.message.params)
    }
  }

  #judge(line: Buffer): Judged {
    const read = readJsonBytes(line)
    if (read.kind === 'refused') {
      const refusal = refused(read.why === 'malformed' ? -32700 : -32600, read.reason)
      const text = decodeUtf8(line)
      const id = text === undefined ? undefined : readableId(text)
      // Under an id that another request waits with, the refusal could be taken for its answer.
      return id === undefined || this.#inFlight.has(id) ? refusal : { ...refusal, id }
    }
    const message = read.value
    if (!isMessage(message)) return refused(-32600, 'expected one request, notification or response of JSON-RPC 2.0')
    const ids = requestsIn(message)
    const [id] = ids
    if (id !== undefined && this.#inFlight.size >= IN_FLIGHT_MAX)
      return { ...refused(-32000, `more than ${IN_FLIGHT_MAX} requests are open`), id }
    const twice = this.#inFlight.add(ids)
    // The first request will be answered under this id; a second answer under it could be taken for the first.
    if (twice !== undefined)
      return refused(-32600, `the id ${JSON.stringify(twice)} is still in use by another request`)
    return { kind: 'message', message }
  }

  /** The package answers nothing to a cancelled request. */
  #forget(params: unknown): void {
    const id = isJsonObject(params) ? params.requestId : undefined
    if (typeof id === 'string' || typeof id === 'number') this.#inFlight.delete([id])
  }

  #refuse(code: number, message: string, id: RequestId | null = null): void {
    this.#write({ jsonrpc: '2.0', id, error: { code, message } }).catch(() => {})
  }

  #write(message: object): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('the connection is closed'))
    return new Promise((resolve, reject) => {
      this.#output.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
    })
  }

  #inputEnded(): void {
    if (!this.#isEnding) void this.end()
  }
}

/** Ids are texts or whole numbers (MCP); a message asks, tells, or answers with exactly one of result and error. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (!isJsonObject(value) || value.jsonrpc !== '2.0') return false
  const { id, method, params, result, error } = value
  const hasId = typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id))
  if (method !== undefined)
    return typeof method === 'string' && (id === undefined || hasId) && (params === undefined || isJsonObject(params))
  return hasId && (result === undefined) !== (error === undefined)
}
