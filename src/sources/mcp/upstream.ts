// The life of one MCP server as the gate sees it:
// 1. It is connected to and listed; what it lists is offered in one step.
// 2. When it says that its tools changed, it is listed again, once for any number of such words.
// 3. When it is gone, it counts as failed at once. It is started again by the next call, and without one after a pause
//    that doubles from 1 s to 30 s while it keeps failing.
// 4. A call goes to the definition that it was decided on, or nowhere.
// 5. It is closed once, and stays closed.
// It never starts a second server beside one that lives.

import type { Clock } from '../../base/clock.ts'
import type { JsonObject } from '../../base/json-value.ts'
import { Steady } from '../../base/steady.ts'
import type { SourceHost } from '../../describe/source.ts'
import type { Progress, RunAnswer, RunContext } from '../../describe/tool.ts'
import { toolFailure } from '../../describe/tool-failure.ts'
import { answerCall } from './answer-call.ts'
import { isHttp, type McpSourceOptions } from './mcp-options.ts'
import type { Offer, UpstreamTool } from './offer-tools.ts'
import { type BoundedServer, boundServer } from './server-bounds.ts'
import type { UpstreamConnection } from './upstream-connection.ts'

const PAUSE_FIRST_MS = 1_000
const PAUSE_MAX_MS = 30_000
/** A server that lived for so long has not merely failed again. */
const STEADY_MS = 30_000
const RELIST_GAP_MS = 200
const PROGRESS_GAP_MS = 50
/** Words of how far it is that may come at once. */
const PROGRESS_BURST = 20

export type UpstreamParts = {
  readonly options: McpSourceOptions
  readonly host: SourceHost
  readonly offer: (listed: readonly unknown[]) => Offer
}

export class Upstream {
  readonly #parts: UpstreamParts
  readonly #clock: Clock
  #connection: UpstreamConnection | undefined
  #connecting: Promise<UpstreamConnection | undefined> | undefined
  #era: UpstreamConnection['era'] | undefined
  /** What was asked for and this machine does not keep. */
  #unkept: readonly string[] = []
  #digests: ReadonlyMap<string, string> = new Map()
  #pauseMs = PAUSE_FIRST_MS
  #connectedAtMs = 0
  #failedAtMs = Number.NEGATIVE_INFINITY
  #toldReason: string | undefined
  #cancelRestart: (() => void) | undefined
  #relistPending = false
  #relisting: Promise<void> = Promise.resolve()
  readonly #closing = new AbortController()

  constructor(parts: UpstreamParts) {
    this.#parts = parts
    this.#clock = parts.host.clock
  }

  /** Resolves when the server is ready or has failed; the host has been told which. */
  async start(): Promise<void> {
    await this.#connect()
  }

  async call(tool: UpstreamTool, args: JsonObject, context: RunContext): Promise<RunAnswer<unknown>> {
    const connection = this.#connection ?? (await this.#revive())
    if (connection === undefined) {
      return toolFailure({
        type: 'unavailable',
        code: 'upstream_down',
        message: 'the upstream server is down now; nothing was done',
        effect: 'none',
        retry: 'later',
      })
    }
    // INVARIANT last-check: a definition that changed on the way is not the one that was decided on.
    if (this.#digests.get(tool.name) !== tool.digest) {
      return toolFailure({
        type: 'unavailable',
        code: 'definition_changed',
        message: 'the upstream server has changed this tool meanwhile; look at the tools again',
        effect: 'none',
        retry: 'later',
      })
    }
    const steady = new Steady<Progress>(
      PROGRESS_GAP_MS,
      this.#clock,
      (progress) => context.progress(progress),
      PROGRESS_BURST,
    )
    const onProgress = (progress: Progress): void => steady.push(progress)
    for (const what of this.#unkept) context.noteLimit(what, 'unenforced')
    const { idempotencyKey: key, signal, trace } = context
    const end = await connection.call({ tool, args, key, trace, signal, onProgress })
    steady.end()
    if (end.kind === 'lost') for (const limit of end.limits ?? []) context.noteLimit(limit, 'hit')
    return answerCall(tool, end)
  }

  async close(): Promise<void> {
    this.#cancelRestart?.()
    this.#closing.abort()
    await this.#connecting
    await this.#connection?.close()
  }

  /** A connection for a call that found none: started now, unless it has failed a moment ago. */
  async #revive(): Promise<UpstreamConnection | undefined> {
    if (this.#connecting === undefined && this.#clock.monotonic() - this.#failedAtMs < PAUSE_FIRST_MS) return undefined
    return this.#connect()
  }

  #connect(): Promise<UpstreamConnection | undefined> {
    this.#cancelRestart?.()
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async #open(): Promise<UpstreamConnection | undefined> {
    const { options, host } = this.#parts
    if (this.#isClosed) return undefined
    let opened: UpstreamConnection | undefined
    let gone: string | undefined
    try {
      const { openConnection } = await import('./open-connection.ts')
      const events = {
        onGone: (reason: string): void => {
          gone = reason
          if (this.#connection === opened) this.#lose(reason)
        },
        onToolsChanged: () => this.#scheduleRelist(),
        log: host.log,
      }
      opened = await openConnection({
        upstream: options,
        bounded: await this.#bounded(),
        era: this.#era,
        clock: this.#clock,
        events,
        signal: this.#closing.signal,
      })
      this.#take(await opened.list())
      if (gone !== undefined) throw new Error(gone)
    } catch (error) {
      await opened?.close().catch(() => {})
      // What was found out about a server that is now another one may be what fails.
      this.#era = undefined
      this.#fail(error instanceof Error ? error.message : String(error))
      return undefined
    }
    if (this.#isClosed) {
      await opened.close()
      return undefined
    }
    this.#connection = opened
    this.#era = opened.era
    this.#connectedAtMs = this.#clock.monotonic()
    this.#toldReason = undefined
    host.report({ kind: 'ready' })
    return opened
  }

  /** Worked out anew with each start: what is on the disk may be other than it was. */
  async #bounded(): Promise<BoundedServer | undefined> {
    const { options, host } = this.#parts
    if (isHttp(options)) return undefined
    const bounded = await boundServer(options, host)
    if (bounded.kind === 'refused') throw new Error(bounded.reason)
    if (bounded.kind === 'free') return undefined
    this.#unkept = bounded.unkept
    for (const what of bounded.unkept) {
      const said = what === 'sandbox' ? 'it runs without a sandbox' : `its limit of ${what} is not kept`
      host.log(`${said}: this machine cannot; \`lockgate doctor\` tells why`)
    }
    return bounded.server
  }

  #take(listed: readonly unknown[]): void {
    const { host, offer } = this.#parts
    const { tools, digests, warnings } = offer(listed)
    this.#digests = digests
    host.offer(tools)
    for (const warning of warnings) host.log(warning)
  }

  #lose(reason: string): void {
    if (this.#connection === undefined) return
    this.#connection = undefined
    if (this.#clock.monotonic() - this.#connectedAtMs >= STEADY_MS) this.#pauseMs = PAUSE_FIRST_MS
    // A server that was up may be started again at once by whoever calls it.
    this.#fail(reason, Number.NEGATIVE_INFINITY)
  }

  #fail(reason: string, failedAtMs = this.#clock.monotonic()): void {
    if (this.#isClosed) return
    this.#failedAtMs = failedAtMs
    // A server that stays away is reported once and not with each attempt.
    if (reason !== this.#toldReason) this.#parts.host.report({ kind: 'failed', reason })
    this.#toldReason = reason
    this.#cancelRestart?.()
    this.#cancelRestart = this.#clock.after(this.#pauseMs, () => void this.#connect(), 'background')
    this.#pauseMs = Math.min(this.#pauseMs * 2, PAUSE_MAX_MS)
  }

  /** However often a server says that its tools changed, at most one list is under way and one is to come. */
  #scheduleRelist(): void {
    if (this.#relistPending) return
    this.#relistPending = true
    const { host } = this.#parts
    this.#clock.after(RELIST_GAP_MS, () => {
      if (this.#isClosed) return
      this.#relisting = this.#relisting.then(async () => {
        this.#relistPending = false
        await this.#listAgain().catch((error: unknown) => {
          if (this.#isClosed) return
          host.log('its tools changed and cannot be listed again; those that were listed before stay', {
            error: String(error),
          })
        })
      })
    })
  }

  async #listAgain(): Promise<void> {
    const connection = this.#connection
    const listed = await connection?.list()
    if (listed !== undefined && connection === this.#connection && !this.#isClosed) this.#take(listed)
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }
}
