// enforced: every key of the configuration does something. Goal: each test here fails when its key is ignored. Method: one
// call with the key and, where it is not plain to see, one without it.

import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { CliProject } from './cli-project.ts'

const SERVER = JSON.stringify(fileURLToPath(new URL('../src/testing/misbehaving-server.mjs', import.meta.url)))
const upstream = (more = '') => `{ command: node, args: [${SERVER}]${more} }`

let project: CliProject
afterEach(() => project.remove())

const FILES = 'version: 1\nworkspace: ws\ntools: { files: true }\n'

async function outcome(config: string, name: string, args: object = {}): Promise<unknown> {
  project.write('lockgate.yaml', config)
  return (await project.json(['call', name, JSON.stringify(args)])).value
}

function open(): void {
  project = new CliProject(FILES)
}

const ends = (type: string) => ({ ok: false, error: { type } })
const WRITE = { path: 'x.txt', content: 'x' }

describe('enforced: workspace, store, tools', () => {
  it('`workspace` names several roots', async () => {
    open()
    project.write('other/there.txt', 'there')
    const config = 'version: 1\nworkspace: { main: ws, more: other }\ntools: { files: true }\n'
    expect(await outcome(config, 'read_file', { path: 'there.txt' })).toMatchObject({ ok: false })
    expect(await outcome(config, 'read_file', { path: 'there.txt', root: 'more' })).toMatchObject({ ok: true })
  })

  it('`tools.files` brings the file tools, and without it there are none', async () => {
    open()
    expect(await outcome('version: 1\nworkspace: ws\ntools: { files: false }\n', 'list_dir')).toMatchObject(
      ends('not_found'),
    )
    expect(await outcome(FILES, 'list_dir')).toMatchObject({ ok: true })
  })

  it('`store` says where records are kept', async () => {
    open()
    project.write('kept/readme', '')
    expect(await outcome(`${FILES}store: kept/records.db\n`, 'list_dir')).toMatchObject({ ok: true })
    expect(existsSync(project.path('kept/records.db'))).toBe(true)
    expect(await outcome(`${FILES}store: memory\n`, 'list_dir')).toMatchObject({ ok: true })
    expect(
      readdirSync(project.path('state'), { recursive: true }).filter((name) => String(name).endsWith('.db')),
    ).toEqual([])
    expect(await outcome(`${FILES}store: sqlite\n`, 'list_dir')).toMatchObject({ ok: true })
    expect(
      readdirSync(project.path('state'), { recursive: true }).filter((name) => String(name).endsWith('.db')),
    ).toHaveLength(1)
  })
})

describe('enforced: limits and approvals', () => {
  it('`limits.result` cuts and says so', async () => {
    open()
    project.write('ws/long.txt', `${'a line of text\n'.repeat(400)}`)
    expect(await outcome(FILES, 'read_file', { path: 'long.txt' })).not.toMatchObject({
      meta: { truncated: expect.anything() },
    })
    const cut = (await outcome(`${FILES}limits: { result: 1KB }\n`, 'read_file', { path: 'long.txt' })) as {
      content: { text: string }[]
      meta: object
    }
    expect(cut.meta).toMatchObject({ truncated: { originalBytes: expect.any(Number) } })
    expect(Buffer.byteLength(cut.content.map(({ text }) => text).join(''))).toBeLessThanOrEqual(1_024)
  })

  it('`limits.arguments` refuses what is larger', async () => {
    open()
    const config = `${FILES}limits: { arguments: 40B }\n`
    expect(await outcome(config, 'read_file', { path: 'a'.repeat(60) })).toMatchObject(ends('oversized'))
    expect(await outcome(config, 'read_file', { path: 'hello.txt' })).toMatchObject({ ok: true })
  })

  it('`limits.deadline`, and the `deadline` of one source, end a call in time', async () => {
    open()
    const reads = ", effects: { '*': read }"
    const config = `version: 1\nsources: { slow: ${upstream(reads)}, hasty: ${upstream(`${reads}, deadline: 300ms`)} }\n`
    expect(await outcome(config, 'mcp__hasty__slow', { ms: 20_000 })).toMatchObject(ends('timeout'))
    expect(await outcome(config, 'mcp__slow__slow', { ms: 600 })).toMatchObject({ ok: true })
    expect(await outcome(`${config}limits: { deadline: 300ms }\n`, 'mcp__slow__slow', { ms: 20_000 })).toMatchObject(
      ends('timeout'),
    )
  })

  it('`approvals.expires` is how long a question stays open', async () => {
    open()
    await outcome(`${FILES}approvals: { expires: 90s }\n`, 'write_file', WRITE)
    const [row] = (await project.json(['approvals', 'list'])).value as { openedAt: number; expiresAt: number }[]
    expect(row && row.expiresAt - row.openedAt).toBe(90_000)
  })
})

describe('enforced: callers and policy', () => {
  it('`callers.default` is who calls, and its task narrows', async () => {
    open()
    expect(await outcome(`${FILES}callers: { default: { task: { name: t, allow: [] } } }\n`, 'list_dir')).toMatchObject(
      ends('permission_denied'),
    )
    const rule = 'policy: { rules: [{ deny: list_dir, for: { role: blind } }] }\n'
    expect(await outcome(`${FILES}${rule}callers: { default: { roles: [blind] } }\n`, 'list_dir')).toMatchObject(
      ends('permission_denied'),
    )
    expect(await outcome(`${FILES}${rule}callers: { default: { roles: [seeing] } }\n`, 'list_dir')).toMatchObject({
      ok: true,
    })
    await outcome(`${FILES}callers: { default: { tenant: acme, user: ana, agent: bot } }\n`, 'list_dir')
    expect((await project.json(['audit', 'tail', '-n', '1'])).value).toMatchObject([
      { body: { tenant: 'acme', user: 'ana', agent: 'bot' } },
    ])
  })

  it('`policy.defaults`, `policy.rules` and `policy.files` each decide', async () => {
    open()
    expect(await outcome(`${FILES}policy: { defaults: { read: deny } }\n`, 'list_dir')).toMatchObject(
      ends('permission_denied'),
    )
    expect(await outcome(`${FILES}policy: { defaults: { write: allow } }\n`, 'write_file', WRITE)).toMatchObject({
      ok: true,
    })
    expect(
      await outcome(
        `${FILES}policy: { rules: [{ allow: write_file, where: { path: x.txt } }] }\n`,
        'write_file',
        WRITE,
      ),
    ).toMatchObject({ ok: true })
    project.write('more.yaml', 'rules:\n  - deny: write_file\n    because: nobody writes here\n')
    expect(
      await outcome(`${FILES}policy: { defaults: { write: allow }, files: [more.yaml] }\n`, 'write_file', WRITE),
    ).toMatchObject({
      ok: false,
      error: {
        type: 'permission_denied',
        message: expect.stringContaining('nobody writes here'),
        help: expect.stringContaining(`${project.path('more.yaml')}:2`),
      },
    })
  })
})

describe('enforced: sources', () => {
  it('`effects` and `trust` say what tools may do, and silence is `undeclared`', async () => {
    open()
    const effects = async (more: string) => {
      project.write('lockgate.yaml', `version: 1\nsources: { up: ${upstream(more)} }\n`)
      const { tools } = (await project.json(['tools', '--all'])).value as { tools: { name: string; effect: string }[] }
      return ['echo', 'count'].map((name) => tools.find((tool) => tool.name === `mcp__up__${name}`)?.effect)
    }
    expect(await effects('')).toEqual(['undeclared', 'undeclared'])
    expect(await effects(", effects: { echo: write, '*': external }")).toEqual(['write', 'external'])
    expect(await effects(', trust: annotations')).toEqual(['read', 'undeclared'])
  })

  it('`env` is what a server gets of the environment, and `cwd` where it starts', async () => {
    open()
    const variables = { ...project.variables, SECRET_OF_OPERATOR: 'x', GIVEN: 'y' }
    project.write(
      'lockgate.yaml',
      `version: 1\nsources: { up: ${upstream(", effects: { env: read }, env: { NAMED: '${env:GIVEN}' }")} }\n`,
    )
    const { value } = await project.json(['call', 'mcp__up__env'], { variables })
    const [{ text }] = (value as { content: [{ text: string }] }).content
    expect(text.split(',')).toContain('NAMED')
    expect(text).not.toMatch(/SECRET_OF_OPERATOR|GIVEN|LOCKGATE_STATE/)

    project.write('deep/down/server.mjs', `import ${SERVER}\n`)
    const config = (cwd: string) =>
      `version: 1\nsources: { up: { command: node, args: [server.mjs]${cwd}, effects: { echo: read } } }\n`
    expect(await outcome(config(', cwd: deep/down'), 'mcp__up__echo', { text: 'x' })).toMatchObject({ ok: true })
    expect(await outcome(config(''), 'mcp__up__echo', { text: 'x' })).toMatchObject({ ok: false })
  })

  it('`url` and `headers` reach the server', async () => {
    open()
    const seen: (string | undefined)[] = []
    const server = createServer((request, response) => {
      seen.push(request.headers['x-key']?.toString())
      response.writeHead(500).end()
    })
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address()
        resolve(typeof address === 'object' && address !== null ? address.port : 0)
      })
    })
    try {
      project.write(
        'lockgate.yaml',
        `version: 1\nsources: { far: { url: 'http://127.0.0.1:${port}/mcp', headers: { X-Key: 'k-1' } } }\n`,
      )
      expect(await project.json(['tools', '--all'])).toMatchObject({
        value: { sources: [{ name: 'far', state: { kind: 'failed' } }] },
      })
      expect(seen.length).toBeGreaterThan(0)
      expect(new Set(seen)).toEqual(new Set(['k-1']))
    } finally {
      server.close()
    }
  })

  it('`mcpServers` starts servers as a client writes them', async () => {
    open()
    const config = JSON.stringify({
      version: 1,
      mcpServers: { pasted: { type: 'stdio', command: 'node', args: [JSON.parse(SERVER)] } },
    })
    expect(await outcome(config, 'mcp__pasted__echo', { text: 'x' })).toMatchObject(ends('approval_required'))
  })
})
