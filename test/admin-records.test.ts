// Records and artifacts over the admin API: pages of what was asked for, whether all of it holds, and to each credential only what
// its caller may read.

import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineTool } from '../src/index.ts'
import { AdminFixture, type Holder } from './admin-fixture.ts'

let house: AdminFixture
beforeEach(() => {
  house = new AdminFixture()
  return house.start()
})
afterEach(() => house.remove())

type Page = {
  readonly records: readonly {
    readonly kind: string
    readonly position: number
    readonly body: Record<string, unknown>
  }[]
  readonly next?: string
}

async function records(query: string, holder: Holder = 'audit'): Promise<Page> {
  const reply = await house.send(holder, 'GET', `/records${query}`)
  expect(reply.status, reply.text).toBe(200)
  return reply.body as Page
}

describe('GET /api/records', () => {
  it('who can only call or answer reads none', async () => {
    for (const holder of ['call', 'approve'] as const)
      for (const path of ['/records', '/records/verify', '/artifacts'])
        expect((await house.send(holder, 'GET', path)).status, `${holder} ${path}`).toBe(403)
  })

  it.each([
    'kind=nothing',
    'tool=',
    'ok=yes',
    'errorType=broken',
    'decision=maybe',
    'order=random',
    'since=yesterday',
    'after=x',
    'after=-1',
    'limit=0',
    'limit=1001',
    'user=ana&user=bo',
    'unknown=1',
  ])('a filter that does not hold is refused and finds nothing: %s', async (query) => {
    expect((await house.send('audit', 'GET', `/records?${query}`)).status).toBe(400)
  })

  it('gives what fits all filters, with what was sealed opened', async () => {
    await house.call('look', { text: 'one' })
    await house.call('note', { text: 'secret thing' })
    const { records: ended } = await records('?kind=end&tool=look&ok=true&decision=allow')
    expect(ended).toHaveLength(1)
    expect(ended[0]?.body).toMatchObject({ tool: 'look', ok: true, user: 'local', args: { text: 'one' } })
    expect(ended[0]).not.toHaveProperty('personal')
    expect(ended[0]).not.toHaveProperty('shut')
    const { records: denied } = await records('?errorType=permission_denied&ok=false', 'admin')
    expect(denied.map(({ body }) => body.tool)).toEqual(['note'])
    expect((await records('?kind=end&user=nobody')).records).toEqual([])
    expect((await records('?kind=end&until=1h')).records).toEqual([])
    expect((await records('?kind=end&since=1h')).records).toHaveLength(2)
  })

  it('every record stands on exactly one page, in both orders, also while others are written', async () => {
    for (let index = 0; index < 7; index += 1) await house.call('look', { text: `${index}` })
    for (const order of ['oldest', 'newest']) {
      const told: string[] = []
      let after: string | undefined
      do {
        const page: Page = await records(
          `?kind=end&tool=look&limit=2&order=${order}${after === undefined ? '' : `&after=${after}`}`,
        )
        expect(page.records.length).toBeLessThanOrEqual(2)
        told.push(...page.records.map(({ body }) => String((body.args as { text: string }).text)))
        after = page.next
        if (order === 'newest') await house.call('look', { text: 'meanwhile' })
      } while (after !== undefined)
      const all = ['0', '1', '2', '3', '4', '5', '6']
      expect(told).toEqual(order === 'oldest' ? all : all.toReversed())
    }
  })

  it('a person who was erased is in no answer, and what is left says that it is shut', async () => {
    await house.call('look', { text: 'of the person' })
    await house.gate.records.erase({ tenant: 'local', user: 'local' }, 'the operator')
    expect((await records('?user=local&kind=end')).records).toEqual([])
    const { records: left } = await records('?kind=end&tool=look')
    expect(left).toMatchObject([{ shut: true, body: { tool: 'look', ok: true } }])
    expect(JSON.stringify(left)).not.toContain('of the person')
    expect((await house.send('audit', 'GET', '/records/verify')).body).toMatchObject({ kind: 'ok' })
  })
})

describe('GET /api/records/verify', () => {
  it('says that the records hold, to all who ask at the same time', async () => {
    await house.call('look', { text: 'one' })
    const replies = await Promise.all([1, 2, 3].map(() => house.send('audit', 'GET', '/records/verify')))
    for (const { status, body } of replies) {
      expect(status).toBe(200)
      expect(body).toMatchObject({ kind: 'ok', rows: expect.any(Number), chains: expect.any(Number) })
    }
    expect((await house.send('audit', 'GET', '/records/verify?x=1')).status).toBe(400)
  })
})

describe('GET /api/artifacts', () => {
  it('gives a content to the credential whose call it is of, and to no other; the list holds neither content nor arguments', async () => {
    const long = Array.from({ length: 20_000 }, () => randomBytes(8).toString('hex')).join('\n')
    house.gate.catalogue.register(
      defineTool({
        ...{ name: 'long', version: '1.0.0', description: 'A long text.', effect: 'read' },
        input: { type: 'object', properties: { mark: { type: 'string' } }, additionalProperties: false },
        run: async () => long,
      }),
    )
    const outcome = await house.call('long', { mark: 'only mine' })
    const { artifact } = outcome.meta as { readonly artifact?: string }
    expect(artifact).toMatch(/^art_[0-9a-f]{32}$/)
    const kept = await fetch(`${house.http.url}/api/artifacts/${artifact}`, { headers: house.headers('call') })
    expect(kept.status).toBe(200)
    expect(kept.headers.get('content-disposition')).toContain('attachment')
    expect(await kept.text()).toBe(long)
    for (const holder of ['audit', 'admin', 'operator'] as const)
      expect((await house.send(holder, 'GET', `/artifacts/${artifact}`)).status, holder).toBe(403)
    expect((await house.send('call', 'GET', `/artifacts/art_${'0'.repeat(32)}`)).status).toBe(404)
    const { body, text } = await house.send('audit', 'GET', '/artifacts')
    expect(body).toMatchObject({ artifacts: [{ id: artifact, call: { tool: 'long' }, bytes: long.length }] })
    expect(text).not.toContain('only mine')
    await house.gate.stop({ tool: 'long' })
    expect((await house.send('call', 'GET', `/artifacts/${artifact}`)).status).toBe(404)
  })
})
