import { describe, expect, it } from 'vitest'
import { literalSearch, patternSearch } from './line-search.ts'

const find = async (pattern: string, line: string) => {
  const search = await patternSearch(pattern)
  return search.kind === 'ok' ? search.find(line) : `bad: ${search.reason}`
}

describe('a pattern that could hold everything up is refused or runs in linear time', () => {
  it.each([
    ['(a|b)?'.repeat(5_000), 'longer than 512'],
    ['a{1000}'.repeat(70), 'add up'],
    [`(?:${'abcdefghij'.repeat(20)}){900}`, 'too large'],
    ['(?=a)b', 'error parsing'],
    ['(a)\\1', 'error parsing'],
    ['a{0,30}{0,30}{0,30}', ''],
    ['(', 'error parsing'],
    ['', 'empty'],
  ])('%.30s…', async (pattern, reason) => {
    expect(await find(pattern, 'a')).toContain(`bad: `)
    expect(await find(pattern, 'a')).toContain(reason)
  })

  it('nested repetition over a long line without a match comes back', async () => {
    expect(await find('^(a+)+$', `${'a'.repeat(50_000)}b`)).toBeUndefined()
  })

  it('the larger the pattern, the less of one line is searched', async () => {
    const small = await patternSearch('a+b')
    const large = await patternSearch('[a-z]{1000}')
    expect(small.kind === 'ok' && small.lengthMax).toBe(1_000_000)
    expect(large.kind === 'ok' && large.lengthMax < 20_000 && large.lengthMax > 1_000).toBe(true)
  })
})

describe('what is found', () => {
  it.each([
    ['a+b', 'xxaab', 3],
    ['(?i)HELLO', 'say hello', 5],
    ['^$', '', 1],
    ['日本', 'x日本', 2],
    ['z', 'abc', undefined],
  ])('/%s/ in %j is at %s', async (pattern, line, column) => {
    expect(await find(pattern, line)).toBe(column)
  })

  it('a literal text is no pattern and no path', () => {
    const search = literalSearch('../../etc/passwd')
    expect(search.kind === 'ok' && search.find('see ../../etc/passwd')).toBe(5)
    const dots = literalSearch('a.c')
    expect(dots.kind === 'ok' && dots.find('abc')).toBeUndefined()
    expect(dots.kind === 'ok' && dots.mayHold(Buffer.from('abc'))).toBe(false)
  })

  it.each(['a\nb', 'a\r', ''])('a literal text is within one line: %j', (text) => {
    expect(literalSearch(text)).toMatchObject({ kind: 'bad' })
  })
})
