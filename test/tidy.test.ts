// The walls of the house. Goal: what the architecture says of folders, arrows, names and lengths stays true without anybody
// remembering it. Method: read every source file as text, collect its imports, and hold them against the floors.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const source = join(root, 'src')

/** What each room may import besides itself. `gate` stands for the files of the composition root. */
const FLOORS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  machine: ['base'],
  describe: ['base', 'machine'],
  discover: ['base', 'machine', 'describe'],
  authorize: ['base', 'machine', 'describe'],
  execute: ['base', 'machine', 'describe'],
  observe: ['base', 'machine', 'describe', 'discover', 'authorize', 'execute'],
  sources: ['base', 'machine', 'describe'],
  stores: ['base', 'describe', 'observe'],
  'call-tool': ['base', 'machine', 'describe', 'discover', 'authorize', 'execute', 'observe'],
  'call-turn': ['base', 'describe', 'call-tool'],
  gate: [
    'base',
    'machine',
    'describe',
    'discover',
    'authorize',
    'execute',
    'observe',
    'stores',
    'call-tool',
    'call-turn',
  ],
  testing: ['base', 'machine', 'describe', 'discover', 'authorize', 'execute', 'observe', 'stores', 'gate'],
  server: ['base', 'machine', 'describe', 'authorize', 'observe', 'sources', 'gate', 'index'],
  index: ['base', 'describe', 'authorize', 'observe', 'sources', 'stores', 'gate'],
  cli: [
    'base',
    'machine',
    'describe',
    'authorize',
    'observe',
    'sources',
    'stores',
    'gate',
    'index',
    'server',
    'testing',
  ],
}
/** Of a lower floor, `stores` may name only the interface files that it implements. */
const STORE_INTERFACES = ['observe/store.ts', 'describe/before-images.ts', 'describe/caller.ts']
/** The composition root: its shapes stand beside it, what it is made of below it. */
const COMPOSITION = new Set(['gate.ts', 'gate-contract.ts', 'gate', 'policy-desk'])
const DRAWERS = ['utils', 'util', 'common', 'helpers', 'helper', 'shared', 'types', 'misc']
const PACKAGE_ENTRIES = [
  'index.ts',
  'cli/main.ts',
  'testing/index.ts',
  'stores/sqlite-worker.ts',
  'server/config/config-schema.ts',
]

type SourceFile = { readonly path: string; readonly text: string; readonly imports: readonly string[] }

const files: readonly SourceFile[] = list(source)
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(path, 'utf8')
    return {
      path: relative(source, path),
      text,
      imports: importsOf(text)
        .filter((name) => name.startsWith('.'))
        .map((name) => relative(source, resolve(dirname(path), name))),
    }
  })
const product = files.filter(
  ({ path }) => !path.endsWith('.test.ts') && !path.endsWith('.fixture.ts') && !path.includes('conformance'),
)

function list(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? list(join(folder, entry.name)) : [join(folder, entry.name)],
  )
}

function importsOf(text: string): readonly string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '')
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm, '')
}

function roomOf(path: string): string {
  const [first = ''] = path.split('/')
  return COMPOSITION.has(first) ? 'gate' : first.replace(/\.ts$/, '')
}

describe('the floors', () => {
  test('every folder and root file has a floor', () => {
    expect([...new Set(product.map(({ path }) => roomOf(path)))].filter((room) => FLOORS[room] === undefined)).toEqual(
      [],
    )
  })

  test('arrows run only down, and the three middle rooms never import each other', () => {
    const wrong = product.flatMap(({ path, imports }) =>
      imports
        .filter((to) => roomOf(to) !== roomOf(path) && !(FLOORS[roomOf(path)] ?? []).includes(roomOf(to)))
        .map((to) => `${path} -> ${to}`),
    )
    expect(wrong).toEqual([])
  })

  test('stores know the interfaces that they implement and nothing else of the rooms', () => {
    const wrong = product
      .filter(({ path }) => path.startsWith('stores/'))
      .flatMap(({ path, imports }) =>
        imports
          .filter((to) => !['stores', 'base'].includes(roomOf(to)) && !STORE_INTERFACES.includes(to))
          .map((to) => `${path} -> ${to}`),
      )
    expect(wrong).toEqual([])
  })

  test('no import circle, not even of types', () => {
    const graph = new Map(product.map(({ path, imports }) => [path, imports]))
    const state = new Map<string, 'open' | 'done'>()
    const circles: string[] = []
    const visit = (path: string, trail: readonly string[]): void => {
      if (state.get(path) === 'done') return
      if (state.get(path) === 'open') return void circles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '))
      state.set(path, 'open')
      for (const next of graph.get(path) ?? []) visit(next, [...trail, path])
      state.set(path, 'done')
    }
    for (const { path } of product) visit(path, [])
    expect(circles).toEqual([])
  })

  test('every import leads to a file', () => {
    expect(
      files.flatMap(({ path, imports }) =>
        imports.filter((to) => !existsSync(join(source, to))).map((to) => `${path} -> ${to}`),
      ),
    ).toEqual([])
  })
})

describe('one-gate', () => {
  test('one-gate: only the executor opens the run of a tool', () => {
    const openers = product.filter(({ text }) => /\bopenRun\b/.test(text)).map(({ path }) => path)
    expect(openers.sort()).toEqual(['describe/tool-run.ts', 'execute/run-tool.ts'])
    expect(
      product
        .filter(({ text }) => /\bhideRun\b/.test(text))
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['describe/define-tool.ts', 'describe/tool-run.ts'])
  })

  test('one-gate: only the composition root holds an executor', () => {
    expect(
      product
        .filter(({ path, imports }) => imports.includes('execute/executor.ts') && roomOf(path) !== 'execute')
        .map(({ path }) => path),
    ).toEqual(['gate/gate-execution.ts'])
  })
})

describe('names and lengths', () => {
  test('no drawer for odds and ends', () => {
    const drawers = files.filter(({ path }) =>
      path.split('/').some((part) => DRAWERS.includes(part.replace(/\.ts$/, ''))),
    )
    expect(drawers.map(({ path }) => path)).toEqual([])
  })

  test('files are named in kebab-case', () => {
    expect(
      files.map(({ path }) => path).filter((path) => !/^[a-z0-9-]+(\/[a-z0-9-]+)*(\.(test|fixture))?\.ts$/.test(path)),
    ).toEqual([])
  })

  test('no file of the product is longer than 400 lines', () => {
    expect(
      product
        .filter(({ text }) => text.split('\n').length > 400)
        .map(({ path, text }) => `${path}: ${text.split('\n').length}`),
    ).toEqual([])
  })

  test('every file says first what it is for', () => {
    expect(product.filter(({ text }) => !/^(#!.*\n)?\/\/ \S/.test(text)).map(({ path }) => path)).toEqual([])
  })

  test('banned words have a replacement', () => {
    const banned: readonly (readonly [RegExp, string])[] = [
      [/(?<!\.)\b(ctx|cfg|req|opts)\b/, 'context, configuration, request, options'],
      [/\bexport \*/, 'list every name'],
      [/^\s*(export )?(const )?enum \w/m, 'a union of literals'],
      [/:\s*any\b(?!\.)|\bas any\b|<any>/, 'unknown'],
      [/@ts-(ignore|nocheck|expect-error)/, 'a type that holds'],
      [/\b(vi|jest)\.mock\(/, 'a scripted source, a fake clock, a recording store'],
      [/\bTODO\b|\bFIXME\b|\bXXX\b/, 'an issue, or the thing itself'],
    ]
    const found = files.flatMap(({ path, text }) =>
      banned
        .filter(([pattern]) => pattern.test(withoutComments(text)))
        .map(([pattern, instead]) => `${path}: ${pattern} (instead: ${instead})`),
    )
    expect(found).toEqual([])
  })

  test('no class is a Manager or an Impl, no interface has an I before its name', () => {
    const wrong = product.filter(({ text }) =>
      /\b(class|interface|type) (\w*(Manager|Impl)|I[A-Z][a-z]\w*)\b/.test(
        text.replace(/\b(Intent|Intended|IntentDraft|IntentAsk|Input\w*|Infer\w*|Issue\w*)\b/g, ''),
      ),
    )
    expect(wrong.map(({ path }) => path)).toEqual([])
  })
})

describe('nothing dead', () => {
  test('every file is reached from an entry of the package', () => {
    const reached = new Set<string>()
    const visit = (path: string): void => {
      if (reached.has(path)) return
      reached.add(path)
      for (const next of product.find((file) => file.path === path)?.imports ?? []) visit(next)
    }
    for (const entry of PACKAGE_ENTRIES) visit(entry)
    expect(
      product.map(({ path }) => path).filter((path) => !reached.has(path) && !path.startsWith('testing/')),
    ).toEqual([])
  })

  test('every invariant that the code names is the name of a test', () => {
    const named = new Set(
      product.flatMap(({ text }) => [...text.matchAll(/INVARIANT ([a-z-]+):/g)].map((match) => match[1] ?? '')),
    )
    const tests = [
      ...files.filter(({ path }) => path.endsWith('.test.ts')).map(({ text }) => text),
      ...list(join(root, 'test'))
        .filter((path) => path.endsWith('.ts'))
        .map((path) => readFileSync(path, 'utf8')),
    ].join('\n')
    expect(
      [...named].filter((name) => !new RegExp(`(test|it|describe)(\\.\\w+)?\\(\\s*['"\`]${name}\\b`).test(tests)),
    ).toEqual([])
  })

  test('every link between documents leads somewhere', () => {
    const documents = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
      .map((name) => join(root, name))
      .concat(list(join(root, 'docs')))
      .filter((path) => path.endsWith('.md') && existsSync(path))
    const dead = documents.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
        .map((match) => resolve(dirname(path), match[1] ?? ''))
        .filter((target) => !existsSync(target))
        .map((target) => `${relative(root, path)} -> ${relative(root, target)}`),
    )
    expect(dead).toEqual([])
  })

  test('no path of one machine and no host of a package registry stands in the project', () => {
    const texts = [
      ...product.map(({ path }) => join(source, path)),
      ...list(join(root, 'docs')),
      join(root, 'README.md'),
      join(root, 'package-lock.json'),
      join(root, 'package.json'),
    ]
    const wrong = texts.filter(
      (path) =>
        existsSync(path) &&
        statSync(path).isFile() &&
        /"resolved":|registry\.npmjs|(^|[\s'"`(])\/(root|home\/[a-z]+)\//m.test(readFileSync(path, 'utf8')),
    )
    expect(wrong.map((path) => relative(root, path))).toEqual([])
  })
})
