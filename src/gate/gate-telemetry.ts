// What a gate tells those who watch over it: counters that are always on, and spans and metrics of OpenTelemetry where the host
// wants them. It stands around the rooms and sees every call, changes none, and a fault in it reaches no call.

import type { Clock } from '../base/clock.ts'
import type { Emitter } from '../base/emitter.ts'
import { errorText } from '../base/error-text.ts'
import { VERSION } from '../base/version.ts'
import type { Rooms } from '../call-tool.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import type { GateEvents, SourceRow } from '../gate-contract.ts'
import type { Store } from '../observe/store.ts'
import { CallCounters } from '../observe/telemetry/call-counters.ts'
import type { CallMeter } from '../observe/telemetry/call-meter.ts'
import type { CallSpans } from '../observe/telemetry/call-spans.ts'
import { type Family, prometheusText, type Sample } from '../observe/telemetry/prometheus-text.ts'
import type { LogEntry } from './gate-options.ts'
import { OpenApprovals } from './open-approvals.ts'

/** What makes spans and records metrics, once it is loaded. */
export type LoadedTelemetry = {
  spans(): CallSpans
  meter(families: () => readonly Family[]): CallMeter
}

/** @throws GateConfigError where the host has not installed the API. */
export async function loadTelemetry(wanted: boolean | undefined): Promise<LoadedTelemetry | undefined> {
  if (wanted !== true) return undefined
  const [api, spans, meter] = await Promise.all([
    import('@opentelemetry/api').catch((cause: unknown) => {
      const message = '`@opentelemetry/api` cannot be loaded; install it, with an SDK of your choice, or leave this out'
      throw new GateConfigError([{ key: 'telemetry', message }], { cause })
    }),
    import('../observe/telemetry/call-spans.ts'),
    import('../observe/telemetry/call-meter.ts'),
  ])
  return {
    spans: () => new spans.CallSpans(api),
    meter: (families) => new meter.CallMeter(api, families),
  }
}

export type GateTelemetryParts = {
  readonly clock: Clock
  readonly store: Store
  readonly log: (entry: LogEntry) => void
  readonly events: Emitter<GateEvents>
  readonly loaded: LoadedTelemetry | undefined
  readonly lanes: { readonly waiting: number; readonly places: number }
  /** By source: whether it is left alone now. */
  readonly breakers: () => ReadonlyMap<string, boolean>
  readonly sources: () => readonly SourceRow[]
  readonly openCalls: () => number
}

export class GateTelemetry {
  readonly #parts: GateTelemetryParts
  readonly #counters = new CallCounters()
  readonly #approvals: OpenApprovals
  readonly #events = new Map<string, number>()
  readonly #spans: CallSpans | undefined
  readonly #meter: CallMeter | undefined
  #hasFailed = false

  constructor(parts: GateTelemetryParts) {
    const { events, loaded, store } = parts
    this.#parts = parts
    this.#approvals = new OpenApprovals(store)
    for (const event of COUNTED) this.#events.set(event, 0)
    for (const event of ['approval-opened', 'approval-changed'] as const)
      events.on(event, (approval) => this.#approvals.note(approval))
    for (const event of COUNTED)
      events.on(event, () => void this.#events.set(event, (this.#events.get(event) ?? 0) + 1))
    this.#spans = loaded?.spans()
    this.#meter = loaded?.meter(() => this.#families())
  }

  /** The same rooms, watched. Without OpenTelemetry only the ends of calls are counted. */
  watching(rooms: Rooms): Rooms {
    const close: Rooms['records']['close'] = (call, outcome) => {
      const closing = rooms.records.close(call, outcome)
      this.#quietly(() => {
        this.#counters.count(call, outcome)
        this.#spans?.closed(call, outcome)
        this.#meter?.closed(call, outcome)
      })
      return closing
    }
    const watched = { ...rooms, records: { ...rooms.records, close } }
    const spans = this.#spans
    if (spans === undefined) return watched
    return {
      ...watched,
      openCall: (request) => {
        const call = rooms.openCall(request)
        this.#quietly(() => spans.opened(call))
        return call
      },
      executor: {
        run: (call, entry, input) => {
          call.trail.marks.execute = this.#parts.clock.monotonic()
          this.#quietly(() => spans.executing(call, entry))
          return spans.within(call, () => rooms.executor.run(call, entry, input))
        },
      },
    }
  }

  metrics(): string {
    void this.#approvals.refresh()
    return prometheusText(this.#families())
  }

  stop(): void {
    this.#quietly(() => this.#meter?.stop())
  }

  #families(): readonly Family[] {
    const { breakers, clock, lanes, openCalls, sources, store } = this.#parts
    const rows = sources()
    return [
      ...this.#counters.families(),
      counter('events', 'Events of the gate, by name.', labelled('event', this.#events)),
      gauge('build_info', 'The version of the gate, always 1.', [{ labels: { version: VERSION }, value: 1 }]),
      gauge('calls_open', 'Calls that are under way.', [{ value: openCalls() }]),
      gauge('lanes_waiting', 'Calls that wait for others.', [{ value: lanes.waiting }]),
      gauge('lanes_held', 'Places in lanes that are held or waited for.', [{ value: lanes.places }]),
      gauge('approvals_open', 'Questions that wait for a person.', [{ value: this.#approvals.count(clock.now()) }]),
      gauge(
        'breaker_open',
        '1 for a source that is left alone because it failed again and again.',
        labelled('source', breakers()),
      ),
      gauge(
        'source_ready',
        '1 for a source that offers its tools.',
        rows.map(({ name, state }) => ({ labels: { source: name }, value: state.kind === 'ready' ? 1 : 0 })),
      ),
      gauge('records_failing', '1 while records cannot be kept.', [{ value: store.failure() === undefined ? 0 : 1 }]),
    ]
  }

  /** INVARIANT one-outcome: whatever watches a call, its outcome is its own. */
  #quietly(watch: () => void): void {
    try {
      watch()
    } catch (error) {
      if (this.#hasFailed) return
      this.#hasFailed = true
      const details = { error: errorText(error) }
      this.#parts.log({ level: 'error', message: 'telemetry failed; further failures are not logged', details })
    }
  }
}

const COUNTED = [
  ...(['approval-opened', 'approval-changed', 'policy-changed', 'stops-changed', 'catalogue-changed'] as const),
  ...(['audit-failed', 'checkpoint-made'] as const),
]

const counter = (name: string, help: string, samples: readonly Sample[]): Family => ({
  ...{ name: `lockgate_${name}_total`, help, type: 'counter', samples },
})

const gauge = (name: string, help: string, samples: readonly Sample[]): Family => ({
  ...{ name: `lockgate_${name}`, help, type: 'gauge', samples },
})

const labelled = (label: string, values: ReadonlyMap<string, number | boolean>): readonly Sample[] =>
  [...values].map(([key, value]) => ({ labels: { [label]: key }, value: Number(value) }))
