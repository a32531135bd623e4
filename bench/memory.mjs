// 100,000 calls on the memory store: growth of heap and of resident memory per 1,000 calls after the first 20,000.
// Run with --expose-gc, so that what is measured is what is kept.

import { createGate, defineTool } from '../dist/index.js'
import { row } from './measure.mjs'

const tool = defineTool({
  name: 'weather',
  version: '1.0.0',
  description: 'Weather.',
  input: { type: 'object', properties: { n: { type: 'integer' } } },
  effect: 'read',
  run: async ({ n }) => ({ n }),
})
const gate = await createGate({ tools: [tool] })
const session = gate.session()
const settle = async () => {
  for (let index = 0; index < 4; index++) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return process.memoryUsage()
}
const calls = async (count) => {
  for (let index = 0; index < count; index++) await session.call({ name: 'weather', arguments: { n: index } })
}
await calls(20_000)
const before = await settle()
await calls(80_000)
const after = await settle()
row('heap per 1,000 calls', (after.heapUsed - before.heapUsed) / 1_024 / 80, 'KiB', 1)
row('resident memory per 1,000 calls', (after.rss - before.rss) / 1_024 / 80, 'KiB', 64)
await gate.close()
