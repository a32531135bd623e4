// Goal: a local server in a sandbox reads, writes and reaches what the operator gave it and nothing else, and works. One that
// runs into its bounds is named with the bound. Method: real gates and a real sandbox, where this machine has one.

import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Outcome } from '../src/describe/outcome.ts'
import type { Gate, Session } from '../src/gate-contract.ts'
import { machineAbilities } from '../src/machine/probe-machine.ts'
import { type McpSourceOptions, mcpSource } from '../src/sources/mcp/mcp-source.ts'
import { misbehavingServer } from '../src/testing/misbehaving-server.ts'
import { newFolder, openGate } from './opened.ts'
import { McpSourceOn } from './source-on-machine.ts'

const ABILITIES = await machineAbilities()
const hasSandbox = ABILITIES.sandbox.kind === 'ready'
const memoryBy = ABILITIES.limits.memoryBytes.kind === 'enforced' ? ABILITIES.limits.memoryBytes.by : 'nothing'
const ALLOW = { defaults: { undeclared: 'allow' } } as const

const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function open(more: Partial<McpSourceOptions>): Promise<{ readonly gate: Gate; readonly session: Session }> {
  const gate = await openGate({ policy: ALLOW, sources: [mcpSource('up', { ...misbehavingServer(), ...more })] })
  return { gate, session: gate.session() }
}

const stateOf = (gate: Gate) => gate.catalogue.sources().find(({ name }) => name === 'up')?.state
const call = (session: Session, name: string, args: object = {}): Promise<Outcome> =>
  session.call({ name: `mcp__up__${name}`, arguments: args })
const textOf = ({ content }: Outcome): string => content.map((part) => (part.type === 'text' ? part.text : '')).join('')

function folders() {
  const folder = realpathSync(newFolder())
  for (const name of ['given', 'other', 'work']) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'here.txt'), name)
  }
  mkdirSync(join(folder, 'work/.git/hooks'), { recursive: true })
  return (path: string): string => join(folder, path)
}

async function listen(): Promise<number> {
  const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  closing.push(() => void server.close())
  return (server.address() as AddressInfo).port
}

describe.skipIf(!hasSandbox)('a server in a sandbox', () => {
  test('reads what it was given and nothing beside it, and writes where it may and nowhere else', async () => {
    const at = folders()
    const { gate, session } = await open({ sandbox: 'required', readable: [at('given')], writable: [at('work')] })
    expect(stateOf(gate)).toEqual({ kind: 'ready' })
    const read = async (path: string) => textOf(await call(session, 'read_file', { path: at(path) }))
    const write = async (path: string) => textOf(await call(session, 'write_file', { path: at(path) }))
    expect([await read('given/here.txt'), await read('other/here.txt')]).toEqual(['given', 'ENOENT'])
    expect([await read('work/here.txt'), await write('work/new.txt')]).toEqual(['work', 'done'])
    expect(readFileSync(at('work/new.txt'), 'utf8')).toBe('written')
    expect([await write('given/new.txt'), await write('work/.git/hooks/post-commit')]).toEqual(['EROFS', 'EROFS'])
    expect(existsSync(at('given/new.txt'))).toBe(false)
    expect(textOf(await call(session, 'read_file', { path: '/etc/passwd' }))).toBe('ENOENT')
  })

  test('has the network unless it is taken away', async () => {
    const port = await listen()
    const { session } = await open({ sandbox: 'required' })
    expect(textOf(await call(session, 'connect', { port }))).toBe('connected')
    const { session: cut } = await open({ sandbox: 'required', network: false })
    expect(textOf(await call(cut, 'connect', { port }))).not.toBe('connected')
  })

  test('lives on from call to call, dies and is started again as any other, and leaves nobody behind', async () => {
    const at = folders()
    const { gate, session } = await open({ sandbox: 'required', writable: [at('work')], effects: { pid: 'read' } })
    const pids = [textOf(await call(session, 'pid')), textOf(await call(session, 'pid'))]
    expect(pids[0]).toBe(pids[1])
    expect((await call(session, 'crash')).ok).toBe(false)
    expect((await call(session, 'pid')).ok).toBe(true)
    expect((await call(session, 'spawn_child')).ok).toBe(true)
    await gate.close()
    const mine = join(at('work'), 'here.txt')
    expect(readFileSync(mine, 'utf8')).toBe('work')
    await vi.waitFor(() => expect(serversIn(at('work'))).toEqual([]), { timeout: 10_000 })
  })

  test('its place and bounds are in the outcome as any other’s', async () => {
    const { session } = await open({ sandbox: 'required' })
    const outcome = await call(session, 'echo', { text: 'x' })
    expect(outcome.meta).toMatchObject({ place: 'upstream', attempts: 1 })
    expect(outcome.meta.limitsHit).toBeUndefined()
  })
})

/** Processes with this folder in their command line or among their mounts, other than this one. */
function serversIn(folder: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/mounts`, 'utf8').includes(folder)
      } catch {
        return false
      }
    })
}

describe.skipIf(!memoryBy.startsWith('cgroup'))('a server with a bound on its memory', () => {
  test('that it runs into is ended, and the call names the bound', async () => {
    const { gate, session } = await open({ limits: { memoryBytes: 200_000_000 } })
    const outcome = await call(session, 'grow', { bytes: 600_000_000 })
    expect(outcome).toMatchObject({
      ok: false,
      error: { type: 'outcome_unknown', effect: 'unknown', details: { limit: 'memoryBytes' } },
      meta: { limitsHit: ['memoryBytes'] },
    })
    expect(textOf(outcome)).toContain('memoryBytes')
    expect(stateOf(gate)).toMatchObject({ kind: 'failed', reason: expect.stringContaining('memoryBytes') })
    expect((await call(session, 'echo', { text: 'again' })).ok).toBe(true)
  })
})

describe('where this machine has no sandbox', () => {
  const NONE = { sandbox: { kind: 'missing', reason: 'there is none here', mend: 'mend it' } } as const

  test('a server that requires one does not start, and says why; one that prefers one starts, and each record says so', async () => {
    const machine = { ...ABILITIES, ...NONE }
    const required = await openGate({
      policy: ALLOW,
      sources: [new McpSourceOn(machine, 'up', { ...misbehavingServer(), sandbox: 'required' })],
    })
    expect(stateOf(required)).toMatchObject({ kind: 'failed', reason: expect.stringContaining('there is none here') })
    const preferred = await openGate({
      policy: ALLOW,
      sources: [new McpSourceOn(machine, 'up', { ...misbehavingServer(), sandbox: 'preferred' })],
    })
    const outcome = await call(preferred.session(), 'echo', { text: 'all the same' })
    expect(textOf(outcome)).toBe('all the same')
    await preferred.records.flush()
    const [end] = await preferred.records.query({ kind: 'end', limit: 1 })
    expect(JSON.parse(end?.body ?? '{}')).toMatchObject({ limitsUnenforced: ['sandbox'] })
  })
})
