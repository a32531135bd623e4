// Values that were handed out: found in every common encoding, and in streams wherever they are split.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedactor } from './create-redactor.ts'
import { secretsIn } from './handed-secrets.ts'

const SECRET = 'S3cr&t/va+lue="q<x>\'\\ é-9'
const known = (value: string) => {
  const values = [{ name: 'Upstream-Key', value }]
  return createRedactor({ values: () => values })
}
const redactor = known(SECRET)

const percentAll = (of: string, upper: boolean): string =>
  [...Buffer.from(of)]
    .map((byte) => {
      const hex = byte.toString(16).padStart(2, '0')
      return `%${upper ? hex.toUpperCase() : hex}`
    })
    .join('')

const ENCODED: readonly (readonly [string, string])[] = [
  ['as it is', SECRET],
  ['percent', encodeURIComponent(SECRET)],
  ['percent in small letters', encodeURIComponent(SECRET).replaceAll(/%../g, (part) => part.toLowerCase())],
  ['percent, each byte', percentAll(SECRET, true)],
  ['percent, each byte, in small letters', percentAll(SECRET, false)],
  ['a form', new URLSearchParams({ a: SECRET }).toString().slice(2)],
  ['percent twice', encodeURIComponent(encodeURIComponent(SECRET))],
  ['JSON', JSON.stringify(SECRET).slice(1, -1)],
  ['JSON in JSON', JSON.stringify(JSON.stringify(SECRET)).slice(3, -3)],
  ['JSON in JSON in JSON', JSON.stringify(JSON.stringify(JSON.stringify(SECRET))).slice(7, -7)],
  ['JSON, each character', [...SECRET].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')],
  ['HTML', SECRET.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')],
  ['HTML in numbers', [...SECRET].map((one) => `&#${one.codePointAt(0)};`).join('')],
  ['hexadecimal', Buffer.from(SECRET).toString('hex')],
  ['hexadecimal in capitals', Buffer.from(SECRET).toString('hex').toUpperCase()],
]

describe('a value that is known', () => {
  it.each(ENCODED)('is found: %s', (_how, of) => {
    expect(redactor.text(`a ${of} b`)).toEqual({ value: 'a [redacted:upstream-key] b', names: ['upstream-key'] })
  })

  it.each([0, 1, 2])('MR064: is found in base64 where it begins %i bytes after a group', (shift) => {
    for (const alphabet of ['base64', 'base64url'] as const)
      for (let behind = 0; behind < 3; behind += 1) {
        const of = Buffer.from(`${'x'.repeat(shift + 3)}${SECRET}${'y'.repeat(behind)}`).toString(alphabet)
        expect(redactor.text(of).names).toEqual(['upstream-key'])
      }
  })

  it('is found in base64 and hexadecimal that was broken into lines', () => {
    const long = `${'filler '.repeat(20)}${SECRET}${' more'.repeat(20)}`
    for (const [encoding, width] of [
      ['base64', 76],
      ['base64', 64],
      ['hex', 60],
    ] as const) {
      const lines = Buffer.from(long)
        .toString(encoding)
        .replaceAll(new RegExp(`.{${width}}`, 'g'), '$&\n')
      expect(redactor.text(`see\n${lines}\nend`).names).toEqual(['upstream-key'])
    }
  })

  it('is not looked for where it is so short that it stands in harmless words', () => {
    expect(known('product').text('production').names).toEqual([])
    expect(known('products').text('the products').names).toEqual(['upstream-key'])
  })

  it('changes with the list', () => {
    let values = [{ name: 'a', value: 'the first one' }]
    const changing = createRedactor({ values: () => values })
    expect(changing.text('the first one, the second one').value).toBe('[redacted:a], the second one')
    values = [{ name: 'b', value: 'the second one' }]
    expect(changing.text('the first one, the second one').value).toBe('the first one, [redacted:b]')
  })
})

describe('text in pieces', () => {
  const token = `ghp_${'aB3dE6'.repeat(6)}`
  const pem = `-----BEGIN PRIVATE KEY-----\n${`${'MIIEvQIBADANBgkq'.repeat(4)}\n`.repeat(3)}-----END PRIVATE KEY-----\n`
  const wrapped = Buffer.from(`${'filler '.repeat(20)}${SECRET}${' more'.repeat(9)}`)
    .toString('base64')
    .replaceAll(/.{76}/g, '$&\n')
  const texts = [`abc${SECRET}def`, `see ${token}\nPASSWORD=hunter2\n`, `a\n${pem}b\n`, `a\n${wrapped}\nb`]

  it.each(texts)('MR066: says the same as of the whole, wherever it is split: %#', (of) => {
    const whole = redactor.text(of)
    expect(whole.names.length).toBeGreaterThan(0)
    for (let at = 0; at <= of.length; at += 1) {
      const stream = redactor.stream()
      const out = stream.push(of.slice(0, at)) + stream.push(of.slice(at)) + stream.end()
      expect(out).toBe(whole.value)
      expect(stream.names).toEqual(whole.names)
    }
  })

  it('says the same, however many pieces there are', () => {
    const piece = fc.constantFrom(...texts, 'plain words\n', 'x', '\n', 'token: ', `${'long '.repeat(30)}`)
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.array(fc.nat(400), { maxLength: 12 }), (parts, cuts) => {
        const of = parts.join('')
        const stream = redactor.stream()
        let [out, at] = ['', 0]
        for (const cut of cuts) {
          out += stream.push(of.slice(at, at + cut))
          at += cut
        }
        out += stream.push(of.slice(at)) + stream.end()
        expect(out).toBe(redactor.text(of).value)
      }),
    )
  })

  it('does not hold back for ever what does not end', () => {
    const stream = redactor.stream()
    let out = ''
    for (let count = 0; count < 100; count += 1) out += stream.push('words without an end '.repeat(100))
    expect(out.length).toBeGreaterThan(100_000)
    expect(out + stream.end()).toBe('words without an end '.repeat(10_000))
  })

  it('gives out whole lines at once', () => {
    const stream = redactor.stream()
    expect(stream.push('one\ntw')).toBe('one\n')
    expect(stream.push('o\n')).toBe('two\n')
  })
})

describe('what is handed to a server', () => {
  const names = (name: string, value: string): readonly string[] => secretsIn([{ name, value }]).map((one) => one.value)

  it.each([
    ['Authorization', 'Bearer abcdefgh', ['Bearer abcdefgh', 'abcdefgh']],
    ['API_TOKEN', 'correct horse', ['correct horse']],
    ['X_UPSTREAM', 'a8Fk2LpQ9zXc4VbN7mTr', ['a8Fk2LpQ9zXc4VbN7mTr']],
    ['DATABASE_URL', 'postgres://ana:p8Fk2LpQ9zXc4VbN7@db/x', ['p8Fk2LpQ9zXc4VbN7']],
  ] as const)('%s is secret', (name, value, expected) => {
    expect(names(name, value)).toEqual(expected)
  })

  it.each([
    ['NODE_ENV', 'production'],
    ['HOME', '/home/ana/project1/very/long'],
    ['Accept', 'application/json'],
    ['User-Agent', 'lockgate/1.2.3'],
    ['SERVER_URL', 'https://mcp.test/v1/abc1234567'],
    ['API_TOKEN', '${TOKEN}'],
  ])('%s is none', (name, value) => {
    expect(names(name, value)).toEqual([])
  })
})

describe('a value that is known is found whole', () => {
  it('where another form ends inside of it', () => {
    const value = 'Zq7xKp2mVbN8sLw4!tail-of-it'
    expect(known(value).text(`got Bearer ${value} here`)).toEqual({
      value: 'got Bearer [redacted:upstream-key] here',
      names: ['upstream-key'],
    })
  })

  it('where nothing of it is ASCII', () => {
    for (const value of ['пароль-секрет', '我的超级秘密口令是这个'])
      expect(known(value).text(`is ${value}${value} here`).value).toBe(
        'is [redacted:upstream-key][redacted:upstream-key] here',
      )
  })

  it('as a short name of a member', () => {
    expect(known('Zq7xKp2m9!').json({ 'Zq7xKp2m9!': 1 }).value).toEqual({ '[redacted:upstream-key]': 1 })
  })

  it('in base64 that is escaped in turn', () => {
    const value = 'a?>b/+~ü~~~~ÿÿÿÿ>>>???'
    const encoded = Buffer.from(value).toString('base64')
    for (const escaped of [encodeURIComponent(encoded), encoded.replaceAll('/', '\\/')])
      expect(known(value).text(`x=${escaped}.`).value).not.toContain(escaped.slice(8, -8))
  })
})
