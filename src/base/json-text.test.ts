import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJsonText, takeJsonText } from './json-text.ts'
import { findTextFault } from './json-text-fault.ts'
import type { JsonBounds } from './json-value.ts'

const BOUNDS: JsonBounds = { bytesMax: 1_048_576, depthMax: 64, keysMax: 10_000 }

describe('text that readers would read differently is refused with its place', () => {
  const cases: readonly (readonly [string, string, number, string, string])[] = [
    ['nothing', '', 0, 'a value', 'the end of the text'],
    ['a duplicate key', '{"path":"src/a.ts","path":"/etc/passwd"}', 19, 'each key once', '`"path"` again'],
    ['a duplicate key in another spelling', '{"a":1,"\\u0061":2}', 7, 'each key once', '`"a"` again'],
    ['a duplicate key far below', '[{"x":[{"a":1,"b":{},"a":3}]}]', 21, 'each key once', '`"a"` again'],
    ['__proto__', '{"__proto__":{"admin":true}}', 1, 'no key of this name', '`__proto__`'],
    ['__proto__ in disguise', '{"\\u005f_proto__":1}', 1, 'no key of this name', '`__proto__`'],
    [
      'a prototype below constructor',
      '{"constructor":{"prototype":{}}}',
      15,
      'no `prototype` below `constructor`',
      'one',
    ],
    ['a number that becomes Infinity', '{"n":1e400}', 5, 'a finite number', '`1e400`'],
    ['an integer that loses digits', '{"n":9007199254740993}', 5, 'an integer of at most 2^53 - 1, or a string that holds it', '`9007199254740993`'], // biome-ignore format: one line
    ['an integer of many digits', '[1000000000000000000000001]', 1, 'an integer of at most 2^53 - 1, or a string that holds it', '`1000000000000000000000001`'], // biome-ignore format: one line
    ['one with a fraction', '[-1000000000000000000000.5]', 1, 'an integer of at most 2^53 - 1, or a string that holds it', '`-1000000000000000000000.5`'], // biome-ignore format: one line
    ['one beside a measurement', '[6.022e23,1000000000000000000000]', 10, 'an integer of at most 2^53 - 1, or a string that holds it', '`1000000000000000000000`'], // biome-ignore format: one line
    ['an exponent that makes an integer whose text has none', '[1e17]', 1, 'an integer of at most 2^53 - 1, or a string that holds it', '`1e17`'], // biome-ignore format: one line
    ['half of a surrogate pair', '{"a":"\\ud800"}', 5, 'well-formed Unicode', 'half of a surrogate pair'],
    ['half of one, not escaped', '{"a":"\ud800"}', 5, 'well-formed Unicode', 'half of a surrogate pair'],
    ['half of one in a key', '{"\\udc00":1}', 1, 'well-formed Unicode', 'half of a surrogate pair'],
    ['a byte order mark', '\ufeff{}', 0, 'JSON without a byte order mark', 'a byte order mark'],
    ['something after the end', '{"a":1} x', 8, 'the end of the text', '`x`'],
    ['two values', '{}{}', 2, 'the end of the text', '`{`'],
    ['a bare key', '{a:1}', 1, 'a key in double quotes or `}`', '`a`'],
    ['single quotes', "{'a':1}", 1, 'a key in double quotes or `}`', "`'`"],
    ['a trailing comma', '[1,]', 3, 'a value', '`]`'],
    ['a comment', '{} // x', 3, 'the end of the text', '`/`'],
    ['NaN', '[NaN]', 1, 'a value', '`NaN`'],
    ['a leading zero', '[01]', 1, 'a JSON number', '`01`'],
    ['a bare point', '[1.]', 1, 'a JSON number', '`1.`'],
    ['a plus sign', '[+1]', 1, 'a value', '`+1`'],
    ['a raw line break in a string', '"a\nb"', 2, 'no control character inside a string', 'U+000A'],
    ['an unknown escape', '"\\x41"', 1, 'an escape such as `\\n` or `\\u0041`', '`\\`'],
    ['a missing colon', '{"a" 1}', 5, '`:`', '`1`'],
  ]
  test.each(cases)('%s', (_title, text, offset, expected, came) => {
    for (const read of [parseJsonText, takeJsonText]) {
      expect(read(text, BOUNDS)).toMatchObject({
        kind: 'refused',
        code: 'invalid_args',
        place: { offset },
        expected,
        came,
      })
    }
  })

  test('L66: truncated JSON names where it breaks off, and what was open there', () => {
    const parsed = parseJsonText('{"path": "a.ts",\n "lines": [1, 2', BOUNDS)
    expect(parsed).toMatchObject({ kind: 'refused', path: 'lines', place: { offset: 32, line: 2, column: 16 } })
    expect(parsed.kind === 'refused' && parsed.message).toBe(
      'the JSON text, line 2 column 16 (offset 32), in `lines`: expected `,` or `]`, came the end of the text',
    )
  })

  test('L66: every proper prefix of an object is refused with a place', () => {
    const text = JSON.stringify({ a: [1, 'x\n', true], b: { c: null, d: -1.5e3 } })
    for (let length = 0; length < text.length; length++) {
      expect(parseJsonText(text.slice(0, length), BOUNDS)).toMatchObject({ kind: 'refused', place: { line: 1 } })
    }
  })
})

describe('bounds hold before anything is built', () => {
  test('JSON bombs: a million levels, a million keys, a wide text', () => {
    expect(parseJsonText('['.repeat(1_000_000), BOUNDS)).toMatchObject({ code: 'oversized', place: { offset: 64 } })
    expect(parseJsonText(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, BOUNDS)).toMatchObject({ code: 'oversized' })
    const keys = `{${Array.from({ length: 10_001 }, (_, index) => `"${index}":1`).join(',')}}`
    expect(parseJsonText(keys, BOUNDS)).toMatchObject({ code: 'oversized', expected: 'at most 10000 keys in all' })
    expect(parseJsonText(`"${'é'.repeat(524_288)}"`, BOUNDS)).toMatchObject({
      code: 'oversized',
      came: '1048578 bytes',
    })
  })

  test('what stands exactly at the bounds passes', () => {
    expect(parseJsonText(`${'['.repeat(64)}${']'.repeat(64)}`, BOUNDS).kind).toBe('ok')
    const keys = `{${Array.from({ length: 10_000 }, (_, index) => `"${index}":1`).join(',')}}`
    expect(parseJsonText(keys, BOUNDS).kind).toBe('ok')
    expect(parseJsonText(`"${'x'.repeat(1_048_574)}"`, BOUNDS).kind).toBe('ok')
  })

  test('brackets, colons and quotes inside strings count for nothing', () => {
    const tricky = JSON.stringify({ a: '[[[[{{{{:::"\\', [`":${'\\'.repeat(31)}`]: `${'\\"'.repeat(40)}{:` })
    expect(parseJsonText(tricky, { ...BOUNDS, depthMax: 1, keysMax: 2 })).toMatchObject({ kind: 'ok' })
    expect(parseJsonText(tricky, { ...BOUNDS, depthMax: 1, keysMax: 1 })).toMatchObject({ code: 'oversized' })
  })
})

describe('what is read', () => {
  test('looks like the text and belongs to the caller', () => {
    const parsed = parseJsonText(' {"b": 1, "a": [2.50, "\\u00e9\\ud83d\\ude80", 9007199254740991]} \n', BOUNDS)
    expect(parsed).toEqual({ kind: 'ok', value: { b: 1, a: [2.5, 'é🚀', 2 ** 53 - 1] }, bytes: expect.any(Number) })
    expect(parsed.kind === 'ok' && Object.isFrozen(parsed.value)).toBe(false)
  })

  test('is taken as arguments are: frozen, canonical', () => {
    expect(takeJsonText('{"b": 1, "a": {"10":1,"9":2}}', BOUNDS)).toMatchObject({
      kind: 'ok',
      text: '{"a":{"10":1,"9":2},"b":1}',
    })
    const taken = takeJsonText('{"a":[1]}', BOUNDS)
    expect(taken.kind === 'ok' && Object.isFrozen(taken.value)).toBe(true)
  })

  test('a large number written with an exponent is a measurement, and its canonical text is read again', () => {
    for (const [text, canonical] of [
      ['[6.022e23]', '[6.022e+23]'],
      ['[-1E21]', '[-1e+21]'],
      ['[1.7976931348623157e308]', '[1.7976931348623157e+308]'],
      ['[6.626e-34]', '[6.626e-34]'],
    ] as const) {
      expect(parseJsonText(text, BOUNDS)).toMatchObject({ kind: 'ok', value: JSON.parse(text) })
      expect(takeJsonText(text, BOUNDS)).toMatchObject({ kind: 'ok', text: canonical })
      expect(takeJsonText(canonical, BOUNDS)).toMatchObject({ kind: 'ok', text: canonical })
    }
  })

  test('ordinary keys that resemble special ones pass', () => {
    for (const text of [
      '{"constructor":"Ferrari"}',
      '{"proto":1,"prototype":"x"}',
      '{"":1}',
      '{"a":{"a":1},"b":{"a":1}}',
    ]) {
      expect(takeJsonText(text, BOUNDS)).toMatchObject({ kind: 'ok', text })
    }
  })
})

test('the fast reader and the slow one agree on mutated text', () => {
  const mutated = fc
    .tuple(
      fc.json(),
      fc.nat(),
      fc.constantFrom(
        '',
        '"',
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '\\',
        '1',
        'e9',
        'e25',
        '9007199254740993',
        '0'.repeat(25),
        ' ',
        '\n',
        'x',
        '\ud800',
      ),
    )
    .map(([text, at, inserted]) => {
      const index = at % (text.length + 1)
      return text.slice(0, index) + inserted + text.slice(index + (at % 2))
    })
  fc.assert(
    fc.property(fc.oneof(fc.json(), mutated), (text) => {
      const fault = findTextFault(text, BOUNDS)
      expect(parseJsonText(text, BOUNDS).kind).toBe(fault === undefined ? 'ok' : 'refused')
      expect(takeJsonText(text, BOUNDS).kind).toBe(fault === undefined ? 'ok' : 'refused')
    }),
    { numRuns: 2_000 },
  )
})
