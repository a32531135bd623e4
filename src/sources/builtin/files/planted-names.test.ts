import * as fs from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FileFixture } from './file-tools.fixture.ts'

let files: FileFixture

beforeEach(async () => {
  files = await new FileFixture().start()
  files.put('src/a.ts', 'hello')
})
afterEach(() => files.close())

const move = (from: string, to: string) => files.call('move_file', { from, to })
const write = (path: string) => files.call('write_file', { path, content: 'x' })

describe('own-files: no tool puts something where an own file would stand', () => {
  beforeEach(() => {
    files.own.push(files.path('conf/deep/tokens.json'))
    files.put('q/deep/tokens.json', 'planted')
    files.put('r/tokens.json', 'planted')
  })

  it.each([
    ['q', 'conf'],
    ['r', 'conf/deep'],
    ['src', 'conf'],
    ['src/a.ts', 'conf'],
    ['src/a.ts', 'conf/deep'],
    ['r/tokens.json', 'conf/deep/tokens.json'],
  ])('moving %s onto %s is refused', async (from, to) => {
    expect(await move(from, to)).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
    expect(files.exists('conf')).toBe(false)
  })

  it.each(['conf', 'conf/deep', 'conf/deep/tokens.json'])('writing a file %s is refused', async (path) => {
    expect(await write(path)).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
    expect(files.exists('conf')).toBe(false)
  })

  it('undoing a change does not put one there either', async () => {
    files.own.length = 0
    const written = await write('conf')
    const deleted = await files.call('delete_file', { path: 'conf' })
    expect(written).toMatchObject({ kind: 'value' })
    files.own.push(files.path('conf/deep/tokens.json'))
    const callId = deleted.kind === 'value' ? deleted.callId : ''
    expect(await files.call('undo_change', { callId })).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
  })

  it('what only looks like it is free', async () => {
    expect(await write('conf/notes.md')).toMatchObject({ kind: 'value' })
    expect(await write('conf/deep/tokens.json.md')).toMatchObject({ kind: 'value' })
    expect(await move('q', 'config')).toMatchObject({ kind: 'value' })
  })
})

describe('a folder does not carry its files to a protected name', () => {
  it.each([
    ['x/git/config', 'x', '.config'],
    ['x/git/config', 'x', 'home/.CONFIG'],
    ['y/bin/git', 'y', '.local'],
    ['m/settings.xml', 'm', '.m2'],
    ['g/init.d/x.gradle', 'g', '.gradle'],
    ['d/config/fish/config.fish', 'd/config', '.config'],
  ])('%s by moving %s to %s', async (path, from, to) => {
    files.put(path, 'x')
    expect(await move(from, to)).toMatchObject({ kind: 'failure', code: 'not_permitted', effect: 'none' })
    expect(files.exists(path)).toBe(true)
    expect(files.exists(to)).toBe(false)
  })

  it('nor to a name that hides what it is', async () => {
    files.put('x/invoice\u202egpj.sh', 'x')
    expect(await move('x', 'y')).toMatchObject({ kind: 'failure', code: 'not_permitted' })
  })

  it.each([
    ['x/app/config', 'x', '.config'],
    ['x/git/config', 'x', 'config'],
    ['y/share/x', 'y', '.local'],
    ['m/notes.xml', 'm', '.m2'],
  ])('%s may be moved with %s to %s', async (path, from, to) => {
    files.put(path, 'x')
    expect(await move(from, to)).toMatchObject({ kind: 'value' })
  })
})

describe('own-files: a file on its way to its name is seen by no tool', () => {
  const name = `.lockgate-${'0f'.repeat(12)}.tmp`
  beforeEach(() => files.put(`src/${name}`, 'NEEDLE'))

  it.each([
    ['read_file', { path: `src/${name}` }],
    ['write_file', { path: `src/${name}`, content: 'x' }],
    ['edit_file', { path: `src/${name}`, find: 'NEEDLE', replace: 'x' }],
    ['delete_file', { path: `src/${name}` }],
    ['move_file', { from: `src/${name}`, to: 'x' }],
    ['move_file', { from: 'src/a.ts', to: name }],
  ])('%s %j is refused', async (tool, args) => {
    expect(await files.call(tool, args)).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
    expect(files.text(`src/${name}`)).toBe('NEEDLE')
  })

  it.each([
    ['list_dir', { path: 'src' }],
    ['list_dir', { path: '.', depth: 3 }],
    ['find_files', { glob: '**/*' }],
    ['find_files', { glob: '**/.lockgate*' }],
    ['search_text', { pattern: 'NEEDLE' }],
    ['search_text', { pattern: 'NEEDLE', path: 'src' }],
  ])('%s %j does not show it', async (tool, args) => {
    const called = await files.call(tool, args)
    expect(called).toMatchObject({ kind: 'value' })
    expect(JSON.stringify(called)).not.toContain('0f0f')
  })
})

it('a bare git repository is not planted piece by piece, nor by a move', async () => {
  for (const path of ['sub/HEAD', 'sub/objects/x', 'sub/refs/x'])
    expect(await write(path)).toMatchObject({ kind: 'value' })
  for (const path of ['sub/config', 'sub/hooks/post-checkout'])
    expect(await write(path)).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
  expect(await move('src/a.ts', 'sub/config')).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
  expect(await move('src', 'sub/hooks')).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
  for (const path of ['refs/config', 'objects/HEAD', 'app/hooks/use.ts', 'app/config', 'app/refs/x'])
    expect(await write(path)).toMatchObject({ kind: 'value' })
})

describe('a resource means one file, whatever the file is called', () => {
  it.each([
    ['k/x*', 'k/x*/.'],
    ['k/*', 'k/*/.'],
    ['k/**', 'k/**/.'],
    ['k/*x', 'k/*x'],
    ['k/x', 'k/x'],
  ])('%s is %s', async (path, resource) => {
    expect(await write(path)).toMatchObject({ touches: [`write file:${files.workspace}/${resource}`] })
    expect(await files.call('read_file', { path })).toMatchObject({
      touches: [`read file:${files.workspace}/${resource}`],
    })
  })

  it('a folder is all that is below it', async () => {
    files.put('x*/y', 'x')
    expect(await move('x*', 'z*')).toMatchObject({
      touches: ['read', 'write', 'write'].map((verb, index) => `${verb} file:${files.path(index < 2 ? 'x*' : 'z*')}/*`),
    })
  })
})

describe('edit_file with all', () => {
  const edit = (find: string, replace: string) =>
    files.call('edit_file', { path: 'src/a.ts', find, replace, all: true })

  it('replaces every one of many places of one character', async () => {
    files.put('src/a.ts', `${'a'.repeat(30_000)}\n`)
    expect(await edit('a', 'b')).toMatchObject({ value: { replaced: 30_000 } })
    expect(files.text('src/a.ts')).toBe(`${'b'.repeat(30_000)}\n`)
  })

  it('replaces none where there are too many, or where the file would be too large', async () => {
    files.put('src/a.ts', 'a'.repeat(1_000_001))
    expect(await edit('a', 'b')).toMatchObject({ kind: 'failure', code: 'too_large', effect: 'none' })
    expect(fs.statSync(files.path('src/a.ts')).size).toBe(1_000_001)
    files.put('src/a.ts', 'a'.repeat(500_000))
    expect(await edit('a', 'b'.repeat(2_000))).toMatchObject({ kind: 'failure', code: 'too_large', effect: 'none' })
    expect(files.text('src/a.ts')).toBe('a'.repeat(500_000))
  })
})

it('edit_file changes a file that a killed process left with a second name', async () => {
  const left = `.lockgate-${'ab'.repeat(12)}.tmp`
  fs.linkSync(files.path('src/a.ts'), files.path(`src/${left}`))
  expect(await files.call('edit_file', { path: 'src/a.ts', find: 'hello', replace: 'bye' })).toMatchObject({
    kind: 'value',
  })
  expect(files.text('src/a.ts')).toBe('bye')
  expect(fs.readdirSync(files.path('src'))).toEqual(['a.ts'])
})
