// Goal: one-gate. Whatever door a call comes through, it meets the same decision, runs nothing that is denied, and leaves
// exactly one record. Method: one tool that notes each run, denied by an argument rule, sent through every entrance that
// exists; beside it an allowed twin, so that a door that refuses everything fails too.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../src/base/clock.ts'
import { type AnyTool, createGate, defineTool, type Gate } from '../src/index.ts'
import { type HttpServing, serveHttp } from '../src/server/http-server.ts'
import { serveMcpStdio } from '../src/server/mcp-stdio.ts'
import { openTokens } from '../src/server/tokens.ts'
import { createRecordingStore } from '../src/testing/index.ts'
import { CliProject } from './cli-project.ts'

/** What came back through a door: the error type, or `ok`. */
type Door = (target: string) => Promise<string>

const runs: string[] = []
const probe = defineTool({
  name: 'probe',
  version: '1.0.0',
  description: 'Notes what it is run with.',
  input: {
    type: 'object',
    properties: { target: { type: 'string' } },
    required: ['target'],
    additionalProperties: false,
  } as const,
  effect: 'read',
  run: (args) => {
    runs.push(String((args as { target: string }).target))
    return 'ran'
  },
}) as unknown as AnyTool
const policy = { rules: [{ deny: 'probe', where: { target: 'secret*' }, because: 'secrets stay in' }] } as const
const ERROR_KEY = 'dev.lockgate/error'

const folder = mkdtempSync(join(tmpdir(), 'lockgate-one-gate-'))
const store = createRecordingStore({ clock: systemClock })
let gate: Gate
let http: HttpServing
let token = ''
let project: CliProject

beforeAll(async () => {
  gate = await createGate({ tools: [probe], policy, store })
  const tokens = await openTokens({ folder, clock: systemClock, log: () => {} })
  token = (await tokens.create({ name: 'test', scopes: ['call'] })).token
  http = await serveHttp({ gate, listen: { host: '127.0.0.1', port: 0 }, tokens })
  project = new CliProject(CLI_CONFIG)
  project.write('tools.mjs', MODULE)
})

afterAll(async () => {
  await http.close()
  await gate.close()
  project.remove()
  rmSync(folder, { recursive: true, force: true })
})

type Answer = { readonly isError?: unknown; readonly _meta?: Readonly<Record<string, unknown>> | undefined }

const typeOf = (answer: Answer): string => {
  if (answer.isError !== true) return 'ok'
  const error = answer._meta?.[ERROR_KEY]
  return typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : 'error without a type'
}
const headers = () => ({ Authorization: `Bearer ${token}` })
const overHttp =
  (mode: 'auto' | 'legacy'): Door =>
  async (target) => {
    const client = new Client(
      { name: 'test', version: '1.0.0' },
      mode === 'auto' ? { versionNegotiation: { mode: 'auto' } } : {},
    )
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${http.url}/mcp`), { requestInit: { headers: headers() } }),
    )
    const answer = await client.callTool({ name: 'probe', arguments: { target } })
    await client.close()
    return typeOf(answer as Answer)
  }

const DOORS: Readonly<Record<string, Door>> = {
  'the library, by name': async (target) =>
    outcomeType(await gate.session().call({ name: 'probe', arguments: { target } })),
  'the library, by JSON text': async (target) =>
    outcomeType(await gate.session().call({ name: 'probe', arguments: JSON.stringify({ target }) })),
  'the library, by definition': async (target) => outcomeType(await gate.session().call(probe, { target } as never)),
  'a turn': async (target) => outcomeType((await gate.session().turn([{ name: 'probe', arguments: { target } }]))[0]),
  'MCP over HTTP, 2026-07-28': overHttp('auto'),
  'MCP over HTTP, with a handshake': overHttp('legacy'),
  'MCP over HTTP, the v1 client': async (target) => {
    const client = new OldClient({ name: 'test', version: '1.0.0' })
    await client.connect(new OldTransport(new URL(`${http.url}/mcp`), { requestInit: { headers: headers() } }) as never)
    const answer = await client.callTool({ name: 'probe', arguments: { target } })
    await client.close()
    return typeOf(answer as Answer)
  },
  'MCP over stdio': overStdio,
  'the admin API': async (target) => {
    const response = await fetch(`${http.url}/api/calls`, {
      method: 'POST',
      headers: { ...headers(), 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'probe', arguments: { target } }),
    })
    return outcomeType((await response.json()) as never)
  },
}

function outcomeType(
  outcome: { readonly ok: boolean; readonly error?: { readonly type: string } } | undefined,
): string {
  return outcome?.ok === true ? 'ok' : (outcome?.error?.type ?? 'no outcome')
}

async function overStdio(target: string): Promise<string> {
  const input = new PassThrough()
  const output = new PassThrough()
  const serving = serveMcpStdio({ gate, caller: {}, input, output, log: () => {} })
  const lines: string[] = []
  let answered = (_line: string): void => {}
  const answer = new Promise<string>((resolve) => {
    answered = resolve
  })
  output.setEncoding('utf8').on('data', (text: string) => {
    lines.push(...text.split('\n').filter((line) => line !== ''))
    const found = lines.find((line) => JSON.parse(line).id === 2)
    if (found !== undefined) answered(found)
  })
  const send = (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  })
  send({ method: 'notifications/initialized' })
  send({ id: 2, method: 'tools/call', params: { name: 'probe', arguments: { target } } })
  const { result } = JSON.parse(await answer) as { readonly result: Answer }
  input.end()
  await serving.closed
  return typeOf(result)
}

const CLI_CONFIG = `version: 1
workspace: ./ws
store: sqlite
sources:
  own: { module: ./tools.mjs }
policy:
  rules:
    - deny: probe
      where: { target: secret* }
`
const MODULE = `import { appendFileSync } from 'node:fs'
import { defineTool } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)}
export const tools = [defineTool({
  name: 'probe', version: '1.0.0', description: 'Notes what it is run with.', effect: 'read',
  input: { type: 'object', properties: { target: { type: 'string' } }, required: ['target'] },
  run: ({ target }) => { appendFileSync(new URL('./runs.txt', import.meta.url), target + '\\n'); return 'ran' },
})]
`

describe('one-gate: a denied tool is refused at every entrance', () => {
  test.each(Object.entries(DOORS))('%s', async (_name, door) => {
    runs.length = 0
    const before = store.written.length
    expect(await door('secret-1')).toBe('permission_denied')
    expect(runs).toEqual([])
    expect(store.written.slice(before)).toMatchObject([
      { kind: 'end', body: { tool: 'probe', ok: false, error: { type: 'permission_denied', effect: 'none' } } },
    ])
    expect(await door('open-1')).toBe('ok')
    expect(runs).toEqual(['open-1'])
    expect(store.written.slice(before)).toHaveLength(2)
  })

  test.each(['call', 'turn'])('the command line, `%s`', async (command) => {
    project.write('runs.txt', '')
    const ask = async (target: string) => {
      writeFileSync(project.path('turn.json'), JSON.stringify([{ name: 'probe', arguments: { target } }]))
      const argv = command === 'call' ? ['call', 'probe', JSON.stringify({ target })] : ['turn', 'turn.json']
      const { code, value } = await project.json(argv)
      const outcome = command === 'call' ? value : (value as readonly unknown[])[0]
      return [code, outcomeType(outcome as never)]
    }
    expect(await ask('secret-1')).toEqual([1, 'permission_denied'])
    expect(project.read('runs.txt')).toBe('')
    expect(await ask('open-1')).toEqual([0, 'ok'])
    expect(project.read('runs.txt')).toBe('open-1\n')
  })

  test('an approval that was given before a rule denied the call redeems nothing', async () => {
    const file = join(folder, 'approvals.db')
    const asking = await createGate({ tools: [probe], store: { sqlite: file }, policy: { rules: [{ ask: 'probe' }] } })
    const asked = await asking.session().call({ name: 'probe', arguments: { target: 'secret-1' } })
    const approval = asked.ok ? '' : String(asked.error.details?.approvalId)
    expect(await asking.approvals.decide(approval, { decision: 'approve', by: 'a person' })).toMatchObject({
      kind: 'answered',
    })
    await asking.close()
    runs.length = 0
    const denying = await createGate({ tools: [probe], store: { sqlite: file }, policy })
    expect(
      outcomeType(await denying.session().call({ name: 'probe', arguments: { target: 'secret-1' }, approval })),
    ).toBe('permission_denied')
    await denying.close()
    expect(runs).toEqual([])
  })

  test('a copy of a tool cannot run, and no tool shows its run', async () => {
    expect('run' in probe).toBe(false)
    expect(JSON.stringify(probe)).not.toContain('push')
    await expect(createGate({ tools: [{ ...probe } as AnyTool] })).rejects.toThrow('defineTool')
    const copying = await createGate()
    copying.catalogue.register({ ...probe } as AnyTool)
    runs.length = 0
    expect(outcomeType(await copying.session().call({ name: 'probe', arguments: { target: 'open-1' } }))).toBe(
      'unavailable',
    )
    expect(runs).toEqual([])
    await copying.close()
  })
})

test('the module of the command line is the one that this test wrote', () => {
  expect(readFileSync(project.path('tools.mjs'), 'utf8')).toBe(MODULE)
})
