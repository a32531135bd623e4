import { PassThrough } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { LineTransport } from './line-transport.ts'
import { BODY_BYTES_MAX } from './read-body.ts'

async function open() {
  const input = new PassThrough()
  const output = new PassThrough()
  const transport = new LineTransport(input, output, systemClock)
  const received: unknown[] = []
  transport.onmessage = (message) => void received.push(message)
  await transport.start()
  let written = ''
  output.on('data', (chunk: Buffer) => {
    written += chunk.toString('utf8')
  })
  const answers = (): readonly unknown[] =>
    written
      .split('\n')
      .filter((line) => line !== '')
      .map((line): unknown => JSON.parse(line))
  return { input, transport, received, answers }
}

const request = (id: unknown, extra = ''): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"tools/list"${extra}}\n`

describe('MCP over two streams', () => {
  test.each([
    ['no JSON', 'hello\n', -32700],
    ['truncated JSON', '{"jsonrpc":"2.0","id":1,\n', -32700],
    ['a duplicate key', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}\n', -32700],
    ['a batch', `[${request(1).trim()}]\n`, -32600],
    ['a bare value', '7\n', -32600],
    ['another protocol', '{"jsonrpc":"1.0","id":1,"method":"ping"}\n', -32600],
    ['an id that is null', request(null), -32600],
    ['an id that is no whole number', request(1.5), -32600],
    ['an id that is an object', request({}), -32600],
    ['parameters that are no object', request(1, ',"params":[1]'), -32600],
    ['result and error at once', '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}\n', -32600],
    ['an answer to nobody', '{"jsonrpc":"2.0","result":{}}\n', -32600],
  ])('%s is answered as an error and reaches nobody', async (_what, line, code) => {
    const { input, received, answers } = await open()
    input.write(line)
    await vi.waitFor(() => expect(answers()).toMatchObject([{ jsonrpc: '2.0', id: null, error: { code } }]))
    expect(received).toEqual([])
    input.write(request('next'))
    await vi.waitFor(() => expect(received).toHaveLength(1))
  })

  test('a request that is refused for what stands in it is answered under its id, unless another waits with that', async () => {
    const { input, received, answers } = await open()
    const twice = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"ping","params":{"a":1,"a":2}}\n`
    input.write(
      `${request(1)}${twice(1)}${twice(2)}{"jsonrpc":"2.0","id":3,"method":"ping","params":{"__proto__":{}}}\n`,
    )
    await vi.waitFor(() =>
      expect(answers()).toMatchObject(
        [{ id: null }, { id: 2 }, { id: 3 }].map((answer) => ({ ...answer, error: { code: -32700 } })),
      ),
    )
    expect(received).toHaveLength(1)
    input.write(request(2))
    await vi.waitFor(() => expect(received).toHaveLength(2))
  })

  test('a line over the limit is answered, is not kept, and the next line is read', async () => {
    const { input, received, answers } = await open()
    const part = 'x'.repeat(1024 * 1024)
    for (let time = 0; time < 6; time++) input.write(part)
    input.write(`\n${request(1)}`)
    await vi.waitFor(() => expect(received).toHaveLength(1))
    expect(answers()).toMatchObject([
      {
        id: null,
        error: {
          code: -32600,
          message: `a message of ${6 * part.length} bytes is over the limit of ${BODY_BYTES_MAX}`,
        },
      },
    ])
  })

  test('G25: an id that is still in use is refused, without an answer that could be taken for the first', async () => {
    const { input, transport, received, answers } = await open()
    input.write(request(1) + request(1) + request('1'))
    await vi.waitFor(() => expect(received).toHaveLength(2))
    expect(answers()).toMatchObject([{ id: null, error: { code: -32600 } }])
    await transport.send({ jsonrpc: '2.0', id: 1, result: {} })
    input.write(request(1))
    await vi.waitFor(() => expect(received).toHaveLength(3))
  })

  test('an id is free again once its request is cancelled', async () => {
    const { input, received } = await open()
    input.write(
      `${request(1)}{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n${request(1)}`,
    )
    await vi.waitFor(() => expect(received).toHaveLength(3))
  })

  test('more than a thousand open requests are turned away', async () => {
    const { input, received, answers } = await open()
    input.write(Array.from({ length: 1_001 }, (_, id) => request(id)).join(''))
    await vi.waitFor(() => expect(answers()).toMatchObject([{ id: 1_000, error: { code: -32000 } }]))
    expect(received).toHaveLength(1_000)
  })

  test('when the input ends, what is under way is still answered, and then the connection closes', async () => {
    const { input, transport, received, answers } = await open()
    input.end(request(1))
    await vi.waitFor(() => expect(received).toHaveLength(1))
    await transport.send({ jsonrpc: '2.0', id: 1, result: {} })
    await transport.closed
    expect(answers()).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
  })

  test('when the input ends and nothing is under way, the connection closes', async () => {
    const { input, transport } = await open()
    input.end()
    await transport.closed
  })
})
