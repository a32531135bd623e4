// Goal: a rule's pattern means what people expect of a glob, a pattern that cannot be read is refused, and no pattern
// costs more than pattern length times text length. Method: tables, a slow reference matcher on random small patterns,
// and hostile pairs that a backtracking matcher would not finish in the lifetime of the machine.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileGlob, compileNameGlob, type Glob } from './glob.ts'

function glob(pattern: string): Glob {
  const compiled = compileGlob(pattern)
  if (compiled.kind === 'bad') throw new Error(`${pattern}: ${compiled.reason}`)
  return compiled
}

const matches = (pattern: string, text: string): boolean => glob(pattern).matches(text)

function name(pattern: string, text: string): boolean {
  const compiled = compileNameGlob(pattern)
  if (compiled.kind === 'bad') throw new Error(compiled.reason)
  return compiled.matches(text)
}

describe('a pattern that cannot be read is refused and says why', () => {
  test.each([
    ['', 'empty'],
    ['a'.repeat(1_025), 'longer than 1024'],
    ['[a', 'no `]`'],
    ['[', 'no `]`'],
    ['[]', 'no `]`'],
    ['[!]', 'no `]`'],
    ['[]/]x[', 'no `]`'],
    ['[a-', 'no `]`'],
    ['[\\', 'no `]`'],
    ['[a\\]', 'no `]`'],
    ['[z-a]', 'backwards'],
    ['[b-\\a]', 'backwards'],
    ['{a,b', 'no `}`'],
    ['{a,{b,c}', 'no `}`'],
    ['a}b', 'no `{`'],
    ['{a}}', 'no `{`'],
    ['a\\', 'lone backslash'],
    ['{a,b}'.repeat(7), 'more than 64 alternatives'],
    [`{${'a,'.repeat(64)}a}`, 'more than 64 alternatives'],
    ['a**b'.repeat(7), 'more than 64 alternatives'],
    [`{a,b}{a,b}{a,b}${'x'.repeat(1_000)}`, 'longer than 4096'],
  ])('%s', (pattern, reason) => {
    expect(compileGlob(pattern)).toMatchObject({ kind: 'bad', reason: expect.stringContaining(reason) })
    if (!pattern.includes('**') && !reason.includes('4096'))
      expect(compileNameGlob(pattern)).toMatchObject({ kind: 'bad' })
  })
})

describe('what a pattern matches, and its twin that it does not', () => {
  test.each<[pattern: string, hits: string[], misses: string[]]>([
    ['a', ['a'], ['', 'aa', 'A', 'a/', '/a', 'b']],
    ['read_*', ['read_', 'read_file'], ['read', 'xread_file', 'Read_file', 'read_a/b']],
    ['*', ['', 'a', '.env'], ['a/b', '/']],
    ['*.lock', ['yarn.lock', '.lock'], ['a/yarn.lock', 'yarn.lock.js', 'yarnlock']],
    ['a*b*c', ['abc', 'aXbYc', 'abbcc', 'abcbc'], ['ab', 'acb', 'abcd', 'a/b/c']],
    ['*a*', ['a', 'xax', 'aa'], ['', 'x', 'x/a']],
    ['ab*ba', ['abba', 'abxba'], ['aba', 'ab', 'abab']],
    [
      'mcp_*_delete',
      ['mcp_x_delete', 'mcp_a_b_delete', 'mcp__delete'],
      ['mcp_delete', 'mcp_x_delete_all', 'mcp_x_deleted'],
    ],
    ['a?c', ['abc', 'a?c', 'a.c'], ['ac', 'abbc', 'a/c']],
    ['?', ['a', '.', '\u{1f600}'], ['', 'ab', '/']],
    ['*?', ['a', 'abc'], ['', 'a/b']],
    ['[abc]x', ['ax', 'cx'], ['dx', 'x', 'abx', '[x']],
    ['[a-c]', ['a', 'b', 'c'], ['d', '-', 'A']],
    ['[!a-c]', ['d', '-', 'z'], ['a', 'b', '', '/']],
    ['[^a]', ['b'], ['a', '/']],
    ['[]]', [']'], ['[', '[]']],
    ['[!]]', ['a', '['], [']', '/']],
    ['[]a]', [']', 'a'], ['b']],
    ['[a-]', ['a', '-'], ['b']],
    ['[-a]', ['a', '-'], ['b']],
    ['[\\]]', [']'], ['\\', '[']],
    ['[a\\-c]', ['a', '-', 'c'], ['b', '\\']],
    ['[*]', ['*'], ['a', '']],
    ['[?]', ['?'], ['a']],
    ['[a/b]', ['a', 'b'], ['/']],
    ['x[+-9]y', ['x5y', 'x-y'], ['x/y']],
    ['[\u{1f600}-\u{1f64f}]', ['\u{1f610}'], ['\u{1f680}', '\ud83d', 'a']],
    ['[a-\uffff]', ['z', '\uffff'], ['\u{1f600}', 'A']],
    ['\\*', ['*'], ['a', '\\*', '']],
    ['\\**', ['*', '*a'], ['a', '']],
    ['a\\{b\\}', ['a{b}'], ['ab']],
    ['\\a', ['a'], ['\\a']],
    ['a\\/b', ['a/b'], ['a\\/b', 'ab']],
    ['{a,b}', ['a', 'b'], ['', 'ab', '{a,b}', 'c']],
    ['{a,}', ['a', ''], [',', 'b']],
    ['x{,y}', ['x', 'xy'], ['y', 'x,']],
    ['{a}', ['a'], ['{a}']],
    ['{}', [''], ['{}', 'a']],
    ['{a,{b,c}d}e', ['ae', 'bde', 'cde'], ['be', 'de', 'ce']],
    ['{a,b}{c,d}', ['ac', 'bd'], ['ab', 'cd']],
    ['{a\\,b,c}', ['a,b', 'c'], ['a', 'b']],
    ['a,b', ['a,b'], ['a', 'b']],
    ['**/*.{ts,tsx}', ['a.ts', 'x/a.tsx', '/ws/x/a.ts'], ['a.js', 'a.ts/x', 'ts']],
    ['{docs,src/**}/a', ['docs/a', 'src/a', 'src/x/y/a'], ['a', 'docs/x/a']],
    ['**', ['', 'a', 'a/b/c', '/', '.env'], []],
    ['**/**', ['', 'a', 'a/b'], []],
    ['**/.env*', ['.env', '.env.local', 'a/.env', '/ws/a/.envrc'], ['env', 'a.env', '.env/a', 'a/x.env']],
    [
      'docs/**',
      ['docs', 'docs/a', 'docs/a/b', 'docs/'],
      ['docs2', 'docs2/a', 'x/docs/a', 'doc', '/docs/a', 'docs../a'],
    ],
    ['docs/*', ['docs/a', 'docs/'], ['docs', 'docs/a/b', 'docsx/a']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b', 'a/b/b'], ['a/bb', 'ab', 'a/b/c', 'xa/b']],
    ['a/**/b/**/c', ['a/b/c', 'a/x/b/y/c', 'a/b/b/c/c'], ['a/c', 'a/b', 'a/c/b']],
    ['**/a/**', ['a', 'a/b', 'x/a/y'], ['b', 'aa/b', 'x/ab']],
    ['/ws/**', ['/ws', '/ws/a'], ['ws/a', '/ws2/a', '/wsx']],
    ['rm **', ['rm ', 'rm a', 'rm a/b/c', 'rm -rf /'], ['rm', 'xrm a', 'rmdir a']],
    ['**.env', ['.env', 'x.env', 'a/b/x.env'], ['.envx', 'a/.env/b']],
    ['a**b', ['ab', 'axb', 'a/b', 'ax/y/zb'], ['a', 'ba', 'a/bc']],
    ['***', ['a', 'a/b'], []],
    ['**?', ['a', 'a/b'], ['', 'a/']],
  ])('%s', (pattern, hits, misses) => {
    for (const text of hits) expect(matches(pattern, text), `${pattern} on ${JSON.stringify(text)}`).toBe(true)
    for (const text of misses) expect(matches(pattern, text), `${pattern} on ${JSON.stringify(text)}`).toBe(false)
  })

  test('text is taken as it is: nothing is trimmed, decoded, folded or normalised', () => {
    expect(matches('caf\u00e9', 'cafe\u0301')).toBe(false)
    expect(matches('a', ' a')).toBe(false)
    expect(matches('a b', 'a%20b')).toBe(false)
    expect(matches('src/**', 'docs/../src/x')).toBe(false)
    expect(matches('a', 'a\0')).toBe(false)
    expect(matches('a*', 'a\nb')).toBe(true)
  })

  test('names of prototype members are ordinary texts', () => {
    for (const text of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect(matches(text, text)).toBe(true)
      expect(matches('{a,b}', text)).toBe(false)
      expect(name(text, text)).toBe(true)
      expect(name('{a,b}', text)).toBe(false)
    }
  })
})

describe('a name glob knows no segments', () => {
  test('every star spans everything, also a slash', () => {
    expect(name('org*', 'org/team/ana')).toBe(true)
    expect(name('*', 'a/b')).toBe(true)
    expect(name('**', '')).toBe(true)
    expect(name('a**b', 'a/x/b')).toBe(true)
    expect(name('a?b', 'a/b')).toBe(true)
    expect(name('a/b', 'a/b')).toBe(true)
    expect(name('org/*', 'organisation/x')).toBe(false)
    expect(name('a*b', 'a/bc')).toBe(false)
  })
})

describe('what a pattern says about everything below a folder', () => {
  test.each<[pattern: string, folder: string[], covers: boolean, concerns: boolean]>([
    ['**', [], true, true],
    ['**', ['a', 'b'], true, true],
    ['*', [], false, true],
    ['*', ['a'], false, false],
    ['secret/**', ['secret'], true, true],
    ['secret/**', ['secret', 'x'], true, true],
    ['secret/**', [], false, true],
    ['secret/**', ['public'], false, false],
    ['secret', ['secret'], false, false],
    ['secret/*', ['secret'], false, true],
    ['secret/*', ['secret', 'x'], false, false],
    ['**/.env*', [], false, true],
    ['**/.env*', ['a'], false, true],
    ['**/secret/**', ['a', 'secret'], true, true],
    ['**/secret/**', ['a'], false, true],
    ['a/**/b', ['a', 'x'], false, true],
    ['a/**/b', ['c'], false, false],
    ['/ws/**', ['', 'ws', 'x'], true, true],
    ['/ws/**', ['ws'], false, false],
    ['{x,secret/**}', ['secret'], true, true],
    ['a/{b,c}/d', ['a'], false, true],
    ['a/{b,c}/d', ['a', 'x'], false, false],
  ])('%s below %j', (pattern, folder, covers, concerns) => {
    expect(glob(pattern).coversBelow(folder)).toBe(covers)
    expect(glob(pattern).concernsBelow(folder)).toBe(concerns)
  })

  test('covering and concerning agree with matching, on random patterns and paths', () => {
    const part = fc.constantFrom('a', 'b', 'ab', '.x')
    const piece = fc.constantFrom('a', 'b', '*', '**', 'a*', '?', '[ab]', '.x')
    const folders = fc.array(part, { maxLength: 3 })
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 4 }),
        folders,
        fc.array(part, { minLength: 1, maxLength: 3 }),
        (pieces, folder, below) => {
          const compiled = glob(pieces.join('/'))
          const hit = compiled.matches([...folder, ...below].join('/'))
          if (compiled.coversBelow(folder)) expect(hit).toBe(true)
          if (!compiled.concernsBelow(folder)) expect(hit).toBe(false)
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

/** The slow and obvious way: every wildcard tries every length. */
function reference(pattern: readonly string[], text: string): boolean {
  const [head, ...rest] = pattern
  if (head === undefined) return text === ''
  if (head === '*' || head === '**') {
    for (let length = 0; length <= text.length; length++) {
      if (head === '*' && text.slice(0, length).includes('/')) return false
      if (reference(rest, text.slice(length))) return true
    }
    return false
  }
  if (text === '') return false
  const first = text[0] ?? ''
  const fits =
    head === '?'
      ? first !== '/'
      : head === '[ab]'
        ? 'ab'.includes(first)
        : head === '[!a]'
          ? first !== 'a' && first !== '/'
          : head === first
  return fits && reference(rest, text.slice(1))
}

describe('against a slow reference', () => {
  const texts = fc.array(fc.constantFrom('a', 'b', 'c', '/'), { maxLength: 9 }).map((parts) => parts.join(''))

  test('stars, questions and sets agree on random patterns and texts', () => {
    const patterns = fc.array(fc.constantFrom('a', 'b', '/', '*', '?', '[ab]', '[!a]'), { minLength: 1, maxLength: 8 })
    const noDouble = patterns.filter((parts) => !parts.join('').includes('**'))
    fc.assert(
      fc.property(noDouble, texts, (parts, text) => {
        expect(matches(parts.join(''), text), `${parts.join('')} on ${text}`).toBe(reference(parts, text))
      }),
      { numRuns: 5_000 },
    )
  })

  test('a `**` beside other characters spans whatever stands between', () => {
    const patterns = fc.array(fc.constantFrom('a', 'b', 'c', '*', 'x**y'), { minLength: 1, maxLength: 4 })
    const spread = patterns.map((parts) => parts.flatMap((part) => (part === 'x**y' ? ['a', '**', 'b'] : part)))
    fc.assert(
      fc.property(
        spread.filter((parts) => !parts.join('').includes('***')),
        texts,
        (parts, text) => {
          if (parts.join('').replaceAll('a**b', '').includes('**')) return
          expect(matches(parts.join(''), text), `${parts.join('')} on ${text}`).toBe(reference(parts, text))
        },
      ),
      { numRuns: 3_000 },
    )
  })

  test('a quoted text matches itself and nothing else', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 40 }), fc.string({ maxLength: 40 }), (text, other) => {
        const quoted = [...text].map((char) => (char === '/' ? '/' : `\\${char}`)).join('')
        expect(matches(quoted, text)).toBe(true)
        expect(matches(quoted, other)).toBe(other === text)
        expect(name(quoted, text)).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })

  test('no text makes compiling or matching throw', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.string({ unit: 'binary', maxLength: 60 }),
        (pattern, text) => {
          const compiled = compileGlob(pattern)
          if (compiled.kind === 'ok') expect(typeof compiled.matches(text)).toBe('boolean')
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

describe('no pair of pattern and text blows up', () => {
  const long = 'a'.repeat(4_096)
  const deep = 'a/'.repeat(2_048)

  test.each<[pattern: string, text: string]>([
    [`${'*a'.repeat(500)}*b`, long],
    [`${'*a*b'.repeat(200)}c`, long],
    [`${'*?a'.repeat(300)}b`, long],
    [`${'[ab]*'.repeat(200)}c`, long],
    [`${'**/'.repeat(300)}x`, deep],
    [`${'**/a/'.repeat(200)}x`, deep],
    [`${'**/*a/'.repeat(150)}x`, deep],
    [`${'**/?/'.repeat(200)}x/x`, deep],
    [`${'*/'.repeat(500)}x`, deep],
    [`{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}${'*a'.repeat(20)}b`, long],
    [`${'a**'.repeat(6)}b`, long],
    [`${'a**'.repeat(6)}b`, deep],
    [`${'{'.repeat(500)}a${'}'.repeat(500)}`, long],
    [`**/*${'a'.repeat(900)}b`, long],
  ])('pair %#', (pattern, text) => {
    expect(matches(pattern, text)).toBe(false)
    expect(glob(pattern).concernsBelow(text.split('/'))).toBeTypeOf('boolean')
  })

  test('a megabyte of text against stars and sets ends', () => {
    expect(matches('*a?a*a?a*b', 'a'.repeat(1_000_000))).toBe(false)
    expect(matches('**/*a*b*/**/c', 'ab/'.repeat(300_000))).toBe(false)
  })
})
