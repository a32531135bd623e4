// enforced: the keys of the configuration that say what programs may reach and use. Goal: each test here fails when its key is
// ignored. Method: a command, or a server, with the key and without it, in the sandbox and under the limits of this machine.

import { chmodSync, realpathSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { Outcome } from '../src/index.ts'
import { machineAbilities } from '../src/machine/probe-machine.ts'
import { misbehavingServer } from '../src/testing/misbehaving-server.ts'
import { CliProject } from './cli-project.ts'

const ABILITIES = await machineAbilities()
const hasSandbox = ABILITIES.sandbox.kind === 'ready'
const HEAD = 'version: 1\nworkspace: ws\n'
const ALLOW = 'policy: { rules: [{ allow: { effect: [read, execute] } }] }\n'
const ends = (type: string) => ({ ok: false, error: { type } })

let project: CliProject
const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
  project.remove()
})

const open = (): void => {
  project = new CliProject(HEAD)
}

async function call(config: string, name: string, args: object = {}): Promise<Outcome> {
  project.write('lockgate.yaml', HEAD + config)
  return (await project.json(['call', name, JSON.stringify(args)])).value as Outcome
}

async function listen(): Promise<number> {
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  closing.push(() => void server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

const textOf = ({ content }: Outcome): string => content.map((part) => (part.type === 'text' ? part.text : '')).join('')

/** What a server is started with, `more` besides; every tool of it may be called. */
const server = (more: string): string => {
  const { command, args } = misbehavingServer()
  const launch = `command: ${JSON.stringify(command)}, args: ${JSON.stringify(args)}, effects: { '*': read }`
  return `sources: { up: { ${launch}${more} } }\n`
}

describe('enforced: tools.shell, on this machine', () => {
  const shell = (options: string): string => `tools: { shell: { ${options} } }\n${ALLOW}`
  const NODE =
    'programs: { node: { reads: false, values: { -e: { kind: text } }, operands: [{ kind: text }], more: true } }'
  const node = (code: string, ...more: readonly string[]) => ({ program: 'node', args: ['-e', code, ...more] })

  it('`folders` is where further programs are found', async () => {
    open()
    project.write('bin/greet', '#!/bin/sh\necho good day\n')
    chmodSync(project.path('bin/greet'), 0o755)
    const programs = 'sandbox: off, programs: { greet: { reads: true } }'
    expect(await call(shell(programs), 'run_command', { program: 'greet' })).toMatchObject(ends('unavailable'))
    const found = await call(shell(`${programs}, folders: [${project.path('bin')}]`), 'run_command', {
      program: 'greet',
    })
    expect(textOf(found)).toContain('good day')
  })

  it.skipIf(!hasSandbox)('`sandbox: required` and `preferred` run a command in the sandbox', async () => {
    open()
    for (const mode of ['required', 'preferred'])
      expect(await call(shell(`sandbox: ${mode}`), 'run_command', { program: 'ls' })).toMatchObject({
        meta: { place: 'sandbox' },
      })
  })

  it.skipIf(!hasSandbox)('`network` says whether a program reaches it from inside the sandbox', async () => {
    open()
    const port = String(await listen())
    const code =
      "require('net').connect(process.argv[1], '127.0.0.1').on('connect', () => process.exit()).on('error', () => process.exit(7))"
    const ended = async (network: string) => call(shell(`${NODE}, ${network}`), 'run_command', node(code, port))
    expect(await ended('network: true')).toMatchObject({ ok: true })
    expect(await ended('network: false')).toMatchObject(ends('tool_error'))
    expect(await ended('sandbox: preferred')).toMatchObject(ends('tool_error'))
  })

  const WORK = {
    fileBytes: ['file: 100KB', "require('fs').writeFileSync('big', Buffer.alloc(1e6))"],
    openFiles: ['openFiles: 64', "for (let n = 0; n < 200; n++) require('fs').openSync('hello.txt')"],
    cpuMs: ['cpu: 1s', 'for (;;);'],
    memoryBytes: ['memory: 128MB', 'const kept = []; for (let n = 0; n < 60; n++) kept.push(Buffer.alloc(1e7, 1))'],
    processes: [
      'processes: 20',
      "let failed = 0; for (let n = 0; n < 40; n++) try { require('child_process').spawn('sleep', ['5']).on('error', () => process.exit(7)) } catch { process.exit(7) }; setTimeout(() => process.exit(), 500)",
    ],
  } as const
  for (const limit of ['fileBytes', 'openFiles', 'cpuMs', 'memoryBytes', 'processes'] as const)
    it.skipIf(ABILITIES.limits[limit].kind !== 'enforced')(`\`limits\` bounds a command: ${limit}`, async () => {
      open()
      const [bound, code] = WORK[limit]
      const ended = await call(shell(`${NODE}, deadline: 20s, limits: { ${bound} }`), 'run_command', node(code))
      expect(ended).toMatchObject({ ok: false })
      if (!ended.ok) expect(['tool_crashed', 'tool_error']).toContain(ended.error.type)
      if (limit === 'cpuMs') return
      expect(await call(shell(`${NODE}, deadline: 20s`), 'run_command', node(code))).toMatchObject({ ok: true })
    })
})

describe('enforced: a source of its own program', () => {
  it('`idle` ends a call that says nothing of how far it is', async () => {
    open()
    expect(await call(server(', idle: 300ms'), 'mcp__up__hang')).toMatchObject({
      ...ends('timeout'),
      error: { details: { limit: 'idleMs' } },
    })
    expect(await call(server(', deadline: 300ms'), 'mcp__up__hang')).toMatchObject(ends('timeout'))
  })

  it.skipIf(!hasSandbox)('`sandbox`, `readable` and `writable` say what a server sees and may change', async () => {
    open()
    project.write('given/here.txt', 'given')
    project.write('work/here.txt', 'work')
    const at = (path: string) => ({ path: realpathSync(project.folder) + path })
    const read = async (more: string, path: string) => textOf(await call(server(more), 'mcp__up__read_file', at(path)))
    expect(await read('', '/given/here.txt')).toBe('given')
    const bound = ', cwd: ws, sandbox: required'
    expect(await read(bound, '/given/here.txt')).toBe('ENOENT')
    expect(await read(`${bound}, readable: [given]`, '/given/here.txt')).toBe('given')
    const write = async (more: string) => textOf(await call(server(more), 'mcp__up__write_file', at('/work/new.txt')))
    expect(await write(`${bound}, readable: [work]`)).toBe('EROFS')
    expect(await write(`${bound}, writable: [work]`)).toBe('done')
    expect(project.read('work/new.txt')).toBe('written')
  })

  it.skipIf(!hasSandbox)('`network` says whether a server in a sandbox has it', async () => {
    open()
    const args = { port: await listen() }
    const said = async (more: string) =>
      textOf(await call(server(`, sandbox: required${more}`), 'mcp__up__connect', args))
    expect(await said('')).toBe('connected')
    expect(await said(', network: false')).not.toBe('connected')
  })

  it.skipIf(ABILITIES.limits.memoryBytes.kind !== 'enforced')('`limits` bounds a server', async () => {
    open()
    const grow = (more: string) => call(server(more), 'mcp__up__grow', { bytes: 600_000_000 })
    expect(await grow('')).toMatchObject({ ok: true })
    expect(await grow(', limits: { memory: 256MB }')).toMatchObject({ ok: false })
  })
})
