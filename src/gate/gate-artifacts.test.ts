// Goal: what was kept of a call is read by its own caller, under the decision of now, and by nobody else. Method: a real gate
// over a memory store into which the test puts what shaping would keep; refusals first.

import { afterEach, describe, expect, test } from 'vitest'
import { sha256 } from '../base/digest.ts'
import { defineTool } from '../describe/define-tool.ts'
import type { Outcome } from '../describe/outcome.ts'
import { createGate } from '../gate.ts'
import type { Gate, GateOptions, SessionOptions } from '../gate-contract.ts'
import type { ArtifactRow, Store } from '../observe/store.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import { FakeClock } from '../testing/fake-clock.ts'

const ANA = { tenant: 'acme', user: 'ana', agent: 'helper' }
const ID = `art_${'a'.repeat(32)}`
const ROWS = Array.from({ length: 5_000 }, (_, id) => ({ id, name: `name ${id}` }))

let gate: Gate
let store: Store
let clock: FakeClock
afterEach(() => gate.close())

const seen: unknown[] = []
const tools = (path = { type: 'string' }, walks = false) => [
  defineTool({
    ...{ name: 'find_rows', version: '1.0.0', description: 'finds rows', effect: 'read', walks },
    input: { type: 'object', properties: { path }, additionalProperties: false },
    run: async () => ROWS,
  }),
  defineTool({
    ...{ name: 'take', version: '1.0.0', description: 'takes a value', effect: 'read' },
    input: {
      ...{ type: 'object', additionalProperties: false },
      properties: { rows: { type: 'array', maxItems: 5_000 }, text: { type: 'string' }, any: {} },
    },
    run: async (args) => {
      seen.push(args)
      return 'taken'
    },
  }),
]

async function open(options: GateOptions = {}): Promise<void> {
  clock = new FakeClock()
  store = createMemoryStore({ clock })
  gate = await createGate({ tools: tools(), store, clock, ...options })
}

type Kept = { id?: string; content?: string | Uint8Array; mediaType?: string; call?: Partial<ArtifactRow['call']> }

/** As shaping has it kept: the whole result of a call of Ana's to `find_rows`. */
async function keep({ id = ID, content = JSON.stringify(ROWS), mediaType, call }: Kept = {}): Promise<void> {
  const bytes = Buffer.from(content)
  const entry = gate.catalogue.rows().find(({ name }) => name === 'find_rows')
  const row: ArtifactRow = {
    ...{ id, digest: sha256(bytes), principal: ANA, mediaType: mediaType ?? 'application/json', bytes: bytes.length },
    call: {
      ...{ id: 'call_1', session: 's', tool: 'find_rows', fingerprint: entry?.fingerprint ?? '' },
      ...{ argumentsText: '{"path":"docs"}', policyVersion: gate.policy.version, approved: false, ...call },
    },
    ...{ at: clock.now(), expiresAt: clock.now() + 1_000 },
  }
  expect(await store.artifacts.keep({ row, content: bytes }, { bytesMax: 1e8, principalBytesMax: 1e8 })).toEqual({
    kind: 'kept',
  })
}

const read = (args: object = {}, caller: SessionOptions = ANA): Promise<Outcome> =>
  gate.session(caller).call({ name: 'read_artifact', arguments: { id: ID, ...args } })

function textOf({ content }: Outcome): string {
  return content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n')
}

const refusedWith = (outcome: Outcome, words: RegExp): void => {
  expect(outcome).toMatchObject({ ok: false, error: { type: 'tool_error', effect: 'none' } })
  expect(textOf(outcome)).toMatch(words)
}

describe('whoever may not read', () => {
  const NOTHING = /nothing is kept under this id for this caller/

  test('another principal hears the same as of what never was', async () => {
    await open()
    await keep()
    for (const other of [{ tenant: 'other' }, { user: 'bob' }, { agent: 'reviewer' }])
      refusedWith(await read({}, { ...ANA, ...other }), NOTHING)
    refusedWith(await read({ id: `art_${'b'.repeat(32)}` }), NOTHING)
    expect(await gate.artifacts.find(ID, { ...ANA, user: 'bob' })).toBeUndefined()
    expect(await read()).toMatchObject({ ok: true })
  })

  test('after its time nobody is given it', async () => {
    await open()
    await keep()
    await clock.advance(1_000)
    refusedWith(await read(), NOTHING)
    expect(await gate.artifacts.list()).toEqual([])
  })

  test.each<[string, GateOptions['policy']]>([
    ['denies the tool', { rules: [{ deny: 'find_rows' }] }],
    ['denies these arguments', { rules: [{ deny: 'find_rows', where: { path: 'docs' } }] }],
    ['asks about what nobody approved', { rules: [{ ask: 'find_rows' }] }],
  ])('a policy that now %s is what counts', async (_, policy) => {
    await open()
    await keep()
    expect(await read()).toMatchObject({ ok: true })
    await gate.policy.reload(policy ?? {})
    refusedWith(await read(), /would not be allowed now/)
    expect(textOf(await read())).not.toContain('find_rows')
    expect(await gate.artifacts.find(ID, ANA)).toBeUndefined()
    await gate.policy.reload({ rules: [{ deny: 'find_rows', where: { path: 'src' } }] })
    expect(await read()).toMatchObject({ ok: true })
  })

  test('what a person approved is read under an ask, and not under a deny', async () => {
    await open({ policy: { rules: [{ ask: 'find_rows' }] } })
    await keep({ call: { approved: true } })
    expect(await read()).toMatchObject({ ok: true })
    await gate.policy.reload({ rules: [{ deny: 'find_rows' }] })
    refusedWith(await read(), /would not be allowed now/)
  })

  test('a task or rules of the conversation that leave the tool out leave its results out', async () => {
    await open()
    await keep()
    const narrowed = { ...ANA, task: { name: 't', allow: ['read_artifact'] } }
    refusedWith(await read({}, narrowed), /would not be allowed now/)
    refusedWith(await read({}, { ...ANA, rules: [{ deny: 'find_rows' }] }), /would not be allowed now/)
  })

  test('what is stopped is not read either', async () => {
    await open()
    await keep()
    const stop = await gate.stop({ tool: 'find_rows' })
    refusedWith(await read(), /would not be allowed now/)
    await gate.lift(stop.id)
    expect(await read()).toMatchObject({ ok: true })
  })

  test('a tool that is gone, or another one by now, leaves nothing to judge by', async () => {
    await open()
    await keep()
    gate.catalogue.retire('find_rows')
    refusedWith(await read(), /make it again/)
    for (const tool of tools({ type: 'string', minLength: 0 } as never)) gate.catalogue.register(tool)
    refusedWith(await read(), /make it again/)
  })

  test('arguments that do not hold any more leave nothing to judge by', async () => {
    await open()
    await keep({ call: { argumentsText: '{"other":1}' } })
    refusedWith(await read(), /make it again/)
  })

  test('what a walking tool filtered by other rules is not shown under these', async () => {
    await open({ tools: tools(undefined, true) })
    await keep()
    expect(await read()).toMatchObject({ ok: true })
    await gate.policy.reload({ rules: [{ deny: { resource: 'read file:**/x' } }] })
    refusedWith(await read(), /make it again/)
  })
})

describe('a listing', () => {
  const names = (caller: SessionOptions = ANA) =>
    gate
      .session(caller)
      .tools()
      .map(({ name }) => name)

  test('never depends on what is kept', async () => {
    await open()
    const before = gate.session(ANA).tools()
    await keep()
    expect(gate.session(ANA).tools()).toEqual(before)
    expect(names()).toContain('read_artifact')
  })

  test('has no such tool where nothing is kept, and then `$artifact` is a key like any other', async () => {
    await open({ artifacts: false })
    expect(names()).not.toContain('read_artifact')
    expect(await read()).toMatchObject({ ok: false, error: { type: 'not_found' } })
    await gate.session(ANA).call({ name: 'take', arguments: { any: { $artifact: ID } } })
    expect(seen.at(-1)).toEqual({ any: { $artifact: ID } })
  })

  test('the name `lockgate` is taken: no source can pass for the gate', async () => {
    await open()
    const source = { name: 'lockgate', layer: 'user', identity: '', foreign: false } as const
    const made = createGate({ sources: [{ ...source, start: async () => {}, close: async () => {} }] })
    await expect(made).rejects.toThrow('lockgate')
  })
})

describe('a window', () => {
  test('of JSON with rows is rows, as many as fit into a result, and says where to go on', async () => {
    await open()
    await keep()
    const first = await read()
    if (!first.ok) throw new Error(first.error.message)
    const { rows, to, next, ...page } = first.value as { rows: object[]; to: number; next: number }
    expect(page).toEqual({
      ...{ id: ID, mediaType: 'application/json', bytes: JSON.stringify(ROWS).length },
      ...{ unit: 'rows', from: 0, total: 5_000 },
    })
    expect(rows).toEqual(ROWS.slice(0, to))
    expect(next).toBe(to)
    expect(first.meta.truncated).toBeUndefined()
    expect(Buffer.byteLength(textOf(first))).toBeGreaterThan(40_000)
    expect(textOf(first)).toContain(`[goes on with from ${next}]`)
    expect(await read({ from: 4_990, count: 3 })).toMatchObject({
      value: { rows: ROWS.slice(4_990, 4_993), next: 4_993 },
    })
    expect(await read({ from: 4_999 })).toMatchObject({ value: { rows: ROWS.slice(4_999) } })
  })

  test('by bytes and by lines is exactly what was kept', async () => {
    await open()
    await keep({ content: 'one\ntwo\nthree\n', mediaType: 'text/plain' })
    expect(await read()).toMatchObject({ value: { unit: 'lines', text: 'one\ntwo\nthree\n', total: 3 } })
    expect(await read({ from: 1, count: 1 })).toMatchObject({ value: { text: 'two\n', next: 2 } })
    expect(await read({ unit: 'bytes', from: 4, count: 3 })).toMatchObject({ value: { text: 'two', next: 7 } })
    refusedWith(await read({ unit: 'rows' }), /no rows/)
  })

  test('of JSON without rows is by bytes; a query answers rows or text', async () => {
    await open()
    await keep({ content: JSON.stringify({ items: ROWS }) })
    expect(await read({ count: 10 })).toMatchObject({ value: { unit: 'bytes', text: '{"items":[' } })
    refusedWith(await read({ unit: 'rows' }), /no list of rows/)
    expect(await read({ query: 'items[?id > `4997`].name' })).toMatchObject({
      value: { unit: 'rows', rows: ['name 4998', 'name 4999'], total: 2 },
    })
    expect(await read({ query: 'length(items)' })).toMatchObject({ value: { unit: 'bytes', text: '5000' } })
    refusedWith(await read({ query: 'items[' }), /the query does not hold/)
  })

  test('of text with a pattern shows the lines that match', async () => {
    await open()
    await keep({ content: 'ok\nerror one\nok\n', mediaType: 'text/plain' })
    expect(textOf(await read({ query: '^error' }))).toContain('1: error one')
    refusedWith(await read({ query: '(?=x)' }), /the pattern does not hold/)
  })

  test('a row that alone is too large says how to read it, and that way works', async () => {
    await open({ limits: { resultBytes: 2_048 } })
    await keep({ content: JSON.stringify([{ a: 1 }, { text: 'x'.repeat(5_000) }, { a: 3 }]) })
    expect(await read()).toMatchObject({ value: { rows: [{ a: 1 }], next: 1 } })
    refusedWith(await read({ from: 1 }), /row 1 alone has 5011 bytes.*go on with from 2/)
    const part = await read({ query: '[1]', unit: 'bytes', from: 1_000 })
    expect(part).toMatchObject({ ok: true, value: { unit: 'bytes', total: 5_011, from: 1_000 } })
    expect(part.meta.truncated).toBeUndefined()
    expect(await read({ from: 2 })).toMatchObject({ value: { rows: [{ a: 3 }] } })
  })
})

describe('an argument that names a result', () => {
  const take = (args: object, caller: SessionOptions = ANA) =>
    gate.session(caller).call({ name: 'take', arguments: args })

  test('of somebody else, or that never was, is refused with the place that names it', async () => {
    await open()
    await keep()
    const calls = seen.length
    const other = await take({ any: { list: [1, { $artifact: ID }] } }, { ...ANA, user: 'bob' })
    expect(other).toMatchObject({ ok: false, error: { type: 'invalid_args', effect: 'none' } })
    expect(textOf(other)).toContain(`\`any.list[1]\` names \`${ID}\``)
    await gate.policy.reload({ rules: [{ deny: 'find_rows' }] })
    expect(await take({ rows: { $artifact: ID } })).toMatchObject({ ok: false, error: { type: 'invalid_args' } })
    expect(seen.length).toBe(calls)
  })

  test('is the whole value for schema, rules and tool', async () => {
    await open({ policy: { rules: [{ deny: 'take', when: 'has(args.text) && args.rows.size() > 4999' }] } })
    await keep()
    expect(await take({ rows: { $artifact: ID } })).toMatchObject({ ok: true })
    expect(seen.at(-1)).toEqual({ rows: ROWS })
    expect(await take({ rows: { $artifact: ID }, text: 'no' })).toMatchObject({ error: { type: 'permission_denied' } })
    expect(await take({ text: { $artifact: ID } })).toMatchObject({ error: { type: 'invalid_args' } })
    const asText = await gate.session(ANA).call({ name: 'take', arguments: `{"rows":{"\\u0024artifact":"${ID}"}}` })
    expect(asText).toMatchObject({ ok: true })
    expect(
      await gate.session(ANA).decide({ name: 'take', arguments: { rows: { $artifact: ID }, text: 'no' } }),
    ).toMatchObject({ kind: 'decided', decision: { kind: 'deny' } })
  })

  test('is text where text was kept, and is not looked through for further names', async () => {
    await open()
    const text = JSON.stringify({ any: { $artifact: ID } })
    await keep({ content: text })
    expect(await take({ any: { $artifact: ID } })).toMatchObject({ ok: true })
    expect(seen.at(-1)).toEqual({ any: { any: { $artifact: ID } } })
    await keep({ content: 'plain', mediaType: 'text/plain' })
    expect(await take({ text: { $artifact: ID } })).toMatchObject({ ok: true })
    expect(seen.at(-1)).toEqual({ text: 'plain' })
    await keep({ content: Uint8Array.from([255, 216]), mediaType: 'image/png' })
    expect(await take({ any: { $artifact: ID } })).toMatchObject({ error: { type: 'invalid_args' } })
  })

  test('counts with all its bytes', async () => {
    await open({ limits: { argumentBytes: 1_000 } })
    await keep({ content: JSON.stringify('x'.repeat(900)) })
    expect(await take({ any: [{ $artifact: ID }] })).toMatchObject({ ok: true })
    const twice = await take({ any: [{ $artifact: ID }, { $artifact: ID }] })
    expect(twice).toMatchObject({ ok: false, error: { type: 'oversized' } })
    await keep()
    expect(await take({ any: { $artifact: ID } })).toMatchObject({ ok: false, error: { type: 'oversized' } })
  })

  test.each([[{ $artifact: 'art_x' }], [{ $artifact: ID, more: 1 }], [{ $artifact: 7 }]])(
    'has exactly one key and an id; %j stays what it is',
    async (any) => {
      await open()
      expect(await take({ any })).toMatchObject({ ok: true })
      expect(seen.at(-1)).toEqual({ any })
    },
  )
})
