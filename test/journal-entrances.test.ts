// Goal: an idempotency key comes in through every entrance, goes out to an upstream server, and is seen and settled by the
// operator. Method: whole gates over HTTP, one behind the other, and the command line. Refusals first.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { mcpSource } from '../src/index.ts'
import { AdminFixture } from './admin-fixture.ts'
import { CliProject } from './cli-project.ts'
import { openGate } from './opened.ts'

const KEY_META = 'dev.lockgate/idempotencyKey'

describe('over HTTP', () => {
  const policy = { defaults: { write: 'allow' } } as const
  let served: AdminFixture
  beforeAll(async () => {
    served = new AdminFixture({ policy })
    await served.start()
  })
  afterAll(() => served.remove())
  afterEach(() => void served.runs.splice(0))

  const keys = async () => (await served.gate.journal.list({ limit: 100 })).map(({ key }) => key)

  test('the admin API: what is no key is refused; the same call under one key runs once', async () => {
    for (const bad of ['', 7, 'x'.repeat(257)]) {
      const body = { name: 'note', arguments: { text: 'a' }, idempotencyKey: bad }
      expect(await served.send('call', 'POST', '/calls', body)).toMatchObject({ status: 400 })
    }
    expect(served.runs).toEqual([])
    const more = { idempotencyKey: 'admin-1' }
    const first = await served.call('note', { text: 'a' }, more)
    expect(await served.call('note', { text: 'a' }, more)).toMatchObject({
      ok: true,
      meta: { replayOf: first.meta.callId, attempts: 0 },
    })
    expect(await served.call('note', { text: 'b' }, more)).toMatchObject({ ok: false, error: { type: 'key_conflict' } })
    expect(served.runs).toEqual(['a'])
  })

  test.each(['auto', 'legacy'] as const)('MCP (%s): in `_meta`', async (mode) => {
    const client = new Client(
      { name: 'test', version: '1.0.0' },
      mode === 'auto' ? { versionNegotiation: { mode: 'auto' } } : {},
    )
    const { authorization = '' } = served.headers('call')
    const transport = new StreamableHTTPClientTransport(new URL(`${served.http.url}/mcp`), {
      requestInit: { headers: { authorization } },
    })
    await client.connect(transport)
    const call = (key: unknown, text = mode) =>
      client.callTool({ name: 'note', arguments: { text }, _meta: { [KEY_META]: key } })
    for (const bad of ['', 7, 'x'.repeat(257), null]) await expect(call(bad)).rejects.toThrow(/idempotencyKey/)
    expect(served.runs).toEqual([])
    expect((await call(`mcp-${mode}`)).isError).not.toBe(true)
    expect((await call(`mcp-${mode}`)).isError).not.toBe(true)
    const conflict = await call(`mcp-${mode}`, 'other' as never)
    expect(conflict).toMatchObject({ isError: true, _meta: { 'dev.lockgate/error': { type: 'key_conflict' } } })
    expect(served.runs).toEqual([mode])
    expect(await keys()).toContain(`mcp-${mode}`)
    await client.close()
  })

  test('an upstream server is told the key of a call, and one of its own for each call without; reads bring none', async () => {
    const { authorization = '' } = served.headers('call')
    const gate = await openGate({
      policy: { defaults: { write: 'allow' } },
      sources: [
        mcpSource('up', {
          url: `${served.http.url}/mcp`,
          headers: { authorization },
          effects: { note: 'write', look: 'read' },
        }),
      ],
    })
    const before = new Set(await keys())
    const note = (text: string, idempotencyKey?: string) =>
      gate.session().call({
        ...{ name: 'mcp__up__note', arguments: { text } },
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      })
    expect((await note('a', 'from-below')).ok).toBe(true)
    expect(await note('a', 'from-below')).toMatchObject({ ok: true, meta: { attempts: 0 } })
    const plain = await note('b')
    expect((await gate.session().call({ name: 'mcp__up__look', arguments: { text: 'c' } })).ok).toBe(true)
    expect(served.runs).toEqual(['a', 'b', 'c'])
    expect((await keys()).filter((key) => !before.has(key))).toEqual([plain.meta.callId, 'from-below'])
  })
})

describe('the command line', () => {
  let project: CliProject
  beforeAll(() => {
    project = new CliProject(`version: 1
workspace: ws
tools: { files: true }
callers: { default: { user: ana, agent: test } }
policy: { defaults: { write: allow } }
`)
  })
  afterAll(() => project.remove())
  const write = (path: string, content: string, key: string) =>
    project.json(['call', 'write_file', JSON.stringify({ path, content }), '--key', key])

  test('`call --key`: the second command gets the outcome of the first, and another call under the key is refused', async () => {
    const first = await write('a.txt', 'one', 'cli-1')
    expect(first).toMatchObject({ code: 0, value: { ok: true } })
    project.write('ws/a.txt', 'changed meanwhile')
    const again = await write('a.txt', 'one', 'cli-1')
    const { callId } = (first.value as { meta: { callId: string } }).meta
    expect(again).toMatchObject({ code: 0, value: { ok: true, meta: { replayOf: callId, attempts: 0 } } })
    expect(project.read('ws/a.txt')).toBe('changed meanwhile')
    expect(await write('b.txt', 'one', 'cli-1')).toMatchObject({ code: 1, value: { error: { type: 'key_conflict' } } })
    expect(await write('b.txt', 'one', 'x'.repeat(257))).toMatchObject({ value: { error: { type: 'invalid_args' } } })
  })

  test('`journal list` shows the keys, by state; `settle` settles nothing whose end is known', async () => {
    await write('c.txt', 'one', 'cli-2')
    const listed = await project.json(['journal', 'list'])
    expect(listed.value).toMatchObject([{ key: 'cli-2', state: 'done', tool: 'write_file', user: 'ana' }, {}])
    const { stdout } = await project.run(['journal'])
    expect(stdout).toMatch(/^done +cli-2 +write_file +call_/m)
    expect((await project.json(['journal', 'list', '--state', 'unknown'])).value).toEqual([])
    const [row] = listed.value as readonly { callId: string }[]
    const settled = await project.json(['journal', 'settle', row?.callId ?? '', '--as', 'none'])
    expect(settled).toMatchObject({ code: 1, value: { settled: false } })
    expect(await write('c.txt', 'one', 'cli-2')).toMatchObject({ value: { meta: { attempts: 0 } } })
  })

  test.each([
    ['settle', 'call_1'],
    ['settle', 'call_1', '--as', 'unknown'],
    ['settle', '--as', 'none'],
    ['list', '--state', 'open'],
    ['forget'],
  ])('`journal %s %s %s` is wrong usage', async (...argv) => {
    expect(await project.run(['journal', ...argv])).toMatchObject({ code: 2 })
  })

  test('`turn`: the outcomes bring their times, and a person sees what ran beside what', async () => {
    const calls = [
      { name: 'read_file', arguments: { path: 'hello.txt' } },
      { name: 'list_dir', arguments: {} },
      { name: 'write_file', arguments: { path: 'hello.txt', content: 'x' }, idempotencyKey: 'cli-3' },
      { name: 'read_file', arguments: { path: 'hello.txt' } },
    ]
    project.write('turn.json', JSON.stringify(calls))
    const { value } = await project.json(['turn', 'turn.json'])
    const outcomes = value as readonly {
      ok: boolean
      elapsedMs: number
      meta: { startedMs: number; endedMs: number; openedAtMs: number }
    }[]
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, true, true])
    const times = outcomes.map(({ elapsedMs, meta }) => [meta.startedMs, elapsedMs] as const)
    for (const [startedMs, elapsedMs] of times) {
      expect(startedMs).toBeGreaterThanOrEqual(0)
      expect(elapsedMs).toBeGreaterThanOrEqual(0)
    }
    // What is written last is read after it.
    expect(times[3]?.[0]).toBeGreaterThanOrEqual(times[2]?.[0] ?? Number.NaN)
    const [, , wrote, read] = outcomes.map(({ meta }) => meta)
    expect((read?.openedAtMs ?? 0) + (read?.startedMs ?? 0)).toBeGreaterThanOrEqual(
      (wrote?.openedAtMs ?? Number.NaN) + (wrote?.endedMs ?? Number.NaN),
    )
    const { stdout } = await project.run(['turn', 'turn.json'])
    expect(stdout).toMatch(/^1 {2}read_file +[·█]{32} {2}\d+–\d+ ms/m)
    expect(stdout).toMatch(/^3 {2}write_file +not started: the answer of call_\S+ was recorded$/m)
    // Nothing asks, so that an answer beforehand changes nothing of that.
    expect((await project.run(['turn', 'turn.json', '--yes'])).stdout).toMatch(/^4 {2}read_file +[·█]{32}/m)
  })

  test('`turn`: a key that is no text is wrong usage', async () => {
    project.write('bad.json', JSON.stringify([{ name: 'list_dir', arguments: {}, idempotencyKey: 7 }]))
    expect(await project.run(['turn', 'bad.json'])).toMatchObject({ code: 2 })
  })
})
