// Goal: a diff is true. Method: applying it to the first text gives the second one, for chosen and for random texts.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { unifiedDiff } from './unified-diff.ts'

/** Applies a unified diff; throws where a line that it names is not there. */
function applied(before: string, diff: string): string {
  if (diff === '') return before
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? []
  let at = 0
  let after = ''
  const lines = diff.split('\n')
  for (const [index, line] of lines.entries()) {
    const head = /^@@ -(\d+)(?:,(\d+))? /.exec(line)
    if (head !== null) {
      const start = Number(head[1]) - (head[2] === '0' ? 0 : 1)
      after += old.slice(at, start).join('')
      at = start
      continue
    }
    if (line.startsWith('\\')) continue
    const text = `${line.slice(1)}${lines[index + 1]?.startsWith('\\') ? '' : '\n'}`
    if (!line.startsWith('+')) {
      if (old[at] !== text) throw new Error(`no such line: ${JSON.stringify(text)}`)
      at += 1
    }
    if (!line.startsWith('-')) after += text
  }
  return after + old.slice(at).join('')
}

describe('a unified diff', () => {
  test('shows three lines around each change', () => {
    const before = 'abcdefghijklmnopqrst'.split('').join('\n')
    const after = before.replace('d', 'D').replace('r', 'R\nnew')
    expect(unifiedDiff(`${before}\n`, `${after}\n`)).toBe(
      '@@ -1,7 +1,7 @@\n a\n b\n c\n-d\n+D\n e\n f\n g\n@@ -15,6 +15,7 @@\n o\n p\n q\n-r\n+R\n+new\n s\n t',
    )
  })

  test.each([
    ['a file that is new', '', 'a\nb\n', '@@ -0,0 +1,2 @@\n+a\n+b'],
    ['a file that is emptied', 'a\n', '', '@@ -1 +0,0 @@\n-a'],
    ['a line feed that is gone', 'a\n', 'a', '@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file'],
    ['nothing', 'a\n', 'a\n', ''],
  ])('of %s', (_name, before, after, diff) => expect(unifiedDiff(before, after)).toBe(diff))

  test('leads from one text to the other', () => {
    const text = fc
      .array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'd'), { maxLength: 40 })
      .map((lines) => lines.join(''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(applied(before, unifiedDiff(before, after))).toBe(after)
      }),
      { numRuns: 1_000 },
    )
  })

  test('of two large texts that have nothing in common is still one', () => {
    const [before, after] = ['a', 'b'].map((name) =>
      Array.from({ length: 5_000 }, (_, at) => `${name}${at}\n`).join(''),
    )
    expect(applied(before ?? '', unifiedDiff(before ?? '', after ?? ''))).toBe(after)
  })
})
