// The transport of the protocol's library over a child process of our own: bounded lines, its own process group, and
// nothing on our standard output. A line that is no message is dropped and said, and only what hangs on it fails.

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { Clock } from '../../base/clock.ts'
import { decodeUtf8 } from '../../base/decode-utf8.ts'
import { PipedProcess, type PipedProcessOptions } from '../../machine/piped-process.ts'
import type { StdioUpstream } from './mcp-options.ts'
import type { BoundedServer } from './server-bounds.ts'
import { MESSAGE_BYTES_MAX } from './upstream-connection.ts'
import { faultAnswer, idAtEdges } from './upstream-fault.ts'

/** An oversized line is read to its end, so that the connection lives on; beyond this it has no end. */
const DISCARD_BYTES_MAX = 64 * 1024 * 1024

export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: NonNullable<Transport['onmessage']>
  /** Why the process ended, once it has. */
  ended: string | undefined
  /** Bounds that it ran into, once it has ended. */
  limitsHit: readonly string[] = []
  readonly #upstream: StdioUpstream
  readonly #bounded: BoundedServer | undefined
  readonly #clock: Clock
  #process: PipedProcess | undefined
  #isClosed = false

  /** `bounded`: as what it is started, in which bounds; undefined for none. */
  constructor(upstream: StdioUpstream, bounded: BoundedServer | undefined, clock: Clock) {
    this.#upstream = upstream
    this.#bounded = bounded
    this.#clock = clock
  }

  /** The library looks for `pid` and `stderr` to tell a child process from a network. */
  get pid(): number | null {
    return this.#process?.pid ?? null
  }

  get stderr(): null {
    return null
  }

  /** What the server wrote on standard error, the newest 64 KiB. */
  complaints(): string {
    return this.#process?.stderr() ?? ''
  }

  async start(): Promise<void> {
    this.#process = await PipedProcess.start({
      ...this.#launch(),
      lineBytesMax: MESSAGE_BYTES_MAX,
      discardBytesMax: DISCARD_BYTES_MAX,
      clock: this.#clock,
      onLine: (line) => this.#receive(line),
      onOversized: ({ head, tail, bytes }) =>
        this.#fail(idAtEdges(head, tail), `a message of ${bytes} bytes is over the limit of ${MESSAGE_BYTES_MAX}`),
      onExit: (reason, limits) => {
        this.ended = reason
        this.limitsHit = limits
        this.onclose?.()
      },
    })
    if (!this.#isClosed) return
    await this.#process.close()
    throw new Error('it was closed while it started')
  }

  #launch(): Pick<PipedProcessOptions, 'command' | 'args' | 'env' | 'cwd' | 'bounds'> {
    const { command, args = [], env = {}, cwd } = this.#upstream
    if (this.#bounded === undefined) return { command, args, env, cwd }
    const { program, ...bounded } = this.#bounded
    return { command: program, args, ...bounded }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#process === undefined) throw new Error('the server has not been started')
    await this.#process.write(`${JSON.stringify(message)}\n`)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#process?.close()
  }

  #receive(line: Buffer): void {
    const message = readMessage(line)
    if (message !== undefined) this.onmessage?.(message)
    else if (line.length > 0) this.onerror?.(new Error(`a line of ${line.length} bytes that is no message was dropped`))
  }

  #fail(id: number | undefined, reason: string): void {
    this.onerror?.(new Error(reason))
    if (id !== undefined) this.onmessage?.(faultAnswer(id, 'oversized', reason))
  }
}

/** A message of JSON-RPC 2.0; what it says is checked by whoever handles it. */
function readMessage(line: Buffer): JSONRPCMessage | undefined {
  const text = decodeUtf8(line)
  if (text === undefined) return undefined
  try {
    const parsed: unknown = JSON.parse(text)
    return isMessage(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

const isMessage = (value: unknown): value is JSONRPCMessage =>
  typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0'
