// Goal: what watches a gate can rely on the doors that it really has: probes and numbers over HTTP, a trace that comes in there
// and reaches a real MCP server, and standard output that is the client's alone. Method: `serve` as it is served, an upstream
// of its own process that tells what came beside a call, and for standard output a process of its own.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { findDriver } from '../src/stores/sqlite-driver.ts'
import { CliProject } from './cli-project.ts'
import { type Served, serve } from './serve-project.ts'

const MAIN = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const UPSTREAM = fileURLToPath(new URL('./fixtures/meta-upstream.mjs', import.meta.url))
const OVER_STDIO = { command: process.execPath, args: [UPSTREAM], effects: { seen: 'read' } }

type Json = Readonly<Record<string, unknown>>
type Seen = { readonly meta: Json; readonly header: string | null }

const closing: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function projectWith(more: Json = {}): CliProject {
  const listen = '127.0.0.1:0'
  const project = new CliProject(
    JSON.stringify({ version: 1, workspace: 'ws', tools: { files: true }, server: { listen }, ...more }),
  )
  closing.push(() => project.remove())
  return project
}

async function served(more: Json = {}): Promise<{ readonly project: CliProject; readonly door: Served }> {
  const project = projectWith(more)
  const door = await serve(project)
  closing.push(() => door.stop())
  return { project, door }
}

function stateFile(project: CliProject, name: string): string {
  const [folder] = readdirSync(project.path('state')).filter((entry) => !entry.includes('.'))
  return project.path(`state/${folder}/${name}`)
}

async function get({ announced }: Served, path: string, token?: string) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(new URL(path, announced.mcp), { headers })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

describe('over HTTP', () => {
  test('who asks whether it lives and is ready needs no token; its numbers are for `audit` and `admin`', async () => {
    const { project, door } = await served()
    expect(await get(door, '/livez')).toMatchObject({ status: 200, text: 'ok' })
    expect(await get(door, '/readyz')).toMatchObject({ status: 200, text: 'ok' })
    expect((await get(door, '/metrics')).status).toBe(401)
    expect((await get(door, '/metrics', 'lg_made-up')).status).toBe(401)
    expect((await get(door, '/metrics', door.announced.callToken)).status).toBe(403)

    expect(await door.call('read_file', { path: 'hello.txt' })).toMatchObject({ ok: true })
    expect(await door.call('no_such_tool_here')).toMatchObject({ ok: false })
    const operator = readFileSync(stateFile(project, 'operator-token'), 'utf8').trim()
    const { status, type, text } = await get(door, '/metrics', operator)
    expect([status, type]).toEqual([200, expect.stringContaining('text/plain; version=0.0.4')])
    const lines = text.split('\n')
    expect(lines.filter((line) => line.startsWith('lockgate_calls_total{tool="read_file",type="ok"'))).toEqual([
      expect.stringMatching(/decision="allow"\} [1-9]\d*$/),
    ])
    expect(lines).toContain('lockgate_records_failing 0')
    for (const foreign of ['no_such_tool_here', 'hello.txt', door.announced.callToken])
      expect(text).not.toContain(foreign)
  })

  test('a gate that cannot keep records lives, is not ready and refuses, and is ready again by itself', async () => {
    const { project, door } = await served()
    const found = await findDriver()
    if (found.kind === 'failed') throw new Error(found.reason)
    const database = found.driver.open(stateFile(project, 'lockgate.db'))
    closing.push(() => database.close())
    database.exec('PRAGMA busy_timeout = 5000')
    database.exec(`CREATE TRIGGER full BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)

    await door.call('read_file', { path: 'hello.txt' })
    await door.until(async () => (await get(door, '/readyz')).status === 503)
    expect((await get(door, '/readyz')).text).toBe('records cannot be kept\n')
    expect((await get(door, '/livez')).status).toBe(200)
    const refused = await door.call('list_dir', {})
    expect(refused).toMatchObject({ ok: false, error: { type: 'audit_unavailable' } })

    database.exec('DROP TRIGGER full')
    await door.until(async () => (await get(door, '/readyz')).status === 200)
    expect(await door.call('list_dir', {})).toMatchObject({ ok: true })
  })
})

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`
const OTHER = '00-11111111111111111111111111111111-2222222222222222-01'

/** What reached the upstream of one call of `seen`. */
async function seenOf(door: Served, source: string, headers: Readonly<Record<string, string>> = {}): Promise<Seen> {
  const response = await fetch(`${door.announced.api}/calls`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${door.announced.callToken}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ name: `mcp__${source}__seen`, arguments: {} }),
  })
  return seenIn(await response.json())
}

function seenIn(answer: unknown): Seen {
  const { content } = answer as { readonly content: readonly [{ readonly text: string }] }
  return JSON.parse(content[0].text) as Seen
}

/** The same through `/mcp`, by a client that says its trace in the message. */
async function seenOverMcp(door: Served, meta: Json, headers: Readonly<Record<string, string>>): Promise<Seen> {
  let session: string | undefined
  const send = async (message: Json): Promise<string> => {
    const response = await fetch(door.announced.mcp, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${door.announced.callToken}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
        ...headers,
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
    session ??= response.headers.get('mcp-session-id') ?? undefined
    return response.text()
  }
  const clientInfo = { name: 'traced', version: '1.0.0' }
  await send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } })
  await send({ method: 'notifications/initialized' })
  const params = { name: 'mcp__up__seen', arguments: {}, _meta: meta }
  const text = await send({ id: 2, method: 'tools/call', params })
  const data = text.split('\n').find((line) => line.startsWith('data: {') && line.includes('"id":2'))
  return seenIn((JSON.parse(data?.slice('data: '.length) ?? text) as { readonly result: unknown }).result)
}

async function httpUpstream(): Promise<string> {
  const child = spawn(process.execPath, [UPSTREAM, 'http'], { stdio: ['ignore', 'pipe', 'inherit'] })
  closing.push(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return line
}

describe('a trace', () => {
  test('of a request to /api/calls reaches the upstream unchanged; none and a malformed one reach it as none', async () => {
    const { door } = await served({ sources: { up: OVER_STDIO } })
    await door.until(async () => (await door.call('mcp__up__seen')).ok)
    const traced = await seenOf(door, 'up', { traceparent: TRACEPARENT, tracestate: 'vendor=1' })
    expect(traced.meta).toMatchObject({ traceparent: TRACEPARENT, tracestate: 'vendor=1' })
    for (const traceparent of [undefined, `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, `${TRACEPARENT}-x`, 'nonsense']) {
      const { meta } = await seenOf(door, 'up', traceparent === undefined ? {} : { traceparent })
      expect(meta, traceparent).not.toHaveProperty('traceparent')
      expect(meta, traceparent).not.toHaveProperty('tracestate')
    }
  })

  test('that an MCP client names in its message counts before the header of its request', async () => {
    const { door } = await served({ sources: { up: OVER_STDIO } })
    await door.until(async () => (await door.call('mcp__up__seen')).ok)
    const both = await seenOverMcp(door, { traceparent: TRACEPARENT }, { traceparent: OTHER })
    expect(both.meta).toMatchObject({ traceparent: TRACEPARENT })
    const headerOnly = await seenOverMcp(door, {}, { traceparent: OTHER })
    expect(headerOnly.meta).toMatchObject({ traceparent: OTHER })
  })

  test('goes to an upstream over HTTP in `_meta` and as a header', async () => {
    const url = await httpUpstream()
    const { door } = await served({ sources: { far: { url, effects: { seen: 'read' } } } })
    await door.until(async () => (await door.call('mcp__far__seen')).ok)
    const { meta, header } = await seenOf(door, 'far', { traceparent: TRACEPARENT })
    expect([meta.traceparent, header]).toEqual([TRACEPARENT, TRACEPARENT])
    expect((await seenOf(door, 'far')).header).toBeNull()
  })
})

describe('`serve --stdio` with its log as JSON', () => {
  test('writes messages of MCP and nothing else on stdout, and one object a line on stderr', async () => {
    const broken = { command: process.execPath, args: ['-e', 'process.exit(3)'] }
    const log = { format: 'json', level: 'info' }
    const project = projectWith({ sources: { up: OVER_STDIO, broken }, log, audit: { checkpointTo: ['stderr'] } })
    const child = spawn(process.execPath, [MAIN, '--config', 'lockgate.yaml', 'serve', '--stdio'], {
      cwd: project.folder,
      env: { PATH: process.env.PATH ?? '', ...project.variables },
    })
    const ended = once(child, 'exit')
    closing.push(() => child.kill('SIGKILL'))
    let stdout = ''
    let stderr = ''
    child.stderr.on('data', (chunk) => {
      stderr += String(chunk)
    })
    const answers = createInterface({ input: child.stdout })
    const answered = new Map<unknown, (message: Json) => void>()
    answers.on('line', (line) => {
      stdout += `${line}\n`
      const { id, ...message } = JSON.parse(line) as Json
      answered.get(id)?.(message)
    })
    const ask = (id: number, method: string, params: Json): Promise<Json> =>
      new Promise((resolve) => {
        answered.set(id, resolve)
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      })
    const clientInfo = { name: 'piped', version: '1.0.0' }
    await ask(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
    const read = await ask(2, 'tools/call', { name: 'read_file', arguments: { path: 'hello.txt' } })
    expect(JSON.stringify(read)).toContain('hello from the workspace')
    await ask(3, 'tools/call', { name: 'write_file', arguments: { path: '../x', content: 'x' } })
    child.stdin.end()
    expect(await ended).toEqual([0, null])

    const messages = stdout.trimEnd().split('\n')
    expect(messages.map((line) => (JSON.parse(line) as Json).jsonrpc)).toEqual(messages.map(() => '2.0'))
    const entries = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Json)
    expect(entries.filter(({ message }) => String(message).includes('self-check'))).toHaveLength(1)
    expect(entries.filter(({ message }) => String(message).includes('broken')).length).toBeGreaterThan(0)
    const copies = entries.filter(({ kind }) => kind === 'checkpoint')
    expect(copies.length).toBeGreaterThan(0)
    const logged = entries.filter((entry) => !copies.includes(entry))
    expect(logged.map(({ name }) => name)).toEqual(logged.map(() => 'lockgate'))
    expect(
      logged.filter(({ level, time, message }) => ![level, time, message].every((part) => typeof part === 'string')),
    ).toEqual([])
  })
})
