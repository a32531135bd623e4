// Goal: what docs/results.md and docs/audit.md show can be copied and works. Method: run the examples, and hold the text of the
// documents against them.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { asked, erased, verified } from '../examples/audit/audit.ts'
import { artifacts, secrets, shapes, turns } from '../examples/results/results.ts'
import { SHAPE_NAMES } from '../src/observe/redact/secret-shapes.ts'
import { findDriver } from '../src/stores/sqlite-driver.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockgate-example-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

type Print = (line: string) => void

async function printed(example: (print: Print) => Promise<void>): Promise<readonly string[]> {
  const lines: string[] = []
  await example((line) => lines.push(line))
  return lines
}

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}

const shown = (page: string): readonly string[] =>
  [...read(page).matchAll(/```ts\n(.*?)```/gs)].map((match) => match[1] ?? '')

/** What somebody with access to the file can do to it. */
const statement = (sql: string) => async (file: string) => {
  const found = await findDriver()
  if (found.kind !== 'ok') throw new Error(found.reason)
  const database = found.driver.open(file)
  database.exec(sql)
  database.close()
}

describe('examples/results', () => {
  test('5,000 rows for the program, 20 and a cursor for the model, a table for the person', async () => {
    expect(await printed(shapes)).toEqual([
      'program: 5000 rows of 12000, then after=5000',
      'model: 20 rows',
      'model: the cursor, true',
      'person: id, customer, total; 1000 of 12000',
      'cut by presentation, 5000 rows',
    ])
  })

  test('what was cut is read on, queried, handed on, and for nobody else', async () => {
    expect(await printed(artifacts)).toEqual([
      'the last two: true',
      expect.stringMatching(/^the first over 995: \d+, \d+, \d+$/),
      `sum ${Array.from({ length: 5_000 }, (_, index) => ((index * 37) % 900) + 100).reduce((sum, each) => sum + each, 0)}`,
      expect.stringMatching(/^for somebody else: [a-z_]+$/),
    ])
  })

  test('a secret does not leave, and is said to have been there', async () => {
    expect(await printed(secrets)).toEqual([
      '{"url":"https://api.example.com","password":"[redacted:password]","token_count":12}',
      'taken out: password',
    ])
  })

  test('the results of a turn share a budget', async () => {
    expect(await printed(turns)).toEqual(['within the budget: true', 'whole, turn budget, turn budget'])
  })

  test('docs/results.md names every shipped rule of redaction', () => {
    const page = read('../docs/results.md')
    expect(SHAPE_NAMES.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })

  test('docs/results.md shows this very example', () => {
    const example = read('../examples/results/results.ts')
    expect(shown('../docs/results.md').length).toBeGreaterThan(3)
    for (const code of shown('../docs/results.md')) expect(example).toContain(code)
  })
})

describe('examples/audit', () => {
  const CHANGE = "UPDATE records SET at = at + 1 WHERE id = (SELECT min(id) FROM records WHERE kind = 'end')"
  const CUT = 'DELETE FROM records WHERE id = (SELECT max(id) FROM records)'

  test('what is changed or cut afterwards is found', async () => {
    expect(await printed((print) => verified(folder, print, statement(CHANGE)))).toEqual([
      'before: ok',
      expect.stringMatching(/^after: row \d+ of [\w-]+: /),
    ])
    const other = mkdtempSync(join(folder, 'other-'))
    expect(await printed((print) => verified(other, print, statement(CUT)))).toEqual([
      'before: ok',
      expect.stringMatching(/^after: row \d+ of [\w-]+: /),
    ])
    const untouched = mkdtempSync(join(folder, 'third-'))
    expect(await printed((print) => verified(untouched, print, async () => {}))).toEqual(['before: ok', 'after: ok'])
  })

  test('records are asked, and a conversation is replayed', async () => {
    expect(await printed((print) => asked(folder, print))).toEqual([
      'refused: 1',
      '{"to":"ben@example.com"}: allow, today allow',
      '{"to":"eva@example.org"}: deny, today deny',
    ])
  })

  test('a person is erased, and the chain verifies', async () => {
    expect(await printed((print) => erased(folder, print))).toEqual([
      'unreadable: true',
      'of ana: 0',
      'of eva: 1',
      'ok',
    ])
  })

  test('docs/audit.md shows this very example', () => {
    const example = read('../examples/audit/audit.ts')
    expect(shown('../docs/audit.md').length).toBeGreaterThan(2)
    for (const code of shown('../docs/audit.md')) expect(example).toContain(code)
  })
})
