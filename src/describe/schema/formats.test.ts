import { describe, expect, test } from 'vitest'
import { FORMATS } from './formats.ts'

const yes: Readonly<Record<string, readonly string[]>> = {
  date: ['2024-02-29', '2000-02-29', '0001-01-01'],
  time: ['12:00:00Z', '12:00:00.5+01:30', '23:59:60Z', '00:29:60+00:30', '08:30:06z'],
  'date-time': ['1990-12-31T23:59:60Z', '1985-04-12t23:20:50.52z', '1937-01-01T12:00:27.87+00:20'],
  duration: ['P4DT12H30M5S', 'P4Y', 'PT0S', 'P2W', 'P1M', 'PT1M'],
  email: [
    'joe.bloggs@example.com',
    'a+b@example.co.uk',
    '"joe bloggs"@example.com',
    'joe@[127.0.0.1]',
    'joe@[IPv6:::1]',
  ],
  'idn-email': ['실례@실례.테스트', 'joe@example.com'],
  hostname: ['www.example.com', 'xn--4gbwdl.xn--wgbh1c', 'a', 'host1'],
  'idn-hostname': ['실례.테스트', 'example.com'],
  ipv4: ['192.168.0.1', '0.0.0.0'],
  ipv6: ['::1', '2001:db8::1', '::ffff:192.168.0.1'],
  uri: [
    'https://example.com:8443/a?b=c#d',
    'mailto:a@b.c',
    'urn:isbn:1',
    'http://[::1]:80/',
    'http://user:pw@h/',
    'file:///etc/x',
  ],
  'uri-reference': ['/abc', '#frag', '//h/p', 'a/b', '', '?q'],
  iri: ['http://ƒøø.ßår/?∂éœ=πîx', 'https://example.com'],
  'iri-reference': ['/âππ', '#ƒrägmênt'],
  'uri-template': ['http://example.com/{term:1}/{term}', '/{a,b*}{?q}', 'plain'],
  uuid: ['2EB8AA08-aa98-11ea-b4aa-73b441d16380'],
  'json-pointer': ['', '/foo/0', '/a~1b~0', '/'],
  'relative-json-pointer': ['0', '1/a', '2#', '0/'],
  regex: ['([abc])+\\s+$', '^\\p{L}$'],
}

const no: Readonly<Record<string, readonly string[]>> = {
  date: [
    '2023-02-29',
    '1900-02-29',
    '2024-13-01',
    '2024-04-31',
    '2024-1-1',
    '2024-01-00',
    '২024-01-01',
    '2024-01-01\n',
  ],
  time: ['24:00:00Z', '12:00:00', '22:59:60Z', '12:00:00+24:00', '12:60:00Z', '12:00:61Z', '1:00:00Z'],
  'date-time': ['1990-02-31T15:59:60Z', '1990-12-31 23:59:59Z', '1990-12-31T25:00:00Z', '1990-12-31'],
  duration: ['P', 'PT', 'P1D2H', 'P2D1Y', 'PT1D', 'P1', '4DT12H', 'P1Y2W', 'PT1H1S'],
  email: [
    '2962',
    'joe@',
    '@example.com',
    'a b@example.com',
    '.a@example.com',
    'a..b@example.com',
    'a@-b.com',
    'a@b@c.d',
    'joe@[127.0.0.300]',
  ],
  'idn-email': ['2962', '실례@', 'a b@c.d'],
  hostname: ['-a.com', 'a_b', 'a..b', '', 'a'.repeat(64), `${'a.'.repeat(127)}aa`, 'a/b', 'é.com'],
  'idn-hostname': ['-x', 'a b', '〮한국', 'a/b'],
  ipv4: ['256.0.0.1', '127.0.0', '127.0.0.01', '0x7f000001', ' 127.0.0.1', '٧.0.0.1'],
  ipv6: ['12345::', ':2:3', '::1%eth0', '1:2:3:4:5:6:7:8:9', '[::1]'],
  uri: [
    'not a uri',
    '//h/p',
    '/abc',
    '',
    ':// x',
    'http://a b/',
    'http://h:port/',
    'http://[::1',
    'http://[zz]/',
    'a:%zz',
    'http://h/<x>',
    'https://é.com',
  ],
  'uri-reference': ['\\\\WINDOWS\\share', 'a b', '#a b', '%'],
  iri: ['/abc', 'http://[2001:db8:85a3:0:0:8a2e:370:7334', 'a b:c'],
  'iri-reference': ['\\\\x', 'a b'],
  'uri-template': ['/{a', '/a}', '/{}', '/{a..b}', 'a b'],
  uuid: [
    '2eb8aa08-aa98-11ea-b4aa-73b441d1638',
    '2eb8aa08aa9811eab4aa73b441d16380',
    '2eb8aa08-aa98-11ea-b4aa-73b441d16380\n',
  ],
  'json-pointer': ['a', '/~', '/~2', '#/a'],
  'relative-json-pointer': ['-1', '01', 'a', '', '0##'],
  regex: ['^(abc]', '(', '\\Z'],
}

describe.each(Object.keys(yes))('%s', (name) => {
  const format = FORMATS.get(name)
  test.each(yes[name] ?? [])('takes %j', (text) => expect(format?.(text)).toBe(true))
  test.each(no[name] ?? [])('refuses %j', (text) => expect(format?.(text)).toBe(false))
})

test('every format is tried here', () => {
  expect([...FORMATS.keys()].sort()).toEqual(Object.keys(yes).sort())
  expect(Object.keys(no).sort()).toEqual(Object.keys(yes).sort())
})

test('no format takes long over a long text, whatever it is made of', () => {
  const units = [
    'a',
    '1',
    '!',
    '{a',
    '{',
    '/~',
    '/',
    'a.',
    '.',
    '[',
    '(',
    'P1',
    '1Y',
    'a-',
    '-',
    'é',
    ':',
    '%41',
    '%',
    '@',
    'a@',
    ' ',
    '"',
    '\\',
  ]
  for (const [name, format] of FORMATS) {
    for (const unit of units) {
      const text = unit.repeat(Math.ceil(200_000 / unit.length))
      for (const each of [text, `a:${text}!`, `P${text}`, `a@${text}!`, `http://${text}^`])
        expect(typeof format(each), name).toBe('boolean')
    }
  }
})
