// Opens a connection through the official client, which speaks 2026-07-28 and every revision with a handshake. Loaded
// when a source starts, so that nobody pays for it who has no upstream. The client is granted nothing that a server
// could ask for: no sampling, no roots, no questions to the user.

import {
  Client,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import type { Clock } from '../../base/clock.ts'
import { VERSION } from '../../base/version.ts'
import { ClientConnection, SETUP_MS } from './client-connection.ts'
import { limitedFetch } from './limited-fetch.ts'
import { type HttpUpstream, isHttp, type McpSourceOptions } from './mcp-options.ts'
import type { BoundedServer } from './server-bounds.ts'
import { StdioTransport } from './stdio-transport.ts'
import { tapTransport } from './tap-transport.ts'
import { tracedFetch } from './traced-fetch.ts'
import type { ConnectionEvents, UpstreamConnection } from './upstream-connection.ts'

/** A local server that is silent to the question of 2026-07-28 for so long is asked in the old way. */
const PROBE_MS = 5_000
const COMPLAINT_CHARS = 600
const FAULTS_TOLD_MAX = 20
const FAULT_CHARS_MAX = 300
const LATE = /^Received a (?:progress notification for an unknown token|response for an unknown message ID)/

export type OpenOptions = {
  readonly upstream: McpSourceOptions
  /** As what a local server is started, in which bounds; undefined for none. */
  readonly bounded: BoundedServer | undefined
  /** The era that was found out earlier. */
  readonly era: UpstreamConnection['era'] | undefined
  readonly clock: Clock
  readonly events: ConnectionEvents
  /** Aborts when nobody wants the connection any more; what was started for it then ends. */
  readonly signal: AbortSignal
}

/** Rejects with a reason for the operator. */
export async function openConnection(options: OpenOptions): Promise<UpstreamConnection> {
  const { upstream, bounded, era, clock, signal } = options
  if (isHttp(upstream)) return connectHttp(upstream, options)
  const attempt = (known: OpenOptions['era']): Promise<UpstreamConnection> => {
    const transport = new StdioTransport(upstream, bounded, clock)
    return connect(
      {
        ...{ transport, kind: 'stdio', describe: () => describeEnd(transport), tooLarge: () => false },
        limitsHit: () => transport.limitsHit,
      },
      { ...options, era: known },
    )
  }
  try {
    return await attempt(era)
  } catch (error) {
    // Some old servers end at the first message that is no handshake; the next process gets the handshake at once.
    if (era === undefined && !signal.aborted && endedOnProbe(error)) return attempt('handshake')
    throw error
  }
}

function connectHttp({ url, headers }: HttpUpstream, options: OpenOptions): Promise<UpstreamConnection> {
  let wasTooLarge = false
  const tooLarge = (): boolean => {
    const was = wasTooLarge
    wasTooLarge = false
    return was
  }
  const limited = limitedFetch(() => {
    wasTooLarge = true
  })
  const fetch = tracedFetch(limited)
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch,
    ...(headers === undefined ? {} : { requestInit: { headers: { ...headers } } }),
  })
  return connect({ transport, kind: 'http', describe: () => '', tooLarge, limitsHit: () => [] }, options)
}

type Wire = {
  readonly transport: Transport
  readonly kind: 'stdio' | 'http'
  readonly describe: () => string
  readonly tooLarge: () => boolean
  readonly limitsHit: () => readonly string[]
}

async function connect(
  { transport, kind, describe, tooLarge, limitsHit }: Wire,
  { era, clock, events, signal }: OpenOptions,
): Promise<UpstreamConnection> {
  const probe = kind === 'stdio' ? { timeoutMs: PROBE_MS } : {}
  const client = new Client(
    { name: 'lockgate', version: VERSION },
    { capabilities: {}, versionNegotiation: { mode: 'auto', probe }, inputRequired: { autoFulfill: false } },
  )
  client.onerror = reportFaults(events)
  const abandon = (): void => void transport.close().catch(() => {})
  signal.addEventListener('abort', abandon, { once: true })
  try {
    if (signal.aborted) throw new Error('it was closed while it started')
    await client.connect(transport, {
      timeout: SETUP_MS,
      ...(era === 'handshake' ? { prior: { kind: 'legacy' } } : {}),
    })
  } catch (error) {
    await transport.close().catch(() => {})
    throw new Error(withDetail(error instanceof Error ? error.message : String(error), describe()), { cause: error })
  }
  const late = tapTransport(transport, tooLarge, clock)
  const connection = new ClientConnection({
    client,
    transport: kind,
    events,
    late,
    limitsHit,
    whyGone: () => withDetail('the connection was closed', describe()),
  })
  connection.watchTools()
  return connection
}

const endedOnProbe = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof SdkError && error.cause.code === SdkErrorCode.EraNegotiationFailed

/** A server may do wrong without end; the operator reads the start of it. */
function reportFaults(events: ConnectionEvents): (error: Error) => void {
  let told = 0
  return ({ message }) => {
    // A server may go on reporting progress for a moment after its answer, and after a call was given up.
    if (LATE.test(message)) return
    told += 1
    if (told < FAULTS_TOLD_MAX)
      events.log('the connection reports a fault', { error: message.slice(0, FAULT_CHARS_MAX) })
    else if (told === FAULTS_TOLD_MAX) events.log('the connection reports more faults, which are not logged')
  }
}

/** How the process ended and what it complained about. */
function describeEnd(transport: StdioTransport): string {
  const complaints = transport.complaints().trim().slice(-COMPLAINT_CHARS)
  return [transport.ended ?? '', complaints === '' ? '' : `it said: ${complaints}`]
    .filter((part) => part !== '')
    .join('; ')
}

const withDetail = (reason: string, detail: string): string => (detail === '' ? reason : `${reason}: ${detail}`)
