// Goal: whoever may listen hears what happens, in order and also after a break; nobody hears what their scopes do not cover,
// and nobody who does not read makes the gate remember for them. Method: raw streams against a serving gate.

import { request as httpRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { systemClock } from '../src/base/clock.ts'
import { Emitter } from '../src/base/emitter.ts'
import type { Gate, GateEvents } from '../src/gate-contract.ts'
import { createGate } from '../src/index.ts'
import { serveHttp } from '../src/server/http-server.ts'
import { openTokens } from '../src/server/tokens.ts'
import { AdminFixture, type Holder } from './admin-fixture.ts'

/** Looks often, and waits long where the machine is busy. */
const until = <Value>(check: () => Value, options: object = {}) =>
  vi.waitFor(check, { timeout: 10_000, interval: 10, ...options })

const admin = new AdminFixture()
beforeAll(() => admin.start())
afterAll(() => admin.remove())

const opened: IncomingMessage[] = []
afterEach(() => {
  for (const response of opened.splice(0)) response.destroy()
})

type Heard = { readonly id: string; readonly event: string; readonly data: Readonly<Record<string, unknown>> }

function connect(holder: Holder, headers: object = {}, url = admin.http.url): Promise<IncomingMessage> {
  const token = admin.tokens.get(holder) ?? ''
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${url}/api/events`,
      { headers: { authorization: `Bearer ${token}`, ...headers } },
      (response) => {
        response.on('error', () => {})
        opened.push(response)
        resolve(response)
      },
    )
    request.on('error', reject)
    request.end()
  })
}

async function listen(holder: Holder, headers: object = {}, url = admin.http.url) {
  const response = await connect(holder, headers, url)
  let text = ''
  let count = 0
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    count += chunk.match(/^id: /gm)?.length ?? 0
  })
  const heard = (kind?: string): readonly Heard[] =>
    text
      .split('\n\n')
      .filter((block) => block.startsWith('id: '))
      .map((block) => {
        const [id = '', event = '', data = ''] = block.split('\n').map((line) => line.replace(/^[a-z]+: /, ''))
        return { id, event, data: JSON.parse(data) as Heard['data'] }
      })
      .filter(({ event }) => kind === undefined || event === kind)
  await until(() => expect(text).toContain(': open'))
  return { response, heard, text: () => text, count: () => count }
}

test('it is a stream of events that no cache keeps, and that only its own scopes open', async () => {
  const { response } = await listen('approve')
  expect(response.headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  const refused = await connect('call')
  expect(refused.statusCode).toBe(403)
  const unknown = await connect('call', { authorization: 'Bearer lg_wrong' })
  expect(unknown.statusCode).toBe(401)
  const inAddress = await fetch(`${admin.http.url}/api/events?token=${admin.tokens.get('admin')}`)
  expect(inAddress.status).toBe(401)
})

test('an approval is heard of when it opens, is answered and is used, in this order, with nothing of its arguments', async () => {
  const listener = await listen('approve')
  const id = await admin.ask('private words')
  await admin.send('approve', 'POST', `/approvals/${id}`, { decision: 'approve', comment: 'private comment' })
  await admin.call('note', { text: 'private words' })
  await until(() =>
    expect(listener.heard().map(({ event, data }) => [event, data.id, data.state])).toEqual([
      ['approval', id, 'open'],
      ['approval', id, 'approved'],
      ['approval', id, 'redeemed'],
    ]),
  )
  expect(listener.text()).not.toContain('private')
})

test('`audit` and `admin` hear of calls, stops and the catalogue; `approve` does not', async () => {
  const [audit, all, approve] = [await listen('audit'), await listen('admin'), await listen('approve')]
  await admin.call('look', { text: 'private words' })
  await admin.call('note', { text: 'secret' })
  const stopped = await admin.send('admin', 'POST', '/stop', { tool: 'gone', reason: 'private reason' })
  await admin.send('admin', 'DELETE', `/stops/${(stopped.body as { id: string }).id}`)
  for (const listener of [audit, all]) {
    await until(() => expect(listener.heard('stop').map(({ data }) => data.count)).toEqual([1, 0]))
    expect(listener.heard('call').map(({ data }) => [data.tool, data.ok, data.error])).toEqual([
      ['look', true, undefined],
      ['note', false, 'permission_denied'],
    ])
    expect(listener.text()).not.toMatch(/private|secret/)
  }
  expect(audit.heard()).toEqual(all.heard())
  expect(approve.heard()).toEqual([])
})

test('what another process does with a question is heard of too', async () => {
  const listener = await listen('approve')
  const id = await admin.ask('elsewhere')
  const other = await createGate({ store: { sqlite: join(admin.folder, 'lockgate.db') } })
  await other.approvals.decide(id, { decision: 'decline', by: 'another process' })
  await other.close()
  await until(() =>
    expect(listener.heard().map(({ data }) => [data.id, data.state, data.answeredBy])).toEqual([
      [id, 'open', undefined],
      [id, 'declined', 'another process'],
    ]),
  )
})

test('a change of the policy is heard of', async () => {
  const listener = await listen('audit')
  const before = admin.gate.policy.version
  await admin.gate.policy.reload({
    rules: [{ ask: 'wipe' }, { deny: 'note', where: { text: 'secret*' } }, { deny: 'look', where: { text: 'never' } }],
  })
  await until(() => expect(listener.heard('policy')).toMatchObject([{ data: { version: admin.gate.policy.version } }]))
  expect(admin.gate.policy.version).not.toBe(before)
})

test('whoever comes back with the last id hears exactly what was missed, and with one of another life a reset', async () => {
  const first = await listen('admin')
  await admin.call('look', { text: '1' })
  await until(() => expect(first.heard('call')).toHaveLength(1))
  first.response.destroy()
  await admin.call('look', { text: '2' })
  await admin.call('look', { text: '3' })
  const last = first.heard().at(-1)?.id
  const again = await listen('admin', { 'last-event-id': last })
  await admin.call('look', { text: '4' })
  await until(() => expect(again.heard('call')).toHaveLength(3))
  const ids = again.heard().map(({ id }) => Number(id.split('.')[1]))
  expect(ids).toEqual([...ids].sort((one, other) => one - other))
  expect(ids[0]).toBe(Number(last?.split('.')[1]) + 1)
  const lost = await listen('admin', { 'last-event-id': '000000000000.3' })
  await until(() => expect(lost.heard()).toMatchObject([{ event: 'reset' }]))
})

test('events of a credential that comes back are those of its own scopes', async () => {
  const all = await listen('admin')
  await admin.call('look', { text: 'x' })
  await until(() => expect(all.heard('call')).toHaveLength(1))
  const id = all.heard()[0]?.id.replace(/\d+$/, (digits) => String(Number(digits) - 1))
  const approve = await listen('approve', { 'last-event-id': id })
  const question = await admin.ask('after')
  await until(() => expect(approve.heard()).toMatchObject([{ event: 'approval', data: { id: question } }]))
})

test('a reader that does not read is cut off, and the others hear everything', async () => {
  // Events of 64 KiB, so that few of them are more than the buffers of both ends of a connection take.
  const events = new Emitter<GateEvents>(() => {})
  const gate = {
    on: (name: never, listener: never) => events.on(name, listener),
    settled: async () => {},
    approvals: {},
  } as unknown as Gate
  const tokens = await openTokens({ folder: admin.folder, clock: systemClock, log: () => {} })
  const http = await serveHttp({ gate, listen: { host: '127.0.0.1', port: 0 }, tokens })
  const slow = await connect('audit', {}, http.url)
  slow.pause()
  const quick = await listen('admin', {}, http.url)
  const sent = 400
  for (let index = 1; index <= sent; index++) {
    events.emit('catalogue-changed', { digest: `${index} ${'x'.repeat(65_536)}` })
    if (index % 4 === 0) await until(() => expect(quick.count()).toBe(index), { interval: 1 })
  }
  let late = 0
  const over = new Promise((resolve) => slow.on('close', resolve))
  slow.setEncoding('utf8').on('data', (chunk: string) => {
    late += chunk.match(/^id: /gm)?.length ?? 0
  })
  slow.resume()
  await over
  expect(late).toBeLessThan(sent)
  expect(quick.response.closed).toBe(false)
  await http.close()
})

test('a client that leaves makes room for another', async () => {
  const own = await Promise.all(Array.from({ length: 8 }, () => listen('audit')))
  const refused = await connect('audit')
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '5'])
  own[0]?.response.destroy()
  await until(async () => expect((await connect('audit')).statusCode).toBe(200))
})

test('whoever only asks for the head of the stream does not listen, and takes nobody’s place', async () => {
  const own = new AdminFixture()
  await own.start()
  try {
    for (let times = 0; times < 9; times++) {
      const head = await fetch(`${own.http.url}/api/events`, { method: 'HEAD', headers: own.headers('audit') })
      expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    }
    expect((await fetch(`${own.http.url}/api/events`, { method: 'HEAD', headers: own.headers('call') })).status).toBe(
      403,
    )
    const open = await fetch(`${own.http.url}/api/events`, { headers: own.headers('audit') })
    expect(open.status).toBe(200)
    await open.body?.cancel()
  } finally {
    await own.remove()
  }
})

test('open streams do not hold up the end of the server', async () => {
  const second = new AdminFixture()
  await second.start()
  const tokens = await openTokens({ folder: second.folder, clock: systemClock, log: () => {} })
  const { token } = await tokens.create({ name: 'late', scopes: ['audit'] })
  const response = await fetch(`${second.http.url}/api/events`, { headers: { authorization: `Bearer ${token}` } })
  expect(response.status).toBe(401)
  const open = await fetch(`${second.http.url}/api/events`, { headers: second.headers('audit') })
  const ended = open.text()
  await second.remove()
  expect(await ended).toContain(': open')
})
