// Goal: whatever one upstream server does, the gate goes on, says what happened, and never claims more than it knows.
// Method: real gates over the misbehaving server, each with a healthy sibling where "nothing else is taken down" matters.

import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Outcome } from '../src/describe/outcome.ts'
import { createGate } from '../src/gate.ts'
import type { Gate, GateOptions, Session } from '../src/gate-contract.ts'
import { type McpSourceOptions, mcpSource } from '../src/sources/mcp/mcp-source.ts'
import { type MisbehavingSwitches, misbehavingServer, serveMisbehaving } from '../src/testing/misbehaving-server.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const ALLOW = { defaults: { undeclared: 'allow', write: 'allow', external: 'allow', destructive: 'allow' } } as const

async function openGate(options: GateOptions): Promise<{ readonly gate: Gate; readonly session: Session }> {
  const gate = await createGate({ policy: ALLOW, ...options })
  closing.push(() => gate.close())
  await gate.settled()
  return { gate, session: gate.session() }
}

/** A gate over one misbehaving server and a healthy one beside it. */
const beside = (switches: MisbehavingSwitches, more: Partial<McpSourceOptions> = {}, options: GateOptions = {}) =>
  openGate({
    ...options,
    sources: [mcpSource('bad', { ...misbehavingServer(switches), ...more }), mcpSource('good', misbehavingServer())],
  })

async function overHttp(switches: MisbehavingSwitches, more: Partial<McpSourceOptions> = {}) {
  const server = await serveMisbehaving(switches)
  closing.push(() => server.close())
  return { server, ...(await openGate({ sources: [mcpSource('web', { url: server.url, ...more })] })) }
}

const call = (session: Session, name: string, args: object = {}): Promise<Outcome> =>
  session.call({ name, arguments: args })
const textOf = ({ content }: Outcome): string => content.map((part) => (part.type === 'text' ? part.text : '')).join('')
const errorOf = (outcome: Outcome) => (outcome.ok ? undefined : outcome.error)
const stateOf = (gate: Gate, name: string) => gate.catalogue.sources().find((source) => source.name === name)?.state
const reasonOf = (gate: Gate, name: string): string => {
  const state = stateOf(gate, name)
  return state?.kind === 'failed' ? state.reason : ''
}
const rowOf = (gate: Gate, name: string) => gate.catalogue.rows().find((row) => row.name === name)

async function expectHealthy(session: Session): Promise<void> {
  expect(textOf(await call(session, 'mcp__good__echo', { text: 'still here' }))).toBe('still here')
}

/** A process that has ended and was not collected yet is gone. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

describe('a server that does not start', () => {
  test('G13: a missing program is named, and the other server is there', async () => {
    const { gate, session } = await openGate({
      sources: [mcpSource('missing', { command: 'no-such-mcp-server' }), mcpSource('good', misbehavingServer())],
    })
    expect(reasonOf(gate, 'missing')).toContain('`no-such-mcp-server` is not on this machine')
    await expectHealthy(session)
  })

  test('one that never answers the handshake is named when its time is over, and holds nobody up', async () => {
    const { gate, session } = await beside({ muteInitialize: true }, {}, { sourceStartMs: 2_000 })
    expect(reasonOf(gate, 'bad')).toBe('it did not start within 2000 ms')
    await expectHealthy(session)
  })

  test('one that ends at once is named with what it said', async () => {
    const failing = { command: process.execPath, args: ['-e', "console.error('the key is missing'); process.exit(4)"] }
    const { gate } = await openGate({ sources: [mcpSource('bad', failing)] })
    expect(reasonOf(gate, 'bad')).toContain('it ended with status 4')
    expect(reasonOf(gate, 'bad')).toContain('the key is missing')
  })

  test('a slow one is there later, and until then its tools are unavailable and not unknown', async () => {
    const gate = await createGate({
      policy: ALLOW,
      sources: [mcpSource('bad', misbehavingServer({ startAfterMs: 400 }))],
    })
    closing.push(() => gate.close())
    expect(errorOf(await call(gate.session(), 'mcp__bad__echo'))?.type).toBe('unavailable')
    await gate.settled()
    expect(textOf(await call(gate.session(), 'mcp__bad__echo', { text: 'late' }))).toBe('late')
  })

  test('one that is closed while it starts leaves no process behind', async () => {
    const gate = await createGate({
      sources: [mcpSource('bad', misbehavingServer({ muteInitialize: true, stubborn: true }))],
    })
    await gate.close()
    expect(stateOf(gate, 'bad')).toEqual({ kind: 'closed' })
  })

  test.each([{ exitOnProbe: true }, { muteProbe: true }])(
    'an old server that cannot take the question of 2026-07-28 is spoken to in the old way: %j',
    async (switches) => {
      const { session } = await beside(switches)
      expect(textOf(await call(session, 'mcp__bad__echo', { text: 'old' }))).toBe('old')
    },
  )

  test.each([{ endlessCursor: true }, { repeatCursor: true }])(
    'a list without an end fails its source alone: %j',
    async (switches) => {
      const { gate, session } = await beside(switches)
      expect(reasonOf(gate, 'bad')).toContain('its list of tools')
      await expectHealthy(session)
    },
  )
})

describe('definitions that do not hold', () => {
  test('G37: a bad tool is quarantined and named, its siblings stay', async () => {
    const bad = {
      name: 'broken',
      description: 'd',
      inputSchema: { type: 'object', properties: { a: { type: 'strng' } } },
    }
    const { gate, session } = await beside({ tools: [bad, { name: 'no_schema' }, 'no object'] })
    expect(rowOf(gate, 'mcp__bad__broken')).toMatchObject({ state: { kind: 'held' } })
    expect(rowOf(gate, 'mcp__bad__no_schema')).toMatchObject({
      state: { kind: 'held', reason: expect.stringContaining('no input schema') },
    })
    expect(session.tools().map(({ name }) => name)).not.toContain('mcp__bad__broken')
    expect(gate.warnings().join('\n')).toContain('mcp__bad__broken')
    expect((await call(session, 'mcp__bad__echo', { text: 'x' })).ok).toBe(true)
  })

  test.each([
    ['an unknown type', { type: 'object', properties: { a: { type: 'strng' } } }],
    ['a reference to nowhere', { type: 'object', $ref: '#/$defs/none' }],
    ['a reference to the net', { type: 'object', properties: { a: { $ref: 'https://example.test/s.json' } } }],
    ['a reference to itself', { type: 'object', allOf: [{ $ref: '#' }] }],
    [
      'a pattern that no linear engine takes',
      { type: 'object', properties: { a: { type: 'string', pattern: '(?=x)y' } } },
    ],
  ])('L65: %s: the tool cannot be called and the server is not asked', async (_what, inputSchema) => {
    const { session } = await beside({ tools: [{ name: 'odd', description: 'd', inputSchema }] })
    expect(errorOf(await call(session, 'mcp__bad__odd', { a: 'x' }))).toMatchObject({
      type: 'unavailable',
      effect: 'none',
    })
    expect(textOf(await call(session, 'mcp__bad__count'))).toBe('1')
  })

  test('L63, G31: names that fall together are held back and named, within a server and across two, and the rest works', async () => {
    const twins = ['a.b', 'a_b', 'a-b'].map((name) => ({ name, description: 'd', inputSchema: { type: 'object' } }))
    const long = { name: 'l'.repeat(120), description: 'd', inputSchema: { type: 'object' } }
    const { gate, session } = await beside({ tools: [...twins, long] })
    expect(rowOf(gate, 'mcp__bad__a_b')).toMatchObject({
      state: { kind: 'held', reason: expect.stringContaining('"a.b" and "a_b"') },
    })
    expect(textOf(await call(session, 'mcp__bad__a-b'))).toBe('a-b was called')
    const shortened = session.tools().find(({ name }) => name.startsWith('mcp__bad__lll'))?.name ?? ''
    expect(shortened).toHaveLength(64)
    expect(textOf(await call(session, shortened))).toBe(`${'l'.repeat(120)} was called`)
    await expectHealthy(session)
  })

  test('L04: tools named like parts of every object are held back, and calling them by any name reaches nobody', async () => {
    const hazards = ['constructor', '__proto__', 'toString'].map((name) => ({
      name,
      description: 'd',
      inputSchema: { type: 'object' },
    }))
    const { session } = await beside({ tools: hazards })
    for (const name of ['mcp__bad__constructor', 'mcp__bad____proto__', 'constructor', '__proto__', 'toString'])
      expect((await call(session, name)).ok).toBe(false)
    expect(textOf(await call(session, 'mcp__bad__count'))).toBe('1')
  })

  test('L67: a long description is cut at a sentence, which is said to the model and to the operator', async () => {
    const long = {
      name: 'wordy',
      description: 'One sentence of some length. '.repeat(200),
      inputSchema: { type: 'object' },
    }
    const { gate, session } = await beside({ tools: [long] })
    const shown = session.tools().find(({ name }) => name === 'mcp__bad__wordy')?.description ?? ''
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(4_096)
    expect(shown).toMatch(/length\.\n\[cut: /)
    expect(gate.warnings().join('\n')).toContain('the description of `mcp__bad__wordy` is cut')
  })
})

describe('answers that are not what they should be', () => {
  test('structure that does not fit, or is missing, is withheld', async () => {
    const { session } = await beside({})
    for (const name of ['mcp__bad__mismatch', 'mcp__bad__no_structure']) {
      const outcome = await call(session, name)
      expect(errorOf(outcome)).toMatchObject({ type: 'output_invalid', effect: 'done' })
      expect(JSON.stringify(outcome.content)).not.toContain('many')
      expect(errorOf(outcome)?.message).not.toContain('many')
    }
  })

  test("the upstream's own failure keeps its content; a fault of the protocol keeps its text from the model", async () => {
    const { session } = await beside({})
    const failed = await call(session, 'mcp__bad__fail')
    expect(errorOf(failed)).toMatchObject({
      type: 'tool_error',
      effect: 'unknown',
      details: { code: 'upstream_error' },
    })
    expect(textOf(failed)).toBe('the disk is full')
    const refused = await call(session, 'mcp__bad__protocol_error')
    expect(errorOf(refused)).toMatchObject({
      type: 'tool_error',
      effect: 'unknown',
      details: { code: 'upstream_refused' },
    })
    expect(textOf(refused)).not.toContain('/secret/path')
  })

  test.each(['bad_content', 'both_ends'])('`%s` is no answer', async (name) => {
    const { session } = await beside({})
    expect(errorOf(await call(session, `mcp__bad__${name}`))).toMatchObject({ type: 'tool_crashed', effect: 'unknown' })
  })

  test('a structure that is nested without end fails its call alone', async () => {
    const { session } = await beside({})
    expect(errorOf(await call(session, 'mcp__bad__deep', { depth: 3_000 }))?.type).toBe('tool_crashed')
    expect((await call(session, 'mcp__bad__echo')).ok).toBe(true)
  })

  test('L73: the limit counts over all parts, and the cut is said', async () => {
    const { session } = await beside({})
    const outcome = await call(session, 'mcp__bad__big', { bytes: 1_000_000, parts: 2 })
    expect(outcome.meta.truncated).toMatchObject({ originalBytes: expect.any(Number), keptBytes: expect.any(Number) })
    expect(Buffer.byteLength(textOf(outcome))).toBeLessThanOrEqual(48 * 1024)
  })

  test.each([
    ['stdio', 5_000_000],
    ['stdio', 24_000_000],
    ['http', 5_000_000],
  ])('L72: one line of %s with %d bytes is not taken, and only its call fails', async (wire, bytes) => {
    const { session } = wire === 'stdio' ? await beside({}) : await overHttp({})
    const prefix = wire === 'stdio' ? 'mcp__bad__' : 'mcp__web__'
    expect(errorOf(await call(session, `${prefix}big`, { bytes }))).toMatchObject({
      type: 'oversized',
      effect: 'unknown',
    })
    expect(textOf(await call(session, `${prefix}count`))).toBe('2')
  })

  test('an endless line costs its server its process and nobody else anything', async () => {
    const { gate, session } = await beside({})
    expect(errorOf(await call(session, 'mcp__bad__endless_line'))).toMatchObject({ type: 'outcome_unknown' })
    expect(reasonOf(gate, 'bad')).toContain('it sent a line of more than')
    await expectHealthy(session)
    expect((await call(session, 'mcp__bad__echo')).ok).toBe(true)
  })

  test('lines that are no messages, and answers that come twice or under foreign ids, change nothing', async () => {
    const { session } = await beside({ garbage: true, answerTwice: true })
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) => call(session, 'mcp__bad__echo', { text: `${index}` })),
    )
    expect(outcomes.map(textOf)).toEqual(Array.from({ length: 20 }, (_, index) => `${index}`))
  })

  test('a flood of progress reaches the caller as a trickle', async () => {
    const { session } = await beside({})
    const seen: unknown[] = []
    const outcome = await session.call({
      name: 'mcp__bad__flood',
      arguments: { times: 20_000 },
      onProgress: (progress) => void seen.push(progress),
    })
    expect(textOf(outcome)).toBe('flooded')
    expect(seen.length).toBeGreaterThan(0)
    expect(seen.length).toBeLessThan(1_000)
  })

  test('a server that asks for roots or for sampling gets neither', async () => {
    const { session } = await beside({})
    expect(JSON.parse(textOf(await call(session, 'mcp__bad__ask')))).toMatchObject([{ code: -32601 }, { code: -32601 }])
  })
})

describe('a server that goes away', () => {
  test('lost in the middle of a call: unknown for what acts, nothing for what reads, and the next call finds it again', async () => {
    const { gate, session } = await beside({}, { effects: { pid: 'read', crash: 'write' } })
    const before = textOf(await call(session, 'mcp__bad__pid'))
    expect(errorOf(await call(session, 'mcp__bad__crash'))).toMatchObject({
      type: 'outcome_unknown',
      effect: 'unknown',
      retry: { advice: 'never' },
    })
    expect(reasonOf(gate, 'bad')).toContain('it ended with status 3')
    const after = textOf(await call(session, 'mcp__bad__pid'))
    expect(after).not.toBe(before)
    expect(stateOf(gate, 'bad')).toEqual({ kind: 'ready' })
    expect(isAlive(Number(before))).toBe(false)
    await expectHealthy(session)
  })

  test('a reading call that is lost says that it can be made again', async () => {
    const { session } = await beside({ dieDuringCall: 1 }, { effects: { '*': 'read' } })
    expect(errorOf(await call(session, 'mcp__bad__echo'))).toMatchObject({
      type: 'tool_crashed',
      effect: 'none',
      retry: { advice: 'safe' },
    })
  })

  test('one that dies between calls is started again without one', async () => {
    const { gate } = await beside({ dieAfterCall: 1 })
    await call(gate.session(), 'mcp__bad__echo')
    await vi.waitFor(() => expect(stateOf(gate, 'bad')?.kind).toBe('failed'), { timeout: 5_000 })
    await vi.waitFor(() => expect(stateOf(gate, 'bad')?.kind).toBe('ready'), { timeout: 10_000 })
  })

  test('many calls to one that is down start it once', async () => {
    const { session } = await beside({}, { effects: { pid: 'read' } })
    await call(session, 'mcp__bad__crash')
    const pids = await Promise.all(Array.from({ length: 10 }, () => call(session, 'mcp__bad__pid')))
    expect(new Set(pids.map(textOf)).size).toBe(1)
  })

  test('L50: one that hangs and ignores that the call is over is not waited for, and serves the next call', async () => {
    const { session } = await beside({}, { deadlineMs: 300 })
    expect(errorOf(await call(session, 'mcp__bad__hang'))).toMatchObject({ type: 'timeout', effect: 'unknown' })
    expect((await call(session, 'mcp__bad__echo')).ok).toBe(true)
  })

  test('a server outlives its calls, and closing the gate ends it with everything it started', async () => {
    const gate = await createGate({ policy: ALLOW, sources: [mcpSource('bad', misbehavingServer({ stubborn: true }))] })
    await gate.settled()
    const session = gate.session()
    const pids = [
      await call(session, 'mcp__bad__pid'),
      await call(session, 'mcp__bad__spawn_child'),
      await call(session, 'mcp__bad__pid'),
    ].map((outcome) => Number(textOf(outcome)))
    expect(pids[2]).toBe(pids[0])
    expect(pids.every(isAlive)).toBe(true)
    await gate.close()
    await vi.waitFor(() => expect(pids.some(isAlive)).toBe(false))
  })
})

describe('a server that changes its tools', () => {
  test('a changed definition is offered in one step, however often it is announced', async () => {
    const { gate, session } = await beside({ changeAtCall: 1, announce: 1_000 })
    const before = rowOf(gate, 'mcp__bad__echo')?.fingerprint
    await call(session, 'mcp__bad__count')
    await vi.waitFor(
      () =>
        expect(session.tools().find(({ name }) => name === 'mcp__bad__echo')?.description).toBe(
          'Says it again, and more.',
        ),
      { timeout: 5_000 },
    )
    expect(rowOf(gate, 'mcp__bad__echo')?.fingerprint).not.toBe(before)
    expect((await call(session, 'mcp__bad__echo', { text: 'x' })).ok).toBe(true)
  })

  test('a tool that is gone is not found any more, and its siblings stay', async () => {
    const { session } = await beside({ removeAtCall: 1, announce: 1 })
    await call(session, 'mcp__bad__count')
    await vi.waitFor(async () => expect(errorOf(await call(session, 'mcp__bad__echo'))?.type).toBe('not_found'), {
      timeout: 5_000,
    })
    expect((await call(session, 'mcp__bad__count')).ok).toBe(true)
  })

  test('a call that finds its server restarted with another definition is not sent to it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lockgate-restart-'))
    closing.push(() => rm(folder, { recursive: true }))
    const { session } = await beside({ changeAtRestart: join(folder, 'started') })
    await call(session, 'mcp__bad__crash')
    expect(errorOf(await call(session, 'mcp__bad__echo', { text: 'x' }))).toMatchObject({
      type: 'unavailable',
      effect: 'none',
      details: { code: 'definition_changed' },
    })
    expect(textOf(await call(session, 'mcp__bad__count'))).toBe('1')
    expect((await call(session, 'mcp__bad__echo', { text: 'y' })).ok).toBe(true)
  })
})

describe('upstreams over HTTP', () => {
  test.each([
    [{}],
    [{ answerOnStream: true }],
    [{ mediaType: 'Application/JSON' }],
    [{ mediaType: 'application/json ; charset=utf-8', status: 201 }],
  ])('an answer counts by its meaning and not by its label (G02, G03): %j', async (switches) => {
    const { session } = await overHttp(switches)
    expect(textOf(await call(session, 'mcp__web__echo', { text: 'over http' }))).toBe('over http')
  })

  test('an answer that is labelled as something else is none', async () => {
    const { gate } = await overHttp({ mediaType: 'text/plain' })
    expect(stateOf(gate, 'web')?.kind).toBe('failed')
  })

  test('a stream that ends without an answer is a lost call', async () => {
    const { session } = await overHttp({ answerOnStream: true }, { effects: { cut: 'write' } })
    expect(errorOf(await call(session, 'mcp__web__cut'))).toMatchObject({ type: 'outcome_unknown', effect: 'unknown' })
    expect((await call(session, 'mcp__web__echo')).ok).toBe(true)
  })

  test('a server that has forgotten the session is shaken hands with again by the next call, and nothing was done', async () => {
    const { session } = await overHttp({ forgetSessionAtCall: 2 })
    expect((await call(session, 'mcp__web__echo')).ok).toBe(true)
    expect(errorOf(await call(session, 'mcp__web__echo'))).toMatchObject({ type: 'unavailable', effect: 'none' })
    expect(textOf(await call(session, 'mcp__web__count'))).toBe('2')
  })

  test('a server that nobody reaches any more is unavailable, and nothing was done', async () => {
    const { server, session, gate } = await overHttp({})
    await server.close()
    expect(errorOf(await call(session, 'mcp__web__echo'))).toMatchObject({
      type: 'unavailable',
      effect: 'none',
      retry: { advice: 'later' },
    })
    expect(stateOf(gate, 'web')?.kind).toBe('failed')
  })

  test('an address where nobody listens fails its source', async () => {
    const { gate } = await openGate({ sources: [mcpSource('web', { url: 'http://127.0.0.1:9/mcp' })] })
    expect(stateOf(gate, 'web')?.kind).toBe('failed')
  })
})

describe('an upstream of 2026-07-28', () => {
  const modern = {
    command: process.execPath,
    args: [fileURLToPath(new URL('./fixtures/modern-upstream.mjs', import.meta.url))],
  }

  test('it lists, calls, and tells when its tools change', async () => {
    const { session } = await openGate({ sources: [mcpSource('new', modern)] })
    expect(textOf(await call(session, 'mcp__new__hello'))).toBe('hello in 2026')
    expect((await call(session, 'mcp__new__change')).ok).toBe(true)
    await vi.waitFor(
      () =>
        expect(session.tools().find(({ name }) => name === 'mcp__new__hello')?.description).toBe(
          'Says hello in another way.',
        ),
      { timeout: 5_000 },
    )
  })
})
