// Starts sources beside each other, each with a bounded time, and keeps what each offers in the catalogue. One that fails
// or hangs is named and takes nothing else down.

import type { Clock } from '../base/clock.ts'
import { errorMessage } from '../base/error-text.ts'
import { within } from '../base/within.ts'
import type { BeforeImages } from '../describe/before-images.ts'
import type { Redactor } from '../describe/redactor.ts'
import type { Source, SourceHost, SourceState } from '../describe/source.ts'
import type { Workspace } from '../describe/workspace.ts'
import type { Catalogue } from '../discover/catalogue.ts'
import type { LogEntry, SourceRow } from '../gate-contract.ts'

export type RunSourcesParts = {
  readonly catalogue: Catalogue
  readonly workspace: Workspace
  readonly images: BeforeImages
  readonly redactor: Redactor
  readonly clock: Clock
  readonly startMs: number
  readonly machine: SourceHost['machine']
  readonly log: (entry: LogEntry) => void
}

/** Milliseconds that one source may take to close. */
const CLOSE_MS = 5_000

export class RunningSources {
  readonly #parts: RunSourcesParts
  readonly #states = new Map<Source, SourceState>()
  readonly #starts = new Map<Source, Promise<void>>()
  #closed = false
  #stopWaiting = (): void => {}
  /** Resolves when the gate closes: nobody waits for a source then. */
  readonly #closing = new Promise<void>((resolve) => {
    this.#stopWaiting = resolve
  })

  constructor(parts: RunSourcesParts) {
    this.#parts = parts
  }

  /** Resolves when this source is ready or has failed. */
  start(source: Source): Promise<void> {
    const start = this.#start(source)
    this.#starts.set(source, start)
    return start
  }

  async settled(): Promise<void> {
    await Promise.all(this.#starts.values())
  }

  rows(): readonly SourceRow[] {
    const { catalogue } = this.#parts
    return [...this.#states].map(([{ name, layer }, state]) => ({
      name,
      layer,
      state,
      tools: catalogue.items().filter(({ entry }) => entry.source === name).length,
    }))
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#stopWaiting()
    await Promise.all([...this.#states.keys()].map((source) => this.#close(source)))
  }

  async #start(source: Source): Promise<void> {
    const { catalogue, clock, startMs } = this.#parts
    this.#states.set(source, { kind: 'starting' })
    catalogue.starting(source.name, true)
    try {
      const waited = await within(Promise.race([source.start(this.#host(source)), this.#closing]), startMs, clock)
      if (waited.kind === 'late')
        this.#report(source, { kind: 'failed', reason: `it did not start within ${startMs} ms` })
      else if (this.#states.get(source)?.kind === 'starting') this.#report(source, { kind: 'ready' })
    } catch (error) {
      this.#report(source, { kind: 'failed', reason: errorMessage(error) })
    } finally {
      catalogue.starting(source.name, false)
    }
  }

  #host(source: Source): SourceHost {
    const { catalogue, workspace, images, redactor, clock, log, machine } = this.#parts
    const { name, layer, identity, foreign, activation } = source
    const origin = { source: name, layer, identity, foreign, ...(activation === undefined ? {} : { activation }) }
    return {
      workspace,
      images,
      redactor,
      clock,
      machine,
      offer: (tools) => {
        if (!this.#closed) catalogue.replace(origin, tools)
      },
      report: (state) => this.#report(source, state),
      log: (message, details) =>
        log({ level: 'warning', message: `${name}: ${message}`, ...(details === undefined ? {} : { details }) }),
    }
  }

  #report(source: Source, state: SourceState): void {
    if (this.#closed) return
    this.#states.set(source, state)
    if (state.kind === 'failed')
      this.#parts.log({ level: 'error', message: `source ${source.name} failed: ${state.reason}` })
  }

  async #close(source: Source): Promise<void> {
    try {
      await within(source.close(), CLOSE_MS, this.#parts.clock)
    } catch (error) {
      this.#parts.log({
        level: 'error',
        message: `source ${source.name} did not close`,
        details: { error: errorMessage(error) },
      })
    }
    this.#states.set(source, { kind: 'closed' })
  }
}
