// Lanes: how long a turn of independent reads takes beside the rounds that its pool needs, and what keeping the order costs by
// itself, for turns whose calls read and write files of their own. Figures are medians.

import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { createGate, defineTool } from '../dist/index.js'
import { median, row, threadCpuNs } from './measure.mjs'

const built = new URL('../dist/bench-lanes.mjs', import.meta.url)
const bundle = await rolldown({
  input: fileURLToPath(new URL('../src/execute/lanes/lanes.ts', import.meta.url)),
  platform: 'node',
  external: [/^node:/],
})
await bundle.write({ file: fileURLToPath(built), format: 'esm', codeSplitting: false })
await bundle.close()
const { Lanes } = await import(built)
rmSync(built)

const READS = 20
const READ_MS = 50
const POOL = 8
const ROUNDS = Math.ceil(READS / POOL)

/** What the waiting itself takes here without any gate: rounds of timers, one after the other. */
async function bareMs() {
  const startMs = performance.now()
  for (let left = READS; left > 0; left -= POOL)
    await Promise.all(Array.from({ length: Math.min(left, POOL) }, () => sleep(READ_MS)))
  return performance.now() - startMs
}

const reading = (name, run) =>
  defineTool({
    name,
    version: '1.0.0',
    description: 'Reads one file.',
    input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    effect: 'read',
    touches: ({ path }) => [`read file:/ws/${path}`],
    run,
  })
const gate = await createGate({
  tools: [reading('slow_read', () => sleep(READ_MS, 'read')), reading('quick_read', () => 'read')],
})
const session = gate.session()
const turnOf = (name) => Array.from({ length: READS }, (_, index) => ({ name, arguments: { path: `${index}` } }))
const calls = turnOf('slow_read')
for (let run = 0; run < 200; run++) await session.turn(turnOf('quick_read'))
await session.turn(calls)
const turns = []
const bare = []
for (let run = 0; run < 9; run++) {
  bare.push(await bareMs())
  const startMs = performance.now()
  const outcomes = await session.turn(calls)
  turns.push(performance.now() - startMs)
  if (!outcomes.every(({ ok }) => ok)) throw new Error('a call failed')
}
await gate.close()
row(`turn of ${READS} reads of ${READ_MS} ms, pool of ${POOL}: rounds`, median(turns) / READ_MS, 'rounds', 3.2)
row(
  `the same: added to ${ROUNDS} rounds of bare timers`,
  Math.max(0, median(turns.map((ms, run) => ms - bare[run]))),
  'ms',
  1,
)

const CALLS = 100
const TURNS = 30

const nowNs = threadCpuNs() === undefined ? () => Number(process.hrtime.bigint()) : threadCpuNs

/** Microseconds per call of turns of 100 calls that go through the lanes and nothing else; of this thread's own time, where the system tells. */
function bookkeepingUs(inputs) {
  const startNs = nowNs()
  for (let turn = 0; turn < TURNS; turn++) oneTurn(inputs)
  return (nowNs() - startNs) / 1_000 / inputs.length / TURNS
}

function oneTurn(inputs) {
  const lanes = new Lanes()
  const tickets = lanes.turn(inputs.length)
  const places = inputs.map(({ tool, input }, index) => {
    const call = { request: { ticket: tickets[index] }, caller: { tenant: 't' }, trail: {} }
    return lanes.enter(call, { tool }, input)
  })
  let over = 0
  while (over < places.length) {
    for (const place of places) {
      if (!place.isHeld) continue
      place.end()
      over += 1
    }
  }
}

const touching = (verb, effect, path) =>
  Array.from({ length: CALLS }, (_, index) => {
    const key = `file:/home/somebody/workspace/src/${path(index)}`
    const text = `${verb} ${key}`
    return { tool: {}, input: { effect, touches: { kind: 'known', resources: [{ verb, key, text }] } } }
  })
const reads = touching('read', 'read', (index) => `read/${index}.ts`)
const writes = touching('write', 'write', (index) => `written/${index}.ts`)
const kinds = {
  'reads of 100 files': reads,
  'writes of 100 files': writes,
  'reads and writes by turns': reads.map((one, index) => (index % 2 === 0 ? one : writes[index])),
  'writes of one file': touching('write', 'write', () => 'same.ts'),
  barriers: Array.from({ length: CALLS }, () => ({
    tool: {},
    input: { effect: 'execute', touches: { kind: 'unknown' } },
  })),
}
for (const [name, inputs] of Object.entries(kinds)) {
  for (let run = 0; run < 10; run++) bookkeepingUs(inputs)
  row(`bookkeeping per call, ${name}`, median(Array.from({ length: 15 }, () => bookkeepingUs(inputs))), 'us', 3)
}
