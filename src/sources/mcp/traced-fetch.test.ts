import { expect, test } from 'vitest'
import { tracedFetch } from './traced-fetch.ts'

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

async function headersOf(params: object): Promise<Headers> {
  const seen: Headers[] = []
  const fetch = tracedFetch(async (_, init) => {
    seen.push(new Headers(init?.headers))
    return new Response()
  })
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  await fetch('http://127.0.0.1/', { method: 'POST', body, headers: { authorization: 'x' } })
  return seen[0] ?? new Headers()
}

test('the trace of a message stands in the headers of its request, beside those that were there', async () => {
  const headers = await headersOf({ _meta: { traceparent: TRACEPARENT, tracestate: 'a=b' } })
  expect(Object.fromEntries(headers)).toMatchObject({ traceparent: TRACEPARENT, tracestate: 'a=b', authorization: 'x' })
})

test.each([
  ['no trace', {}],
  ['an argument of that name', { arguments: { traceparent: TRACEPARENT, _meta: { traceparent: TRACEPARENT } } }],
  ['one that is no text', { _meta: { traceparent: 7 } }],
])('%s adds no header', async (_, params) => {
  expect((await headersOf(params)).has('traceparent')).toBe(false)
})
