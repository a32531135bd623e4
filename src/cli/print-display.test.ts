import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Display } from '../describe/content.ts'
import type { CliIo } from './cli-io.ts'
import { printDisplay } from './print-display.ts'
import { Terminal } from './terminal.ts'

function printed(display: Display, isTTY = false): string {
  const streams = { stdout: Object.assign(new PassThrough(), { isTTY }), stderr: new PassThrough() }
  const io = { ...streams, variables: {} } as unknown as CliIo
  printDisplay(new Terminal(io, { json: false }), display)
  return [streams.stdout, streams.stderr].map((stream) => String(stream.read() ?? '')).join('')
}

test('a table stands in columns, and says how many rows there are', () => {
  const text = printed({
    kind: 'table',
    columns: ['id', 'name'],
    rows: [
      ['1', 'a\nb'],
      ['22', 'x'.repeat(80)],
    ],
    total: 5,
  })
  expect(text).toBe(`id  name\n--  ${'-'.repeat(61)}\n1   a b\n22  ${'x'.repeat(60)}…\n2 of 5 rows\n`)
})

test('output of a program has its colours on a terminal and nowhere else', () => {
  const display: Display = { kind: 'terminal', text: '\u001b[31mred\u001b[0m\u202e\u001b]0;title\u0007' }
  expect(printed(display)).toBe('red\\u{202e}\n')
  expect(printed(display, true)).toBe('\u001b[31mred\u001b[0m\\u{202e}\u001b[0m\n')
})

test('a change of a file is coloured by line', () => {
  const display: Display = { kind: 'diff', path: 'a', text: '@@ -1 +1 @@\n-a\n+b\n c' }
  expect(printed(display)).toBe('@@ -1 +1 @@\n-a\n+b\n c\n')
  expect(printed(display, true)).toContain('\u001b[32m+b\u001b[39m')
})
