// A gate that is watched: spans below the trace of whoever calls, numbers for Prometheus, and health. The SDK here keeps spans
// in memory; a program would send them somewhere.

import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { createGate, defineTool } from '../../src/index.ts'

type Print = (line: string) => void

const stock = defineTool({
  name: 'stock',
  version: '1.0.0',
  description: 'How many of an article are there.',
  input: {
    type: 'object',
    properties: { article: { type: 'string' } },
    required: ['article'],
    additionalProperties: false,
  } as const,
  effect: 'read',
  run: async () => ({ pieces: 12 }),
})

/** The spans of one call, and whose they are. */
export async function spans(print: Print): Promise<void> {
  const exporter = new InMemorySpanExporter()
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))

  const gate = await createGate({ tools: [stock], telemetry: true })
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  await gate.session().call({ name: 'stock', arguments: { article: 'bolt' }, trace: { traceparent } })

  const finished = exporter.getFinishedSpans()
  const call = finished.find(({ name }) => name === 'execute_tool stock')
  print(`trace ${call?.spanContext().traceId}`)
  print(`decision ${call?.attributes['lockgate.decision']}`)
  print(
    `stages ${finished
      .filter((span) => span !== call)
      .map(({ name }) => name)
      .join(', ')}`,
  )
  await gate.close()
  for (const api of [context, trace]) api.disable()
}

/** Numbers and health of a gate, with no SDK at all. */
export async function numbers(print: Print): Promise<void> {
  const gate = await createGate({ tools: [stock] })
  const session = gate.session()
  await session.call({ name: 'stock', arguments: { article: 'bolt' } })
  await session.call({ name: 'stock', arguments: {} })
  for (const line of gate.metrics().split('\n')) if (line.startsWith('lockgate_calls_total')) print(line)
  print(gate.troubles().length === 0 ? 'ready' : `not ready: ${gate.troubles().join(', ')}`)
  await gate.close()
}
