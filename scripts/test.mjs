// The whole suite: format and lint, types, tests. All three run whatever becomes of the others, the tests last, so that
// their own closing lines are the last ones. Arguments go to the test runner.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

const STEPS = [
  { name: 'biome', program: 'node_modules/@biomejs/biome/bin/biome', args: ['check', '.'] },
  { name: 'types', program: 'node_modules/typescript/bin/tsc', args: ['--noEmit'] },
  { name: 'vitest', program: 'node_modules/vitest/vitest.mjs', args: ['run', ...process.argv.slice(2)] },
]

let failed = false
for (const { name, program, args } of STEPS) {
  const { status } = spawnSync(process.execPath, [program, ...args], { cwd: root, stdio: 'inherit' })
  if (status === 0) continue
  failed = true
  if (name !== 'vitest') process.stdout.write(`\n${name}: failed\n`)
}
process.exitCode = failed ? 1 : 0
