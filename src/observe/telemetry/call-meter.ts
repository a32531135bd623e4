// The numbers of a gate through the API of OpenTelemetry: what is counted anyway is read when an exporter asks, and only how
// long calls took is recorded for each of them.

import type { Attributes, Histogram, ObservableResult } from '@opentelemetry/api'
import { VERSION } from '../../base/version.ts'
import type { Call } from '../../describe/call.ts'
import type { Outcome } from '../../describe/outcome.ts'
import type { TelemetryApi } from './call-spans.ts'
import * as names from './convention-names.ts'
import type { Family } from './prometheus-text.ts'

const KEPT_MAX = 1_000

export class CallMeter {
  readonly #executions: Histogram
  readonly #served: Histogram
  readonly #upstream: Histogram
  /** Of one tool and end; most calls have had the same before. */
  readonly #attributes = new Map<string, Attributes>()
  readonly #stops: (() => void)[] = []

  /** `families`: what is counted anyway. Its names are those that there are from the start. */
  constructor(api: TelemetryApi, families: () => readonly Family[]) {
    const meter = api.metrics.getMeter('lockgate', VERSION)
    const seconds = (name: string, description: string): Histogram =>
      meter.createHistogram(name, { unit: 's', description })
    this.#executions = seconds(names.EXECUTE_TOOL_DURATION, 'Duration of tool calls.')
    this.#served = seconds(names.MCP_SERVER_DURATION, 'Duration of requests of MCP clients.')
    this.#upstream = seconds(names.MCP_CLIENT_DURATION, 'Duration of requests to MCP servers.')
    for (const { name, help, type } of families()) {
      if (type === 'histogram') continue
      const options = { description: help }
      const instrument =
        type === 'counter'
          ? meter.createObservableCounter(dotted(name), options)
          : meter.createObservableGauge(dotted(name), options)
      const tell = (result: ObservableResult): void => observe(result, name, families())
      instrument.addCallback(tell)
      this.#stops.push(() => instrument.removeCallback(tell))
    }
  }

  closed(call: Call, outcome: Outcome): void {
    const { entry, marks } = call.trail
    const attributes = this.#attributesOf(entry?.tool.name, outcome.ok ? undefined : outcome.error.type)
    const elapsedSeconds = outcome.elapsedMs / 1_000
    this.#executions.record(elapsedSeconds, attributes)
    if (call.request.entrance === 'mcp' && call.request.parent === undefined)
      this.#served.record(elapsedSeconds, { ...attributes, [names.MCP_METHOD]: names.TOOLS_CALL })
    if (entry?.tool.place !== 'upstream' || marks.execute === undefined) return
    const ended = marks.shape ?? marks.execute
    this.#upstream.record((ended - marks.execute) / 1_000, { ...attributes, [names.MCP_METHOD]: names.TOOLS_CALL })
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop()
  }

  #attributesOf(tool: string | undefined, type: string | undefined): Attributes {
    const key = `${tool ?? ''}\n${type ?? ''}`
    const known = this.#attributes.get(key)
    if (known !== undefined) return known
    const made: Attributes = {
      [names.GEN_AI_OPERATION]: names.EXECUTE_TOOL,
      ...(tool === undefined ? undefined : { [names.GEN_AI_TOOL_NAME]: tool }),
      ...(type === undefined ? undefined : { [names.ERROR_TYPE]: type }),
    }
    if (this.#attributes.size >= KEPT_MAX) this.#attributes.clear()
    this.#attributes.set(key, made)
    return made
  }
}

/** `lockgate_calls_total` is `lockgate.calls` there. */
const dotted = (name: string): string => name.replace(/_total$/, '').replace('_', '.')

function observe(result: ObservableResult, name: string, families: readonly Family[]): void {
  const family = families.find((one) => one.name === name)
  if (family === undefined || family.type === 'histogram') return
  for (const { value, labels } of family.samples) result.observe(value, labels)
}
