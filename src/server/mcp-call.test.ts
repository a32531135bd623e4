import type { ServerContext } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { traceOf } from './mcp-call.ts'

const IN_META = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const IN_HEADER = '00-11111111111111111111111111111111-2222222222222222-00'

/** Of a request with these headers; without any, of a message over stdio. */
function over(headers?: Record<string, string>): ServerContext {
  const http: NonNullable<ServerContext['http']> = {}
  if (headers === undefined) return {} as ServerContext
  http.req = new Request('http://127.0.0.1/', { headers })
  return { http } as ServerContext
}

test.each([
  ['the message before the request', { traceparent: IN_META, tracestate: 'a=b' }, { traceparent: IN_HEADER }, IN_META],
  ['the request where the message says none', {}, { traceparent: IN_HEADER }, IN_HEADER],
  ['the request where the message says rubbish', { traceparent: 'x' }, { traceparent: IN_HEADER }, IN_HEADER],
  ['none over stdio without one', {}, undefined, undefined],
  ['none of rubbish', { traceparent: 7 }, { traceparent: '00-0-0-0' }, undefined],
])('a client names its trace: %s', (_, meta, headers, expected) => {
  expect(traceOf({ _meta: meta }, over(headers))?.traceparent).toBe(expected)
})
