// Builds dist/: a few chunks that are split where the sources load something lazily, so that a command loads what it uses
// and little else. What has to be found under its own name is an entry. Types are made for the two public entries.

import { defineConfig } from 'tsdown'

const LIBRARY = { index: 'src/index.ts', 'testing/index': 'src/testing/index.ts' }

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
  outputOptions: { chunkFileNames: 'chunks/[name]-[hash].js' },
  outExtensions: () => ({ js: '.js', dts: '.d.ts' }),
  copy: [{ from: 'src/testing/misbehaving-server.mjs', to: 'dist/testing' }],
})
