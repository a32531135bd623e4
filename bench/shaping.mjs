// Shaping: what one result costs between the tool's answer and the outcome. A result of 1 KB in microseconds, one of 5 MB to its
// budget in milliseconds and in memory beside its size. Nothing is kept here: what artifacts cost is their store's.

import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { median, row, threadCpuNs } from './measure.mjs'

const built = new URL(`../dist/bench-shaping-${process.pid}.mjs`, import.meta.url)
const bundle = await rolldown({
  input: fileURLToPath(new URL('../src/observe/shape.ts', import.meta.url)),
  platform: 'node',
  external: [/^node:/],
})
await bundle.write({ file: fileURLToPath(built), format: 'esm', codeSplitting: false })
await bundle.close()
const { Shaper } = await import(built)
rmSync(built)

const MB = 1_048_576
const shaper = new Shaper({
  clock: { monotonic: () => performance.now() },
  resultBytes: 48 * 1024,
  turnBytes: 120 * 1024,
})
const call = () => ({
  ...{ id: 'call', runId: 'run', request: { name: 'tool', entrance: 'library' }, openedAtMs: 0, openedMonotonicMs: 0 },
  trail: { attempts: 1, marks: {}, entry: { tool: {}, source: 'host', fingerprint: 'f' } },
})
const ending = (value, content) => ({ kind: 'value', value, ...(content === undefined ? {} : { content }) })

/** Of this thread alone, where the system tells: what else runs on the machine is none of it. */
const nowNs = () => threadCpuNs() ?? Number(process.hrtime.bigint())

/** Microseconds for each, the median of several runs. */
function microseconds(make, count) {
  const runs = []
  for (let run = 0; run < 9; run++) {
    const calls = Array.from({ length: count }, () => [call(), make()])
    const start = nowNs()
    for (const [one, given] of calls) shaper.shape(one, given)
    runs.push((nowNs() - start) / 1_000 / count)
  }
  return median(runs.slice(2))
}

const text = (bytes) => 'a line of text in a result\n'.repeat(Math.ceil(bytes / 27)).slice(0, bytes)
const object = {
  ...Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`member_${at}`, `text of member ${at}`])),
  more: [1, [2]],
}
const rows = (count) =>
  Array.from({ length: count }, (_, id) => ({ id, name: `name ${id}`, price: id * 1.5, city: 'Zürich' }))

row(
  '1 KB of text',
  microseconds(() => ending(text(1_024)), 5_000),
  'us',
  10,
)
row(
  '1 KB of an object',
  microseconds(() => ending(object), 5_000),
  'us',
  10,
)
row(
  '1 KB of content',
  microseconds(() => ending(undefined, [{ type: 'text', text: text(1_024) }]), 5_000),
  'us',
  10,
)
row(
  '1 KB of rows',
  microseconds(() => ending(rows(15)), 5_000),
  'us',
)

const nested = Array.from({ length: 50_000 }, (_, id) => ({
  id,
  name: `name ${id}`,
  tags: ['one', 'two'],
  more: { price: id * 1.5 },
}))
for (const [name, value] of [
  ['5 MB of lines', text(5 * MB)],
  ['5 MB on one line', 'x'.repeat(5 * MB)],
  ['5 MB of letters with marks', 'é'.repeat(2.5 * MB)],
  ['5 MB of JSON', { list: nested, more: true }],
  ['5 MB of JSON as text', JSON.stringify(nested).slice(0, 5 * MB)],
  ['5 MB of rows', rows(90_000)],
  ['5 MB of output of a program', '\u001b[32mok\u001b[0m a line of a build\n'.repeat(170_000)],
])
  row(`${name}, to its budget`, microseconds(() => ending(value), 1) / 1_000, 'ms', 60)

/** Of one result, beside the value itself; the high-water mark of the heap and of buffers, as far as a collector tells. */
function memory(value, bytes) {
  globalThis.gc?.()
  const before = process.memoryUsage()
  const outcome = shaper.shape(call(), ending(value))
  const after = process.memoryUsage()
  return outcome.ok ? (after.heapUsed + after.external - before.heapUsed - before.external) / bytes : undefined
}
if (globalThis.gc !== undefined) {
  const value = { list: nested }
  row('5 MB of JSON: memory beside its size', memory(value, JSON.stringify(value).length), 'x', 3)
  row('5 MB of lines: memory beside its size', memory(text(5 * MB), 5 * MB), 'x', 3)
}
