// Goal: what a client of 2026-07-28 brings back to answer a question is good for that question, call and caller, and for
// nothing else; a restart in the middle loses nothing. And no message of a client that calls answers anything otherwise.
// Method: raw requests, so that everything that a client could change is changed.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sealKey } from '../src/server/seal-key.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { closeAll, type House, KINDS, openHouse, says, textOf, until } from './asking-house.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lockgate-state-'))
})
afterEach(async () => {
  await closeAll()
  await rm(folder, { recursive: true })
})

type Reply = {
  readonly result?: {
    readonly resultType?: string
    readonly requestState?: string
    readonly inputRequests?: { readonly approval?: { readonly method: string; readonly params: object } }
    readonly content?: readonly { readonly text: string }[]
    readonly isError?: boolean
    readonly _meta?: Readonly<Record<string, unknown>>
  }
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}
type Params = {
  readonly name?: string
  readonly arguments?: object
  readonly inputResponses?: unknown
  readonly requestState?: unknown
  readonly session?: string
  readonly forms?: boolean
}

/** One `tools/call` of 2026-07-28, as bytes on the wire. */
async function call(house: House, token: string, params: Params = {}): Promise<Reply> {
  const { name = 'pay', arguments: given = { text: 'x' }, session, forms = true, ...rest } = params
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': forms ? { elicitation: { form: {} } } : {},
    ...(session === undefined ? {} : { 'dev.lockgate/session': session }),
  }
  const response = await fetch(`${house.http.url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: given, _meta, ...rest },
    }),
  })
  const text = await response.text()
  const line = text.startsWith('{')
    ? text
    : (text.split('\n').findLast((one) => one.startsWith('data: ')) ?? '').slice(6)
  return JSON.parse(line) as Reply
}

const approve = { approval: says({ decision: 'approve' }) }
const errorOf = ({ result }: Reply): unknown => result?._meta?.['dev.lockgate/error']
const saidBy = ({ result }: Reply): string => result?.content?.[0]?.text ?? ''

/** A house, a marked token, and the state of a question that is open. */
async function asked(options: Parameters<typeof openHouse>[0] = {}, params: Params = {}) {
  const house = await openHouse({ holdMs: 0, ...options })
  const { token, row } = await house.token({ name: 'marked', elicitation: true })
  const reply = await call(house, token, params)
  return { house, token, row, reply, state: reply.result?.requestState ?? '' }
}

async function refusedAs(reply: Promise<Reply>, why: string, house: House): Promise<void> {
  expect(await reply).toMatchObject({
    error: {
      code: -32602,
      message: expect.stringContaining('requestState'),
      data: { reason: 'invalid_request_state', why },
    },
  })
  expect(house.runs).toEqual([])
  expect(await house.gate.approvals.list()).toMatchObject([{ state: 'open' }])
}

describe('an input-required result', () => {
  test('has one form and a state, and nothing that the form could be answered with', async () => {
    const { house, token, reply, state } = await asked()
    expect(reply.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { approval: { method: 'elicitation/create', params: { mode: 'form' } } },
    })
    const [row] = await house.gate.approvals.list()
    expect(Buffer.from(state, 'base64url').toString('latin1')).not.toContain(row?.id)
    const answer = await call(house, token, { inputResponses: approve, requestState: state })
    expect(saidBy(answer)).toContain('ran x')
    expect(house.runs).toEqual(['pay x'])
  })

  test('goes to a client that can show forms and is marked, and to no other', async () => {
    const house = await openHouse({ holdMs: 0 })
    const marked = await house.token({ elicitation: true })
    const plain = await house.token()
    expect(errorOf(await call(house, marked.token, { forms: false }))).toMatchObject({ type: 'approval_required' })
    expect(errorOf(await call(house, plain.token))).toMatchObject({ type: 'approval_required' })
    expect((await call(house, marked.token)).result?.resultType).toBe('input_required')
  })

  test('is given again where the answer is missing, and the question stays the same', async () => {
    const { house, token, state } = await asked()
    for (const inputResponses of [undefined, {}, { other: approve.approval }, [], 'approve']) {
      const again = await call(house, token, { inputResponses, requestState: state })
      expect(again.result?.resultType).toBe('input_required')
    }
    expect(await house.gate.approvals.list()).toHaveLength(1)
    expect(house.runs).toEqual([])
  })

  test.each([
    [
      'wrapped as if it were a message',
      { approval: { method: 'elicitation/create', result: says({ decision: 'approve' }) } },
    ],
    ['under another name', { decision: says({ decision: 'approve' }) }],
    ['in a list', { approval: [says({ decision: 'approve' })] }],
    ['without a form', { approval: { action: 'accept', decision: 'approve' } }],
    ['as text', { approval: 'approve' }],
  ])('L09: an answer %s is none', async (_name, inputResponses) => {
    const { house, token, state } = await asked()
    await call(house, token, { inputResponses, requestState: state })
    expect(house.runs).toEqual([])
    expect(await house.gate.approvals.list()).toMatchObject([{ state: 'open' }])
  })

  test('L31: an answer without the state of a question is nothing at all', async () => {
    const { house, token } = await asked()
    expect((await call(house, token, { inputResponses: approve })).result?.resultType).toBe('input_required')
    expect(house.runs).toEqual([])
    expect(await house.gate.approvals.list()).toMatchObject([{ state: 'open' }])
  })
})

describe('a state that is refused, and nothing runs', () => {
  test('one that was changed, made elsewhere or is none', async () => {
    const { house, token, state } = await asked()
    const other = await asked()
    const flipped = `${state.slice(0, 20)}${state[20] === 'A' ? 'B' : 'A'}${state.slice(21)}`
    for (const requestState of [flipped, state.slice(0, -4), '', 'v1.', other.state, { approvalId: 'x' }, 7, null])
      await refusedAs(call(house, token, { inputResponses: approve, requestState }), 'foreign', house)
  })

  test('L32: one of another call: other arguments, another tool', async () => {
    const { house, token, state } = await asked()
    const other = { inputResponses: approve, requestState: state }
    await refusedAs(call(house, token, { ...other, arguments: { text: 'y' } }), 'other', house)
    await refusedAs(call(house, token, { ...other, arguments: {} }), 'other', house)
    await refusedAs(call(house, token, { ...other, name: 'wipe' }), 'other', house)
  })

  test('one of another caller: another token, another conversation', async () => {
    const { house, token, state } = await asked()
    const answer = { inputResponses: approve, requestState: state }
    const other = await house.token({ elicitation: true })
    await refusedAs(call(house, other.token, answer), 'other', house)
    await refusedAs(call(house, token, { ...answer, session: 'elsewhere' }), 'other', house)
    // The same call, answered by whoever it was shown to.
    expect(saidBy(await call(house, token, answer))).toContain('ran x')
  })

  test('one whose question has expired', async () => {
    const clock = new FakeClock()
    const { house, token, state } = await asked({ clock, approvals: { expiresMs: 60_000 } })
    await clock.advance(60_000)
    await refusedAs(call(house, token, { inputResponses: approve, requestState: state }), 'expired', house)
  })

  test('one that comes a second time lets nothing run again, together with the first or after it', async () => {
    const { house, token, state } = await asked()
    const answer = { inputResponses: approve, requestState: state }
    const replies = [
      ...(await Promise.all([1, 2, 3].map(() => call(house, token, answer)))),
      await call(house, token, answer),
    ]
    expect(house.runs).toEqual(['pay x'])
    expect(replies.filter(({ result }) => result?.isError !== true)).toHaveLength(1)
    expect(errorOf(replies[3] ?? {})).toMatchObject({ type: 'approval_expired', details: { reason: 'used' } })
  })

  test('the state of a question that a person elsewhere declined', async () => {
    const { house, token, state } = await asked()
    const [row] = await house.opened()
    await house.gate.approvals.decide(row?.id ?? '', { decision: 'decline', by: 'operator' })
    const reply = await call(house, token, { inputResponses: approve, requestState: state })
    expect(errorOf(reply)).toMatchObject({ type: 'approval_declined', details: { reason: 'person' } })
    expect(house.runs).toEqual([])
  })

  test('L43: a person at the client who says no is heard, also after somebody else has said yes', async () => {
    const { house, token, state } = await asked()
    const [row] = await house.opened()
    await house.gate.approvals.decide(row?.id ?? '', { decision: 'approve', by: 'operator' })
    const decline = { approval: says({ decision: 'decline' }) }
    const reply = await call(house, token, { inputResponses: decline, requestState: state })
    expect(errorOf(reply)).toMatchObject({ type: 'approval_declined', effect: 'none', details: { reason: 'person' } })
    expect(house.runs).toEqual([])
  })

  test('one that comes after the operator has taken the mark away answers nothing', async () => {
    const { house, token, state } = await asked({ folder })
    const file = join(folder, 'tokens.json')
    await writeFile(file, (await readFile(file, 'utf8')).replace(/,\s*"elicitation": true/, ''))
    await until(async () => {
      const [row] = (await house.tokens.verify(token)).kind === 'ok' ? house.tokens.list() : []
      return row?.elicitation === undefined ? true : undefined
    })
    const reply = await call(house, token, { inputResponses: approve, requestState: state })
    expect(errorOf(reply)).toMatchObject({ type: 'approval_required' })
    expect(house.runs).toEqual([])
    expect(await house.gate.approvals.list()).toMatchObject([{ state: 'open' }])
  })
})

describe('a restart between the question and its answer', () => {
  const start = async (key: Uint8Array | undefined) =>
    openHouse({
      holdMs: 0,
      folder,
      store: { sqlite: join(folder, 'lockgate.db') },
      ...(key === undefined ? {} : { sealKey: key }),
    })

  test('loses nothing: the same database, the same key, and the client goes on', async () => {
    const before = await start(await sealKey(folder))
    const { token } = await before.token({ elicitation: true })
    const { result } = await call(before, token)
    const requestState = result?.requestState ?? ''
    await before.close()
    const after = await start(await sealKey(folder))
    expect(saidBy(await call(after, token, { inputResponses: approve, requestState }))).toContain('ran x')
    expect([before.runs, after.runs]).toEqual([[], ['pay x']])
    expect(await after.gate.approvals.list()).toMatchObject([{ state: 'redeemed', clientAsserted: true }])
  })

  test('with another key the state is foreign, and the question stands: the client is asked again', async () => {
    const before = await start(undefined)
    const { token } = await before.token({ elicitation: true })
    const { result } = await call(before, token)
    await before.close()
    const after = await start(undefined)
    const old = { inputResponses: approve, requestState: result?.requestState }
    expect(await call(after, token, old)).toMatchObject({ error: { code: -32602, data: { why: 'foreign' } } })
    const again = await call(after, token)
    const now = { inputResponses: approve, requestState: again.result?.requestState }
    expect(saidBy(await call(after, token, now))).toContain('ran x')
    expect(await after.gate.approvals.list()).toHaveLength(1)
  })

  test('of a client with a handshake: its call is over, its question is not; the equal call uses the answer', async () => {
    const before = await openHouse({ folder, store: { sqlite: join(folder, 'lockgate.db') } })
    const { token } = await before.token()
    const first = await KINDS.v1({ house: before, token })
    const held = first.call('pay', { text: 'x' })
    const [row] = await before.opened()
    await before.close()
    expect(await held).toMatchObject({ isError: true })
    const after = await openHouse({ folder, store: { sqlite: join(folder, 'lockgate.db') } })
    await after.gate.approvals.decide(row?.id ?? '', { decision: 'approve', by: 'operator' })
    const second = await KINDS.v1({ house: after, token })
    expect(textOf(await second.call('pay', { text: 'x' }))).toContain('ran x')
    expect([before.runs, after.runs]).toEqual([[], ['pay x']])
  })
})

describe('a client with the `call` token cannot approve', () => {
  const methods = [
    'approvals/list',
    'approvals/decide',
    'approvals/approve',
    'elicitation/create',
    'dev.lockgate/approve',
    'notifications/approved',
    'sampling/createMessage',
    'tasks/result',
  ]

  test('no method of MCP answers a question', async () => {
    const house = await openHouse({ holdMs: 0 })
    const { token } = await house.token()
    await call(house, token)
    const [row] = await house.opened()
    for (const method of methods) {
      const response = await fetch(`${house.http.url}/mcp`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${token}`,
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method,
          params: {
            id: row?.id,
            approvalId: row?.id,
            decision: 'approve',
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
            },
          },
        }),
      })
      expect(await response.text()).toContain('"error"')
    }
    for (const name of ['approve', 'approvals', 'lockgate_approve', 'approvals_approve'])
      expect(await call(house, token, { name, arguments: { id: row?.id } })).toMatchObject({ error: { code: -32602 } })
    expect(await house.gate.approvals.show(row?.id ?? '')).toMatchObject({ state: 'open' })
    expect(house.runs).toEqual([])
  })

  test('L31: the answer to a form that was never sent reaches nothing', async () => {
    const house = await openHouse()
    const { token } = await house.token()
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
    }
    const post = (body: object, session?: string) =>
      fetch(`${house.http.url}/mcp`, {
        method: 'POST',
        headers: { ...headers, ...(session === undefined ? {} : { 'mcp-session-id': session }) },
        body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      })
    const opened = await post({
      id: 0,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: { elicitation: { form: {} } },
        clientInfo: { name: 'x', version: '1' },
      },
    })
    await opened.text()
    const session = opened.headers.get('mcp-session-id') ?? ''
    await (await post({ method: 'notifications/initialized' }, session)).text()
    const held = post({ id: 1, method: 'tools/call', params: { name: 'pay', arguments: { text: 'x' } } }, session)
    const [row] = await house.opened()
    for (let id = 0; id < 8; id++) await (await post({ id, result: approve.approval }, session)).text()
    expect(await house.gate.approvals.show(row?.id ?? '')).toMatchObject({ state: 'open' })
    await house.gate.approvals.decide(row?.id ?? '', { decision: 'decline', by: 'operator' })
    expect(await (await held).text()).toContain('approval_declined')
    expect(house.runs).toEqual([])
  })

  test('a token that can answer cannot call', async () => {
    const house = await openHouse({ holdMs: 0 })
    const { token } = await house.token({ scopes: ['approve'] })
    const response = await fetch(`${house.http.url}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(response.status).toBe(403)
    await expect(house.token({ scopes: ['call', 'approve'] })).rejects.toThrow('cannot answer')
  })
})

test('a credential that is given another step sees another list with its next request', async () => {
  const house = await openHouse({ policy: { steps: { analyse: { effects: ['read'] } } }, folder })
  const { token } = await house.token({ caller: { step: 'analyse' } })
  const client = await KINDS.v1({ house, token })
  expect(await client.list()).toContain('look')
  const file = join(folder, 'tokens.json')
  await writeFile(file, (await readFile(file, 'utf8')).replace('"analyse"', '"nowhere"'))
  await until(async () => ((await client.list()).length === 0 ? true : undefined))
})
