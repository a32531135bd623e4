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

const TEMPORARY = `.lockgate-${'0a'.repeat(12)}.tmp`

describe('own-files: nothing is put where an own file would stand, or in the way of one', () => {
  beforeEach(() => {
    own.push(inside('conf/deep/tokens.json'))
    put('q/tokens.json', 'planted')
    put('q/deep/tokens.json', 'planted')
  })

  it.each(['conf', 'conf/deep', 'conf/deep/tokens.json'])('%s', async (path) => {
    const folder = open()
    expect(folder.move('q', path)).toEqual({ kind: 'own' })
    expect(folder.move('src/a.ts', path)).toEqual({ kind: 'own' })
    expect(await folder.write(path, bytes('x'))).toEqual({ kind: 'own' })
    expect(fs.existsSync(inside('conf'))).toBe(false)
  })

  it('a folder that holds one stays where it is', () => {
    put('conf/deep/tokens.json', 'real')
    expect(open().move('conf', 'away')).toEqual({ kind: 'own' })
    expect(open().move('conf/deep', 'away')).toEqual({ kind: 'own' })
  })

  it('what stands beside one is free', async () => {
    const folder = open()
    expect(await folder.write('conf/other.txt', bytes('x'))).toMatchObject({ kind: 'ok' })
    expect(await folder.write('conf/deep/tokens.json2', bytes('x'))).toMatchObject({ kind: 'ok' })
    expect(folder.move('q', 'conf2')).toMatchObject({ kind: 'ok' })
  })

  it('an own folder that holds itself through links is looked through once', async () => {
    put('state/sub/deeper', 'private too')
    for (const name of ['l1', 'l2', 'l3']) fs.symlinkSync('.', inside(`state/${name}`))
    for (const name of ['l1', 'l2']) fs.symlinkSync('..', inside(`state/sub/${name}`))
    fs.linkSync(inside('state/sub/deeper'), inside('hard-deeper'))
    expect(await open().read('hard-out', 100)).toMatchObject({ kind: 'ok' })
    expect(await open().read('hard-deeper', 100)).toEqual({ kind: 'own' })
  })

  it('an own path that is a link is known by what it leads to', async () => {
    fs.symlinkSync('../outside/secret.txt', inside('linked.yaml'))
    own.push(inside('linked.yaml'))
    expect(await open().read('hard-out', 100)).toEqual({ kind: 'own' })
  })
})

describe('own-files: a file that is on its way to its name is nobody else to touch', () => {
  it.each([TEMPORARY, TEMPORARY.toUpperCase(), `${TEMPORARY}/x`, `src/${TEMPORARY}`])('%s', async (path) => {
    const folder = open()
    if (!path.includes('/x')) put(path, 'half')
    expect(folder.canonical(path)).toMatchObject({ kind: 'refused' })
    expect(await folder.read(path, 100)).toEqual({ kind: 'own' })
    expect(await folder.write(path, bytes('x'))).toEqual({ kind: 'own' })
    expect(await folder.remove(path, sha256('half'))).toEqual({ kind: 'own' })
    expect(folder.look(path)).toEqual({ kind: 'own' })
    expect(folder.move(path, 'x')).toEqual({ kind: 'own' })
    expect(folder.move('src/a.ts', path)).toEqual({ kind: 'own' })
  })

  it('a walk does not show it, and a link does not lead to it', async () => {
    put(`src/${TEMPORARY}`, 'half')
    fs.symlinkSync(TEMPORARY, inside('src/to-temporary'))
    const seen: string[] = []
    for await (const step of open().walk('src', { depthMax: 9, enter: () => true }))
      seen.push(step.kind === 'entry' ? step.entry.name : step.kind)
    expect(seen).toEqual(['a.ts', 'link', 'to-temporary'])
    expect(open().canonical('src/to-temporary')).toMatchObject({ kind: 'refused' })
  })

  it.each(['.lockgate-notes.tmp', 'x.tmp', '.lockgate-00.tmp', `x${TEMPORARY}`])(
    '%s is an ordinary name',
    async (path) => {
      expect(open().canonical(path)).toMatchObject({ kind: 'ok' })
      expect(await open().write(path, bytes('x'))).toMatchObject({ kind: 'ok' })
    },
  )

  it.each(['src/a.ts', 'src/new.ts'])('what was put under its name meanwhile does not become %s', async (path) => {
    const before = fs.existsSync(inside(path))
    const writing = open().write(path, Buffer.alloc(3_000_000, 'x'))
    const temporary = await temporaryIn('src')
    fs.writeFileSync(inside('theirs'), 'theirs')
    fs.renameSync(inside('theirs'), inside(`src/${temporary}`))
    expect(await writing).toEqual({ kind: 'stale' })
    expect(fs.existsSync(inside(path))).toBe(before)
    expect(text('src/a.ts')).toBe('hello')
  })
})

describe('a process that was killed while it wrote', () => {
  it('leaves a second name that keeps nobody from writing the file, and is removed', async () => {
    fs.linkSync(inside('src/a.ts'), inside(`src/${TEMPORARY}`))
    expect(await open().write('src/a.ts', bytes('new'))).toMatchObject({ kind: 'ok' })
    expect(fs.readdirSync(inside('src')).sort()).toEqual(['a.ts', 'link'])
    expect(fs.statSync(inside('src/a.ts')).nlink).toBe(1)
  })

  it('a second name of another kind still does', async () => {
    fs.linkSync(inside('hard-out'), inside(TEMPORARY))
    expect(await open().write('hard-out', bytes('new'))).toEqual({ kind: 'shared' })
    expect(text('hard-out')).toBe('OUTSIDE')
  })

  it('leaves files that the next write there sweeps away once they are old', async () => {
    const young = TEMPORARY.replace('0a', '0b')
    put(`src/${TEMPORARY}`, 'half')
    put(`src/${young}`, 'half')
    put('src/.lockgate-notes.tmp', 'not ours')
    for (const name of [TEMPORARY, '.lockgate-notes.tmp']) fs.utimesSync(inside(`src/${name}`), 0, 0)
    expect(await open().write('src/b.ts', bytes('new'))).toMatchObject({ kind: 'ok' })
    expect(fs.readdirSync(inside('src')).sort()).toEqual(['.lockgate-notes.tmp', young, 'a.ts', 'b.ts', 'link'].sort())
  })
})

describe('no folder becomes a bare git repository that says what to run', () => {
  const plant = (...paths: readonly string[]) => {
    for (const path of paths) put(path, 'x')
  }

  it.each(['sub/config', 'sub/hooks/post-checkout', 'sub/config.worktree', 'sub/commondir'])(
    'not by %s in one that is nearly there',
    async (path) => {
      plant('sub/HEAD', 'sub/objects/x', 'sub/refs/x')
      const folder = open()
      expect(await folder.write(path, bytes('x'))).toEqual({ kind: 'repository' })
      expect(folder.move('src/a.ts', path)).toEqual({ kind: 'repository' })
      expect(await folder.write('sub/README', bytes('x'))).toMatchObject({ kind: 'ok' })
    },
  )

  it.each(['HEAD', 'objects/x', 'refs/heads/main'])('nor by the last of what git looks for: %s', async (last) => {
    plant(
      ...['HEAD', 'objects/x', 'refs/heads/main', 'config']
        .filter((name) => name !== last)
        .map((name) => `sub/${name}`),
    )
    expect(await open().write(`sub/${last}`, bytes('x'))).toEqual({ kind: 'repository' })
    put('tree/x', 'x')
    expect(open().move('tree', `sub/${last}`)).toEqual({ kind: 'repository' })
    expect(fs.existsSync(inside(`sub/${last}`))).toBe(false)
  })

  it('of two writes at once that complete it together, the second fails', async () => {
    plant('sub/HEAD', 'sub/objects/x')
    const folder = open()
    const done = await Promise.all([folder.write('sub/refs/x', bytes('x')), folder.write('sub/config', bytes('x'))])
    expect(done.map((result) => result.kind)).toContain('repository')
  })

  it('some of the names are ordinary', async () => {
    const folder = open()
    for (const path of [
      'one/config',
      'two/HEAD',
      'refs/x',
      'three/hooks/use.ts',
      'three/config',
      'three/objects/x',
      'three/refs/x',
    ])
      expect(await folder.write(path, bytes('x'))).toMatchObject({ kind: 'ok' })
  })
})

describe.each<WalkMethod>(['descriptor', 'path'])('moving by %s', (method) => {
  it('a folder is not moved with an entry that is not accepted at that moment, however deep', () => {
    put('src/deep/er/late', 'x')
    const folder = open(method)
    expect(folder.move('src', 'moved', (below) => below !== 'src/deep/er/late')).toEqual({ kind: 'stale' })
    expect(fs.existsSync(inside('moved'))).toBe(false)
    expect(folder.move('src', 'moved', (below) => below !== 'moved/deep/er/late')).toMatchObject({ kind: 'ok' })
  })

  it('a write whose folder was moved meanwhile lands nowhere', async () => {
    put('x/git/a', 'x')
    const folder = open(method)
    const writing = folder.write('x/git/config', Buffer.alloc(3_000_000, 'x'))
    await temporaryIn('x/git')
    expect(folder.move('x', '.config')).toMatchObject({ kind: 'ok' })
    expect(await writing).not.toMatchObject({ kind: 'ok' })
    expect(fs.existsSync(inside('.config/git/config'))).toBe(false)
  })
})

it('a path may begin with another spelling of the root that was named', () => {
  fs.symlinkSync('ws', join(base, 'ws-link'))
  const spelled = openRootedFolder(join(base, 'ws'), { spellings: [join(base, 'ws-link')] })
  expect(spelled.canonical(join(base, 'ws-link/src/a.ts'))).toMatchObject({ kind: 'ok', relative: 'src/a.ts' })
  expect(spelled.canonical(join(base, 'ws-link-2/src/a.ts'))).toMatchObject({ kind: 'refused' })
  expect(open().canonical(join(base, 'ws-link/src/a.ts'))).toMatchObject({ kind: 'refused' })
})

async function temporaryIn(folder: string): Promise<string> {
  for (let tries = 0; tries < 100_000; tries++) {
    const found = fs.readdirSync(inside(folder)).find((name) => name.endsWith('.tmp'))
    if (found !== undefined) return found
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error('no file on its way was seen')
}

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
