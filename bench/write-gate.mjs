// A gate over SQLite in a folder of its own whose tools change a thing: what durable calls are measured on.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGate, defineTool } from '../dist/index.js'

export const changing = (name, more = {}) =>
  defineTool({
    name,
    version: '1.0.0',
    description: 'Changes a thing.',
    input: { type: 'object', properties: { n: { type: 'integer' } } },
    effect: 'write',
    run: async () => 'done',
    ...more,
  })

/** `folder` goes with `close`. */
export async function writeGate(names, policy) {
  const folder = mkdtempSync(join(tmpdir(), 'lockgate-bench-'))
  const gate = await createGate({
    tools: names.map((name) => changing(name)),
    policy,
    store: { sqlite: join(folder, 'gate.db') },
  })
  const close = async () => {
    await gate.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { folder, gate, session: gate.session(), close }
}
