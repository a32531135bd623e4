import { describe, expect, test } from 'vitest'
import { BODY_BYTES_MAX, isJsonMediaType, readJsonBody } from './read-body.ts'

const post = (
  body: string | Buffer | ReadableStream,
  contentType: string | undefined = 'application/json',
): Request => {
  const request = new Request('http://localhost/', { method: 'POST', body, duplex: 'half' } as RequestInit)
  if (contentType === undefined) request.headers.delete('content-type')
  else request.headers.set('content-type', contentType)
  return request
}

describe('the body of a request', () => {
  test.each([
    null,
    '',
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/json-patch+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; x=application/json',
    'text/plain; application/json',
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
  ])('G01: %j is no JSON', (header) => {
    expect(isJsonMediaType(header)).toBe(false)
  })

  test.each([
    'application/json',
    'Application/JSON',
    'APPLICATION/JSON ; charset=UTF-8',
    'application/json;charset="utf-8"',
    'application/json; profile=x',
  ])('%j is JSON', (header) => {
    expect(isJsonMediaType(header)).toBe(true)
  })

  test.each([
    ['a duplicate key', '{"path":"src/a","path":"/etc/passwd"}'],
    ['a duplicate key, differently written', '{"a":1,"\\u0061":2}'],
    ['__proto__', '{"__proto__":{"admin":true}}'],
    ['a number past every bound', '{"n":1e400}'],
    ['truncated text', '{"a":"b'],
    ['text after the value', '{} {}'],
    ['nothing', ''],
    ['half a surrogate pair', '{"a":"\\ud800"}'],
  ])('%s is malformed', async (_what, text) => {
    expect(await readJsonBody(post(text))).toMatchObject({ kind: 'refused', why: 'malformed' })
  })

  test('bytes that are no UTF-8 are malformed', async () => {
    expect(await readJsonBody(post(Buffer.from([0x22, 0xff, 0x22])))).toMatchObject({
      kind: 'refused',
      why: 'malformed',
    })
  })

  test('nesting without end is refused before it is built', async () => {
    expect(await readJsonBody(post('['.repeat(100_000) + ']'.repeat(100_000)))).toMatchObject({
      kind: 'refused',
      why: 'too-large',
    })
  })

  test('a body over the limit is refused, also when it does not say how long it is', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 0x20)
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        sent += chunk.length
        controller.enqueue(chunk)
      },
    })
    expect(await readJsonBody(post(endless))).toMatchObject({ kind: 'refused', why: 'too-large' })
    expect(sent).toBeLessThan(BODY_BYTES_MAX + 4 * chunk.length)
  })

  test.each([['{"proto":1,"prototype":"x"}'], ['{"n":9007199254740991}'], ['{"":null}']])(
    '%s is read as it is',
    async (text) => {
      expect(await readJsonBody(post(text))).toEqual({ kind: 'ok', value: JSON.parse(text) })
    },
  )
})
