// Writes schema/lockgate.schema.json from the shapes of the built package, formatted as everything else is.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { configurationSchema } = await import('../dist/server/config/config-schema.js')
writeFileSync(`${root}schema/lockgate.schema.json`, `${JSON.stringify(configurationSchema, undefined, 2)}\n`)
execFileSync('npx', ['--no-install', 'biome', 'format', '--write', 'schema/lockgate.schema.json'], {
  cwd: root,
  stdio: 'inherit',
})
