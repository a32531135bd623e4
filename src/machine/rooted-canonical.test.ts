import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRootedFolder, type RootedFolder } from './rooted-folder.ts'

let base: string
let workspace: string
let folder: RootedFolder

const put = (path: string, text = 'hello') => {
  fs.mkdirSync(join(base, path, '..'), { recursive: true })
  fs.writeFileSync(join(base, path), text)
}
const link = (target: string, path: string) => fs.symlinkSync(target, join(base, path))
const relativeOf = (path: string) => {
  const canonical = folder.canonical(path)
  return canonical.kind === 'ok' ? canonical.relative : `refused: ${canonical.reason}`
}

beforeAll(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'rooted-')))
  workspace = join(base, 'ws')
  for (const path of [
    'ws/src/a.ts',
    'ws/a/b/in.txt',
    'ws/docs/x',
    'outside/secret.txt',
    'outside/dir/x',
    'ws-evil/secret.txt',
    'ws/state/key',
  ])
    put(path)
  link(join(base, 'outside'), 'ws/link-out')
  link(join(base, 'outside/secret.txt'), 'ws/link-file-out')
  link('link-out', 'ws/link-chain-out')
  link('../outside', 'ws/link-relative-out')
  link('../../../../../../../../etc', 'ws/link-far-out')
  link('/', 'ws/link-top')
  link('src', 'ws/link-in')
  link('link-in', 'ws/link-chain-in')
  link(join(workspace, 'src'), 'ws/link-absolute-in')
  link('../ws/src', 'ws/link-around-in')
  link(join(base, 'alias/src'), 'ws/link-alias-in')
  link('ws', 'alias')
  link('../ws-evil', 'ws/link-sibling')
  link('a/b', 'ws/link-deep')
  link('.', 'ws/link-self')
  link('absent/file', 'ws/link-dangling-in')
  link(join(base, 'outside/absent'), 'ws/link-dangling-out')
  link('link-loop', 'ws/link-loop')
  link('link-two', 'ws/link-one')
  link('link-one', 'ws/link-two')
  folder = openRootedFolder(workspace, { own: () => [join(workspace, 'state'), join(workspace, 'gate.yaml')] })
})
afterAll(() => fs.rmSync(base, { recursive: true, force: true }))

describe('links that leave the root, hang outside or lead in a circle are refused', () => {
  it.each([
    'link-out',
    'link-out/secret.txt',
    'link-out/../outside/secret.txt',
    'link-out/../ws/src/a.ts',
    'link-out/..',
    'link-file-out',
    'link-chain-out/secret.txt',
    'link-relative-out/new.txt',
    'link-far-out/passwd',
    'link-top',
    'link-top/etc/passwd',
    'link-sibling/secret.txt',
    'link-dangling-out',
    'link-loop',
    'link-loop/x',
    'link-one',
    'src/../link-out/secret.txt',
    './link-self/link-out/secret.txt',
    'link-self/../x',
    'link-deep/../../../x',
  ])('%s', (path) => {
    expect(folder.canonical(path)).toMatchObject({ kind: 'refused' })
  })

  it('`..` behind a link means the parent of its target, as the kernel sees it', () => {
    expect(relativeOf('link-deep/../c')).toBe('a/c')
    expect(relativeOf('link-deep/../../src/a.ts')).toMatch(/^refused/)
  })

  it('a refusal names nothing outside', () => {
    for (const path of ['link-out', 'link-file-out', '/etc/passwd', 'link-dangling-out'])
      expect(relativeOf(path)).not.toMatch(/outside\/|etc|secret/)
  })
})

describe('links that stay inside give the path that they stand for', () => {
  it.each([
    ['link-in/a.ts', 'src/a.ts'],
    ['link-chain-in/a.ts', 'src/a.ts'],
    ['link-absolute-in/a.ts', 'src/a.ts'],
    ['link-around-in/a.ts', 'src/a.ts'],
    ['link-alias-in/a.ts', 'src/a.ts'],
    ['link-self/link-in/./a.ts', 'src/a.ts'],
    ['link-in', 'src'],
    ['link-in/new.ts', 'src/new.ts'],
    ['link-dangling-in', 'absent/file'],
    ['link-deep/in.txt', 'a/b/in.txt'],
    ['link-self', '.'],
  ])('%s is %s', (path, relative) => {
    expect(relativeOf(path)).toBe(relative)
  })

  it('says that the last name was a link, and how the path was spelled', () => {
    expect(folder.canonical('link-in')).toMatchObject({ isLink: true, spelled: ['link-in'], found: 'directory' })
    expect(folder.canonical('link-in/a.ts')).toMatchObject({
      isLink: false,
      spelled: ['link-in', 'a.ts'],
      found: 'file',
    })
  })
})

describe('other paths', () => {
  it.each([
    ['.', '.'],
    ['src/../src/./a.ts', 'src/a.ts'],
    ['absent/../src/a.ts', 'src/a.ts'],
    ['absent/x/../../src/a.ts', 'src/a.ts'],
    ['a/b/../../src', 'src'],
    ['absent/x', 'absent/x'],
    ['docs/../src/x', 'src/x'],
  ])('%s is %s', (path, relative) => {
    expect(relativeOf(path)).toBe(relative)
  })

  it('a link behind a name that does not exist is still followed after `..`', () => {
    expect(relativeOf('absent/../link-out/secret.txt')).toMatch(/^refused/)
    expect(relativeOf('absent/../link-in/a.ts')).toBe('src/a.ts')
    expect(relativeOf('src/a.ts/../../link-out/x')).toMatch(/^refused/)
  })

  it('tells what stands there and which names are new', () => {
    expect(folder.canonical('src/a.ts')).toMatchObject({
      found: 'file',
      missing: [],
      absolute: join(workspace, 'src/a.ts'),
    })
    expect(folder.canonical('.')).toMatchObject({ found: 'directory', missing: [], absolute: workspace })
    expect(folder.canonical('src/x/y')).toMatchObject({ found: 'missing', missing: ['x', 'y'] })
  })

  it('the canonical form of a canonical form is itself', () => {
    for (const path of ['link-in/a.ts', 'absent/../src/a.ts', 'link-dangling-in', '.', '..foo'])
      expect(relativeOf(relativeOf(path))).toBe(relativeOf(path))
  })

  it('a root given by a link is known by both spellings', () => {
    const other = openRootedFolder(join(base, 'alias'))
    expect(other.root).toBe(workspace)
    expect(other.canonical(join(base, 'alias/src/a.ts'))).toMatchObject({ kind: 'ok', relative: 'src/a.ts' })
    expect(other.canonical(join(workspace, 'src/a.ts'))).toMatchObject({ kind: 'ok', relative: 'src/a.ts' })
  })
})

describe("the gate's own files are out of reach", () => {
  it.each(['state', 'state/key', 'state/new', './src/../state/key', 'gate.yaml', 'gate.yaml/x', 'link-self/state/key'])(
    '%s, whether or not it exists',
    (path) => {
      expect(folder.canonical(path)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('gate itself') })
    },
  )

  it.each(['state2', 'src/state', 'gate.yaml.md'])('%s only looks like one', (path) => {
    expect(folder.canonical(path)).toMatchObject({ kind: 'ok' })
  })

  it('letter case hides nothing where the platform ignores it', () => {
    const mac = openRootedFolder(workspace, { platform: 'darwin', own: () => [join(workspace, 'Gate.yaml')] })
    expect(mac.canonical('gATE.yaml')).toMatchObject({ kind: 'refused' })
  })
})

it('a name is given as its folder lists it where the file system takes other spellings too', () => {
  const mac = openRootedFolder(workspace, { platform: 'darwin' })
  expect(mac.canonical('src/a.ts')).toMatchObject({ relative: 'src/a.ts' })
})
