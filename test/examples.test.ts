// Goal: what the documents show can be copied and works. Method: run the example, and hold the text of the document against it.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cache, commands, guards, jobs, keys, lanes, nested, workers } from '../examples/execution/execution.ts'
import { embed } from '../examples/library/embed.ts'
import { machineAbilities } from '../src/machine/probe-machine.ts'

const boxed = (await machineAbilities()).sandbox.kind === 'ready'
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockgate-example-'))
  writeFileSync(join(folder, '.env'), 'KEY=secret')
  writeFileSync(join(folder, 'notes.txt'), 'one\ntwo\n')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('examples/library', () => {
  test('the embedded gate answers, refuses, asks, and runs what was approved', async () => {
    const lines: string[] = []
    await embed(folder, (line) => lines.push(line))
    expect(lines).toEqual([
      'tools that only read: find_files, list_dir, read_artifact, read_file, read_invoice, search_text',
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

describe('examples/execution', () => {
  const printed = async (example: (print: (line: string) => void) => Promise<void>): Promise<readonly string[]> => {
    const lines: string[] = []
    await example((line) => lines.push(line))
    return lines
  }

  test('reads beside each other, writes in their order', async () => {
    expect(await printed(lanes)).toEqual(['1.1, 2.1, 1.2, 1.2', 'at most 2 at once'])
  })

  test('guards in their order, and another try for what certainly did nothing', async () => {
    const [order = '', ...tries] = await printed(guards)
    const names = order.split(' → ')
    expect(names[0]).toBe('deadline')
    expect(names.at(-1)).toBe('settle')
    expect(names.indexOf('retry')).toBeLessThan(names.findIndex((name) => name.includes('say')))
    expect(tries).toEqual(['try 1: unavailable', 'try 2: unavailable', 'try 3: ok', 'ok after 3 tries'])
  })

  test('one key, one mail', async () => {
    expect(await printed(keys)).toEqual([
      'mail 1, then mail 1, sent 1',
      'replayed: true, tries 0',
      'key_conflict, effect none',
    ])
  })

  test('kept until something touches the same', async () => {
    expect(await printed(cache)).toEqual(['3', '3, kept', '4'])
  })

  test('a worker calculates, and an endless one ends', async () => {
    expect(await printed(workers)).toEqual(['[2,2,2,2,3,3,5,7] in a worker', 'timeout, effect none'])
  })

  test('programs without a shell', async () => {
    expect(await printed((print) => commands(folder, print))).toEqual([
      // Where nothing can hide the denied file from a program of which no grammar says what it reads, it does not run.
      boxed
        ? 'count_lines: 2 notes.txt'
        : expect.stringMatching(/^count_lines: `wc` would look at files that you may not see/),
      'ls: ok',
      'cat .env: permission_denied',
      'cat ../x: unsafe_args',
      'rm: permission_denied',
      'a pipe: unsafe_args',
      'too long: timeout',
    ])
  }, 20_000)

  test('a job goes on after its call, for its session alone', async () => {
    expect(await printed((print) => jobs(folder, print))).toEqual([
      'a second one: busy',
      'its output: ok',
      'for somebody else: tool_error',
      'stopped: ok',
    ])
  })

  test('a call inside a call', async () => {
    expect(await printed(nested)).toEqual(['half way', '{"value":12,"parent":true}'])
  })

  test('docs/execution.md shows this very example', () => {
    const example = read('../examples/execution/execution.ts')
    const shown = [...read('../docs/execution.md').matchAll(/```ts\n(.*?)```/gs)].map((match) => match[1] ?? '')
    expect(shown.length).toBeGreaterThan(5)
    for (const code of shown) expect(example).toContain(code)
  })
})

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}
