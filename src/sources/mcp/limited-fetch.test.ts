import { createServer, type Server, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { limitedFetch } from './limited-fetch.ts'
import { MESSAGE_BYTES_MAX } from './upstream-connection.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function answering(
  answer: (response: ServerResponse) => void,
): Promise<{ readonly response: Response; readonly tooLarge: () => number }> {
  const server = createServer((_request, response) => answer(response))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  let told = 0
  const get = limitedFetch(() => {
    told += 1
  })
  const response = await get(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`)
  return { response, tooLarge: () => told }
}

const MEBIBYTE = 'x'.repeat(1024 * 1024)

describe("the weight of an upstream's answer over HTTP", () => {
  test('an answer over the limit fails, and no more than the limit is taken', async () => {
    const { response, tooLarge } = await answering((answer) => {
      answer.setHeader('content-type', 'application/json')
      for (let time = 0; time < 5; time++) answer.write(MEBIBYTE)
      answer.end()
    })
    await expect(response.text()).rejects.toThrow('over the limit')
    expect(tooLarge()).toBe(1)
  })

  test('one event over the limit fails the stream', async () => {
    const { response } = await answering((answer) => {
      answer.setHeader('content-type', 'TEXT/Event-Stream; charset=utf-8')
      for (let time = 0; time < 5; time++) answer.write(`data: ${MEBIBYTE}\n`)
      answer.end('\n')
    })
    await expect(response.text()).rejects.toThrow('over the limit')
  })

  test.each(['\n\n', '\r\n\r\n', '\r\r'])(
    'any number of events below the limit goes through, parted by %j',
    async (end) => {
      const { response } = await answering((answer) => {
        answer.setHeader('content-type', 'text/event-stream')
        for (let time = 0; time < 6; time++) answer.write(`data: ${MEBIBYTE}${end}: a comment${end}`)
        answer.end()
      })
      expect((await response.text()).length).toBeGreaterThan(MESSAGE_BYTES_MAX)
    },
  )

  test('a compressed answer is weighed as it is read, not as it was sent', async () => {
    const { gzipSync } = await import('node:zlib')
    const { response } = await answering((answer) => {
      answer.setHeader('content-type', 'application/json')
      answer.setHeader('content-encoding', 'gzip')
      answer.end(gzipSync('x'.repeat(MESSAGE_BYTES_MAX + 1)))
    })
    await expect(response.text()).rejects.toThrow('over the limit')
  })
})
