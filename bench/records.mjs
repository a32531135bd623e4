// Records of read calls on SQLite, sealed as they are by default: how many ends become durable in a second while callers do
// not wait for them, in group commit; and what one costs the whole process.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGate, defineTool } from '../dist/index.js'
import { median, processCpuUs } from './measure.mjs'
import { args, forecast, input } from './weather.mjs'

const COUNT = 60_000
const RUNS = 5
const AT_ONCE = 64
const TARGET = 20_000

async function endsPerSecond(audit) {
  const folder = mkdtempSync(join(tmpdir(), 'lockgate-bench-'))
  const tool = { name: 'weather', version: '1.0.0', description: 'Weather of a city.', input, effect: 'read' }
  const gate = await createGate({
    tools: [defineTool({ ...tool, run: forecast })],
    store: { sqlite: join(folder, 'gate.db') },
    audit,
  })
  const session = gate.session()
  const call = () => session.call({ name: 'weather', arguments: args })
  const runs = []
  for (let run = 0; run <= RUNS; run++) {
    const before = processCpuUs()
    const start = process.hrtime.bigint()
    let left = COUNT
    const caller = async () => {
      while (left-- > 0) await call()
    }
    await Promise.all(Array.from({ length: AT_ONCE }, caller))
    await gate.records.flush()
    const seconds = Number(process.hrtime.bigint() - start) / 1e9
    runs.push({ rate: COUNT / seconds, cpuUs: (processCpuUs() - before) / COUNT })
  }
  await gate.close()
  rmSync(folder, { recursive: true, force: true })
  // The first one warms up.
  return { rate: median(runs.slice(1).map(({ rate }) => rate)), cpuUs: median(runs.slice(1).map(({ cpuUs }) => cpuUs)) }
}

for (const [name, audit] of [
  ['sealed', {}],
  ['unsealed', { seal: false }],
]) {
  const { rate, cpuUs } = await endsPerSecond(audit)
  const verdict = rate >= TARGET ? 'met' : 'MISSED'
  const figure = `${Math.round(rate).toLocaleString('en')} ends/s`
  console.log(`${`ends made durable, ${name}`.padEnd(62)} ${figure.padStart(16)}   target >= 20,000 ends/s  ${verdict}`)
  console.log(`${`  CPU of one call and its record, ${name}`.padEnd(62)} ${`${cpuUs.toFixed(1)} us`.padStart(16)}`)
}
