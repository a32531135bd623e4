// Goal: what was cut of a result is had by its caller in every way that is promised, over a restart, and by nobody after an
// erasure. Method: a gate over a SQLite file, with real tools and real shaping.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createGate, defineTool, type GateOptions, type Outcome } from '../src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockgate-artifacts-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ROWS = Array.from({ length: 3_000 }, (_, id) => ({ id, name: `name ${id}` }))
const tools = [
  defineTool({
    ...{ name: 'all_rows', version: '1.0.0', description: 'all rows', effect: 'read' },
    input: { type: 'object', additionalProperties: false },
    run: async () => ({ rows: ROWS }),
  }),
  defineTool({
    ...{ name: 'one_text', version: '1.0.0', description: 'a long text', effect: 'read' },
    input: { type: 'object', additionalProperties: false },
    run: async () => Array.from({ length: 20_000 }, (_, line) => `line ${line}`).join('\n'),
  }),
  defineTool({
    ...{ name: 'count_rows', version: '1.0.0', description: 'counts rows', effect: 'read' },
    input: {
      ...{ type: 'object', required: ['table'], additionalProperties: false },
      properties: { table: { type: 'object', properties: { rows: { type: 'array' } } } },
    },
    run: async ({ table }) => (table as { rows: unknown[] }).rows.length,
  }),
]
const open = (name: string, more: GateOptions = {}) =>
  createGate({ tools, store: { sqlite: join(folder, name) }, ...more })
const ANA = { user: 'ana' }
const idOf = ({ meta }: Outcome): string => meta.artifact ?? 'nothing was kept'
const textOf = ({ content }: Outcome): string =>
  content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n')

test('a cut result is read on, queried and handed on by its caller, also after a restart, and by nobody else', async () => {
  const first = await open('life.db')
  const cut = await first.session(ANA).call({ name: 'all_rows' })
  const id = idOf(cut)
  expect(id).toMatch(/^art_[0-9a-f]{32}$/)
  expect(textOf(cut)).toContain(id)
  await first.close()

  const gate = await open('life.db')
  const session = gate.session(ANA)
  const read = (args: object) => session.call({ name: 'read_artifact', arguments: { id, ...args } })
  expect(await read({ from: 2_998 })).toMatchObject({ ok: true, value: { rows: ROWS.slice(2_998), total: 3_000 } })
  expect(await read({ query: 'rows[?id == `7`].name' })).toMatchObject({ value: { rows: ['name 7'] } })
  expect(await session.call({ name: 'count_rows', arguments: { table: { $artifact: id } } })).toMatchObject({
    value: 3_000,
  })
  const other = await gate.session({ user: 'bob' }).call({ name: 'read_artifact', arguments: { id } })
  expect(other).toMatchObject({ ok: false, error: { details: { code: 'artifact_unreadable' } } })
  await gate.close()
})

test('reading on gives back a whole text, piece after piece, each within the budget and none of them kept again', async () => {
  const gate = await open('text.db')
  const session = gate.session(ANA)
  const cut = await session.call({ name: 'one_text' })
  const id = idOf(cut)
  let [text, from]: [string, number | undefined] = ['', 0]
  while (from !== undefined) {
    const page = await session.call({ name: 'read_artifact', arguments: { id, from, unit: 'lines' } })
    if (!page.ok) throw new Error(page.error.message)
    expect(Buffer.byteLength(textOf(page))).toBeLessThanOrEqual(48 * 1_024)
    expect(page.meta.truncated).toBeUndefined()
    const value = page.value as { text: string; next?: number }
    text += value.text
    from = value.next
  }
  expect(cut).toMatchObject({ ok: true, value: text })
  expect(await gate.artifacts.list()).toHaveLength(1)
  await gate.close()
})

test('after an erasure nothing of a person can be read, and their new results are kept as before', async () => {
  const gate = await open('erase.db')
  const id = idOf(await gate.session(ANA).call({ name: 'all_rows' }))
  const [row] = await gate.artifacts.list()
  await gate.records.erase({ tenant: row?.principal.tenant ?? '', user: 'ana' }, 'the operator')
  expect(await gate.artifacts.find(id, ANA)).toBeUndefined()
  expect(await gate.artifacts.list()).toEqual([])
  expect(idOf(await gate.session(ANA).call({ name: 'all_rows' }))).toBe(id)
  expect((await gate.artifacts.find(id, ANA))?.row.id).toBe(id)
  await gate.close()
})

test('a caller that cannot read on is promised nothing, and nothing is kept for it', async () => {
  const gate = await open('denied.db', { policy: { rules: [{ deny: 'read_artifact' }] } })
  const cut = await gate.session(ANA).call({ name: 'all_rows' })
  expect(cut.meta.artifact).toBeUndefined()
  expect(textOf(cut)).not.toContain('read_artifact')
  expect(await gate.artifacts.list()).toEqual([])
  await gate.close()
})
