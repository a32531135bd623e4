// Builds dist/: one file per source file, so that a command loads what it uses and nothing else, the worker of the SQLite
// store is found beside its parent, and modules of users share our `defineTool`. Types are for the two public entries.

import { defineConfig } from 'tsdown'

const PUBLIC = { index: 'src/index.ts', 'testing/index': 'src/testing/index.ts' }

const common = {
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: false,
  outExtensions: () => ({ js: '.js', dts: '.d.ts' }),
} as const

export default defineConfig([
  {
    ...common,
    entry: {
      ...PUBLIC,
      'cli/main': 'src/cli/main.ts',
      'stores/sqlite-worker': 'src/stores/sqlite-worker.ts',
      'server/config/config-schema': 'src/server/config/config-schema.ts',
    },
    unbundle: true,
    dts: false,
    clean: true,
    copy: [{ from: 'src/testing/misbehaving-server.mjs', to: 'dist/testing' }],
  },
  { ...common, entry: PUBLIC, dts: { emitDtsOnly: true }, clean: false },
])
