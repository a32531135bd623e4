// Redaction: what a megabyte of text costs, with and without values that are known, and what a small call pays. Figures are
// medians of processor time.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { median, row, threadCpuNs } from './measure.mjs'

const folder = mkdtempSync(join(tmpdir(), 'lockgate-bench-'))
const file = join(folder, 'redact.mjs')
const bundle = await rolldown({
  input: fileURLToPath(new URL('../src/observe/redact/create-redactor.ts', import.meta.url)),
  platform: 'node',
  external: [/^node:/, 're2js'],
})
await bundle.write({ file, format: 'esm', codeSplitting: false })
await bundle.close()
const { createRedactor } = await import(pathToFileURL(file))
rmSync(folder, { recursive: true })

const MIB = 1_048_576
const RUNS = 9
const SMALL = 50_000
const cpuMs = () => (threadCpuNs() ?? performance.now() * 1e6) / 1e6

const filled = (text) => text.repeat(Math.ceil(MIB / text.length)).slice(0, MIB)
const library = readFileSync(createRequire(import.meta.url).resolve('typescript'), 'utf8')
const member = {
  id: 12_345,
  name: 'Ana Maria',
  email: 'ana@example.test',
  created: '2026-01-02T03:04:05Z',
  tags: ['a'],
}
const TEXTS = {
  prose: filled('The quick brown fox jumps over the lazy dog: nothing else happens today, as far as we know.\n'),
  JSON: filled(`${JSON.stringify(member)},`),
  'a program': filled(library.slice(0, MIB)),
  'a program without spaces': filled(library.slice(0, 2 * MIB).replaceAll(/\s+/g, ' ')),
  base64: Buffer.from(
    Uint8Array.from({ length: (MIB * 3) / 4 }, (_, at) => (at * 7_919 + (at * at) / 8) & 255),
  ).toString('base64'),
}
const values = Array.from({ length: 20 }, (_, at) => ({
  name: `key-${at}`,
  value: Buffer.from(`value number ${at * 7_919} of many`).toString('base64'),
}))

for (const [known, list] of [
  ['', []],
  [', 20 known values', values],
]) {
  const redactor = createRedactor({ values: () => list })
  for (const [name, text] of Object.entries(TEXTS)) {
    const runs = []
    for (let run = 0; run <= RUNS; run++) {
      const start = cpuMs()
      redactor.text(text)
      if (run > 0) runs.push(cpuMs() - start)
    }
    row(`redaction of 1 MiB of ${name}${known}`, median(runs), 'ms', 10)
  }
}

const redactor = createRedactor()
const each = (act) => {
  for (let count = 0; count < SMALL; count++) act()
  const start = cpuMs()
  for (let count = 0; count < SMALL; count++) act()
  return ((cpuMs() - start) * 1_000) / SMALL
}
const args = JSON.stringify({ city: 'Lisbon', days: 3, unit: 'celsius' })
const value = { city: 'Lisbon', temperature: 21.5, unit: 'celsius', text: 'sunny, with some clouds' }
row(
  'redaction of the arguments of a small call',
  each(() => redactor.jsonText(args)),
  'us',
  0.5,
)
row(
  'redaction of the value of a small call',
  each(() => redactor.json(value)),
  'us',
  0.5,
)
