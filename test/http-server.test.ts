// Goal: nobody gets in over HTTP by another name, page, token, label or framing, and each refusal comes before anything is
// run. Method: raw requests to a serving gate whose one tool counts its runs.

import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../src/base/clock.ts'
import { type AnyTool, createGate, defineTool, type Gate } from '../src/index.ts'
import { NEEDS } from '../src/server/admin-needs.ts'
import { type HttpServing, serveHttp } from '../src/server/http-server.ts'
import { OPENAPI } from '../src/server/openapi.ts'
import { openTokens } from '../src/server/tokens.ts'

let folder = ''
let gate: Gate
let http: HttpServing
const tokens: Record<'call' | 'other' | 'admin' | 'none', string> = { call: '', other: '', admin: '', none: '' }
let runs = 0
const stopped: string[] = []

const count = defineTool({
  name: 'count',
  version: '1.0.0',
  description: 'Counts its runs, and says who called.',
  input: { type: 'object', properties: { ms: { type: 'number' } }, additionalProperties: false } as const,
  output: { type: 'object' } as const,
  effect: 'read',
  run: async (args, context) => {
    runs += 1
    const { ms = 0 } = args as { ms?: number }
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      context.signal.addEventListener('abort', () => {
        clearTimeout(timer)
        stopped.push(context.caller.session)
        resolve(undefined)
      })
    })
    const { user, agent, roles, session } = context.caller
    return { user, agent, roles, session }
  },
}) as unknown as AnyTool

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lockgate-http-'))
  gate = await createGate({
    tools: [count],
    policy: { rules: [{ deny: 'count', for: { user: 'mallory' }, because: 'not that one' }] },
  })
  const made = await openTokens({ folder, clock: systemClock, log: () => {} })
  tokens.call = (
    await made.create({ name: 'a', scopes: ['call'], caller: { user: 'ana', agent: 'editor', roles: ['dev'] } })
  ).token
  tokens.other = (await made.create({ name: 'b', scopes: ['call'], caller: { user: 'mallory' } })).token
  tokens.admin = (await made.create({ name: 'c', scopes: ['call', 'audit', 'admin'] })).token
  tokens.none = (await made.create({ name: 'd', scopes: ['audit'] })).token
  http = await serveHttp({ gate, listen: { host: '127.0.0.1', port: 0 }, tokens: made, caller: { user: 'someone' } })
})

afterAll(async () => {
  await http.close()
  await gate.close()
  await rm(folder, { recursive: true })
})

beforeEach(() => {
  runs = 0
})

type Headers = Readonly<Record<string, string | readonly string[]>>
type Reply = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly json: () => unknown
}

/** A request with exactly these headers beside what HTTP needs; undefined takes one away. */
function send(
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Headers; body?: string | Buffer } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port: http.port,
        method,
        path,
        setHost: false,
        headers: { host: `127.0.0.1:${http.port}`, ...headers } as never,
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
        })
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: () => JSON.parse(text) as unknown,
          }),
        )
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

const bearer = (token = tokens.call): Headers => ({ authorization: `Bearer ${token}` })
const asJson = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const VERSION_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'count' }
const callBody = (id: unknown = 1, args: unknown = {}, meta: object = {}): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'count', arguments: args, _meta: { ...VERSION_META, ...meta } },
  })
const mcp = (options: { headers?: Headers; body?: string | Buffer } = {}) =>
  send('POST', '/mcp', {
    body: callBody(),
    ...options,
    headers: { ...asJson, ...modern, ...bearer(), ...options.headers },
  })
const apiCall = (body: unknown, headers: Headers = {}) =>
  send('POST', '/api/calls', {
    headers: { ...asJson, ...bearer(), ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

async function shakeHands(token = tokens.call): Promise<Headers> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
  })
  const opened = await send('POST', '/mcp', { headers: { ...asJson, ...bearer(token) }, body })
  const session = {
    ...asJson,
    ...bearer(token),
    'mcp-session-id': String(opened.headers['mcp-session-id']),
    'mcp-protocol-version': '2025-06-18',
  }
  await send('POST', '/mcp', { headers: session, body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' })
  return session
}
const oldCall = (id: unknown, args: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'count', arguments: args } })

describe('G17: names and pages', () => {
  const foreign = [
    { host: 'evil.test' },
    { host: 'localhost.evil.test:PORT' },
    { host: '[::1]' },
    { origin: 'http://evil.test' },
    { origin: 'https://localhost:PORT' },
    { origin: 'http://localhost:PORT.evil.test' },
    { origin: 'null' },
  ]
  test.each(foreign)('%j is refused on every path, whatever the token, and nothing runs', async (given) => {
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, value.replace('PORT', String(http.port))]),
    )
    for (const path of ['/mcp', '/api/calls', '/api/tools', '/livez', '/', '/nothing']) {
      const reply = await send(path === '/mcp' || path === '/api/calls' ? 'POST' : 'GET', path, {
        headers: { ...asJson, ...modern, ...bearer(), ...headers },
        ...(path === '/mcp' ? { body: callBody() } : {}),
      })
      expect([path, reply.status]).toEqual([path, 403])
    }
    expect(runs).toBe(0)
  })

  test.each(['[::ffff:127.0.0.1]:PORT', '127.1:PORT', '2130706433:PORT', 'local host:PORT', ''])(
    'the odd spelling `%s` of an address is refused',
    async (host) => {
      const reply = await mcp({ headers: { host: host.replace('PORT', String(http.port)) } })
      expect([400, 403]).toContain(reply.status)
      expect(runs).toBe(0)
    },
  )

  test('two Host headers are refused', async () => {
    const raw = `GET /livez HTTP/1.1\r\nHost: 127.0.0.1:${http.port}\r\nHost: evil.test\r\nConnection: close\r\n\r\n`
    expect(await rawStatus(raw)).toBe(400)
  })

  test.each(['127.0.0.1', 'localhost', '[::1]'])(
    'the loopback by the name %s, also from a page of its own, is let in',
    async (name) => {
      const reply = await mcp({ headers: { host: `${name}:${http.port}`, origin: `http://${name}:${http.port}` } })
      expect(reply.status).toBe(200)
      expect(runs).toBe(1)
    },
  )
})

describe('tokens and scopes', () => {
  test.each([undefined, '', 'Bearer', 'Bearer lg_wrong', 'Basic lg_x', `Bearer lg_${'A'.repeat(43)}`])(
    'the credential %j opens nothing but `/livez` and the closed page',
    async (authorization) => {
      const headers = authorization === undefined ? {} : { authorization }
      for (const path of ['/mcp', '/api/health', '/api/tools', '/api/openapi.json', '/api/nothing']) {
        const reply = await send('GET', path, { headers })
        expect([path, reply.status]).toEqual([path, 401])
        expect(reply.headers['www-authenticate']).toMatch(/^Bearer realm="lockgate"/)
        expect(reply.json()).toMatchObject({ status: 401, errorType: 'permission_denied' })
      }
      const reply = await send('POST', '/mcp', { headers: { ...asJson, ...modern, ...headers }, body: callBody() })
      expect(reply.status).toBe(401)
      expect((await send('GET', '/livez', { headers })).text).toBe('ok')
      expect(runs).toBe(0)
    },
  )

  test('a credential without the scope is told which one is missing', async () => {
    for (const [method, path, missingScope] of [
      ['POST', '/mcp', 'call'],
      ['POST', '/api/calls', 'call'],
      ['GET', '/api/tools', 'call'],
      ['GET', '/api/health', 'call'],
    ] as const) {
      const reply = await send(method, path, {
        headers: { ...asJson, ...modern, ...bearer(tokens.none) },
        ...(method === 'POST' ? { body: callBody() } : {}),
      })
      expect([path, reply.status]).toEqual([path, 403])
      expect(reply.json()).toMatchObject({ errorType: 'permission_denied', missingScope })
    }
    const reply = await send('GET', '/api/tools?all=1', { headers: bearer() })
    expect(reply.status).toBe(403)
    expect(reply.json()).toMatchObject({ missingScope: 'admin' })
    expect(runs).toBe(0)
  })

  test("who calls is the credential's to say, and never the message's", async () => {
    const liar = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'count',
        caller: { user: 'root' },
        arguments: {},
        _meta: { ...VERSION_META, user: 'root', 'dev.lockgate/session': 'mine' },
      },
    })
    const mine = (await mcp({ body: liar })).json() as { result: { structuredContent: object } }
    expect(mine.result.structuredContent).toMatchObject({
      user: 'ana',
      agent: 'editor',
      roles: ['dev'],
      session: expect.stringMatching(/^tok_[0-9a-f]{16}\/mine$/),
    })
    const admin = (await mcp({ headers: bearer(tokens.admin) })).json() as { result: { structuredContent: object } }
    expect(admin.result.structuredContent).toMatchObject({ user: 'someone' })
    expect((await mcp({ headers: bearer(tokens.other) })).json()).toMatchObject({
      result: { isError: true, _meta: { 'dev.lockgate/error': { type: 'permission_denied' } } },
    })
    expect((await mcp({ body: callBody(1, {}, { 'dev.lockgate/session': '../x y' }) })).json()).toMatchObject({
      error: { code: -32602 },
    })
  })
})

describe('bodies', () => {
  test.each([
    undefined,
    'text/plain',
    'TEXT/PLAIN',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/jsonp',
    'application/json; charset=utf-16',
  ])('G01: the label %j is refused before a byte is read', async (contentType) => {
    const { 'content-type': _, ...unlabelled } = { ...asJson, ...modern, ...bearer() }
    const headers = contentType === undefined ? unlabelled : { ...unlabelled, 'content-type': contentType }
    expect((await send('POST', '/mcp', { headers, body: callBody() })).status).toBe(415)
    expect((await send('POST', '/api/calls', { headers, body: '{"name":"count"}' })).status).toBe(415)
    expect(runs).toBe(0)
  })

  test.each(['Application/JSON', 'application/json ; charset=UTF-8'])(
    'G01: the label %j is JSON',
    async (contentType) => {
      expect((await mcp({ headers: { 'content-type': contentType } })).status).toBe(200)
      expect(runs).toBe(1)
    },
  )

  test.each([
    ['a duplicate key', callBody().replace('"id":1', '"id":1,"id":2')],
    ['a duplicate argument', callBody().replace('"arguments":{}', '"arguments":{"ms":1,"ms":2}')],
    ['__proto__ in the arguments', callBody().replace('"arguments":{}', '"arguments":{"__proto__":{"ms":1}}')],
    ['L66: truncated JSON', callBody().slice(0, -3)],
    ['no JSON', 'hello'],
    ['nothing', ''],
  ])('%s is refused and reaches nobody', async (_what, body) => {
    for (const headers of [{}, await shakeHands()]) {
      const reply = await mcp({ body, headers })
      expect(reply.status).toBe(400)
      expect(reply.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32700 } })
    }
    expect(runs).toBe(0)
  })

  test('a body over 4 MiB is refused', async () => {
    expect((await mcp({ body: Buffer.alloc(4 * 1024 * 1024 + 1, 0x20) })).status).toBe(413)
    expect(
      (
        await send('POST', '/api/calls', {
          headers: { ...asJson, ...bearer() },
          body: Buffer.alloc(4 * 1024 * 1024 + 1, 0x20),
        })
      ).json(),
    ).toMatchObject({ errorType: 'oversized' })
  })

  test('two framings of one body are refused', async () => {
    const body = callBody()
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${http.port}\r\nAuthorization: Bearer ${tokens.call}\r\nContent-Type: application/json\r\nConnection: close\r\n`
    expect(
      await rawStatus(
        `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      ),
    ).toBe(400)
    expect(runs).toBe(0)
  })

  test('arguments that are no object are an invalid call, and not an error of the protocol', async () => {
    expect((await mcp({ body: callBody(1, []) })).json()).toMatchObject({
      result: { isError: true, _meta: { 'dev.lockgate/error': { type: 'invalid_args' } } },
    })
    expect((await mcp({ body: callBody(1, '{"ms": 1') })).json()).toMatchObject({
      result: {
        isError: true,
        _meta: { 'dev.lockgate/error': { type: 'invalid_args', message: expect.stringContaining('offset') } },
      },
    })
    expect(runs).toBe(0)
  })
})

describe('JSON-RPC', () => {
  test.each([
    ['an empty batch', '[]'],
    ['a batch of 2026-07-28', `[${callBody()}]`],
    ['a bare value', '7'],
    ['null', 'null'],
    ['an id that is null', callBody(null)],
    ['an id that is an object', callBody({})],
    ['an id that is no whole number', callBody(1.5)],
    ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":7}'],
    ['another version', callBody().replace('"2.0"', '"1.0"')],
    ['result and error at once', '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}'],
  ])('%s is refused and runs nothing', async (_what, body) => {
    const reply = await mcp({ body })
    expect(reply.status).toBe(400)
    expect(reply.json()).toMatchObject({ error: { code: expect.any(Number) } })
    expect(runs).toBe(0)
  })

  test('headers that disagree with the body are refused', async () => {
    for (const headers of [
      { 'mcp-name': 'other' },
      { 'mcp-method': 'tools/list' },
      { 'mcp-protocol-version': '2025-11-25' },
    ])
      expect((await mcp({ headers })).status).toBe(400)
    expect(runs).toBe(0)
  })

  test('a method that is not served is not found, and nothing but tools is announced', async () => {
    const ask = async (method: string, params: object = {}) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: VERSION_META } })
      return send('POST', '/mcp', {
        headers: {
          ...asJson,
          ...bearer(),
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          'mcp-name': 'x',
        },
        body,
      })
    }
    for (const method of ['prompts/list', 'resources/list', 'completion/complete', 'constructor', 'made/up'])
      expect([method, (await ask(method)).json()]).toMatchObject([method, { error: { code: -32601 } }])
    expect((await ask('server/discover')).json()).toMatchObject({
      result: { capabilities: { tools: { listChanged: true } } },
    })
    expect(
      Object.keys(((await ask('server/discover')).json() as { result: { capabilities: object } }).result.capabilities),
    ).toEqual(['tools'])
    expect((await ask('tools/list')).json()).toMatchObject({
      result: {
        cacheScope: 'private',
        tools: [{ name: 'count', annotations: { readOnlyHint: true } }, { name: 'read_artifact' }],
      },
    })
  })

  test('G25: an id that is in use in a session is refused, and the first call gets its own answer', async () => {
    const session = await shakeHands()
    const first = send('POST', '/mcp', { headers: session, body: oldCall(7, { ms: 200 }) })
    await vi.waitFor(() => expect(runs).toBe(1))
    const second = await send('POST', '/mcp', { headers: session, body: oldCall(7) })
    expect(second.status).toBe(400)
    expect(second.json()).toMatchObject({
      id: 7,
      error: { code: -32600, message: expect.stringContaining('still in use') },
    })
    expect((await first).text).toContain('"id":7')
    expect(runs).toBe(1)
    expect((await send('POST', '/mcp', { headers: session, body: oldCall(7) })).status).toBe(200)
  })

  test('G25: two sessions, and two requests of 2026-07-28, may use one id at one time', async () => {
    const sessions = await Promise.all([shakeHands(), shakeHands(tokens.admin)])
    const replies = await Promise.all([
      ...sessions.map((headers) => send('POST', '/mcp', { headers, body: oldCall(1, { ms: 50 }) })),
      mcp({ body: callBody(1, { ms: 50 }) }),
      mcp({ body: callBody(1, { ms: 50 }), headers: bearer(tokens.admin) }),
    ])
    expect(replies.map(({ text }) => /"user":"(\w+)"/.exec(text)?.[1])).toEqual(['ana', 'someone', 'ana', 'someone'])
  })

  test('a batch of an old revision is answered call by call; one with an id twice is refused whole', async () => {
    const session = await shakeHands()
    const both = await send('POST', '/mcp', { headers: session, body: `[${oldCall(1)},${oldCall(2)}]` })
    expect([both.status, both.text.match(/"id":\d/g)?.sort()]).toEqual([200, ['"id":1', '"id":2']])
    runs = 0
    expect((await send('POST', '/mcp', { headers: session, body: `[${oldCall(3)},${oldCall(3)}]` })).status).toBe(400)
    expect(runs).toBe(0)
  })
})

describe('sessions of the handshake revisions', () => {
  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'revision %s is spoken',
    async (protocolVersion) => {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 0,
        method: 'initialize',
        params: { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
      })
      const opened = await send('POST', '/mcp', { headers: { ...asJson, ...bearer() }, body })
      expect(opened.text).toContain(`"protocolVersion":"${protocolVersion}"`)
      const headers = {
        ...asJson,
        ...bearer(),
        'mcp-session-id': String(opened.headers['mcp-session-id']),
        ...(protocolVersion >= '2025-06-18' ? { 'mcp-protocol-version': protocolVersion } : {}),
      }
      expect((await send('POST', '/mcp', { headers, body: oldCall(1) })).text).toMatch(/user\\": ?\\"ana/)
    },
  )

  test('a session is found only with the credential that opened it', async () => {
    const session = await shakeHands()
    for (const headers of [
      { ...session, ...bearer(tokens.admin) },
      { ...session, 'mcp-session-id': 'made-up' },
    ]) {
      const reply = await send('POST', '/mcp', { headers, body: oldCall(1) })
      expect(reply.status).toBe(404)
      expect(reply.json()).toMatchObject({ error: { code: -32001 } })
    }
    expect(runs).toBe(0)
    expect((await send('POST', '/mcp', { headers: session, body: oldCall(1) })).status).toBe(200)
  })

  test('without a handshake there is no session, and one that was ended is gone', async () => {
    expect((await send('POST', '/mcp', { headers: { ...asJson, ...bearer() }, body: oldCall(1) })).status).toBe(400)
    const session = await shakeHands()
    expect((await send('DELETE', '/mcp', { headers: session })).status).toBe(200)
    expect((await send('POST', '/mcp', { headers: session, body: oldCall(1) })).status).toBe(404)
    expect(runs).toBe(0)
  })

  test('a client of 2026-07-28 that leaves ends its call', async () => {
    const request = httpRequest({
      host: '127.0.0.1',
      port: http.port,
      method: 'POST',
      path: '/mcp',
      headers: { ...asJson, ...modern, ...bearer() } as never,
    })
    request.on('error', () => {})
    request.end(callBody(1, { ms: 20_000 }, { 'dev.lockgate/session': 'leaver' }))
    await vi.waitFor(() => expect(runs).toBe(1))
    request.destroy()
    await vi.waitFor(() => expect(stopped.some((session) => session.endsWith('/leaver'))).toBe(true))
  })
})

describe('the admin API', () => {
  test('one call is answered with its outcome, whatever became of it', async () => {
    expect((await apiCall({ name: 'count', session: 'desk' })).json()).toMatchObject({
      ok: true,
      value: { user: 'ana', session: expect.stringMatching(/\/desk$/) },
      meta: { tool: 'count' },
    })
    for (const [body, type, token] of [
      [{ name: 'nothing' }, 'not_found', tokens.call],
      [{ name: 'count', arguments: { x: 1 } }, 'invalid_args', tokens.call],
      [{ name: 'count' }, 'permission_denied', tokens.other],
    ] as const) {
      const reply = await apiCall(body, bearer(token))
      expect([reply.status, reply.json()]).toMatchObject([200, { ok: false, error: { type } }])
      expect(reply.text).not.toContain('"help"')
    }
  })

  test.each([
    ['[]'],
    ['7'],
    ['{}'],
    ['{"name":7}'],
    ['{"name":"count","user":"root"}'],
    ['{"name":"count","id":1}'],
    ['{"name":"count","session":"a b"}'],
    ['{"name":"count","name":"count"}'],
  ])('%s is no call', async (body) => {
    const reply = await apiCall(body)
    expect([reply.status, reply.json()]).toMatchObject([400, { errorType: 'invalid_args' }])
    expect(reply.headers['content-type']).toBe('application/problem+json')
    expect(runs).toBe(0)
  })

  test('callers see their own view; operators see everything, with what is meant for them', async () => {
    expect((await send('GET', '/api/tools', { headers: bearer() })).json()).toMatchObject({
      tools: [{ name: 'count' }, { name: 'read_artifact' }],
    })
    expect((await send('GET', '/api/tools', { headers: bearer(tokens.other) })).json()).toMatchObject({
      tools: [{ name: 'read_artifact' }],
    })
    expect((await send('GET', '/api/tools?all=1', { headers: bearer(tokens.admin) })).json()).toMatchObject({
      tools: [{ name: 'count', state: { kind: 'active' } }, { name: 'read_artifact' }],
      sources: [],
      warnings: expect.any(Array),
    })
    expect((await send('GET', '/api/health', { headers: bearer() })).json()).toMatchObject({
      status: 'ok',
      sources: { failed: 0 },
    })
  })

  test('the OpenAPI document names every route that is served, and no other', async () => {
    const document = (await send('GET', '/api/openapi.json', { headers: bearer() })).json() as typeof OPENAPI
    expect(document).toEqual(JSON.parse(JSON.stringify(OPENAPI)))
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const method of ['get', 'post', 'put', 'delete', 'patch']) {
        const route = `${method.toUpperCase()} ${path}`
        const { status } = await send(method.toUpperCase(), path.replace('{id}', 'x'), {
          headers: { ...asJson, ...bearer() },
          ...(method === 'post' ? { body: '{"name":"count"}' } : {}),
        })
        const scopes: readonly string[] = (NEEDS as Readonly<Record<string, readonly string[]>>)[route] ?? []
        // Of a single thing that is not there the answer is the same as of no route; the list below tells them apart.
        const served = scopes.includes('call') ? (path.startsWith('/api/artifacts/') ? 404 : 200) : 403
        expect([route, status]).toEqual([route, Object.hasOwn(methods, method) ? served : 404])
      }
    }
    const { httpApp } = await import('../src/server/http-app.ts')
    const served = httpApp({ adminSessions: {}, allowed: {}, gate: {}, mcp: {}, tokens: {} } as never).routes
    const routes = [
      ...new Set(
        served
          .filter(({ method, path }) => method !== 'ALL' && /^\/(api\/|metrics$)/.test(path))
          .map(({ method, path }) => `${method.toLowerCase()} ${path.replace(':id', '{id}')}`),
      ),
    ]
    expect(routes.sort()).toEqual(
      Object.entries(document.paths)
        .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`))
        .sort(),
    )
  })

  test('an address where nothing is, is a problem document too', async () => {
    expect((await send('GET', '/api/nothing', { headers: bearer() })).json()).toMatchObject({
      status: 404,
      errorType: 'not_found',
    })
    expect((await send('GET', '/nothing')).json()).toMatchObject({ status: 404, errorType: 'not_found' })
  })
})

describe('the page', () => {
  test('it opens once per link, for the browser that used it', async () => {
    expect((await send('GET', '/')).text).not.toContain('Sources')
    expect((await send('GET', '/?open=made-up')).status).toBe(403)
    const path = http.openingLink().slice(http.url.length)
    const opened = await send('GET', path)
    expect(opened.text).toContain('Sources')
    const cookie = String(opened.headers['set-cookie']).split(';')[0] ?? ''
    expect((await send('GET', path)).text).not.toContain('Sources')
    expect((await send('GET', '/', { headers: { cookie } })).text).toContain('Sources')
    expect((await send('GET', '/api/tools', { headers: { cookie } })).status).toBe(401)
  })

  test('nothing on it can run, be framed, or be kept', async () => {
    const { headers } = await send('GET', '/')
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    )
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
  })
})

describe('closing', () => {
  test('a server that closes lets a call end, ends streams, and gives its port back', async () => {
    const made = await openTokens({ folder, clock: systemClock, log: () => {} })
    const second = await serveHttp({ gate, listen: { host: '127.0.0.1', port: 0 }, tokens: made })
    const call = fetch(`${second.url}/api/calls`, {
      method: 'POST',
      headers: { ...asJson, authorization: `Bearer ${tokens.call}` },
      body: '{"name":"count","arguments":{"ms":100}}',
    })
    await vi.waitFor(() => expect(runs).toBe(1))
    await second.close()
    expect(await (await call).json()).toMatchObject({ ok: true })
    await expect(fetch(`${second.url}/livez`)).rejects.toThrow()
  })

  test('an address that is taken is a configuration error', async () => {
    const made = await openTokens({ folder, clock: systemClock, log: () => {} })
    await expect(
      serveHttp({ gate, listen: { host: '127.0.0.1', port: http.port }, tokens: made }),
    ).rejects.toMatchObject({ name: 'GateConfigError' })
  })
})

/** The status of the answer to exactly these bytes. */
function rawStatus(bytes: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(http.port, '127.0.0.1', () => socket.write(bytes))
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('end', () => resolve(Number(text.split(' ')[1] ?? 0)))
    socket.on('error', reject)
  })
}
