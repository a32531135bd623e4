// Goal: the documents speak of the code as it is. Method: hold their lists against the tables in the code, in both directions:
// stages and error types, invariants, configuration keys, commands and their options, exported names.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { isJsonObject, type JsonValue } from '../src/base/json-value.ts'
import { COMMANDS, COMMON_OPTIONS } from '../src/cli/command-table.ts'
import { ERROR_TYPES } from '../src/describe/error-types.ts'
import { NEEDS } from '../src/server/admin-needs.ts'
import { configuration } from '../src/server/config/config-shape.ts'
import { EVENT_KINDS } from '../src/server/events-row.ts'
import { migrate } from '../src/stores/migrations.ts'
import { findDriver } from '../src/stores/sqlite-driver.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** What stands in backticks, blocks of code left out. */
const quoted = (text: string): readonly string[] =>
  [...text.replace(/^```.*?^```$/gms, '').matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '')
const words = (text: string): ReadonlySet<string> =>
  new Set(quoted(text).flatMap((part) => part.split(/[^A-Za-z0-9_-]+/)))
const linksOf = (text: string): readonly string[] =>
  [...text.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map((match) => match[1] ?? '')
const tableRows = (text: string): readonly string[] => [...text.matchAll(/^\|.*$/gm)].map(([line]) => line)

const product = sources(join(root, 'src')).map((path) => ({ text: readFileSync(path, 'utf8') }))

describe('docs/lifecycle.md', () => {
  const page = read('docs/lifecycle.md')

  test('has a section for each stage that test/lifecycle.test.ts describes, in the same order', () => {
    const stages = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1])
    expect(stages(page, /^## ([①②③④⑤⑥].*)$/gm)).toEqual(
      stages(read('test/lifecycle.test.ts'), /^describe\('([①②③④⑤⑥][^']*)'/gm),
    )
  })

  test('names every error type, and no type that does not exist', () => {
    const named = (text: string) => quoted(text).filter((part) => /^[a-z_]+$/.test(part))
    const ends = tableRows(page).map((line) => line.split('|')[2] ?? '')
    expect(named(ends.join(' ')).filter((name) => !Object.hasOwn(ERROR_TYPES, name))).toEqual([])
    expect(Object.keys(ERROR_TYPES).filter((type) => !named(page).includes(type))).toEqual([])
  })
})

describe('docs/architecture.md', () => {
  const page = read('docs/architecture.md')
  const rows = tableRows(page.slice(page.indexOf('## Invariants'))).slice(2)

  test('lists the invariants that the code names, each with files that keep it and files that test it', () => {
    const named = new Set(
      product.flatMap(({ text }) => [...text.matchAll(/INVARIANT ([a-z-]+):/g)].map((match) => match[1] ?? '')),
    )
    expect(rows.map((line) => quoted(line)[0] ?? '').sort()).toEqual([...named].sort())
    const wrong = rows.flatMap((line) => {
      const [name = ''] = quoted(line)
      const titles = new RegExp(`(test|it|describe)(\\.\\w+)?\\(\\s*['"\`]${name}\\b`)
      const [, , , kept = '', tested = ''] = line.split('|')
      return [
        ...linksOf(kept).filter((path) => !read(path).includes(`INVARIANT ${name}:`)),
        ...linksOf(tested).filter((path) => !titles.test(read(path))),
        ...(linksOf(kept).length === 0 ? [`${name}: kept nowhere`] : []),
      ]
    })
    expect(wrong).toEqual([])
  })

  test('lists every folder of src', () => {
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(folders.map(({ name }) => `src/${name}/`).filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })
})

describe('docs/threat-model.md', () => {
  const page = read('docs/threat-model.md')

  test('names for each invariant tests that there are', () => {
    const rows = tableRows(page.slice(page.indexOf('## The invariants'))).slice(2)
    const named = rows.flatMap((line) => [...line.matchAll(/((?:"[^"]+"(?:, )?)+) in \[[^\]]+\]\(\.\.\/([^)]+)\)/g)])
    expect(rows.map((line) => quoted(line)[0])).toContain('one-gate')
    expect(named.length).toBeGreaterThanOrEqual(rows.length - 1)
    const wrong = named.flatMap(([, titles = '', path = '']) =>
      [...titles.matchAll(/"([^"]+)"/g)]
        .map((match) => match[1] ?? '')
        .filter((title) => !read(path).includes(title))
        .map((title) => `${path}: ${title}`),
    )
    expect(wrong).toEqual([])
  })
})

describe('docs/configuration.md', () => {
  test('has every key that the configuration takes', () => {
    const known = words(`${read('docs/configuration.md')}\n${read('docs/policy.md')}`)
    expect(keysOf(configuration.schema).filter((key) => !known.has(key))).toEqual([])
  })
})

describe('docs/records.md', () => {
  test('has every table and every column of the database in their order, and none that is not there', async () => {
    const page = read('docs/records.md')
    const block = /^```sql\n(records .*?)^```/ms.exec(page)?.[1] ?? ''
    const said = [...block.matchAll(/^(\w+) +\(([^)]*)\)/gm)].map(([, table, columns = '']) => [
      table,
      columns.split(',').map((column) => column.trim()),
    ])
    const found = await findDriver()
    if (found.kind === 'failed') throw new Error(found.reason)
    const database = found.driver.open(':memory:')
    migrate(database)
    const namesIn = (sql: string) => [...database.prepare(sql).all([])].map(({ name }) => String(name))
    const tables = namesIn(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    const there = tables.map((table) => [table, namesIn(`PRAGMA table_info(${table})`)] as const)
    const example = /^```sql\n(SELECT .*?;)\n```/ms.exec(page)?.[1] ?? ''
    expect(database.prepare(example).all([])).toEqual([])
    database.close()
    expect(Object.fromEntries(said)).toEqual(Object.fromEntries(there))
  })
})

describe('docs/mcp.md', () => {
  const page = read('docs/mcp.md')
  const rows = tableRows(page.slice(page.indexOf('## Admin API'))).slice(2)

  test('has every route with the scopes that it needs, and no route that does not exist', () => {
    const needed = Object.entries(NEEDS).filter(([route]) => route !== 'GET /api/tools?all')
    const said = rows.flatMap((line) => {
      const [, routes = '', scopes = ''] = line.split('|')
      return quoted(routes).map((route) => [route, scopes] as const)
    })
    expect(said.map(([route]) => route).sort()).toEqual(needed.map(([route]) => route).sort())
    const words = new Map(said)
    const lacking = needed.filter(([route, scopes]) => {
      const text = words.get(route) ?? ''
      return !(text.trim() === 'any' || scopes.every((scope) => quoted(text).includes(scope)))
    })
    expect(lacking).toEqual([])
  })

  test('names every kind of event', () => {
    const row = rows.find((line) => line.includes('/api/events')) ?? ''
    expect(EVENT_KINDS.filter((kind) => !quoted(row).includes(kind))).toEqual([])
  })
})

describe('docs/cli.md', () => {
  const page = read('docs/cli.md')

  test('has every command and every option, and no command that does not exist', () => {
    const known = words(page)
    const options = COMMANDS.flatMap((command) => Object.keys(command.options)).concat(Object.keys(COMMON_OPTIONS))
    const missing = options.filter((name) => name !== 'number' && !known.has(`--${name}`) && !known.has(name))
    expect([...COMMANDS.map(({ name }) => name), ...missing].filter((name) => !known.has(name))).toEqual([])
    const rows = tableRows(page.slice(page.indexOf('## Commands'))).slice(2)
    const named = rows.map((line) => /`([a-z]+)/.exec(line)?.[1] ?? '')
    expect(named.filter((name) => !COMMANDS.some((command) => command.name === name))).toEqual([])
  })
})

function sources(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sources(path)
    return path.endsWith('.ts') && !path.endsWith('.test.ts') ? [path] : []
  })
}

/** Every property that a JSON Schema names, however deep. */
function keysOf(schema: JsonValue): readonly string[] {
  if (Array.isArray(schema)) return [...new Set(schema.flatMap(keysOf))]
  if (!isJsonObject(schema)) return []
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : []
  const below = Object.entries(schema).flatMap(([key, value]) =>
    key === 'properties' || value === undefined ? [] : keysOf(value),
  )
  return [...new Set([...properties.flatMap(([key, value]) => [key, ...keysOf(value ?? null)]), ...below])]
}
