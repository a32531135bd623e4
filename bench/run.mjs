// Runs every benchmark in a process of its own, one after the other, and prints each figure beside its target.

import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'

const BENCHES = [
  ['call'],
  ['intent'],
  ['journal'],
  ['cache'],
  ['redemption'],
  ['catalogue'],
  ['import'],
  ['memory', '--expose-gc'],
  ['idle'],
  ['process'],
  ['lanes'],
  ['redaction'],
  ['shaping', '--expose-gc'],
  ['telemetry'],
]
const only = process.argv.slice(2)

console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown processor'}`)
for (const [name, ...flags] of BENCHES) {
  if (only.length > 0 && !only.includes(name)) continue
  console.log(`\n${name}`)
  const { status } = spawnSync(process.execPath, [...flags, fileURLToPath(new URL(`${name}.mjs`, import.meta.url))], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exitCode = 1
}
