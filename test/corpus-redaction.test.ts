// Goal: what a tool answers loses its secrets, and nothing else, on every way out of the gate. Method: the cases of the corpus
// about results, with a credential that the gate hands to a server, then each way out with one tool that tells all it knows.

import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type AnyTool,
  createGate,
  defineTool,
  type Gate,
  type GateOptions,
  type LogEntry,
  ToolResult,
  toolFailure,
} from '../src/index.ts'
import { bodyOf } from '../src/observe/record-text.ts'
import { createRedactor } from '../src/observe/redact/create-redactor.ts'
import { Jobs } from '../src/sources/builtin/shell/jobs.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { ScriptedSource } from '../src/testing/scripted-source.ts'

const SECRET = 'k9/Tq+vZ&3x=Lm"7pWd'
const TOKEN = `ghp_${'aB3dE6gH9'.repeat(4)}`

let gate: Gate | undefined
afterEach(async () => {
  await gate?.close()
  gate = undefined
})

/** A gate that hands `SECRET` to a server. */
async function open(run: (args: { text?: string }, context: never) => unknown, more: GateOptions = {}): Promise<Gate> {
  const source = Object.assign(new ScriptedSource({ name: 'far', tools: [] }), {
    handed: [{ name: 'authorization', value: `Bearer ${SECRET}` }],
  })
  const tool = defineTool({
    name: 'tell',
    version: '1.0.0',
    description: 'Tells.',
    input: { type: 'object', properties: { text: { type: 'string' } } },
    effect: 'read',
    run,
  } as never) as AnyTool
  gate = await createGate({ tools: [tool], sources: [source], ...more })
  return gate
}

type Case = {
  readonly id: string
  readonly input: {
    readonly result?: { readonly content?: readonly { readonly text?: string }[]; readonly chunks?: readonly string[] }
    readonly assert?: string
  }
}
const corpus: readonly Case[] = JSON.parse(readFileSync(new URL('corpus/attack-corpus.json', import.meta.url), 'utf8'))
const cases = corpus.filter(({ input }) => input.assert === 'redacted' || input.assert === 'unchanged')

const filled = (text: string): string =>
  text
    .replace('${SECRET_BASE64_SHIFT1}', Buffer.from(`x${SECRET}yz`).toString('base64'))
    .replace('${SECRET_URLENCODED}', encodeURIComponent(SECRET))
    .replace('${SECRET_HALF1}', SECRET.slice(0, 9))
    .replace('${SECRET_HALF2}', SECRET.slice(9))
    .replace('${SECRET}', SECRET)

const inBase64 = (shift: number): string =>
  Buffer.from(`${'x'.repeat(shift)}${SECRET}`)
    .toString('base64')
    .slice(4, 20)

describe('cases of the corpus', () => {
  it('there are some of each kind', () => {
    expect(cases.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['MA029', 'MA032', 'MR063', 'MR064', 'MR065', 'MR066']),
    )
  })

  it.each(cases.map((one) => [one.id, one] as const))('%s', async (_id, { input }) => {
    const said = input.result?.content?.map(({ text = '' }) => filled(text)) ?? [
      (input.result?.chunks ?? []).map(filled).join(''),
    ]
    const content = said.map((text) => ({ type: 'text' as const, text }))
    const session = (await open(() => new ToolResult(said, content))).session()
    const outcome = await session.call({ name: 'tell', arguments: {} })
    const out = JSON.stringify(outcome.ok ? [outcome.value, outcome.content] : outcome.content)
    if (input.assert === 'unchanged') {
      expect(outcome.content).toMatchObject(content)
      expect(outcome.meta.redacted).toBeUndefined()
      return
    }
    expect(outcome.meta.redacted).toEqual(['authorization'])
    for (const text of [
      JSON.stringify(SECRET).slice(1, -1),
      encodeURIComponent(SECRET),
      inBase64(0),
      inBase64(1),
      inBase64(2),
    ])
      expect(out).not.toContain(text)
    if (input.result?.chunks !== undefined) expect(out).toContain('abc[redacted:authorization]def')
  })
})

describe('no-raw-result: every way out', () => {
  const clean = (value: unknown): void => {
    const text = JSON.stringify(value)
    expect(text).not.toContain(TOKEN)
    expect(text).not.toContain(JSON.stringify(SECRET).slice(1, -1))
  }
  const ALL = `${TOKEN} and ${SECRET}`

  it.each<readonly [string, () => unknown]>([
    ['a value', () => ({ deep: [{ note: ALL }] })],
    ['a text', () => ALL],
    ['content and display', () => new ToolResult({ a: 1 }, [{ type: 'text', text: ALL }], { kind: 'text', text: ALL })],
    ['a table', () => new ToolResult(1, [], { kind: 'table', columns: ['a'], rows: [[ALL]] })],
    ['an embedded resource', () => new ToolResult(1, [{ type: 'resource', resource: { uri: 'a:b', text: ALL } }])],
    ['a failure', () => toolFailure({ code: 'x', message: ALL, help: ALL, details: { note: [ALL] } })],
    [
      'the content of a failure',
      () => toolFailure({ code: 'x', message: 'no', content: [{ type: 'text', text: ALL }] }),
    ],
    [
      'a crash',
      () => {
        throw new Error(ALL)
      },
    ],
  ])('%s', async (_what, run) => {
    const log: LogEntry[] = []
    const opened = await open(run, { log: (entry) => void log.push(entry) })
    const closed: unknown[] = []
    opened.on('call-closed', (outcome) => void closed.push(outcome))
    const outcome = await opened.session().call({ name: 'tell', arguments: { text: `my token is ${ALL}` } })
    clean(outcome)
    clean(closed)
    clean(log)
    await opened.records.flush()
    const rows = await opened.records.query({ limit: 100 })
    clean(rows.map(bodyOf))
    clean(rows)
    expect(JSON.stringify(rows.map(bodyOf))).toContain('[redacted:github-token]')
    const named = outcome.meta.redacted ?? []
    expect(named).toEqual(expect.arrayContaining(['github-token', 'authorization']))
  })

  it('what a tool’s own `present` decodes or adds', async () => {
    const gate = await createGate({
      tools: [
        defineTool({
          ...{ name: 'tell', version: '1.0.0', description: 'Tell it.', input: { type: 'object' }, effect: 'read' },
          run: () => Buffer.from(TOKEN).toString('base64'),
          present: (value) => {
            const text = Buffer.from(String(value), 'base64').toString()
            return { content: [{ type: 'text', text }], display: { kind: 'text', text } }
          },
        }),
      ],
    })
    const outcome = await gate.session().call({ name: 'tell', arguments: {} })
    await gate.close()
    clean([outcome.content, outcome.display])
    expect(outcome.content).toMatchObject([{ text: expect.stringContaining('[redacted:') }])
    expect(outcome.meta.redacted).toHaveLength(1)
  })

  it('progress', async () => {
    const heard: unknown[] = []
    const opened = await open(async function* () {
      yield { message: `so far ${ALL}` }
      return 'done'
    })
    opened.on('call-progress', ({ progress }) => void heard.push(progress))
    await opened.session().call({ name: 'tell', arguments: {}, onProgress: (progress) => void heard.push(progress) })
    expect(heard.length).toBeGreaterThan(0)
    clean(heard)
  })

  it('progress that is coloured in the middle of a secret', async () => {
    const said: unknown[] = []
    const session = (
      await open((_args, context) => {
        const { progress } = context as { progress: (said: object) => void }
        progress({ message: `${TOKEN.slice(0, 9)}\u001b[31m${TOKEN.slice(9)}` })
        return 'done'
      })
    ).session()
    await session.call({ name: 'tell', arguments: {}, onProgress: (progress) => said.push(progress) })
    expect(said).toEqual([{ message: '[redacted:github-token]' }])
  })

  it('what a part of the content carries besides, and a text that is handed on as bytes', async () => {
    const blob = Buffer.from(`x ${ALL}`).toString('base64')
    const content = [
      { type: 'text', text: 'a', _meta: { of: ALL } },
      { type: 'image', data: 'AAAA', mimeType: 'image/png', annotations: { of: ALL } },
      { type: 'resource_link', uri: 'https://a.test/', name: 'a', description: ALL },
      { type: 'resource', resource: { uri: 'a:b', mimeType: 'text/plain', blob, _meta: { of: ALL } } },
    ]
    const outcome = await (await open(() => new ToolResult(1, content as never)))
      .session()
      .call({ name: 'tell', arguments: {} })
    clean(outcome)
    const [, image, , resource] = outcome.content
    expect(image).toMatchObject({ data: 'AAAA', mimeType: 'image/png' })
    if (resource?.type !== 'resource') throw new Error('no resource')
    expect(Buffer.from(resource.resource.blob ?? '', 'base64').toString()).toBe(
      'x [redacted:github-token] and [redacted:authorization]',
    )
  })

  it.each([
    { kind: 'table', columns: [ALL], rows: [['a']] },
    { kind: 'diff', path: ALL, text: 'a' },
    { kind: 'file', path: ALL, fromLine: 1, text: 'a' },
  ] as const)('the names in a display: $kind', async (display) => {
    const outcome = await (await open(() => new ToolResult(1, [{ type: 'text', text: 'a' }], display)))
      .session()
      .call({ name: 'tell', arguments: {} })
    clean(outcome)
    expect(JSON.stringify(outcome.display)).toContain('[redacted:github-token]')
    expect(JSON.stringify(outcome.display)).toContain('"a"')
  })

  it('arguments that are refused and repeated', async () => {
    const closed: unknown[] = []
    const made = await open(() => 'done')
    made.on('call-closed', (outcome) => closed.push(outcome))
    const outcome = await made.session().call({ name: 'tell', arguments: { text: { [TOKEN]: 1 }, [TOKEN]: SECRET } })
    expect(outcome).toMatchObject({ ok: false, error: { type: 'invalid_args' } })
    clean([outcome, closed])
    expect(closed).toHaveLength(1)
  })

  it('the answer that is kept for a key', async () => {
    const opened = await open(() => ({ note: ALL }))
    const call = { name: 'tell', arguments: {}, idempotencyKey: 'k1' }
    await opened.session().call(call)
    const again = await opened.session().call(call)
    expect(again.ok).toBe(true)
    clean(again)
  })
})

describe('L82: the question to a person', () => {
  it('loses tokens, also before a semicolon, and keeps the command and the path', async () => {
    const opened = await open(() => 'done', { policy: { rules: [{ ask: 'tell' }] } })
    const text = `export API_TOKEN=${TOKEN}; rm -rf /srv/data && curl -H 'X-Key: ${SECRET}' https://example.test/a`
    const outcome = await opened.session().call({ name: 'tell', arguments: { text } })
    expect(outcome).toMatchObject({ ok: false, error: { type: 'approval_required' } })
    const [row] = await opened.approvals.list({})
    const shown = row?.shown ?? ''
    expect(shown).not.toContain(TOKEN)
    expect(shown).not.toContain('k9/Tq')
    for (const part of ['rm -rf /srv/data', 'export API_TOKEN=[redacted:', '; rm', 'https://example.test/a', 'X-Key: '])
      expect(shown).toContain(part)
    expect(shown).toContain('secrets are not shown')
  })
})

describe('what a failure may say', () => {
  it('no stack, no path of the machine, no address, no statement: those are in the log, under the id in the message', async () => {
    const log: LogEntry[] = []
    const said =
      'connect ECONNREFUSED 10.0.0.5:5432 in /opt/app/db.js: SELECT a FROM b\n    at run (/opt/app/db.js:1:2)'
    const opened = await open(() => toolFailure({ code: 'x', message: said }), { log: (entry) => void log.push(entry) })
    const outcome = await opened.session().call({ name: 'tell', arguments: {} })
    const out = JSON.stringify(outcome.content) + (outcome.ok ? '' : outcome.error.message)
    for (const part of ['10.0.0.5', '/opt/app', 'SELECT', '    at run']) expect(out).not.toContain(part)
    expect(out).toContain(outcome.meta.callId)
    const entry = log.find(({ message }) => message.includes(outcome.meta.callId))
    expect(JSON.stringify(entry)).toContain('10.0.0.5:5432')
  })
})

it('a rule that there is not, and a pattern that cannot be matched in linear time, are refused before anything starts', async () => {
  await expect(createGate({ redaction: { on: ['no-such-rule'] } })).rejects.toThrow('redaction.on')
  await expect(createGate({ redaction: { patterns: [{ name: 'x', pattern: '(a)\\1' }] } })).rejects.toThrow(
    'redaction.patterns',
  )
})

it('what a command in the background says is kept without its secrets, wherever it is split', async () => {
  const bounds = { perSession: 1, perGate: 1, deadlineMs: 1_000, idleMs: 600, outputBytes: 10_240 }
  const jobs = new Jobs(new FakeClock(), bounds, createRedactor())
  const slot = jobs.reserve({ tenant: 't', user: 'ana', agent: 'a', roles: [], session: 's' } as never)
  if ('full' in slot) throw new Error(slot.full)
  const none = { head: Buffer.alloc(0), tail: Buffer.alloc(0), totalBytes: 0 }
  const job = slot.start(
    { program: 'x', args: [], place: 'child' },
    async ({ onBytes }) => {
      onBytes('stdout', Buffer.from(`token is ${TOKEN.slice(0, 20)}`))
      onBytes('stderr', Buffer.from('beside\n'))
      onBytes('stdout', Buffer.from(`${TOKEN.slice(20)}\nend`))
      const ended = { kind: 'ended', exitCode: 0, endSignal: null, limitsHit: [], unenforced: [] } as const
      return { ...ended, stdout: none, stderr: none, elapsedMs: 1, leftovers: false }
    },
    1_000,
  )
  await job.done
  const { text } = job.ring.read(0, 10_000, false)
  expect(text).toContain('token is [redacted:github-token]\nend')
  expect(text).toContain('beside')
  expect(text).not.toContain(TOKEN.slice(20))
  await jobs.close()
})
