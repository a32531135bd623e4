// `fetch` for an upstream over HTTP that says the trace of a call in the headers of its request too, for whatever stands between
// the gate and the server and reads no MCP. It takes the trace from the message itself, so that the two never differ.

import { isJsonObject, type JsonObject } from '../../base/json-value.ts'

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export function tracedFetch(fetch: Fetch): Fetch {
  return (url, init) => {
    const { body } = init ?? {}
    const meta = typeof body === 'string' && body.includes('"traceparent"') ? metaOf(body) : undefined
    if (typeof meta?.traceparent !== 'string') return fetch(url, init)
    const headers = new Headers(init?.headers)
    headers.set('traceparent', meta.traceparent)
    if (typeof meta.tracestate === 'string') headers.set('tracestate', meta.tracestate)
    return fetch(url, { ...init, headers })
  }
}

/** Only the message's own: arguments may have members of any name. */
function metaOf(body: string): JsonObject | undefined {
  const message: unknown = JSON.parse(body)
  if (!isJsonObject(message) || !isJsonObject(message.params)) return undefined
  const { _meta: meta } = message.params
  return isJsonObject(meta) ? meta : undefined
}
