// An idle gateway with the two upstreams of the quickstart: resident memory of the gate's own process.

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { row } from './measure.mjs'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const state = mkdtempSync(join(tmpdir(), 'lockgate-bench-'))
const start = performance.now()
const gate = spawn(
  process.execPath,
  [at('../dist/cli/main.js'), '--config', at('../examples/quickstart/lockgate.yaml'), 'serve'],
  {
    env: { ...process.env, LOCKGATE_STATE: state },
    stdio: ['ignore', 'pipe', 'pipe'],
  },
)
let said = ''
for (const stream of [gate.stdout, gate.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
const until = Date.now() + 30_000
while (!/\/mcp/.test(said) && gate.exitCode === null && Date.now() < until)
  await new Promise((resolve) => setTimeout(resolve, 20))
if (!/\/mcp/.test(said)) throw new Error(`the gate did not start: ${said}`)
row('start to serving, quickstart', performance.now() - start, 'ms')
await new Promise((resolve) => setTimeout(resolve, 8_000))
const status = readFileSync(`/proc/${gate.pid}/status`, 'utf8')
row(
  'resident memory, idle, two upstreams',
  Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024,
  'MiB',
  100_000_000 / 1_048_576,
)
gate.kill('SIGTERM')
await new Promise((resolve) => gate.once('exit', resolve))
rmSync(state, { recursive: true, force: true })
