// Whole gates with an SDK of OpenTelemetry behind the API, and without one.

import { context, metrics, SpanKind, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createGate, defineTool, type Gate } from '../index.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`

const seen: (string | undefined)[] = []
const look = defineTool({
  ...{ name: 'look', version: '1.2.0', description: 'Looks.', effect: 'read' },
  input: { type: 'object', properties: { secret: { type: 'string' } }, additionalProperties: false } as const,
  run: async (_, run) => {
    seen.push(run.trace?.traceparent)
    trace.getTracer('tool').startSpan('inside the tool').end()
    return { done: true }
  },
})
const ask = defineTool({
  ...{ name: 'ask_twice', version: '1.0.0', description: 'Calls another.', effect: 'read' },
  input: { type: 'object', additionalProperties: false } as const,
  run: async (_, run) => ({ ok: (await run.call({ name: 'look', arguments: {} })).ok }),
})

const gates: Gate[] = []
async function gateOf(telemetry: boolean, more: Parameters<typeof createGate>[0] = {}): Promise<Gate> {
  const gate = await createGate({ tools: [look, ask], telemetry, ...more })
  gates.push(gate)
  return gate
}

const spans = new InMemorySpanExporter()
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)

function withSdk(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(provider)
}

beforeEach(() => void seen.splice(0))
afterEach(async () => {
  for (const gate of gates.splice(0)) await gate.close()
  for (const api of [context, trace, metrics]) api.disable()
  spans.reset()
  measured.reset()
})

const named = (name: string): ReadableSpan | undefined => spans.getFinishedSpans().find((span) => span.name === name)

describe('spans', () => {
  test('a call has one, below the trace that its caller named, with a child for each stage', async () => {
    withSdk()
    const session = (await gateOf(true)).session()
    const outcome = await session.call({ name: 'look', trace: { traceparent: TRACEPARENT, tracestate: 'a=b' } })
    const root = named('execute_tool look')
    expect(root?.spanContext().traceId).toBe(TRACE_ID)
    expect(root?.parentSpanContext?.spanId).toBe('b7ad6b7169203331')
    expect(root?.attributes).toMatchObject({
      ...{ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'look', 'gen_ai.tool.type': 'function' },
      ...{ 'lockgate.call.id': outcome.meta.callId, 'lockgate.decision': 'allow', 'lockgate.entrance': 'library' },
    })
    const children = spans
      .getFinishedSpans()
      .filter((span) => span.parentSpanContext?.spanId === root?.spanContext().spanId)
    expect(children.map(({ name }) => name).sort()).toEqual([
      'admit',
      'decide',
      'discover',
      'execute',
      'shape',
      'validate',
    ])
    const [execute, inside] = [named('execute'), named('inside the tool')]
    expect(inside?.parentSpanContext?.spanId).toBe(execute?.spanContext().spanId)
    expect(seen).toEqual([`00-${TRACE_ID}-${execute?.spanContext().spanId}-01`])
  })

  test('arguments, results and callers are in none of them', async () => {
    withSdk()
    const session = (await gateOf(true)).session({ user: 'ana-the-user', session: 'private-talk' })
    await session.call({ name: 'look', arguments: { secret: 'hunter2' } })
    await session.call({ name: 'look', arguments: { hunter2: 1 } })
    await session.call({ name: 'hunter2-as-a-name' })
    const told = JSON.stringify(
      spans.getFinishedSpans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
    )
    expect(told).not.toMatch(/hunter2|ana-the-user|private-talk/)
    expect(spans.getFinishedSpans().filter(({ name }) => name.startsWith('execute_tool'))).toHaveLength(3)
  })

  test('a call of a client of MCP is a request that was served; one that failed says its type', async () => {
    withSdk()
    const gate = await gateOf(true, { policy: { rules: [{ deny: 'look' }] } })
    await gate.session({}, 'mcp').call({ name: 'look' })
    const root = named('tools/call look')
    expect(root?.kind).toBe(SpanKind.SERVER)
    expect(root?.attributes).toMatchObject({ 'mcp.method.name': 'tools/call', 'error.type': 'permission_denied' })
    expect(root?.status.code).toBe(2)
  })

  test('the call that a tool makes stands below the work of that tool', async () => {
    withSdk()
    const session = (await gateOf(true)).session()
    expect((await session.call({ name: 'ask_twice' })).ok).toBe(true)
    const [outer, inner] = [named('execute_tool ask_twice'), named('execute_tool look')]
    expect(inner?.spanContext().traceId).toBe(outer?.spanContext().traceId)
    const above = spans
      .getFinishedSpans()
      .find((span) => span.spanContext().spanId === inner?.parentSpanContext?.spanId)
    expect(above?.name).toBe('execute')
    expect(above?.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId)
  })

  test.each([[true], [false]])('without an SDK a trace goes on unchanged, telemetry %s', async (telemetry) => {
    const session = (await gateOf(telemetry)).session()
    expect((await session.call({ name: 'look', trace: { traceparent: TRACEPARENT } })).ok).toBe(true)
    expect((await session.call({ name: 'look', trace: { traceparent: 'no trace' } })).ok).toBe(true)
    expect(seen).toEqual([TRACEPARENT, undefined])
  })

  test('a tracer that throws reaches no call, and is logged once', async () => {
    withSdk()
    trace.disable()
    const startSpan = (): never => {
      throw new Error('no span')
    }
    const getTracer = (name: string) => (name === 'lockgate' ? { startSpan } : provider.getTracer(name))
    trace.setGlobalTracerProvider({ getTracer } as never)
    const logged: string[] = []
    const gate = await gateOf(true, { log: ({ message }) => void logged.push(message) })
    for (let index = 0; index < 3; index += 1) expect((await gate.session().call({ name: 'look' })).ok).toBe(true)
    expect(logged.filter((message) => message.startsWith('telemetry failed'))).toHaveLength(1)
  })
})

test('metrics go through the API too: durations by tool and end, and what is counted anyway', async () => {
  const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 3_600_000 })
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
  const gate = await gateOf(true)
  await gate.session({}, 'mcp').call({ name: 'look' })
  await gate.session().call({ name: 'look', arguments: { no: 1 } })
  await reader.forceFlush()
  const all = measured.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
  const points = (name: string) => all.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []
  expect(points('gen_ai.execute_tool.duration').map(({ attributes }) => attributes)).toEqual([
    { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'look' },
    { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'look', 'error.type': 'invalid_args' },
  ])
  expect(points('mcp.server.operation.duration')).toHaveLength(1)
  expect(points('lockgate.calls').map(({ value, attributes }) => [attributes.type, value])).toEqual([
    ['ok', 1],
    ['invalid_args', 1],
  ])
})

describe('numbers of a gate', () => {
  test('calls by tool, end and decision, their stages, and what waits', async () => {
    const gate = await gateOf(false, { policy: { rules: [{ ask: 'ask_twice' }] } })
    const session = gate.session()
    await session.call({ name: 'look' })
    await session.call({ name: 'look', arguments: { no: 1 } })
    await session.call({ name: 'a name that "nobody" has' })
    await session.call({ name: 'ask_twice' })
    const text = gate.metrics()
    expect(text).toContain('lockgate_calls_total{tool="look",type="ok",decision="allow"} 1\n')
    expect(text).toContain('lockgate_calls_total{tool="look",type="invalid_args",decision="none"} 1\n')
    expect(text).toContain('lockgate_calls_total{tool="(none)",type="not_found",decision="none"} 1\n')
    expect(text).toContain('lockgate_calls_total{tool="ask_twice",type="approval_required",decision="ask"} 1\n')
    expect(text).toContain('lockgate_stage_seconds_count{stage="execute"} 1\n')
    expect(text).toContain('lockgate_approvals_open 1\n')
    expect(text).toContain('lockgate_calls_open 0\n')
    expect(text).toContain('lockgate_records_failing 0\n')
    expect(text).not.toContain('nobody')
  })

  test('a gate that is closing says so, and one that serves has no trouble', async () => {
    const gate = await gateOf(false)
    expect(gate.troubles()).toEqual([])
    await gate.close()
    expect(gate.troubles()).toEqual(['the gate is closing'])
  })
})
