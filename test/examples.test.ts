// Goal: what the documents show can be copied and works. Method: run the example, and hold the text of the document against it.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { embed } from '../examples/library/embed.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockgate-example-'))
  writeFileSync(join(folder, '.env'), 'KEY=secret')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('examples/library', () => {
  test('the embedded gate answers, refuses, asks, and runs what was approved', async () => {
    const lines: string[] = []
    await embed(folder, (line) => lines.push(line))
    expect(lines).toEqual([
      'tools that only read: find_files, list_dir, read_file, read_invoice, search_text',
      'total 120',
      'read_invoice: tool_error, effect none',
      'read_file: permission_denied, effect none',
      'read_file: unsafe_args, effect none',
      'write_file: approval_required, effect none',
      'write_file: ok',
    ])
    expect(readFileSync(join(folder, 'note.txt'), 'utf8')).toBe('done')
  })

  test('docs/library.md shows this very example', () => {
    const example = read('../examples/library/embed.ts').replace("'../../src/index.ts'", "'lockgate'")
    const shown = [...read('../docs/library.md').matchAll(/```ts\n(.*?)```/gs)].map((match) => match[1] ?? '')
    expect(shown.filter((code) => code.includes('createGate(')).length).toBeGreaterThan(0)
    for (const code of shown) for (const line of code.split('\n')) expect(example.split('\n')).toContain(line)
  })
})

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}
