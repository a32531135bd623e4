import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '../base/digest.ts'
import type { WalkMethod } from './rooted-directory.ts'
import { openRootedFolder, type RootedFolder } from './rooted-folder.ts'

let base: string
let own: string[]

const open = (method?: WalkMethod): RootedFolder =>
  openRootedFolder(join(base, 'ws'), { own: () => own, ...(method === undefined ? {} : { method }) })
const inside = (path: string) => join(base, 'ws', path)
const put = (path: string, text: string) => {
  fs.mkdirSync(join(inside(path), '..'), { recursive: true })
  fs.writeFileSync(inside(path), text)
}
const text = (path: string) => fs.readFileSync(inside(path), 'utf8')
const bytes = (value: string) => Buffer.from(value)
const descriptors = () => fs.readdirSync('/proc/self/fd').length

beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'rooted-')))
  own = [join(base, 'ws/state'), join(base, 'ws/gate.yaml')]
  put('src/a.ts', 'hello')
  put('state/key', 'private')
  put('../outside/secret.txt', 'OUTSIDE')
  fs.symlinkSync('../outside', inside('link-out'))
  fs.symlinkSync('a.ts', inside('src/link'))
  fs.linkSync(join(base, 'outside/secret.txt'), inside('hard-out'))
  fs.linkSync(inside('state/key'), inside('hard-own'))
  execFileSync('mkfifo', [inside('pipe')])
})
afterEach(() => fs.rmSync(base, { recursive: true, force: true }))

describe.each<WalkMethod>(['descriptor', 'path'])('walking by %s', (method) => {
  it('reads a regular file and nothing else', async () => {
    const folder = open(method)
    expect(await folder.read('src/a.ts', 100)).toMatchObject({ kind: 'ok', bytes: bytes('hello') })
    expect(await folder.read('src', 100)).toEqual({ kind: 'not-a-file', what: 'directory' })
    expect(await folder.read('.', 100)).toEqual({ kind: 'not-a-file', what: 'directory' })
    expect(await folder.read('pipe', 100)).toEqual({ kind: 'not-a-file', what: 'other' })
    expect(await folder.read('absent', 100)).toEqual({ kind: 'missing' })
    expect(await folder.read('absent/x', 100)).toEqual({ kind: 'missing' })
    expect(await folder.read('src/a.ts/x', 100)).toEqual({ kind: 'not-a-directory' })
    expect(await folder.read('src/a.ts', 4)).toEqual({ kind: 'too-large', bytes: 5, bytesMax: 4 })
  })

  it('follows no link once the path has been judged', async () => {
    const folder = open(method)
    expect(await folder.read('link-out/secret.txt', 100)).toEqual({ kind: 'swapped' })
    expect(await folder.read('src/link', 100)).toEqual({ kind: 'swapped' })
    expect(await folder.write('link-out/new.txt', bytes('x'))).toEqual({ kind: 'swapped' })
    expect(await folder.write('src/link', bytes('x'))).toEqual({ kind: 'swapped' })
    expect(await folder.remove('src/link', sha256('hello'))).toEqual({ kind: 'swapped' })
    expect(folder.move('src/link', 'moved')).toEqual({ kind: 'swapped' })
    expect(folder.move('src/a.ts', 'link-out/moved')).toEqual({ kind: 'swapped' })
    expect(fs.readdirSync(join(base, 'outside'))).toEqual(['secret.txt'])
    expect(text('src/a.ts')).toBe('hello')
  })

  it('replaces a file as a whole and keeps its permissions', async () => {
    fs.chmodSync(inside('src/a.ts'), 0o750)
    expect(await open(method).write('src/a.ts', bytes('new'), { expectHash: sha256('hello') })).toEqual({
      kind: 'ok',
      hash: sha256('new'),
      created: false,
    })
    expect(text('src/a.ts')).toBe('new')
    expect(fs.statSync(inside('src/a.ts')).mode & 0o777).toBe(0o750)
    expect(fs.readdirSync(inside('src')).sort()).toEqual(['a.ts', 'link'])
  })

  it('creates a file, with the folders on the way', async () => {
    expect(await open(method).write('x/y/new.txt', bytes('new'), { expectHash: null })).toMatchObject({
      kind: 'ok',
      created: true,
    })
    expect(text('x/y/new.txt')).toBe('new')
    expect(fs.statSync(inside('x/y/new.txt')).nlink).toBe(1)
    expect(fs.readdirSync(inside('x/y'))).toEqual(['new.txt'])
  })

  it('writes over nothing that is not what the caller expects', async () => {
    const folder = open(method)
    expect(await folder.write('src/a.ts', bytes('x'), { expectHash: sha256('other') })).toEqual({ kind: 'stale' })
    expect(await folder.write('src/a.ts', bytes('x'), { expectHash: null })).toEqual({ kind: 'stale' })
    expect(await folder.write('absent', bytes('x'), { expectHash: sha256('hello') })).toEqual({ kind: 'stale' })
    expect(await folder.write('src', bytes('x'))).toEqual({ kind: 'not-a-file', what: 'directory' })
    expect(await folder.write('pipe', bytes('x'))).toEqual({ kind: 'not-a-file', what: 'other' })
    expect(await folder.write('src/a.ts/x', bytes('x'))).toEqual({ kind: 'not-a-directory' })
    expect(text('src/a.ts')).toBe('hello')
  })

  it('a file with other names is not written, for the outside one would change too', async () => {
    expect(await open(method).write('hard-out', bytes('x'))).toEqual({ kind: 'shared' })
    expect(fs.readFileSync(join(base, 'outside/secret.txt'), 'utf8')).toBe('OUTSIDE')
  })

  it('a failed write leaves no folder that it made', async () => {
    const folder = open(method)
    expect(await folder.write('x/y/new.txt', bytes('new'), { expectHash: sha256('something') })).toEqual({
      kind: 'stale',
    })
    expect(fs.existsSync(inside('x'))).toBe(false)
    expect(folder.move('absent', 'p/q/r')).toEqual({ kind: 'missing' })
    expect(folder.move('src/a.ts', 'gate.yaml')).toEqual({ kind: 'own' })
    expect(fs.existsSync(inside('p'))).toBe(false)
  })

  it('moves files and folders, and takes the place of nothing', () => {
    const folder = open(method)
    put('other.txt', 'other')
    put('full/x', 'x')
    expect(folder.move('src/a.ts', 'other.txt')).toEqual({ kind: 'exists' })
    expect(folder.move('src', 'full')).toEqual({ kind: 'exists' })
    expect(folder.move('src/a.ts', 'link-out')).toEqual({ kind: 'exists' })
    expect(folder.move('pipe', 'pipe2')).toEqual({ kind: 'not-a-file', what: 'other' })
    expect(folder.move('.', 'x')).toEqual({ kind: 'not-a-file', what: 'directory' })
    expect(folder.move('src/a.ts', 'deep/er/b.ts')).toEqual({ kind: 'ok', what: 'file' })
    expect(text('deep/er/b.ts')).toBe('hello')
    expect(fs.statSync(inside('deep/er/b.ts')).nlink).toBe(1)
    expect(folder.move('deep', 'moved')).toEqual({ kind: 'ok', what: 'directory' })
    expect(text('moved/er/b.ts')).toBe('hello')
    expect(text('other.txt')).toBe('other')
  })

  it('removes a file whose bytes are known, and no folder', async () => {
    const folder = open(method)
    expect(await folder.remove('src', '')).toEqual({ kind: 'not-a-file', what: 'directory' })
    expect(await folder.remove('src/a.ts', sha256('other'))).toEqual({ kind: 'stale' })
    expect(fs.existsSync(inside('src/a.ts'))).toBe(true)
    expect(await folder.remove('src/a.ts', sha256('hello'))).toEqual({ kind: 'ok' })
    expect(fs.existsSync(inside('src/a.ts'))).toBe(false)
  })

  it("the gate's own files are out of reach under every name that they have", async () => {
    const folder = open(method)
    expect(await folder.read('state/key', 100)).toEqual({ kind: 'own' })
    expect(await folder.read('hard-own', 100)).toEqual({ kind: 'own' })
    expect(await folder.write('hard-own', bytes('x'))).toEqual({ kind: 'own' })
    expect(await folder.write('gate.yaml', bytes('x'))).toEqual({ kind: 'own' })
    expect(await folder.remove('hard-own', sha256('private'))).toEqual({ kind: 'own' })
    expect(folder.move('hard-own', 'x')).toEqual({ kind: 'own' })
    expect(folder.move('src', 'state/src')).toEqual({ kind: 'own' })
    expect(await folder.read('hard-out', 100)).toMatchObject({ kind: 'ok' })
    expect(folder.holdsOwn('.')).toBe(true)
    expect(folder.holdsOwn('state')).toBe(true)
    expect(folder.holdsOwn('src')).toBe(false)
    expect(fs.existsSync(inside('gate.yaml'))).toBe(false)
  })

  it('walks in the order of names, into no link and no own folder', async () => {
    put('src/deep/b.ts', 'b')
    const seen: string[] = []
    for await (const step of open(method).walk('.', { depthMax: 9, enter: () => true }))
      seen.push(step.kind === 'entry' ? `${step.entry.kind} ${step.entry.relative}` : step.kind)
    expect(seen).toEqual([
      'file hard-out',
      'file hard-own',
      'link link-out',
      'other pipe',
      'directory src',
      'file src/a.ts',
      'directory src/deep',
      'file src/deep/b.ts',
      'link src/link',
      'own',
    ])
  })

  it('walks as deep as it is asked to, reads on the way, and does not reveal an own file by a hard link', async () => {
    put('src/deep/b.ts', 'b')
    const read: unknown[] = []
    for await (const step of open(method).walk('.', { depthMax: 2, enter: (entry) => entry.relative !== 'src/deep' })) {
      if (step.kind === 'entry' && step.entry.kind === 'file') {
        const file = await step.entry.read(100)
        read.push([step.entry.relative, file.kind, step.entry.size()])
      }
    }
    expect(read).toEqual([
      ['hard-out', 'ok', 7],
      ['hard-own', 'own', 7],
      ['src/a.ts', 'ok', 5],
    ])
  })

  it('reports a folder that cannot be walked', async () => {
    const steps = []
    for await (const step of open(method).walk('src/a.ts', { depthMax: 2, enter: () => true })) steps.push(step)
    expect(steps).toEqual([{ kind: 'unreadable', relative: 'src/a.ts', failure: { kind: 'not-a-directory' } }])
  })
})

it('closes every descriptor, whatever happens', async () => {
  const folder = open()
  await folder.read('src/a.ts', 100)
  const before = descriptors()
  for (const path of ['src/a.ts', 'src', 'absent/x', 'link-out/secret.txt', 'pipe', 'hard-own', 'state/key']) {
    await folder.read(path, 3)
    await folder.write(path, bytes('hello'), { expectHash: sha256('never') })
    await folder.remove(path, sha256('never'))
    folder.move(path, 'src/a.ts')
    folder.look(path)
  }
  for await (const step of folder.walk('.', { depthMax: 9, enter: () => true }))
    if (step.kind === 'entry' && step.entry.depth === 2) break
  await folder.write('new/file', bytes('x'))
  expect(descriptors()).toBe(before)
})

it('a file that is written or created while its replacement is being made is left as it is', async () => {
  for (const path of ['src/a.ts', 'src/new.ts']) {
    const writing = open().write(path, bytes('mine'))
    fs.writeFileSync(inside(path), 'theirs')
    expect(await writing).toEqual({ kind: 'stale' })
    expect(text(path)).toBe('theirs')
  }
  expect(fs.readdirSync(inside('src')).sort()).toEqual(['a.ts', 'link', 'new.ts'])
})

it('reads a large file whole, and stops at the bound of one that is larger than it said', async () => {
  const large = Buffer.alloc(3_000_000, 'x')
  fs.writeFileSync(inside('large'), large)
  const read = await open().read('large', 5_000_000)
  expect(read.kind === 'ok' && read.bytes.equals(large)).toBe(true)
  expect(await open().read('large', 2_999_999)).toMatchObject({ kind: 'too-large', bytes: 3_000_000 })
})

it('writes a large file whole', async () => {
  const large = Buffer.alloc(3_000_000, 'y')
  expect(await open().write('large', large)).toMatchObject({ kind: 'ok', hash: sha256(large) })
  expect(fs.readFileSync(inside('large')).equals(large)).toBe(true)
})

it('a folder that does not exist is no root', () => {
  expect(() => openRootedFolder(join(base, 'absent'))).toThrow(/ENOENT/)
  expect(() => openRootedFolder(inside('src/a.ts'))).toThrow(/no folder/)
})

it('a path that is not canonical is a fault of ours and opens nothing', async () => {
  for (const path of ['../outside/secret.txt', 'src/../../outside/secret.txt', '/etc/passwd', ''])
    await expect(open().read(path, 100)).rejects.toThrow(TypeError)
})
