import { describe, expect, test } from 'vitest'
import { allowedOrigins, judgeOrigin } from './allowed-origins.ts'

const local = allowedOrigins('127.0.0.1', 3000)
const judge = (host: string | readonly string[], origin?: string): string =>
  judgeOrigin(local, typeof host === 'string' ? [host] : host, origin).kind

describe('G17: who may speak to a server on the loopback', () => {
  test.each([
    'evil.test',
    'evil.test:3000',
    'localhost.evil.test:3000',
    'localhost:3000.evil.test',
    '127.0.0.1',
    'localhost',
    '127.0.0.1:3001',
    '[::1]',
    '[::1]:3001',
    '[::ffff:127.0.0.1]:3000',
    '[::2]:3000',
    '0.0.0.0:3000',
    '127.1:3000',
    '2130706433:3000',
    'localhost.:3000',
    '',
    ':3000',
  ])('the name `%s` is not ours', (host) => {
    expect(judge(host)).toBe('refused')
  })

  test.each([[[]], [['localhost:3000', 'evil.test']], [['localhost:3000', 'localhost:3000']]])(
    'not exactly one Host header: %j',
    (hosts) => {
      expect(judge(hosts)).toBe('refused')
    },
  )

  test.each([
    'http://evil.test',
    'http://localhost:3000.evil.test',
    'https://localhost:3000',
    'http://localhost:30001',
    'http://localhost',
    'null',
    '',
    'http://127.0.0.1:3000/',
    'HTTP://LOCALHOST:3000',
    'http://[::1]:3001',
    'file://',
  ])('a page of `%s` is refused', (origin) => {
    expect(judge('localhost:3000', origin)).toBe('refused')
  })

  test.each(['127.0.0.1:3000', 'localhost:3000', 'LocalHost:3000', '[::1]:3000'])('the name `%s` is ours', (host) => {
    expect(judge(host)).toBe('ok')
    expect(judge(host, 'http://localhost:3000')).toBe('ok')
    expect(judge(host, 'http://[::1]:3000')).toBe('ok')
  })

  test('a name that the operator adds is allowed, with the port it was given or that of the server, and no other', () => {
    const added = allowedOrigins('0.0.0.0', 3000, ['gate.example.com', 'box:3000'])
    for (const [host, kind] of [
      ['gate.example.com', 'ok'],
      ['box:3000', 'ok'],
      ['gate.example.com:3000', 'ok'],
      ['gate.example.com:3001', 'refused'],
      ['gate.example.com.evil.test', 'refused'],
      ['evil.gate.example.com', 'refused'],
      ['box', 'refused'],
      ['box:3001', 'refused'],
      ['0.0.0.0:3000', 'refused'],
    ] as const) {
      expect(judgeOrigin(added, [host], undefined).kind).toBe(kind)
    }
    expect(judgeOrigin(added, ['gate.example.com'], 'https://gate.example.com').kind).toBe('ok')
    expect(judgeOrigin(added, ['gate.example.com'], 'https://gate.example.com:3001').kind).toBe('refused')
  })

  test('on port 80, clients leave the port out', () => {
    expect(judgeOrigin(allowedOrigins('127.0.0.1', 80), ['localhost'], 'http://localhost').kind).toBe('ok')
  })
})
