// What watching costs a call: a trivial read through the whole pipeline, with the counters that are always on, with telemetry
// on and no SDK, with an SDK that samples nothing, and with one that records every span. Counters alone are measured bare,
// since a gate without them cannot be had. Figures are CPU time of the calling thread, medians of pairs measured in turns.

import { context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { AlwaysOffSampler, BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { createGate, defineTool } from '../dist/index.js'
import { median, row, threadCpuNs, wallUsPerCall } from './measure.mjs'
import { args, forecast, input } from './weather.mjs'

const COUNT = 5_000
const RUNS = 9
const tool = defineTool({
  ...{ name: 'weather', version: '1.0.0', description: 'Weather of a city.', input, effect: 'read', run: forecast },
})

/** Ends go nowhere: what an exporter costs is the exporter's. */
const nowhere = { onStart() {}, onEnd() {}, forceFlush: async () => {}, shutdown: async () => {} }

async function callsOf(telemetry) {
  const gate = await createGate({ tools: [tool], telemetry })
  const session = gate.session()
  const call = () => session.call({ name: 'weather', arguments: args })
  if (!(await call()).ok) throw new Error('the call does not work')
  await wallUsPerCall(COUNT, call)
  return { call, close: () => gate.close() }
}

async function usPerCall(call) {
  const start = threadCpuNs()
  const wallUs = await wallUsPerCall(COUNT, call)
  return start === undefined ? wallUs : (threadCpuNs() - start) / 1_000 / COUNT
}

/** What `on` takes more than `off`, each pair measured one right after the other. */
async function more(off, on) {
  const pairs = []
  for (let run = 0; run < RUNS; run++) pairs.push([await usPerCall(off.call), await usPerCall(on.call)])
  return { off: median(pairs.map(([one]) => one)), more: median(pairs.map(([one, other]) => other - one)) }
}

const off = await callsOf(false)
const bare = await callsOf(true)
const unheard = await more(off, bare)
row('a read call with telemetry off', unheard.off, 'us')
row('telemetry on, no SDK: more a call', unheard.more, 'us')
await bare.close()

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
metrics.setGlobalMeterProvider(new MeterProvider({}))
for (const [name, options, target] of [
  ['telemetry on, nothing sampled: more a call', { sampler: new AlwaysOffSampler() }, 15],
  ['telemetry on, seven spans recorded: more a call', { spanProcessors: [nowhere] }, 15],
]) {
  trace.disable()
  trace.setGlobalTracerProvider(new BasicTracerProvider(options))
  const on = await callsOf(true)
  row(name, (await more(off, on)).more, 'us', target)
  await on.close()
}
await off.close()
