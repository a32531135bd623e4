import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readPattern } from './linear-pattern.ts'

function matches(source: string, text: string): boolean {
  const read = readPattern(source)
  if (read.kind === 'bad') throw new Error(`${source}: ${read.reason}`)
  return read.pattern.test(text)
}

describe('patterns that cannot be matched in linear time are refused with the reason', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['(?=a)b', 'look-ahead'],
    ['a(?!b)', 'look-ahead'],
    ['(?<=a)b', 'look-ahead and look-behind'],
    ['(?<!a)b', 'look-ahead and look-behind'],
    ['^(?=a)b|c', 'look-ahead'],
    ['^(?=(?=a)b)c', 'look-ahead'],
    ['^(?=a)*b', 'look-ahead'],
    ['(a)\\1', 'back-references'],
    ['(?<x>a)\\k<x>', 'back-references'],
    ['a{1,100000000}', 'repeats something'],
    ['^a{1,100000000}$', 'repeats something'],
    ['(a|b){1001}', 'more than 1000 times'],
    ['((a{40}){40})', 'more than 1000 times'],
    ['(?:[a-z]{500}-){9}', 'more than 1000 times'],
    ['(abcdefgh|ijklmnop){400}', 'too large'],
    ['a'.repeat(513), '513 characters'],
    [`${'('.repeat(41)}a${')'.repeat(41)}`, 'nest deeper'],
    ['\\p{Nonsense}', 'Unicode property'],
  ]
  test.each(cases)('%s', (source, reason) => {
    expect(readPattern(source)).toEqual({ kind: 'bad', reason: expect.stringContaining(reason) })
  })
})

describe('spellings that ECMA-262 does not know are refused, never guessed', () => {
  test.each([
    '(a',
    'a)',
    '[a',
    '*',
    'a**',
    'a{2}{3}',
    '+a',
    '\\',
    '[b-a]',
    'x{2,1}',
    'a{,5}',
    '(?i)a',
    '(?P<n>a)',
    '(?>a)',
    '\\A',
    'a\\Z',
    '\\Qa\\E',
    '\\h',
    '^*',
    '\\ud800',
    '\\u{110000}',
  ])(
    // biome-ignore format: one line
    '%s',
    (source) => expect(readPattern(source).kind).toBe('bad'),
  )
})

describe('patterns mean what ECMA-262 says', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['^[a-z]+$', 'abc', 'aBc'],
    ['b', 'abc', 'ac'],
    ['^.$', '🚀', '\u2028'],
    ['^\\s$', '\u00a0', '\u200b'],
    ['^\\S$', '\u200b', '\ufeff'],
    ['^\\d$', '7', '٧'],
    ['^\\w$', '_', 'é'],
    ['^[\\w.-]+$', 'a.b-c', 'a b'],
    ['^[\\w-.]+$', 'a.b-c', 'a b'],
    ['^[^]$', '\n', ''],
    ['^[]?$', '', 'a'],
    ['[[:alpha:]]', 'a]', 'b'],
    ['^\\u00e9\\u{1F680}\\x41\\cJ$', 'é🚀A\n', 'e🚀A\n'],
    ['^\\ud83d\\ude80$', '🚀', '\ud83d'],
    ['^{id}$', '{id}', 'id'],
    ['^a{2,}$', 'aaa', 'a'],
    ['^(?<year>\\d{4})$', '2026', '26'],
    ['^\\p{Lu}\\p{Script=Greek}$', 'Aα', 'Aa'],
    ['^a$', 'a', 'a\n'],
    ['^[\\s\\S]{0,4000}$', 'x'.repeat(4_000), 'x'.repeat(4_001)],
    ['\\_\\-\\/\\@', '_-/@', '_-/'],
  ]
  test.each(cases)('%s', (source, yes, no) => {
    expect(matches(source, yes)).toBe(true)
    expect(matches(source, no)).toBe(false)
  })

  test('look-aheads at the very start are questions of their own', () => {
    const password = '^(?=.*[A-Z])(?=.*\\d)(?!.*\\s).{8,}$'
    expect(matches(password, 'Abcdefg1')).toBe(true)
    for (const weak of ['abcdefg1', 'Abcdefgh', 'Abcdef 1', 'Abcd1']) expect(matches(password, weak)).toBe(false)
    expect(matches('^(?!a|b)[a-z]', 'c')).toBe(true)
    expect(matches('^(?!a|b)[a-z]', 'b')).toBe(false)
    expect(matches('^(?=[)(|])..$', ')x')).toBe(true)
  })
})

test('patterns that make backtracking explode answer at once on long text', () => {
  const long = `${'a'.repeat(100_000)}!`
  for (const source of [
    '^(a+)+$',
    '(a|aa)+$',
    '^(\\w+\\s?)*$',
    '(x+x+)+y',
    '(.*a){12}$',
    '^(?=(a+)+$)a',
    '(a?){30}a{30}$',
  ]) {
    expect(matches(source, long)).toBe(false)
  }
})

test('a match on longer text, or with a larger pattern, costs more steps', () => {
  const read = [readPattern('(a|b)+c'), readPattern('(a|b){100}c'), readPattern('^a+$')].map((each) =>
    each.kind === 'ok' ? [each.pattern.stepsFor(100), each.pattern.stepsFor(100_000)] : [],
  )
  const [[small = 0, smallLong = 0] = [], [large = 0] = [], [plain = 0] = []] = read
  expect(smallLong).toBeGreaterThan(small * 500)
  expect(large).toBeGreaterThan(small * 10)
  expect(plain).toBeLessThan(small)
})

const atom = fc.constantFrom(...['a', 'b', '1', ' ', '.', '-', 'é', '😀', '\\d', '\\w', '\\s', '\\S', '\\W', '\\D', '\\n', '\\.', '\\-', '\\/', '\\b', '\\B', '^', '$', '[ab]', '[^a]', '[a-c1]', '[\\s-]', '[^\\S]', '[\\D]', '[😀a]', '[\\b]', '[\\]\\[]', '[^]', '[]', '\\u00e9', '\\x41', '\\p{L}', '[\\p{L}1]', '\\P{Lu}']) // biome-ignore format: a list
const repeat = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,2}', '{2,}', '*?', '{0}')
const { pattern } = fc.letrec<{ term: string; pattern: string }>((tie) => ({
  term: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.tuple(atom, repeat).map((parts) => parts.join('')),
    fc
      .tuple(fc.constantFrom('(', '(?:'), tie('pattern'), repeat)
      .map(([open, inner, many]) => `${open}${inner})${many}`),
  ),
  pattern: fc.oneof(
    { maxDepth: 3 },
    fc.array(tie('term'), { maxLength: 4 }).map((terms) => terms.join('')),
    fc.tuple(tie('pattern'), tie('pattern')).map((sides) => sides.join('|')),
  ),
}))
const looks = fc
  .tuple(fc.constantFrom('^(?=', '^(?!'), pattern, pattern)
  .map(([open, inner, rest]) => `${open}${inner})(?:${rest})`)
const text = fc.string({ unit: fc.constantFrom(...'ab1 \n\t\béA😀-.[]\u00a0\u2028_'), maxLength: 8 })

test('any pattern that JavaScript knows is matched as JavaScript matches it', () => {
  fc.assert(
    fc.property(fc.oneof(pattern, pattern, looks), fc.array(text, { minLength: 3, maxLength: 6 }), (source, texts) => {
      const native = nativePattern(source)
      fc.pre(native !== undefined && source.length <= 512)
      const read = readPattern(source)
      expect(read).toMatchObject({ kind: 'ok' })
      if (read.kind === 'ok')
        expect(texts.map((each) => read.pattern.test(each))).toEqual(texts.map((each) => native?.test(each)))
    }),
    { numRuns: 1_500 },
  )
})

function nativePattern(source: string): RegExp | undefined {
  try {
    return new RegExp(source, 'u')
  } catch {
    return undefined
  }
}
