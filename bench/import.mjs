// What `import 'lockgate'` costs, in a process of its own, and that it loads no MCP, server or SQLite module.

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { median, row } from './measure.mjs'

const library = fileURLToPath(new URL('../dist/index.js', import.meta.url))
const probe = `
  const start = performance.now()
  await import(${JSON.stringify(library)})
  const ms = performance.now() - start
  const loaded = process.moduleLoadList.filter((name) => /sqlite|http2?$/.test(name))
  console.log(JSON.stringify({ ms, loaded }))
`
const runs = []
for (let index = 0; index < 9; index++)
  runs.push(JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', probe], { encoding: 'utf8' })))
row('import of the library', median(runs.map(({ ms }) => ms)), 'ms', 60)
row('server or SQLite modules that it loads', runs[0].loaded.length, 'modules', 0)
