// Values as JSON has them: what stands under a name that says so, without a change of the shape.

import { describe, expect, it } from 'vitest'
import { createRedactor } from './create-redactor.ts'

const redactor = createRedactor({ keys: ['pin_code'], patterns: [{ name: 'badge', pattern: 'B-([0-9]{6})' }] })
const json = (value: unknown): unknown => redactor.json(value).value

describe('values', () => {
  it('loses what stands under a secret name, and nothing else', () => {
    expect(
      json({
        user: 'ana',
        password: 'correct horse',
        headers: { Authorization: 'Bearer abc', 'Set-Cookie': ['a=b', 'c=d'] },
        pinCode: 'four dwarfs',
        secret: { value: 'x1', name: 'db' },
        env: [{ name: 'API_TOKEN', value: 'abc' }],
        argv: ['login', '--password', 'hunter'],
        note: 'badge B-123456',
      }),
    ).toEqual({
      user: 'ana',
      password: '[redacted:password]',
      headers: {
        Authorization: 'Bearer [redacted:authorization]',
        'Set-Cookie': ['[redacted:cookie]', '[redacted:cookie]'],
      },
      pinCode: '[redacted:pin-code]',
      secret: { value: '[redacted:secret]', name: 'db' },
      env: [{ name: 'API_TOKEN', value: '[redacted:token]' }],
      argv: ['login', '--password', '[redacted:password]'],
      note: 'badge B-[redacted:badge]',
    })
  })

  it.each([
    [{ token_count: 5, max_tokens: 'all', secretary: 'Ana', nextPageToken: 'CiAKGjBpNDd2Nmp2', public_key: 'MIIB' }],
    [{ type: 'object', properties: { password: { type: 'string', description: 'What you chose.' } } }],
    [{ password: null, token: '', secret: false, api_key: '${KEY}', credentials: 'include' }],
    [[1, 'two', { three: [3n, undefined, Symbol.iterator] }]],
    ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  ])('keeps what is none, as the very value: %#', (value) => {
    const { value: made, names } = redactor.json(value)
    expect(made).toBe(value)
    expect(names).toEqual([])
  })

  it('takes a secret out of a key', () => {
    expect(json({ [`ghp_${'aB3'.repeat(12)}`]: 1 })).toEqual({ '[redacted:github-token]': 1 })
  })

  it('keeps own members of any name', () => {
    const value = JSON.parse('{"__proto__": {"password": "correct horse"}}')
    expect(JSON.stringify(json(value))).toBe('{"__proto__":{"password":"[redacted:password]"}}')
  })

  it('looks into what has a class, and never goes round in a circle', () => {
    class Login {
      readonly password = 'correct horse'
    }
    expect(JSON.stringify(json({ login: new Login() }))).not.toContain('correct')
    const circle: { self?: unknown; password: string } = { password: 'correct horse' }
    circle.self = circle
    expect(redactor.json(circle).names).toContain('password')
  })
})

describe('JSON text', () => {
  it('stays the very text where there is nothing, and JSON where there is', () => {
    const plain = '{"a":1,"b":"two"}'
    expect(redactor.jsonText(plain).value).toBe(plain)
    for (const text of [
      '{"password":"x1"}',
      '{"credentials":{"a":"x1"}}',
      '{"env":[{"name":"API_TOKEN","value":"x1"}]}',
      '{"argv":["--password","x1yz"]}',
      `{"t":"ghp_${'aB3'.repeat(12)} x1"}`,
    ]) {
      const { value, names } = redactor.jsonText(text)
      expect(names).toHaveLength(1)
      expect(JSON.parse(value)).toEqual(json(JSON.parse(text)))
    }
  })
})

const TOKEN = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2)}`

describe('what JSON makes of a value', () => {
  it('counts: an address has no members and is all text', () => {
    const made = json({
      link: new URL('https://ana:S3cretPass9@db.test/x'),
      shown: { toJSON: () => ({ token: 'abc' }) },
    })
    expect(JSON.stringify(made)).toBe(
      '{"link":"https://ana:[redacted:url-password]@db.test/x","shown":{"token":"[redacted:token]"}}',
    )
    const clean = { link: new URL('https://db.test/x'), at: new Date(0) }
    expect(json(clean)).toBe(clean)
  })

  it('is not all of it: maps and sets are looked through', () => {
    const made = json({ map: new Map([['password', 'abc']]), set: new Set([TOKEN, 'b']) })
    expect(made).toEqual({
      map: new Map([['password', '[redacted:password]']]),
      set: new Set(['[redacted:github-token]', 'b']),
    })
    const clean = new Map([['a', 'b']])
    expect(json(clean)).toBe(clean)
  })
})

describe('a value that holds itself', () => {
  it('ends where it begins again, however often it does', () => {
    const root: Record<string, unknown> = { name: TOKEN }
    const children = Array.from({ length: 50 }, () => ({ parent: root, siblings: undefined as unknown }))
    for (const child of children) child.siblings = children
    root.children = children
    expect(JSON.stringify(json(root))).not.toContain(TOKEN)
  })

  it('is not one that names the same thing twice', () => {
    const same = { id: 1 }
    const value = { one: same, other: [same, same] }
    expect(json(value)).toBe(value)
  })
})

describe('under a secret name', () => {
  it('what only resembles a placeholder loses the secrets that show by themselves', () => {
    expect(json({ credentials: 'postgres://ana:R3alPw99x@db.example.com/x', secret: `your ${TOKEN}` })).toEqual({
      credentials: 'postgres://ana:[redacted:url-password]@db.example.com/x',
      secret: 'your [redacted:github-token]',
    })
  })

  it('a setting that says of which type it is has a value all the same', () => {
    expect(json({ db_password: { sensitive: true, type: 'string', value: 'correct horse' } })).toEqual({
      db_password: { sensitive: true, type: 'string', value: '[redacted:password]' },
    })
  })

  it('a package that is called like a secret is none, nor are its versions', () => {
    const value = {
      dependencies: { cookie: '^0.7.1', 'pbkdf2-password': '1.2.1' },
      packages: {
        'node_modules/cookie': {
          version: '0.7.2',
          resolved: 'https://registry.test/cookie/-/cookie-0.7.2.tgz',
          integrity: 'sha512-yki5XnKuf750l50uGTllt6kKILY4nQ1eNIQatoXEByZ5dWgnKqbnqmTrBE5B4N7lrMJKQ2ytWMiTO2o0v6Ew==',
        },
      },
    }
    expect(json(value)).toBe(value)
    expect(json({ cookie: { name: 'sid', version: '1', data: 'a1b2c3d4' } })).toEqual({
      cookie: { name: 'sid', version: '1', data: '[redacted:cookie]' },
    })
  })

  it('where a shell is, is no password; nor is a scheme before a placeholder', () => {
    const value = { PWD: '/home/someone', OLDPWD: 'C:\\Users', headers: { Authorization: 'Bearer <token>' } }
    expect(json(value)).toBe(value)
    expect(json({ PWD: 'hunter22', password: '/home/x1' })).toEqual({
      PWD: '[redacted:password]',
      password: '[redacted:password]',
    })
  })

  it('a word that begins like a placeholder is none', () => {
    for (const password of ['putty#1234Xy', 'enterprise-Key99', 'insertion9999X'])
      expect(json({ password })).toEqual({ password: '[redacted:password]' })
    for (const password of ['changeit', 'change-me', 'yourpassword', 'YOUR_KEY', 'yourApiKey', 'insert token'])
      expect(json({ password })).toEqual({ password })
  })
})
