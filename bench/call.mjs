// One governed call in process: a trivial read tool with a three-field schema through the whole pipeline, records on.
// Figures are per call above the bare function, the median of five runs after a warm-up.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGate, defineTool } from '../dist/index.js'
import { median, processCpuUs, row, threadCpuNs, wallUsPerCall } from './measure.mjs'
import { args, forecast, input } from './weather.mjs'

const RUNS = 5
const COUNT = 20_000
const tool = (name, effect) =>
  defineTool({ name, version: '1.0.0', description: 'Weather of a city.', input, effect, run: forecast })
const policy = { defaults: { write: 'allow' }, rules: [{ deny: 'admin_*' }, { allow: 'weather' }] }

async function measureCalls(gate, name) {
  const session = gate.session()
  const call = () => session.call({ name, arguments: args })
  if (!(await call()).ok) throw new Error('the call does not work')
  await wallUsPerCall(COUNT, call)
  const runs = []
  for (let index = 0; index < RUNS; index++) {
    await gate.records.flush()
    const thread = threadCpuNs()
    const total = processCpuUs()
    const wallUs = await wallUsPerCall(COUNT, call)
    const threadUs = thread === undefined ? undefined : (threadCpuNs() - thread) / 1_000 / COUNT
    await gate.records.flush()
    runs.push({ wallUs, threadUs, totalUs: (processCpuUs() - total) / COUNT })
  }
  return {
    wallUs: median(runs.map(({ wallUs }) => wallUs)),
    threadUs: runs[0].threadUs === undefined ? undefined : median(runs.map(({ threadUs }) => threadUs)),
    totalUs: median(runs.map(({ totalUs }) => totalUs)),
  }
}

const bare = []
for (let index = 0; index < RUNS + 1; index++) bare.push(await wallUsPerCall(COUNT, () => forecast(args)))
const bareUs = median(bare.slice(1))
row('bare function', bareUs, 'us')

const memory = await createGate({ tools: [tool('weather', 'read')], policy })
const inMemory = await measureCalls(memory, 'weather')
row('read call, memory store: above the bare function', inMemory.wallUs - bareUs, 'us', 12)
await memory.close()

const folder = mkdtempSync(join(tmpdir(), 'lockgate-bench-'))
const sqlite = await createGate({
  tools: [tool('weather', 'read'), tool('change', 'write')],
  policy,
  store: { sqlite: join(folder, 'gate.db') },
})
const onSqlite = await measureCalls(sqlite, 'weather')
row(
  "read call, SQLite: CPU on the caller's thread",
  onSqlite.threadUs === undefined ? undefined : onSqlite.threadUs - bareUs,
  'us',
  12,
)
row('read call, SQLite: CPU in all', onSqlite.totalUs - bareUs, 'us', 30)
row('read call, SQLite: wall time', onSqlite.wallUs - bareUs, 'us')
await sqlite.close()
rmSync(folder, { recursive: true, force: true })
