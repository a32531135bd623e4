import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '../../../base/digest.ts'
import { type Called, FileFixture } from './file-tools.fixture.ts'

let files: FileFixture

beforeEach(async () => {
  files = await new FileFixture().start()
  files.put('../outside/secret.txt', 'SECRET')
  fs.symlinkSync(join(files.base, 'outside'), files.path('link-out'))
})
afterEach(() => files.close())

const value = (called: Called) => (called.kind === 'value' ? called.value : called)
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('')
const denied = (part: string) => (resource: string) => !resource.includes(part)

describe('read_file', () => {
  it.each([
    [{ path: '../outside/secret.txt' }, 'unsafe_args'],
    [{ path: 'link-out/secret.txt' }, 'unsafe_args'],
    [{ path: '' }, 'unsafe_args'],
    [{ path: 7 }, 'invalid_args'],
    [{}, 'invalid_args'],
    [{ path: 'a', encoding: 'utf8' }, 'invalid_args'],
    [{ path: 'a', fromLine: 0 }, 'invalid_args'],
    [{ path: 'a', lines: 2_001 }, 'invalid_args'],
    [{ path: 'a', root: 'main' }, 'invalid_args'],
  ])('%j is refused before anything is touched', async (args, code) => {
    expect(await files.call('read_file', args)).toMatchObject({ kind: 'refused', code })
  })

  it('gives the text, its numbers, totals and the hash of the whole', async () => {
    files.put('a.txt', lines(5))
    const called = await files.call('read_file', { path: './b/../a.txt', fromLine: 2, lines: 2 })
    expect(called).toMatchObject({
      args: { path: 'a.txt', fromLine: 2, lines: 2 },
      touches: [`read file:${files.path('a.txt')}`],
    })
    expect(value(called)).toEqual({
      path: 'a.txt',
      content: 'line 2\nline 3\n',
      fromLine: 2,
      lines: 2,
      totalLines: 5,
      totalBytes: 35,
      hash: sha256(lines(5)),
      nextLine: 4,
    })
    expect(called.kind === 'value' && called.text).toContain(
      '2\tline 2\n3\tline 3\n[2 more lines; continue with fromLine 4]',
    )
  })

  it('cuts at 2,000 lines and at its bytes, and says how to go on', async () => {
    files.put('long', lines(2_500))
    files.put('wide', `${'x'.repeat(40_000)}\nend\n`)
    expect(value(await files.call('read_file', { path: 'long' }))).toMatchObject({ lines: 2_000, nextLine: 2_001 })
    expect(value(await files.call('read_file', { path: 'long', maxBytes: 20 }))).toMatchObject({
      content: 'line 1\nline 2\n',
      nextLine: 3,
    })
    const wide = await files.call('read_file', { path: 'wide' })
    expect(value(wide)).toMatchObject({ lines: 1, cutLineBytes: 40_001, nextLine: 2 })
    expect(wide.kind === 'value' && wide.text).toContain('maxBytes')
    expect(value(await files.call('read_file', { path: 'wide', maxBytes: 50_000 }))).toMatchObject({ lines: 2 })
  })

  it.each([
    ['absent', 'file_not_found'],
    ['folder', 'not_a_file'],
    ['.', 'not_a_file'],
    ['pipe', 'not_a_file'],
    ['folder/a/x', 'not_a_folder'],
    ['nul', 'binary'],
    ['latin', 'binary'],
    ['huge', 'too_large'],
  ])('%s is %s', async (path, code) => {
    files.put('folder/a')
    files.put('nul', 'a\0b')
    files.put('latin', Buffer.from([0x61, 0xe9, 0x62]))
    execFileSync('mkfifo', [files.path('pipe')])
    fs.writeFileSync(files.path('huge'), '')
    fs.truncateSync(files.path('huge'), 10 * 1_024 * 1_024 + 1)
    expect(await files.call('read_file', { path })).toMatchObject({ kind: 'failure', code, effect: 'none' })
  })

  it('an empty file and a place behind the end are said', async () => {
    files.put('empty', '')
    files.put('a', 'a')
    expect(await files.call('read_file', { path: 'empty' })).toMatchObject({
      value: { content: '', lines: 0, totalLines: 0 },
      text: expect.stringContaining('the file is empty'),
    })
    expect(await files.call('read_file', { path: 'a', fromLine: 2 })).toMatchObject({
      value: { lines: 0, totalLines: 1 },
      text: expect.stringContaining('ends at line 1'),
    })
  })

  it('last-check: what is swapped for a link after the decision is not read, not even another file inside', async () => {
    files.put('open/a.txt', 'open')
    files.put('closed/a.txt', 'closed')
    files.beforeRun = () => {
      fs.renameSync(files.path('open'), files.path('aside'))
      fs.symlinkSync('closed', files.path('open'))
    }
    expect(await files.call('read_file', { path: 'open/a.txt' })).toMatchObject({ kind: 'failure', code: 'stale' })
  })
})

describe('list_dir', () => {
  beforeEach(() => {
    for (const path of ['b/deep/x.ts', 'b/y', '.hidden', 'node_modules/m/i.js', '.git/config', 'a']) files.put(path)
  })

  it('shows files with sizes, folders and links, and follows none', async () => {
    const called = await files.call('list_dir', {})
    expect(called).toMatchObject({ args: { path: '.' }, touches: [`read file:${files.workspace}/*`] })
    expect(value(called)).toMatchObject({
      path: '.',
      entries: [
        { path: '.git', kind: 'directory' },
        { path: '.hidden', kind: 'file', bytes: 5 },
        { path: 'a', kind: 'file', bytes: 5 },
        { path: 'b', kind: 'directory' },
        { path: 'link-out', kind: 'link' },
        { path: 'node_modules', kind: 'directory' },
      ],
      withheld: 0,
    })
    expect(JSON.stringify(value(await files.call('list_dir', { depth: 9 })))).not.toMatch(/secret|config|i\.js/)
  })

  it('goes as deep as asked, and into a skipped folder only by its name', async () => {
    expect(value(await files.call('list_dir', { depth: 2 }))).toMatchObject({ skipped: ['.git', 'node_modules'] })
    expect(value(await files.call('list_dir', { path: 'b', depth: 3 }))).toMatchObject({
      entries: [{ path: 'b/deep' }, { path: 'b/deep/x.ts' }, { path: 'b/y' }],
      skipped: [],
    })
    expect(value(await files.call('list_dir', { path: 'node_modules', depth: 2 }))).toMatchObject({
      entries: [{ path: 'node_modules/m' }, { path: 'node_modules/m/i.js' }],
    })
  })

  it('withholds what the caller may not read, by number and never by name', async () => {
    files.mayTouch = denied('/deep')
    files.own.push(files.path('a'))
    const called = await files.call('list_dir', { depth: 5 })
    expect(value(called)).toMatchObject({ withheld: 2 })
    expect(JSON.stringify(called)).not.toMatch(/deep|x\.ts|"a"/)
    expect(called.kind === 'value' && called.text).toContain('2 withheld')
  })

  it('says where it stopped', async () => {
    for (let index = 0; index < 1_005; index++) fs.writeFileSync(files.path(`b/f${index}`), '')
    expect(value(await files.call('list_dir', { path: 'b' }))).toMatchObject({
      entries: { length: 1_000 },
      cut: '1000 entries',
    })
  })

  it.each([
    ['a', 'not_a_folder'],
    ['absent', 'file_not_found'],
  ])('%s is %s', async (path, code) => {
    expect(await files.call('list_dir', { path })).toMatchObject({ kind: 'failure', code })
  })

  it('a link out of the workspace is no folder to list', async () => {
    expect(await files.call('list_dir', { path: 'link-out' })).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
  })
})

describe('find_files', () => {
  beforeEach(() => {
    for (const path of ['src/a.ts', 'src/deep/b.ts', 'src/c.js', 'docs/a.md', 'node_modules/m/i.ts', '.env'])
      files.put(path)
    fs.symlinkSync('src', files.path('link-in'))
    fs.symlinkSync('a.ts', files.path('src/link.ts'))
  })
  const found = async (args: object) => value(await files.call('find_files', args))

  it.each([
    '/etc/**',
    '../**',
    'src/**/../../../outside/*',
    'link-out/**',
    'link-out/*.txt',
    './link-out/secret.txt',
    '~/x',
  ])('%s leads out and is refused', async (glob) => {
    expect(await files.call('find_files', { glob })).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
  })

  it.each(['**/*.txt', '**', '{link-out,src}/**', 'link-*/**', '*/secret.txt'])(
    '%s finds nothing outside',
    async (glob) => {
      const called = value(await files.call('find_files', { glob }))
      expect(called).toHaveProperty('files')
      expect(JSON.stringify('files' in called && called.files)).not.toContain('secret')
    },
  )

  it('finds regular files by path or by name', async () => {
    expect(await found({ glob: '**/*.ts' })).toMatchObject({
      files: ['src/a.ts', 'src/deep/b.ts'],
      skipped: ['node_modules'],
    })
    expect(await found({ glob: '*.ts' })).toMatchObject({ files: ['src/a.ts', 'src/deep/b.ts'] })
    expect(await found({ glob: 'src/*.ts' })).toMatchObject({ files: ['src/a.ts'] })
    expect(await found({ glob: '*.{ts,js}', path: 'src/deep/..' })).toMatchObject({
      path: 'src',
      files: ['src/a.ts', 'src/c.js', 'src/deep/b.ts'],
    })
    expect(await found({ glob: 'src/a.ts' })).toMatchObject({ files: ['src/a.ts'] })
    expect(await found({ glob: 'node_modules/**' })).toMatchObject({ files: ['node_modules/m/i.ts'] })
    expect(await found({ glob: '**/node_modules/**/*.ts' })).toMatchObject({ files: ['node_modules/m/i.ts'] })
    expect(await found({ glob: 'absent/**' })).toMatchObject({ files: [] })
  })

  it('a glob through a link inside is spelled by the folder that it stands for', async () => {
    expect(await files.call('find_files', { glob: 'link-in/*.ts' })).toMatchObject({
      args: { path: 'src', glob: './*.ts' },
      value: { files: ['src/a.ts'] },
      touches: [`read file:${files.path('src')}/*`],
    })
  })

  it('declares only the folder where the glob begins', async () => {
    expect(await files.call('find_files', { glob: 'src/**/*.ts' })).toMatchObject({
      touches: [`read file:${files.path('src')}/*`],
    })
  })

  it('withholds denied files and folders', async () => {
    files.mayTouch = (resource) => !/\.env|\/deep$/.test(resource)
    expect(await found({ glob: '**' })).toMatchObject({ files: ['docs/a.md', 'src/a.ts', 'src/c.js'], withheld: 2 })
  })

  it('a file is no folder to walk', async () => {
    expect(await found({ glob: '*', path: 'src/a.ts' })).toMatchObject({ kind: 'failure', code: 'not_a_folder' })
    expect(await found({ glob: '*', path: 'absent' })).toMatchObject({ kind: 'failure', code: 'file_not_found' })
  })
})

describe('search_text', () => {
  beforeEach(() => {
    files.put('src/a.ts', 'one\ntwo hello\r\nthree\n')
    files.put('src/b.ts', 'hello there\nhello')
    files.put('docs/c.md', 'nothing')
    files.put('bin', 'hello\0')
    files.put('.env', 'hello=secret')
    files.put('node_modules/m', 'hello')
  })
  const hits = async (args: object) => value(await files.call('search_text', args))

  it.each([
    [{}, 'invalid_args'],
    [{ text: 'a', pattern: 'a' }, 'invalid_args'],
    [{ text: '' }, 'invalid_args'],
    [{ text: 'a\nb' }, 'invalid_args'],
    [{ pattern: '(?=x)' }, 'invalid_args'],
    [{ pattern: 'a'.repeat(513) }, 'invalid_args'],
    [{ pattern: 'a{1000}'.repeat(60) }, 'invalid_args'],
    [{ text: 'x', path: 'link-out' }, 'unsafe_args'],
    [{ text: 'x', path: 'link-out/secret.txt' }, 'unsafe_args'],
    [{ text: 'x', glob: '/etc/**' }, 'unsafe_args'],
    [{ text: 'x', glob: 'link-out/**' }, 'unsafe_args'],
  ])('%j is refused', async (args, code) => {
    expect(await files.call('search_text', args)).toMatchObject({ kind: 'refused', code })
  })

  it('finds lines by text or pattern, and says what was not searched', async () => {
    const expected = [
      { path: '.env', line: 1, column: 1, text: 'hello=secret' },
      { path: 'src/a.ts', line: 2, column: 5, text: 'two hello' },
      { path: 'src/b.ts', line: 1, column: 1, text: 'hello there' },
      { path: 'src/b.ts', line: 2, column: 1, text: 'hello' },
    ]
    expect(await hits({ text: 'hello' })).toMatchObject({
      hits: expected,
      filesSearched: 4,
      skippedBinary: 1,
      skipped: ['node_modules'],
      withheld: 0,
    })
    expect(await hits({ pattern: 'h[aeiou]llo' })).toMatchObject({ hits: expected })
    expect(await hits({ pattern: '^hello$' })).toMatchObject({ hits: [expected[3]] })
    expect(await hits({ text: 'h.llo' })).toMatchObject({ hits: [] })
    expect(await hits({ text: '../../etc/passwd' })).toMatchObject({ hits: [] })
  })

  it('a denied file is not read, and counted', async () => {
    files.mayTouch = denied('/.env')
    const called = await files.call('search_text', { text: 'hello', glob: '**' })
    expect(value(called)).toMatchObject({ withheld: 1, filesSearched: 3 })
    expect(JSON.stringify(called)).not.toMatch(/env|=secret/)
  })

  it('an own file is not read under another name', async () => {
    files.put('state/key', 'hello key')
    files.own.push(files.path('state'))
    fs.linkSync(files.path('state/key'), files.path('copy'))
    const called = await files.call('search_text', { text: 'hello' })
    expect(JSON.stringify(called)).not.toMatch(/key|copy/)
    expect(value(called)).toMatchObject({ withheld: 2 })
  })

  it('searches one file that is named, and declares only that', async () => {
    expect(await files.call('search_text', { text: 'hello', path: 'src/b.ts' })).toMatchObject({
      value: { hits: { length: 2 }, filesSearched: 1 },
      touches: [`read file:${files.path('src/b.ts')}`],
    })
    expect(await hits({ text: 'hello', path: 'bin' })).toMatchObject({ code: 'binary' })
    expect(await hits({ text: 'hello', path: 'absent' })).toMatchObject({ code: 'file_not_found' })
    expect(await hits({ text: 'hello', path: 'src/b.ts', glob: 'x/*.ts' })).toMatchObject({ code: 'not_a_folder' })
  })

  it('shows lines around a match', async () => {
    const called = await files.call('search_text', { text: 'hello', glob: 'src/a.ts', context: 2 })
    expect(value(called)).toMatchObject({ hits: [{ line: 2, before: ['one'], after: ['three'] }] })
    expect(called.kind === 'value' && called.text).toContain(
      'src/a.ts-1- one\nsrc/a.ts:2: two hello\nsrc/a.ts-3- three',
    )
  })

  it('shows only a part of a long line, around the match', async () => {
    files.put('long', `${'a'.repeat(5_000)}needle${'b'.repeat(5_000)}`)
    const found = (await hits({ text: 'needle' })) as { hits: { text: string; column: number }[] }
    expect(found.hits[0]?.column).toBe(5_001)
    expect(found.hits[0]?.text).toMatch(/^…a+needleb+…$/)
    expect(found.hits[0]?.text.length).toBeLessThan(310)
  })

  it('stops at 2,000 lines and says so', async () => {
    files.put('many', 'x\n'.repeat(2_100))
    expect(await hits({ text: 'x', path: 'many' })).toMatchObject({
      hits: { length: 2_000 },
      cut: '2000 matching lines',
    })
    files.put('just', 'x\n'.repeat(2_000))
    const exact = await hits({ text: 'x', path: 'just' })
    expect(exact).toMatchObject({ hits: { length: 2_000 } })
    expect(exact).not.toHaveProperty('cut')
  })

  it('of a very long line only the start is searched by a large pattern, and that is said', async () => {
    files.put('wide', `${'-'.repeat(1_500_000)}abc`)
    expect(await hits({ pattern: 'a.c', path: 'wide' })).toMatchObject({ hits: [], cutLines: 1 })
    expect(await hits({ text: 'abc', path: 'wide' })).toMatchObject({ hits: { length: 1 }, cutLines: 0 })
  })
})

it('with several roots `root` picks one, and an absolute path picks its own', async () => {
  const two = await new FileFixture().start({ roots: ['ws', 'docs'] })
  two.put('a', 'main')
  two.put('../docs/a', 'docs')
  expect(await two.call('read_file', { path: 'a' })).toMatchObject({
    args: { path: 'a', root: 'ws' },
    value: { content: 'main' },
  })
  expect(await two.call('read_file', { path: 'a', root: 'docs' })).toMatchObject({
    value: { content: 'docs' },
    touches: [`read file:${join(two.base, 'docs/a')}`],
  })
  expect(await two.call('read_file', { path: join(two.base, 'docs/a') })).toMatchObject({
    args: { path: 'a', root: 'docs' },
  })
  expect(await two.call('read_file', { path: join(two.base, 'docs/a'), root: 'ws' })).toMatchObject({
    kind: 'refused',
    code: 'unsafe_args',
  })
  expect(await two.call('read_file', { path: '../docs/a' })).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
  expect(await two.call('read_file', { path: 'a', root: 'other' })).toMatchObject({
    kind: 'refused',
    code: 'invalid_args',
  })
  two.close()
})
