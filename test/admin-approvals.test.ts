// Goal: over the admin API only a credential that answers can answer, stop, explain and list, each with its own scope; an
// answer is good for exactly one call; and nothing that calls, or that a call says, is ever an answer. Method: a serving gate
// over a database, one credential for each scope, and every route asked with every credential.

import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../src/base/clock.ts'
import { NEEDS, NOT_FOR_CALLERS } from '../src/server/admin-needs.ts'
import { OPENAPI } from '../src/server/openapi.ts'
import { AdminFixture, type Holder } from './admin-fixture.ts'

// One gate serves as many tests as it can; a test that needs other options, or nothing left by others, starts its own.
let admin: AdminFixture
let isUsual = false
const start = async (options?: ConstructorParameters<typeof AdminFixture>[0]) => {
  await admin?.remove()
  admin = new AdminFixture(options)
  isUsual = options === undefined
  await admin.start()
}
beforeEach(async () => {
  if (!isUsual) await start()
  admin.runs.length = 0
})
afterAll(() => admin.remove())

const view = async (id: string) =>
  (await admin.send('approve', 'GET', `/approvals/${id}`)).body as Record<string, unknown>
const answer = (id: string, body: object, holder: Holder = 'approve') =>
  admin.send(holder, 'POST', `/approvals/${id}`, body)

describe('scopes', () => {
  const BODIES: Readonly<Record<string, object>> = {
    'POST /api/approvals/{id}': { decision: 'approve' },
    'POST /api/policy/explain': { name: 'note', arguments: { text: 'x' } },
    'POST /api/stop': { tool: 'nothing' },
    'POST /api/calls': { name: 'look', arguments: { text: 'x' } },
  }
  const SCOPES = {
    call: ['call'],
    approve: ['approve'],
    audit: ['audit'],
    admin: ['admin'],
    callAdmin: ['call', 'admin'],
  } as const
  const routes = Object.keys(NEEDS).filter(
    (route) => route.includes(' /api/') && !route.includes('?') && route !== 'GET /api/events',
  ) as (keyof typeof NEEDS)[]

  test.each(routes)('%s is open to the scopes that it names and to no other', async (route) => {
    for (const [holder, scopes] of Object.entries(SCOPES) as [keyof typeof SCOPES, readonly string[]][]) {
      const [method = '', path = ''] = route.split(' ')
      const id = path.includes('approvals') ? await admin.ask(`${route} ${holder}`) : 'x'
      const reply = await admin.send(holder, method, path.replace('/api', '').replace('{id}', id), BODIES[route])
      const isLacking = !NEEDS[route].some((scope) => scopes.includes(scope))
      const isCaller = NOT_FOR_CALLERS.has(route) && scopes.includes('call')
      const refusal = {
        errorType: 'permission_denied',
        ...(isLacking ? { missingScope: NEEDS[route][0] } : { conflictingScope: 'call' }),
      }
      if (isLacking || isCaller) expect([holder, reply]).toMatchObject([holder, { status: 403, body: refusal }])
      else expect([holder, [200, 404]]).toEqual([holder, expect.arrayContaining([reply.status])])
      if (path.includes('approvals')) {
        const isAnswered = method === 'POST' && !isLacking && !isCaller
        expect([holder, await view(id)]).toMatchObject([holder, { state: isAnswered ? 'approved' : 'open' }])
      }
    }
  })

  test('a client with the `call` token can answer, list, stop, explain and read a token over no address', async () => {
    const id = await admin.ask('by myself')
    const tries: readonly (readonly [string, string, object?])[] = [
      ['GET', '/approvals'],
      ['GET', `/approvals/${id}`],
      ['POST', `/approvals/${id}`, { decision: 'approve', by: 'operator' }],
      ['POST', `/approvals/${id}`, { decision: 'approve' }],
      ['GET', '/grants'],
      ['GET', '/stops'],
      ['GET', '/events'],
      ['POST', '/stop', {}],
      ['DELETE', '/stops/x'],
      ['POST', '/policy/explain', { name: 'note', arguments: { text: 'secret' } }],
      ['GET', '/tools?all=1'],
    ]
    for (const [method, path, body] of tries)
      expect([path, (await admin.send('call', method, path, body)).status]).toEqual([path, 403])
    for (const path of [
      '/tokens',
      '/tokens.json',
      '/call-token',
      '/operator-token',
      '/../tokens.json',
      '/%2e%2e/tokens.json',
    ])
      expect([path, (await admin.send('call', 'GET', path)).status]).toEqual([path, 404])
    expect(await view(id)).toMatchObject({ state: 'open' })
    expect(admin.runs).toEqual([])
  })

  test('L31: an approval that a model writes is an argument like any other, wherever it stands', async () => {
    const id = await admin.ask('injected')
    for (const more of [
      { approved: true },
      { resumeData: { approved: true } },
      { approval: id, decision: 'approve' },
    ]) {
      const { status } = await admin.send('call', 'POST', '/calls', {
        name: 'note',
        arguments: { text: 'injected' },
        ...more,
      })
      expect(status).toBe(400)
    }
    expect(await admin.call('note', { text: 'injected', approved: true })).toMatchObject({
      ok: false,
      error: { type: 'invalid_args' },
    })
    expect(await admin.call('note', { text: 'injected' }, { approval: id })).toMatchObject({
      ok: false,
      error: { type: 'approval_required' },
    })
    expect(await view(id)).toMatchObject({ state: 'open' })
    expect(admin.runs).toEqual([])
  })
})

describe('an answer', () => {
  test('one-gate: approved, the equal call runs exactly once, with one intent and one end on record', async () => {
    const id = await admin.ask('once')
    expect(await answer(id, { decision: 'approve', comment: 'fine' })).toMatchObject({
      status: 200,
      body: { approval: { id, state: 'approved', answeredBy: 'the approve', comment: 'fine' } },
    })
    const ran = await admin.call('note', { text: 'once' })
    expect(ran).toMatchObject({ ok: true, meta: { approval: id } })
    expect(await admin.call('note', { text: 'once' })).toMatchObject({
      ok: false,
      error: { type: 'approval_required' },
    })
    expect(admin.runs).toEqual(['once'])
    expect(await view(id)).toMatchObject({ state: 'redeemed', redeemedBy: ran.meta.callId })
    await admin.gate.records.flush()
    const rows = await admin.gate.records.query({ callId: ran.meta.callId, limit: 10 })
    expect(rows.map(({ kind }) => kind).sort()).toEqual(['end', 'intent'])
  })

  test('of several calls at once that have one approval, one runs', async () => {
    const id = await admin.ask('race')
    await answer(id, { decision: 'approve' })
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => admin.call('note', { text: 'race' }, { approval: id })),
    )
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1)
    expect(admin.runs).toEqual(['race'])
  })

  test('L32: an approval of one call runs no other', async () => {
    const [one, other] = [await admin.ask('A'), await admin.ask('B')]
    await answer(other, { decision: 'approve' })
    expect(await admin.call('note', { text: 'A' }, { approval: other })).toMatchObject({
      ok: false,
      error: { type: 'approval_required' },
    })
    expect(await admin.call('note', { text: 'A' }, { approval: one })).toMatchObject({ ok: false })
    expect(admin.runs).toEqual([])
    expect(await admin.call('note', { text: 'B' })).toMatchObject({ ok: true })
    expect(admin.runs).toEqual(['B'])
  })

  test('L33: a decline reaches no execution, by name or without, and also not after a restart', async () => {
    const id = await admin.ask('no')
    expect(await answer(id, { decision: 'decline' })).toMatchObject({
      status: 200,
      body: { approval: { state: 'declined' } },
    })
    for (const more of [{}, { approval: id }])
      expect(await admin.call('note', { text: 'no' }, more)).toMatchObject({
        ok: false,
        error: { type: 'approval_declined', details: { reason: 'person' } },
      })
    await admin.stop()
    await admin.start()
    expect(await admin.call('note', { text: 'no' })).toMatchObject({ ok: false, error: { type: 'approval_declined' } })
    expect(admin.runs).toEqual([])
  })

  test('an answer is single and final: every later one is refused and told how the question stands', async () => {
    const declined = await admin.ask('declined')
    await answer(declined, { decision: 'decline' })
    expect(await answer(declined, { decision: 'approve' })).toMatchObject({
      status: 409,
      body: { errorType: 'approval_declined', state: 'declined' },
    })
    const approved = await admin.ask('approved')
    await answer(approved, { decision: 'approve' })
    expect(await answer(approved, { decision: 'decline' })).toMatchObject({ status: 409, body: { state: 'approved' } })
    await admin.call('note', { text: 'approved' })
    expect(await answer(approved, { decision: 'approve' })).toMatchObject({ status: 409, body: { state: 'redeemed' } })
    expect(await answer('apr_nothing', { decision: 'approve' })).toMatchObject({
      status: 404,
      body: { errorType: 'not_found' },
    })
    expect(await answer('x'.repeat(500), { decision: 'approve' })).toMatchObject({ status: 404 })
    expect(admin.runs).toEqual(['approved'])
  })

  test('a question that ran out of time is expired, not declined, and takes no answer', async () => {
    let laterMs = 0
    await start({ clock: { ...systemClock, now: () => Date.now() + laterMs } })
    const id = await admin.ask('late')
    laterMs = 3_600_001
    expect(await view(id)).toMatchObject({ state: 'expired' })
    expect((await admin.send('approve', 'GET', '/approvals?state=open')).body).toEqual({ approvals: [] })
    expect(await answer(id, { decision: 'approve' })).toMatchObject({
      status: 409,
      body: { errorType: 'approval_expired', state: 'expired' },
    })
    expect(await admin.call('note', { text: 'late' }, { approval: id })).toMatchObject({
      ok: false,
      error: { type: 'approval_expired', details: { reason: 'expired' } },
    })
    expect(admin.runs).toEqual([])
  })

  test('an approval that was used says so', async () => {
    const id = await admin.ask('used')
    await answer(id, { decision: 'approve' })
    await admin.call('note', { text: 'used' }, { approval: id })
    expect(await admin.call('note', { text: 'used' }, { approval: id })).toMatchObject({
      ok: false,
      error: { type: 'approval_expired', details: { reason: 'used' } },
    })
    expect(admin.runs).toEqual(['used'])
  })

  test.each([
    ['{}'],
    ['[]'],
    ['7'],
    ['{"decision":"yes"}'],
    ['{"decision":true}'],
    ['{"decision":"approve","by":"the operator"}'],
    ['{"decision":"approve","clientAsserted":false}'],
    ['{"decision":"approve","scope":"forever"}'],
    ['{"decision":"approve","scope":null}'],
    ['{"decision":"approve","comment":7}'],
    ['{"decision":"approve","code":123456}'],
    ['{"decision":"decline","decision":"approve"}'],
    ['{"decision":"approve","__proto__":{"scope":"session"}}'],
    [JSON.stringify({ decision: 'approve', comment: 'x'.repeat(2_001) })],
  ])('%s is none', async (body) => {
    const id = await admin.ask('strict')
    const reply = await admin.send('approve', 'POST', `/approvals/${id}`, body)
    expect(reply).toMatchObject({ status: 400, body: { errorType: 'invalid_args' } })
    expect(await view(id)).toMatchObject({ state: 'open' })
  })

  test('that is sent as a form, as a page could, is refused', async () => {
    const id = await admin.ask('form')
    const response = await fetch(`${admin.http.url}/api/approvals/${id}`, {
      method: 'POST',
      headers: { ...admin.headers('approve'), 'content-type': 'text/plain' },
      body: '{"decision":"approve"}',
    })
    expect(response.status).toBe(415)
    const foreign = await fetch(`${admin.http.url}/api/approvals/${id}`, {
      method: 'POST',
      headers: { ...admin.headers('approve'), origin: 'http://evil.test' },
      body: '{"decision":"approve"}',
    })
    expect(foreign.status).toBe(403)
    expect(await view(id)).toMatchObject({ state: 'open' })
  })

  test('the cookie of the page answers nothing', async () => {
    const id = await admin.ask('cookie')
    const opened = await fetch(admin.http.openingLink())
    const cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    expect(cookie).not.toBe('')
    const response = await fetch(`${admin.http.url}/api/approvals/${id}`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json' },
      body: '{"decision":"approve"}',
    })
    expect(response.status).toBe(401)
    expect(await view(id)).toMatchObject({ state: 'open' })
  })
})

describe('reach', () => {
  test('an answer reaches as far as it says, and no further than the question offers', async () => {
    await start({})
    const id = await admin.ask('first')
    expect(await view(id)).toMatchObject({ offers: [{ reach: 'once' }, { reach: 'session' }] })
    expect(await answer(id, { decision: 'approve', scope: 'pattern' })).toMatchObject({
      status: 422,
      body: { errorType: 'invalid_args', reason: 'reach-not-offered', state: 'open' },
    })
    expect(await view(id)).toMatchObject({ state: 'open' })
    const answered = await answer(id, { decision: 'approve', scope: 'session' })
    expect(answered).toMatchObject({
      status: 200,
      body: { grant: { reach: 'session', grantedBy: 'the approve', tool: 'note' } },
    })
    expect(await admin.call('note', { text: 'first' })).toMatchObject({ ok: true })
    expect(await admin.call('note', { text: 'second' })).toMatchObject({ ok: true })
    expect(await admin.call('note', { text: 'secret' })).toMatchObject({
      ok: false,
      error: { type: 'permission_denied' },
    })
    expect(await admin.call('note', { text: 'other' }, { session: 'elsewhere' })).toMatchObject({
      ok: false,
      error: { type: 'approval_required' },
    })
    expect(admin.runs).toEqual(['first', 'second'])
  })

  test('a grant is listed, and revoked it covers nothing more', async () => {
    await start({})
    await answer(await admin.ask('first'), { decision: 'approve', scope: 'session' })
    const { body } = await admin.send('approve', 'GET', '/grants?live=1')
    const [grant] = (body as { grants: readonly { id: string }[] }).grants
    const id = grant?.id ?? ''
    expect(await admin.send('admin', 'DELETE', `/grants/${id}`)).toMatchObject({
      status: 200,
      body: { id, revoked: true },
    })
    expect(await admin.send('admin', 'DELETE', `/grants/${id}`)).toMatchObject({ status: 404 })
    expect(await admin.send('admin', 'DELETE', '/grants/grt_nothing')).toMatchObject({ status: 404 })
    expect((await admin.send('approve', 'GET', '/grants?live=1')).body).toEqual({ grants: [] })
    expect((await admin.send('approve', 'GET', '/grants')).body).toMatchObject({
      grants: [{ id, revokedBy: 'the admin' }],
    })
    expect(await admin.call('note', { text: 'second' })).toMatchObject({
      ok: false,
      error: { type: 'approval_required' },
    })
  })

  test('a destructive call is never granted further than once', async () => {
    const id = await admin.ask('all', 'wipe')
    expect(await view(id)).toMatchObject({ offers: [{ reach: 'once' }] })
    for (const scope of ['session', 'pattern'])
      expect(await answer(id, { decision: 'approve', scope })).toMatchObject({ status: 422 })
    expect(await view(id)).toMatchObject({ state: 'open' })
  })
})

describe('codes', () => {
  test('an answer needs the code that only the gate shows, and wrong ones close the question', async () => {
    const codes = new Map<string, string>()
    await start({ approvals: { proof: 'code', showCode: (code, { id }) => void codes.set(id, code) } })
    const id = await admin.ask('proven')
    const shown = await admin.send('approve', 'GET', `/approvals/${id}`)
    expect(shown.body).toMatchObject({ needsCode: true })
    expect(shown.text).not.toContain('proof')
    expect(shown.text).not.toContain(codes.get(id) ?? 'no code')
    expect(await answer(id, { decision: 'approve' })).toMatchObject({
      status: 422,
      body: { reason: 'code-missing', state: 'open' },
    })
    expect(await answer(id, { decision: 'approve', code: '0000' })).toMatchObject({
      status: 422,
      body: { reason: 'code-wrong' },
    })
    expect(await answer(id, { decision: 'approve', code: codes.get(id) })).toMatchObject({ status: 200 })
    expect(await admin.call('note', { text: 'proven' })).toMatchObject({ ok: true })

    const guessed = await admin.ask('guessed')
    let last = await answer(guessed, { decision: 'approve', code: '0000' })
    for (let time = 0; time < 20 && last.status === 422; time++)
      last = await answer(guessed, { decision: 'approve', code: '0000' })
    expect(last).toMatchObject({ status: 409, body: { state: 'declined' } })
    expect(await answer(guessed, { decision: 'approve', code: codes.get(guessed) })).toMatchObject({ status: 409 })
    expect(await admin.call('note', { text: 'guessed' })).toMatchObject({
      ok: false,
      error: { details: { reason: 'proof' } },
    })
    expect(admin.runs).toEqual(['proven'])
  })
})

describe('lists', () => {
  test('questions are listed by their state and within bounds', async () => {
    await start({})
    const [one, two] = [await admin.ask('one'), await admin.ask('two')]
    await answer(one, { decision: 'approve' })
    const ids = async (query: string) =>
      (
        (await admin.send('approve', 'GET', `/approvals${query}`)).body as { approvals: { id: string }[] }
      ).approvals.map(({ id }) => id)
    expect(await ids('')).toEqual([two, one])
    expect(await ids('?state=open')).toEqual([two])
    expect(await ids('?state=approved')).toEqual([one])
    expect(await ids('?limit=1')).toEqual([two])
    for (const query of [
      '?state=any',
      '?limit=0',
      '?limit=1001',
      '?limit=1e2',
      '?limit=',
      '?limit=-1',
      '?tenant=x',
      '?state=open&state=approved',
    ])
      expect([query, (await admin.send('approve', 'GET', `/approvals${query}`)).status]).toEqual([query, 400])
    for (const query of ['?live=0', '?live=true', '?limit=0', '?x=1'])
      expect([query, (await admin.send('approve', 'GET', `/grants${query}`)).status]).toEqual([query, 400])
  })

  test('a restart in the middle loses no question, no answer and no stop', async () => {
    await start({})
    const [open, approved] = [await admin.ask('open'), await admin.ask('approved')]
    await answer(approved, { decision: 'approve' })
    await admin.send('admin', 'POST', '/stop', { tool: 'look', reason: 'until monday' })
    await admin.stop()
    await admin.start()
    expect(await view(open)).toMatchObject({ state: 'open' })
    expect(await admin.call('note', { text: 'approved' })).toMatchObject({ ok: true, meta: { approval: approved } })
    expect(await answer(open, { decision: 'approve' })).toMatchObject({ status: 200 })
    expect(await admin.call('note', { text: 'open' })).toMatchObject({ ok: true })
    expect((await admin.send('admin', 'GET', '/stops')).body).toMatchObject({
      stops: [{ target: { tool: 'look' }, by: 'the admin', reason: 'until monday' }],
    })
    expect(await admin.call('look', { text: 'x' })).toMatchObject({ ok: false, error: { type: 'permission_denied' } })
    expect(admin.runs).toEqual(['approved', 'open'])
  })
})

describe('stopping', () => {
  test('what is stopped is refused at once, an approval given before notwithstanding, until it is lifted', async () => {
    await start({})
    const id = await admin.ask('x')
    await answer(id, { decision: 'approve' })
    const stopped = await admin.send('admin', 'POST', '/stop', { tool: 'note' })
    expect(stopped).toMatchObject({ status: 200, body: { target: { tool: 'note' }, by: 'the admin' } })
    expect(await admin.call('note', { text: 'x' })).toMatchObject({ ok: false, error: { type: 'permission_denied' } })
    expect(await admin.call('look', { text: 'free' })).toMatchObject({ ok: true })
    const stop = (stopped.body as { id: string }).id
    expect(await admin.send('callAdmin', 'DELETE', `/stops/${stop}`)).toMatchObject({ status: 403 })
    expect(await admin.call('note', { text: 'x' })).toMatchObject({ ok: false })
    expect(await admin.send('admin', 'DELETE', `/stops/${stop}`)).toMatchObject({
      status: 200,
      body: { id: stop, lifted: true },
    })
    expect(await admin.send('admin', 'DELETE', `/stops/${stop}`)).toMatchObject({ status: 404 })
    expect((await admin.send('admin', 'GET', '/stops')).body).toEqual({ stops: [] })
    expect(await admin.call('note', { text: 'x' })).toMatchObject({ ok: true })
    expect(admin.runs).toEqual(['free', 'x'])
  })

  test('an empty body stops everything', async () => {
    await start({})
    expect(await admin.send('admin', 'POST', '/stop', {})).toMatchObject({ status: 200, body: { target: {} } })
    expect(await admin.call('look', { text: 'x' })).toMatchObject({ ok: false, error: { type: 'permission_denied' } })
    expect(admin.runs).toEqual([])
  })

  test.each([
    [{ tools: 'look' }],
    [{ tool: '' }],
    [{ tool: ['look'] }],
    [{ tool: 'x'.repeat(257) }],
    [{ tool: 'look', by: 'me' }],
    [{ reason: 'x'.repeat(257) }],
    [[]],
  ])('%j stops nothing', async (body) => {
    expect(await admin.send('admin', 'POST', '/stop', body)).toMatchObject({ status: 400 })
    expect(await admin.call('look', { text: 'x' })).toMatchObject({ ok: true })
  })
})

describe('explaining', () => {
  const explain = (body: object) => admin.send('admin', 'POST', '/policy/explain', body)

  test('it tells the answer, the rule and what each rule found, and neither runs nor asks', async () => {
    await start({})
    expect(await explain({ name: 'note', arguments: { text: 'secret' } })).toMatchObject({
      status: 200,
      body: {
        kind: 'decided',
        decision: { kind: 'deny', by: 'rule' },
        findings: expect.arrayContaining([expect.objectContaining({ answer: 'deny', holds: true, decides: true })]),
        effect: 'write',
      },
    })
    expect(await explain({ name: 'note', arguments: { text: 'x' } })).toMatchObject({
      body: { decision: { kind: 'ask' } },
    })
    expect(admin.runs).toEqual([])
    expect((await admin.send('admin', 'GET', '/approvals')).body).toEqual({ approvals: [] })
  })

  test('G23: it is judged for the caller that is named, and what that one cannot see is not found', async () => {
    await start({ policy: { rules: [{ deny: 'note', for: { user: 'mallory' } }] } })
    expect(await explain({ caller: { user: 'ana' }, name: 'note', arguments: { text: 'x' } })).toMatchObject({
      body: { kind: 'decided', decision: { kind: 'ask' } },
    })
    expect(await explain({ caller: { user: 'mallory' }, name: 'note', arguments: { text: 'x' } })).not.toMatchObject({
      body: { decision: { kind: 'ask' } },
    })
    expect(await explain({ name: 'nothing', arguments: {} })).toMatchObject({
      body: { kind: 'refused', type: 'not_found' },
    })
    expect(await explain({ name: 'note', arguments: { text: 7 } })).toMatchObject({
      body: { kind: 'refused', type: 'invalid_args' },
    })
  })

  test.each([
    [{}],
    [{ name: '' }],
    [{ name: 'note', caller: 'ana' }],
    [{ name: 'note', caller: { user: '' } }],
    [{ name: 'note', caller: { parent: {} } }],
    [{ name: 'note', caller: { rules: [] } }],
    [{ name: 'note', rules: [] }],
    [{ name: 'x'.repeat(257) }],
  ])('%j is no question', async (body) => {
    expect(await explain(body)).toMatchObject({ status: 400, body: { errorType: 'invalid_args' } })
  })
})

test('what is answered has the shape that the OpenAPI document tells', async () => {
  await start({})
  const ajv = new Ajv2020({ strict: false })
  ajv.addSchema({ $id: 'urn:lockgate:api', components: OPENAPI.components })
  const fits = (name: string, value: unknown) => {
    const check = ajv.getSchema(`urn:lockgate:api#/components/schemas/${name}`)
    expect([name, check?.(value), check?.errors ?? null]).toEqual([name, true, null])
  }
  const explain = async (body: object) => (await admin.send('admin', 'POST', '/policy/explain', body)).body
  const asked = await admin.ask('shape')
  fits('Approval', await view(asked))
  fits('Outcome', await admin.call('note', { text: 'shape' }))
  const answered = (await answer(asked, { decision: 'approve', scope: 'session', comment: 'c' })).body as Record<
    string,
    unknown
  >
  fits('Approval', answered.approval)
  fits('Grant', answered.grant)
  fits('Problem', (await answer(asked, { decision: 'decline' })).body)
  fits('Problem', (await answer(asked, { decision: 'decline' }, 'call')).body)
  fits('Problem', (await answer(await admin.ask('x', 'wipe'), { decision: 'approve', scope: 'session' })).body)
  fits('Outcome', await admin.call('note', { text: 'shape' }))
  fits('Approval', await view(asked))
  fits('Explained', await explain({ name: 'note', arguments: { text: 'secret' } }))
  fits('Explained', await explain({ name: 'nothing' }))
  fits('Stop', (await admin.send('admin', 'POST', '/stop', { session: 's', reason: 'r' })).body)
  fits('Health', (await admin.send('admin', 'GET', '/health')).body)
  const schema = OPENAPI.components.schemas as Readonly<Record<string, { readonly properties?: object }>>
  const known = (name: string) => Object.keys(schema[name]?.properties ?? {})
  expect(known('Approval')).toEqual(expect.arrayContaining(Object.keys(await view(asked))))
  expect(known('Grant')).toEqual(expect.arrayContaining(Object.keys(answered.grant as object)))
})

test('G34: whoever lists tools, by whatever route, sees what the caller can call and no more', async () => {
  await start({ policy: { profile: 'platform', rules: [{ allow: 'look' }] } })
  const names = (body: unknown) => (body as { tools: { name: string }[] }).tools.map(({ name }) => name)
  expect(names((await admin.send('call', 'GET', '/tools')).body)).toEqual(['look'])
  expect(await admin.call('note', { text: 'x' })).toMatchObject({ ok: false, error: { type: 'not_found' } })
  expect(names((await admin.send('callAdmin', 'GET', '/tools')).body)).toEqual(['look'])
  expect(admin.runs).toEqual([])
})

test('where the configuration keeps answers to other channels, none is taken here, and everything else still is', async () => {
  await admin.remove()
  isUsual = false
  admin = new AdminFixture({}, { takesAnswers: false })
  await admin.start()
  const id = await admin.ask('elsewhere')
  expect(await answer(id, { decision: 'approve' })).toMatchObject({
    status: 403,
    body: { errorType: 'permission_denied' },
  })
  expect(await view(id)).toMatchObject({ state: 'open' })
  expect(await admin.gate.approvals.decide(id, { decision: 'approve', by: 'a person' })).toMatchObject({
    kind: 'answered',
  })
  expect(await admin.call('note', { text: 'elsewhere' })).toMatchObject({ ok: true })
})
