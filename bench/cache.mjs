// A read that is answered from what is kept: a whole call through the pipeline, records on, median of five runs after a
// warm-up; beside the same call of a tool that keeps nothing. Then the price of keeping: a call that misses, and a write beside
// a full cache.

import { createGate, defineTool } from '../dist/index.js'
import { median, row, threadCpuNs, wallUsPerCall } from './measure.mjs'
import { args, forecast, input } from './weather.mjs'
import { changing } from './write-gate.mjs'

const RUNS = 5
const COUNT = 20_000
const define = (name, more) =>
  defineTool({
    name,
    version: '1.0.0',
    description: 'Weather of a city.',
    input,
    effect: 'read',
    touches: ({ city }) => [`read weather:${city}`],
    run: forecast,
    ...more,
  })
const change = changing('change', { touches: ({ n }) => [`write thing:${n}`] })

const cache = { forMs: 3_600_000 }
const gate = await createGate({
  tools: [
    define('plain', {}),
    define('kept', { cache }),
    define('checked', { cache: { ...cache, validator: () => 'same' } }),
    change,
  ],
  policy: { defaults: { write: 'allow' } },
})
const session = gate.session()

async function measure(call, count = COUNT) {
  await wallUsPerCall(count, call)
  const runs = []
  for (let index = 0; index < RUNS; index++) {
    await gate.records.flush()
    const thread = threadCpuNs()
    const wallUs = await wallUsPerCall(count, call)
    runs.push({ wallUs, threadUs: thread === undefined ? undefined : (threadCpuNs() - thread) / 1_000 / count })
  }
  const threadUs = runs[0].threadUs === undefined ? undefined : median(runs.map((run) => run.threadUs))
  return { wallUs: median(runs.map((run) => run.wallUs)), threadUs }
}

async function compare(name, call, target, count) {
  const { wallUs, threadUs } = await measure(call, count)
  row(`${name}: wall time`, wallUs, 'us', target)
  row(`${name}: CPU on the caller's thread`, threadUs, 'us')
}

const hit = async (name) => {
  const outcome = await session.call({ name, arguments: args })
  if (name !== 'plain' && outcome.meta.cached === undefined) throw new Error('this was no hit')
}
for (const name of ['kept', 'checked']) await session.call({ name, arguments: args })

await compare('equal call of a tool that keeps nothing', () => hit('plain'))
await compare('cache hit, whole call', () => hit('kept'), 15)
await compare('cache hit with a validator, whole call', () => hit('checked'), 15)
let day = 4
const miss = () => session.call({ name: 'kept', arguments: { ...args, days: day++ } })
await compare('cache miss that is kept, whole call', miss, undefined, 2_000)
const write = () => session.call({ name: 'change', arguments: { n: 1 } })
await compare('write beside 1,000 kept answers, whole call', write, undefined, 2_000)
await gate.close()
