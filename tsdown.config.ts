// Builds dist/: a few chunks that are split where the sources load something lazily, so that a command loads what it uses
// and little else. What has to be found under its own name is an entry. Types are made for the two public entries.

import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { defineConfig } from 'tsdown'

const LIBRARY = { index: 'src/index.ts', 'testing/index': 'src/testing/index.ts' }

/** What importing the library loads at once: one file of it is read and compiled faster than thirty. */
const core = new Set<string>()
collect(resolve(LIBRARY.index))

function collect(file: string): void {
  if (core.has(file)) return
  core.add(file)
  const text = readFileSync(file, 'utf8')
  for (const [, path] of text.matchAll(/^(?:import|export) (?!type\b)[^;']*?from '(\.[^']+)'$/gm)) {
    if (path !== undefined) collect(resolve(dirname(file), path))
  }
}

export default defineConfig({
  entry: {
    ...LIBRARY,
    'cli/main': 'src/cli/main.ts',
    'stores/sqlite-worker': 'src/stores/sqlite-worker.ts',
    'server/config/config-schema': 'src/server/config/config-schema.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: { entry: Object.values(LIBRARY) },
  sourcemap: false,
  clean: true,
  outputOptions: {
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: { groups: [{ name: 'core', test: (id) => core.has(id) }] },
  },
  outExtensions: () => ({ js: '.js', dts: '.d.ts' }),
  copy: [{ from: 'src/testing/misbehaving-server.mjs', to: 'dist/testing' }],
})
