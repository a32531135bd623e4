import { describe, expect, test } from 'vitest'
import type { CheckedInput } from '../../describe/call.ts'
import { readTouches } from '../../describe/resource.ts'
import { LaneClaim } from './lane-claim.ts'
import { LaneQueue } from './lane-queue.ts'

const claim = (texts: readonly string[], roots: readonly string[] = ['/ws']): LaneClaim =>
  new LaneClaim({}, { effect: 'read', touches: readTouches(texts) } as CheckedInput, roots)

/** Whether the one that comes second has to wait. */
function claimsMeet(first: LaneClaim, second: LaneClaim): boolean {
  const queue = new LaneQueue('without-barriers')
  queue.enter(first, () => {})
  return queue.enter(second, () => {}).before > 0
}
const meet = (one: string, other: string): boolean => {
  const forth = claimsMeet(claim([one]), claim([other]))
  expect(claimsMeet(claim([other]), claim([one]))).toBe(forth)
  return forth
}

describe('which touches exclude each other', () => {
  test('two reads never do, and connecting counts as reading', () => {
    expect(meet('read file:/ws/a', 'read file:/ws/a')).toBe(false)
    expect(meet('read file:/ws/*', 'read file:/ws/a')).toBe(false)
    expect(meet('connect host:api.example.com', 'connect host:api.example.com')).toBe(false)
  })

  test('whatever is neither reading nor connecting writes', () => {
    for (const verb of ['write', 'delete', 'append', 'lock']) {
      expect(meet(`${verb} item:7`, 'read item:7')).toBe(true)
      expect(meet(`${verb} item:7`, `${verb} item:7`)).toBe(true)
      expect(meet(`${verb} item:7`, 'read item:70')).toBe(false)
    }
  })

  test.each([
    ['write file:/ws/a', 'read file:/ws/a', true],
    ['write file:/ws/a', 'read file:/ws/ab', false],
    ['write file:/ws/a', 'read file:/ws/b', false],
    // A folder that is named like a file may be one by the time the call runs.
    ['write file:/ws/a', 'read file:/ws/a/b', true],
    ['write file:/ws/a/b', 'read file:/ws/a', true],
    ['write file:/ws/a/*', 'read file:/ws/a', true],
    ['write file:/ws/a/*', 'read file:/ws/ab/c', false],
    ['read file:/ws/*', 'write file:/ws/a/b/c', true],
    ['read file:/ws/docs/*', 'write file:/ws/src/x', false],
    ['write file:/*', 'read file:/ws/a', true],
    ['write file:*', 'read file:/ws/a', true],
    // A star in a name is a letter of it.
    ['write file:/ws/a*', 'read file:/ws/ab', false],
    ['write file:/ws/a*/.', 'read file:/ws/a*', true],
    ['write file:/ws/a*/.', 'read file:/ws/ab', false],
    ['write file:/ws/.', 'read file:/ws/a', true],
    ['write file:/ws/a/', 'read file:/ws/a', true],
    ['write file:C:/ws/a', 'read file:C:/ws/b', false],
    ['write file:C:/ws/a', 'read file:C:/ws/a', true],
  ])('%s and %s: %s', (one, other, expected) => {
    expect(meet(one, other)).toBe(expected)
  })

  test.each([
    ['write file:/ws/x/../a', 'read file:/other/b'],
    ['write file:/ws//a', 'read file:/ws/b'],
    ['write file:../a', 'read file:/ws/b'],
    ['write file:./a', 'read file:/ws/b'],
  ])('a path whose letters do not tell what it is may be any file: %s', (one, other) => {
    expect(meet(one, other)).toBe(true)
    expect(meet(one, 'read item:1')).toBe(false)
  })

  test('a file that is named without a leading slash counts from every root', () => {
    expect(meet('write file:docs/a', 'read file:/ws/docs/a')).toBe(true)
    expect(meet('write file:docs/a', 'read file:/ws/docs/b')).toBe(false)
    expect(meet('write file:docs/*', 'read file:/ws/docs/b')).toBe(true)
    expect(meet('write file:.', 'read file:/ws/docs/b')).toBe(true)
    const two = ['/one', '/two']
    for (const root of two)
      expect(claimsMeet(claim(['write file:a'], two), claim([`read file:${root}/a`], two))).toBe(true)
    expect(claimsMeet(claim(['write file:a'], []), claim(['read file:a'], []))).toBe(true)
    expect(claimsMeet(claim(['write file:a'], []), claim(['read file:b'], []))).toBe(false)
  })

  test.each([
    ['write repo:*', 'read repo:main/x', true],
    ['write repo:main/*', 'read repo:main', true],
    ['write repo:main/*', 'read repo:mainline', false],
    ['write repo:ma*', 'read repo:main', true],
    ['write repo:main', 'read repo:main/x', true],
    ['write repo:main', 'read table:main', false],
    ['write item:constructor', 'read item:__proto__', false],
  ])('other kinds: %s and %s: %s', (one, other, expected) => {
    expect(meet(one, other)).toBe(expected)
  })

  test('of a name of very many parts the beginning is kept, and all that it met is still met', () => {
    const deep = 'a/'.repeat(400_000)
    for (const kind of ['item:', 'file:/', 'file:']) {
      expect(claim([`write ${kind}${deep}b`]).keys.writes[0]?.length).toBeLessThanOrEqual(258)
      expect(meet(`write ${kind}${deep}b`, `read ${kind}a`)).toBe(true)
      expect(meet(`write ${kind}${deep}b`, `read ${kind}${deep}b`)).toBe(true)
      expect(meet(`write ${kind}${deep}b`, `read ${kind}b`)).toBe(false)
    }
  })

  test('of very many keys what they have in common is kept, and each of them is still met', () => {
    const many = Array.from({ length: 999 }, (_, index) => `write file:/ws/deep/${index}`)
    const coarse = claim([...many, 'write item:1'])
    expect(coarse.keys.writes).toHaveLength(2)
    for (const text of ['read file:/ws/deep/998', 'read file:/ws', 'read item:1'])
      expect(claimsMeet(coarse, claim([text]))).toBe(true)
    expect(claimsMeet(coarse, claim(['read file:/ws/other']))).toBe(false)
    const kinds = Array.from({ length: 100 }, (_, index) => `write kind${index}:x`)
    for (const text of ['read kind0:x', 'read kind99:x', 'read other:y'])
      expect(claimsMeet(claim(kinds), claim([text]))).toBe(true)
  })
})
