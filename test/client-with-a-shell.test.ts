// Goal: a client that has a shell of its own and the `call` token does not get further through any tool, route or method of
// ours than that token says: it answers no question, reads no token, key or state, changes no rule and lifts no stop.
// Method: a real `serve` over the widest rules there are, so that nothing but the walls themselves is left; a shell that has
// planted links beforehand; then every spelling, route and method, and at the end a look at everything that must not have
// changed. What such a shell can do past the gate is not tried: see docs/threat-model.md.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, linkSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NEEDS } from '../src/server/admin-needs.ts'
import { CliProject } from './cli-project.ts'

const MAIN = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const CONFIG = `version: 1
workspace: ws
tools: { files: true }
server: { listen: "127.0.0.1:0" }
approvals: { hold: 0s }
policy:
  files: [ws/rules/team.yaml]
  defaults: { read: allow, write: allow, execute: allow, external: allow, destructive: allow, undeclared: allow }
  rules:
    - ask: write_file
      where: { path: "guarded/**" }
    - deny: read_file
      where: { path: "closed/**" }
`

type Json = Readonly<Record<string, unknown>>
type Announced = { readonly api: string; readonly mcp: string; readonly callToken: string }
type Reply = { readonly status: number; readonly text: string }
type Call = { readonly name: string; readonly arguments: Json }

const project = new CliProject(CONFIG)
const own = new Map<string, string>()
let child: ChildProcess | undefined
let served: Announced = { api: '', mcp: '', callToken: '' }
let operator = ''
let secrets: readonly string[] = []
let question = ''
let stop = ''
let version = ''

async function send(
  address: string,
  method: string,
  body?: unknown,
  token = served.callToken,
  more = {},
): Promise<Reply> {
  const response = await fetch(address, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...more,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

const api = (method: string, path: string, body?: unknown, token?: string): Promise<Reply> =>
  send(path === '/metrics' ? new URL(path, served.api).href : `${served.api}${path}`, method, body, token)

/** One call of the client; whatever it is answered, no secret is in it. */
async function call(name: string, given: Json): Promise<Json> {
  const { text } = await api('POST', '/calls', { name, arguments: given })
  for (const secret of secrets) expect(text, `${name} ${JSON.stringify(given)}`).not.toContain(secret)
  return JSON.parse(text) as Json
}

const asOperator = async (method: string, path: string, body?: unknown): Promise<Json> =>
  JSON.parse((await api(method, path, body, operator)).text) as Json

/** Of the policy that is in force. */
async function policyVersion(): Promise<string> {
  const { decision } = await asOperator('POST', '/policy/explain', { name: 'list_dir', arguments: {} })
  return String((decision as Json).policyVersion)
}

function start(): Promise<Announced> {
  const started = spawn(process.execPath, [MAIN, '--config', 'lockgate.yaml', 'serve', '--json'], {
    cwd: project.folder,
    env: { PATH: process.env.PATH ?? '', ...project.variables },
  })
  child = started
  let stdout = ''
  let stderr = ''
  started.stderr.on('data', (chunk) => {
    stderr += String(chunk)
  })
  return new Promise((resolve, reject) => {
    started.stdout.on('data', (chunk) => {
      stdout += String(chunk)
      if (!stdout.endsWith('}\n')) return
      const told = JSON.parse(stdout) as Announced | { readonly error: object }
      if ('error' in told) reject(new Error(stdout))
      else resolve(told)
    })
    started.on('close', () => reject(new Error(stderr)))
  })
}

/** Everything that is the gate's own, by the name under which it stands in the folder of the test. */
function keepOwn(): void {
  const state = readdirSync(project.path('state'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/call-token$|-(wal|shm)$/.test(entry.name))
    .map((entry) => relative(project.folder, `${entry.parentPath}/${entry.name}`))
  for (const name of ['lockgate.yaml', 'ws/rules/team.yaml', 'home/.config/lockgate/policy.yaml', ...state])
    own.set(name, project.read(name))
}

const isDatabase = (name: string): boolean => name.includes('lockgate.db')
const inState = (name: string): string => [...own.keys()].find((key) => key.endsWith(`/${name}`)) ?? ''

/** What a shell in the workspace can put there. */
function plant(): void {
  symlinkSync(project.path('state'), project.path('ws/link-to-state'))
  symlinkSync('../..', project.path('ws/docs/up'))
  symlinkSync('/proc/self/root', project.path('ws/docs/root'))
  symlinkSync('/proc/self/fd', project.path('ws/docs/fd'))
  for (const [index, name] of [...own.keys()].entries()) {
    symlinkSync(project.path(name), project.path(`ws/links/soft-${index}.txt`))
    linkSync(project.path(name), project.path(`ws/links/hard-${index}.txt`))
  }
}

/** Ways of writing one file of the gate's own; `index` is that of its links. */
function spellings(name: string, index: number): readonly string[] {
  const absolute = project.path(name)
  const near = name.startsWith('ws/') ? name.slice('ws/'.length) : `../${name}`
  return [
    ...[near, absolute, `./${near}`, `docs/../${near}`, `${near}/`, `${near}/.`, near.replaceAll('/', '//')],
    ...[`docs/up/${name}`, `docs/root${absolute}`, `/proc/self/root${absolute}`, `/proc/${child?.pid}/root${absolute}`],
    ...[`links/soft-${index}.txt`, `links/hard-${index}.txt`, `links/../links/./hard-${index}.txt`],
    ...[near.toUpperCase(), `${near} `, `${near}.`, `${near}::$DATA`, near.replaceAll('/', '\\'), `file://${absolute}`],
    ...[encodeURI(near).replaceAll('.', '%2e'), near.replaceAll('.', '\uff0e'), `${near}\u0000.txt`, `~/../${name}`],
    ...(name.startsWith('state/') ? [name.replace(/^state/, 'link-to-state')] : []),
  ]
}

/** Which of the spellings above can only mean the file itself, so that nothing at all may come of them. */
const meansIt = (spelling: string): boolean =>
  spelling !== spelling.toUpperCase() && !/[ .]$|::|\\|%|\uff0e|\u0000|^~|^file:/.test(spelling)

const changes = (path: string): readonly Call[] => [
  { name: 'write_file', arguments: { path, content: 'version: 1\n' } },
  { name: 'edit_file', arguments: { path, find: 'version', replace: 'Version', all: true } },
  { name: 'move_file', arguments: { from: path, to: 'taken.txt' } },
  { name: 'move_file', arguments: { from: 'ours.txt', to: path } },
  { name: 'delete_file', arguments: { path } },
]

const looks = (path: string): readonly Call[] => [
  { name: 'read_file', arguments: { path } },
  { name: 'search_text', arguments: { path, pattern: '.' } },
]

// Without a build there is no program to start; `npm test` never comes here without one.
describe.skipIf(!existsSync(MAIN))(
  'a client with a shell and the call token cannot approve, read a token, or loosen the policy through any tool of ours',
  () => {
    beforeAll(async () => {
      project.write('ws/rules/team.yaml', 'rules: [{ deny: read_file, where: { path: "team/**" } }]\n')
      project.write('home/.config/lockgate/policy.yaml', 'rules: [{ deny: read_file, where: { path: "mine/**" } }]\n')
      for (const name of ['ws/docs/a.md', 'ws/links/a.md', 'ws/closed/a.txt']) project.write(name, 'plain\n')
      served = await start()
      keepOwn()
      plant()
      operator = project.read(inState('operator-token')).trim()
      const hashes = (JSON.parse(project.read(inState('tokens.json'))) as { tokens: { hash: string }[] }).tokens
      secrets = [operator, project.read(inState('seal-key')).trim(), ...hashes.map(({ hash }) => hash)]
      const asked = await call('write_file', { path: 'guarded/a.txt', content: 'x' })
      question = String((asked.error as { details?: Json } | undefined)?.details?.approvalId)
      stop = String((await asOperator('POST', '/stop', { tool: 'undo_change' })).id)
      version = await policyVersion()
      expect([question, stop, version]).toEqual([
        expect.stringMatching(/^apr_/),
        expect.stringMatching(/^stop_/),
        expect.stringMatching(/^[0-9a-f]{16}/),
      ])
    })
    afterAll(() => {
      child?.kill('SIGKILL')
      project.remove()
    })

    it('by a file tool, however the file is spelled', async () => {
      for (const [index, name] of [...own.keys()].entries()) {
        for (const path of spellings(name, index)) {
          project.write('ws/ours.txt', 'version: 1\n')
          const tried = [...looks(path), ...changes(path)]
          const outcomes = await Promise.all(tried.map((one) => call(one.name, one.arguments)))
          const passed = tried.filter((_, at) => outcomes[at]?.ok !== false)
          if (meansIt(path)) expect(passed).toEqual([])
          if (!isDatabase(name)) expect(project.read(name), path).toBe(own.get(name))
        }
      }
      expect(await call('read_file', { path: 'docs/a.md' })).toMatchObject({ ok: true })
      expect(await call('write_file', { path: 'docs/b.md', content: 'x' })).toMatchObject({ ok: true })
      project.write('ws/ours.txt', 'x')
      expect(await call('move_file', { from: 'ours.txt', to: 'docs/c.md' })).toMatchObject({ ok: true })
    }, 120_000)

    it('by a folder around it, or by a search over everything', async () => {
      const folders = [
        '..',
        '../state',
        'rules',
        '.',
        '/',
        'link-to-state',
        'docs/up',
        'docs/up/state',
        'docs/fd',
        'links',
      ]
      for (const path of folders) {
        for (const text of ['lg_', '"hash"', 'version', operator.slice(0, 8)])
          await call('search_text', { path, text, context: 5 })
        await call('list_dir', { path, depth: 5 })
        for (const to of ['elsewhere', 'docs/elsewhere']) await call('move_file', { from: path, to })
        await call('delete_file', { path })
        await call('write_file', { path, content: 'x' })
      }
      expect(existsSync(project.path('ws/rules/team.yaml'))).toBe(true)
    })

    it('by rules, a configuration or trust of its own making', async () => {
      const rules = 'rules: [{ allow: "*" }]\n'
      project.write('ws/planted.txt', rules)
      for (const to of ['lockgate.rules.yaml', './lockgate.rules.yaml', 'docs/../lockgate.rules.yaml', 'lockgate.yaml'])
        for (const one of [
          { name: 'write_file', arguments: { path: to, content: rules } },
          { name: 'write_file', arguments: { path: `${to}/a`, content: rules } },
          { name: 'move_file', arguments: { from: 'planted.txt', to } },
        ])
          expect(await call(one.name, one.arguments), `${one.name} ${to}`).toMatchObject({ ok: false })
      expect(readdirSync(project.path('ws')).filter((name) => /^lockgate/i.test(name))).toEqual([])
    })

    it('by a route of the API', async () => {
      const ids = [question, stop, 'x']
      for (const [route, scopes] of Object.entries(NEEDS) as [string, readonly string[]][]) {
        const [method = '', written = ''] = route.split(' ')
        const path = written.replace('/api', '').replace('?all', '?all=1')
        for (const id of path.includes('{id}') ? ids : [''])
          for (const body of [{ decision: 'approve' }, { name: 'read_file' }, {}]) {
            const reply = await api(method, path.replace('{id}', id), method === 'GET' ? undefined : body)
            if (!scopes.includes('call')) expect(reply.status, route).toBe(403)
            for (const secret of secrets) expect(reply.text).not.toContain(secret)
          }
      }
      for (const method of ['PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])
        expect((await api(method, `/approvals/${question}`)).status).toBeGreaterThanOrEqual(400)
      for (const key of ['decision', 'approve', 'by', 'caller', 'scopes', 'rules', 'policy', 'elicitation'])
        expect(await api('POST', '/calls', { name: 'list_dir', arguments: {}, [key]: 'approve' }), key).toMatchObject({
          status: 400,
        })
    })

    it('by what it can find of other credentials', async () => {
      for (const { hash, id } of (JSON.parse(own.get(inState('tokens.json')) ?? '') as { tokens: Json[] }).tokens as {
        hash: string
        id: string
      }[])
        for (const token of [hash, id, `lg_${hash.slice(0, 43)}`, `${served.callToken}=`])
          expect((await api('POST', `/approvals/${question}`, { decision: 'approve' }, token)).status).toBe(401)
    })

    it('by a method of MCP, a form nobody sent, or a state of its own making', async () => {
      const stateless = { 'mcp-protocol-version': '2026-07-28' }
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
      }
      const accept = { action: 'accept', content: { decision: 'approve' } }
      const write = { name: 'write_file', arguments: { path: 'guarded/a.txt', content: 'x' } }
      for (const requestState of [undefined, '', 'v1.', `v1.${'A'.repeat(200)}`, question])
        for (const extra of [{}, { approval: question }, { inputResponses: { approval: accept } }]) {
          const params = { ...write, ...extra, ...(requestState === undefined ? {} : { requestState }), _meta }
          const more = { ...stateless, 'mcp-method': 'tools/call', 'mcp-name': 'write_file' }
          const { text } = await send(
            served.mcp,
            'POST',
            { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
            undefined,
            more,
          )
          expect(text).toMatch(/"isError":true|"error":/)
          expect(text).not.toContain('input_required')
        }
      for (const method of [
        'approvals/decide',
        'elicitation/create',
        'resources/read',
        'completion/complete',
        'policy/set',
      ]) {
        const params = {
          id: question,
          uri: `file://${project.path(inState('operator-token'))}`,
          decision: 'approve',
          _meta,
        }
        const more = { ...stateless, 'mcp-method': method }
        const { text } = await send(served.mcp, 'POST', { jsonrpc: '2.0', id: 1, method, params }, undefined, more)
        expect(text).toContain('"error"')
        for (const secret of secrets) expect(text).not.toContain(secret)
      }
      const { tools } = JSON.parse((await api('GET', '/tools')).text) as { tools: { name: string }[] }
      expect(tools.map(({ name }) => name).filter((name) => /approv|grant|polic|token|trust|stop/.test(name))).toEqual(
        [],
      )
    })

    it('and at the end everything stands as the operator left it, and is still the operator’s to change', async () => {
      for (const [name, text] of own) if (!isDatabase(name)) expect(project.read(name), name).toBe(text)
      expect(await asOperator('GET', `/approvals/${question}`)).toMatchObject({ state: 'open' })
      expect(JSON.stringify(await asOperator('GET', '/grants'))).toBe('{"grants":[]}')
      expect(JSON.stringify(await asOperator('GET', '/stops'))).toContain(stop)
      expect(await policyVersion()).toBe(version)
      expect(await call('read_file', { path: 'closed/a.txt' })).toMatchObject({ error: { type: 'permission_denied' } })
      expect(await call('undo_change', { callId: 'x' })).toMatchObject({ error: { type: 'permission_denied' } })
      expect(existsSync(project.path('ws/guarded/a.txt'))).toBe(false)
      await asOperator('POST', `/approvals/${question}`, { decision: 'approve' })
      expect(await call('write_file', { path: 'guarded/a.txt', content: 'x' })).toMatchObject({ ok: true })
      expect(readFileSync(project.path('ws/guarded/a.txt'), 'utf8')).toBe('x')
    })
  },
)
