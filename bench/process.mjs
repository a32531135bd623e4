// What a command costs above a plain spawn of the same program: with limits, in a sandbox, in a sandbox that holds the
// protected names of a workspace; and how long it takes until a tree of fifty processes is gone. Runs are interleaved, so
// that all of them meet the same machine. The part is bundled from its sources: no entry of the package shows it.

import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { median, row } from './measure.mjs'

const RUNS = 60
const TREE = 50
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-bench-')))
const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-bench-')))
const source = (path) => JSON.stringify(fileURLToPath(new URL(`../src/${path}`, import.meta.url)))
const entry = join(folder, 'entry.mjs')
writeFileSync(
  entry,
  `export { runProcess } from ${source('machine/run-process.ts')}
export { machineAbilities } from ${source('machine/probe-machine.ts')}
export { PROTECTED_NAMES } from ${source('machine/protected-names.ts')}
export { systemClock } from ${source('base/clock.ts')}`,
)
const file = join(folder, 'machine.mjs')
await build({
  ...{ input: entry, platform: 'node', external: [/^node:/], logLevel: 'silent' },
  output: { format: 'esm', codeSplitting: false, file },
})
const { runProcess, machineAbilities, systemClock, PROTECTED_NAMES } = await import(file)

const abilities = await machineAbilities()
const limits = { outputBytes: 1_048_576 }
const bounded = { ...limits, processes: 256, memoryBytes: 2_147_483_648, cpuMs: 60_000, openFiles: 256 }
const sandbox = { readable: [workspace], writable: [], frozen: [], masked: [], network: false }
const frozen = PROTECTED_NAMES.map((name) => join(workspace, name))
const writing = { ...sandbox, readable: [], writable: [workspace], frozen }
const isSandboxed = abilities.sandbox.kind === 'ready'

const run = async (more) => {
  const plan = {
    program: '/usr/bin/true',
    args: [],
    cwd: workspace,
    env: {},
    signal: new AbortController().signal,
    limits,
  }
  const end = await runProcess({ ...plan, ...more }, { clock: systemClock, abilities })
  if (end.kind !== 'ended') throw new Error(end.reason)
  return end
}
const plain = () =>
  new Promise((resolve, reject) => {
    const child = spawn('/usr/bin/true', [], { cwd: workspace, env: {}, stdio: ['ignore', 'pipe', 'pipe'] })
    child.once('error', reject)
    child.once('close', resolve)
  })
const ways = {
  plain,
  kept: () => run({}),
  bounded: () => run({ limits: bounded }),
  ...(isSandboxed && {
    sandboxed: () => run({ sandbox }),
    'sandboxed and bounded': () => run({ sandbox, limits: bounded }),
    frozen: () => run({ sandbox: writing }),
  }),
}
const timesMs = Object.fromEntries(Object.keys(ways).map((name) => [name, []]))
for (let index = 0; index < RUNS; index++) {
  for (const [name, way] of Object.entries(ways)) {
    const start = performance.now()
    await way()
    timesMs[name].push(performance.now() - start)
  }
}
const above = (name) => (timesMs[name] === undefined ? undefined : median(timesMs[name]) - median(timesMs.plain))
row('plain spawn of `true`', median(timesMs.plain), 'ms')
row('above it: the tree held, no core file', above('kept'), 'ms')
row('above it: all limits', above('bounded'), 'ms')
row('above it: sandbox', above('sandboxed'), 'ms', 20)
row('above it: sandbox and all limits', above('sandboxed and bounded'), 'ms', 20)
row(`above it: sandbox that holds ${frozen.length} absent paths`, above('frozen'), 'ms')

/** Processes that carry this text in their command line. */
const alive = (mark) =>
  readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark)
    } catch {
      return false
    }
  }).length

/** Milliseconds from the abort until nobody of the tree is left. */
async function killMs(more) {
  const mark = `bench-${Math.random().toString(36).slice(2)}`
  const controller = new AbortController()
  // Each of them ignores SIGTERM, and every second one has left the process group.
  const child = `sh -c "trap '' TERM; : ${mark}; while :; do sleep 1; done"`
  const script = `i=0; while [ $i -lt ${TREE / 2} ]; do ${child} & setsid ${child} & i=$((i+1)); done; trap '' TERM; : ${mark}; while :; do sleep 1; done`
  const ended = run({
    program: '/bin/sh',
    args: ['-c', script],
    env: { PATH: '/usr/bin:/bin' },
    signal: controller.signal,
    ...more,
  })
  const until = Date.now() + 20_000
  while (alive(mark) < TREE && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 10))
  const start = performance.now()
  controller.abort()
  await ended
  while (alive(mark) > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 1))
  return performance.now() - start
}
const linux = process.platform === 'linux'
row(
  `end of ${TREE} processes that ignore SIGTERM, ${abilities.tree}`,
  linux ? await killMs({}) : undefined,
  'ms',
  1_000,
)
row(`the same in a sandbox`, isSandboxed ? await killMs({ sandbox }) : undefined, 'ms', 1_000)
for (const made of [folder, workspace]) rmSync(made, { recursive: true, force: true })
