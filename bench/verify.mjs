// Verifying the records of a SQLite file: rows of sealed calls, with the checkpoints that a gate makes of them.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGate, defineTool } from '../dist/index.js'
import { median } from './measure.mjs'
import { args, forecast, input } from './weather.mjs'

const COUNT = 200_000
const RUNS = 5
const AT_ONCE = 64
const TARGET = 100_000

const folder = mkdtempSync(join(tmpdir(), 'lockgate-bench-'))
const tool = { name: 'weather', version: '1.0.0', description: 'Weather of a city.', input, effect: 'read' }
const notes = []
const gate = await createGate({
  tools: [defineTool({ ...tool, run: forecast })],
  store: { sqlite: join(folder, 'gate.db') },
  audit: { checkpointTo: [(note) => void notes.push(note)] },
})
const session = gate.session()
let left = COUNT
const caller = async () => {
  while (left-- > 0) await session.call({ name: 'weather', arguments: args })
}
await Promise.all(Array.from({ length: AT_ONCE }, caller))
await gate.records.checkpoint()
const rates = []
for (let run = 0; run <= RUNS; run++) {
  const start = process.hrtime.bigint()
  const verified = await gate.records.verify({ notes })
  const seconds = Number(process.hrtime.bigint() - start) / 1e9
  if (verified.kind !== 'ok' || verified.checkpoints === 0) throw new Error(JSON.stringify(verified))
  rates.push(verified.rows / seconds)
}
await gate.close()
rmSync(folder, { recursive: true, force: true })
// The first one warms up.
const rate = median(rates.slice(1))
const figure = `${Math.round(rate).toLocaleString('en')} rows/s`
console.log(
  `${'records verified, with checkpoints and their copies'.padEnd(62)} ${figure.padStart(16)}   target >= 100,000 rows/s  ${rate >= TARGET ? 'met' : 'MISSED'}`,
)
