import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '../../../base/digest.ts'
import { ANA, type Called, FileFixture } from './file-tools.fixture.ts'

let files: FileFixture

beforeEach(async () => {
  files = await new FileFixture().start()
  files.put('../outside/secret.txt', 'SECRET')
  files.put('src/a.ts', 'hello')
  fs.symlinkSync(join(files.base, 'outside'), files.path('link-out'))
  fs.symlinkSync('src/a.ts', files.path('link-in'))
  fs.linkSync(join(files.base, 'outside/secret.txt'), files.path('hard-out'))
})
afterEach(() => {
  expect(fs.readdirSync(join(files.base, 'outside'))).toEqual(['secret.txt'])
  expect(fs.readFileSync(join(files.base, 'outside/secret.txt'), 'utf8')).toBe('SECRET')
  files.close()
})

const callIdOf = (called: Called): string => (called.kind === 'value' ? called.callId : '')

const FORBIDDEN = [
  '.git/hooks/pre-commit',
  '.git/config',
  'sub/.git/hooks/x',
  '.GIT/config',
  '.git\u200c/config',
  '.gitmodules',
  '.vscode/settings.json',
  '.mcp.json',
  '.cursor/mcp.json',
  '.claude/settings.json',
  '.envrc',
  '.npmrc',
  '.bashrc',
  'lockgate.yaml',
  'src/evil\u001b[2J.ts',
  'src/invoice\u202egpj.sh',
  'a\u200bb',
  'x\u{e0041}/y',
  '.',
  '',
  '../outside/new',
  'link-out/new',
  '/etc/x',
  'new\0',
  '~/x',
]

describe.each([
  ['write_file', (path: string) => ({ path, content: 'x' })],
  ['edit_file', (path: string) => ({ path, find: 'a', replace: 'b' })],
  ['delete_file', (path: string) => ({ path })],
  ['move_file', (path: string) => ({ from: path, to: 'src/new' })],
  ['move_file', (path: string) => ({ from: 'src/a.ts', to: path })],
])('%s refuses before anything is touched', (tool, args) => {
  it.each(FORBIDDEN)('%j', async (path) => {
    expect(await files.call(tool, args(path))).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
    expect(files.text('src/a.ts')).toBe('hello')
    expect(files.images.changes.size).toBe(0)
  })

  it("the gate's own files, under every name", async () => {
    files.put('state/key', 'private')
    files.own.push(files.path('state'), files.path('gate.yaml'))
    fs.linkSync(files.path('state/key'), files.path('copy'))
    for (const path of ['state/key', 'state/new', 'gate.yaml', 'src/../state/key', './gate.yaml'])
      expect(await files.call(tool, args(path))).toMatchObject({ kind: 'refused' })
    expect(await files.call(tool, args('copy'))).not.toMatchObject({ kind: 'value' })
    expect(files.text('state/key')).toBe('private')
    expect(files.exists('gate.yaml')).toBe(false)
  })

  it('a protected name that is only a link to an ordinary folder', async () => {
    fs.symlinkSync('src', files.path('.vscode'))
    expect(await files.call(tool, args('.vscode/a.ts'))).toMatchObject({ kind: 'refused' })
  })
})

describe('write_file', () => {
  it('creates, with the folders on the way, and replaces', async () => {
    const created = await files.call('write_file', { path: 'new/deep/x.md', content: 'é\n' })
    expect(created).toMatchObject({
      touches: [`write file:${files.path('new/deep/x.md')}`],
      value: { created: true, bytes: 3, hash: sha256('é\n') },
    })
    expect(await files.call('write_file', { path: './new/../new/deep/x.md', content: '' })).toMatchObject({
      args: { path: 'new/deep/x.md' },
      value: { created: false, bytes: 0 },
    })
    expect(files.text('new/deep/x.md')).toBe('')
  })

  it.each([
    '.gitignore',
    'src/.gitkeep',
    'gitconfig.md',
    '.gitattributes.md',
    '.env.example',
    'git/hooks/x',
    '.github/workflows/ci.yml',
    '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}.md',
    'می\u200cخواهم.txt',
    '日本.ts',
    'aux.ts',
  ])('%s is an ordinary name', async (path) => {
    expect(await files.call('write_file', { path, content: 'x' })).toMatchObject({ kind: 'value' })
    expect(files.text(path)).toBe('x')
  })

  it('through a link inside, it writes the file that the link stands for, under its own name', async () => {
    expect(await files.call('write_file', { path: 'link-in', content: 'new' })).toMatchObject({
      args: { path: 'src/a.ts' },
      touches: [`write file:${files.path('src/a.ts')}`],
    })
    expect(files.text('src/a.ts')).toBe('new')
    expect(fs.lstatSync(files.path('link-in')).isSymbolicLink()).toBe(true)
  })

  it('refuses a file that is not the one that was read', async () => {
    const args = { path: 'src/a.ts', content: 'new', ifHash: sha256('other') }
    expect(await files.call('write_file', args)).toMatchObject({ kind: 'failure', code: 'stale', effect: 'none' })
    expect(await files.call('write_file', { ...args, path: 'absent' })).toMatchObject({ code: 'stale' })
    expect(await files.call('write_file', { ...args, ifHash: 'nonsense' })).toMatchObject({
      kind: 'refused',
      code: 'invalid_args',
    })
    expect(await files.call('write_file', { ...args, ifHash: sha256('hello') })).toMatchObject({ kind: 'value' })
  })

  it('leaves alone what it may not replace', async () => {
    execFileSync('mkfifo', [files.path('pipe')])
    fs.writeFileSync(files.path('huge'), '')
    fs.truncateSync(files.path('huge'), 10 * 1_024 * 1_024 + 1)
    for (const [path, code] of [
      ['hard-out', 'linked_elsewhere'],
      ['src', 'not_a_file'],
      ['pipe', 'not_a_file'],
      ['src/a.ts/x', 'not_a_folder'],
      ['huge', 'too_large'],
    ] as const) {
      expect(await files.call('write_file', { path, content: 'x' })).toMatchObject({
        kind: 'failure',
        code,
        effect: 'none',
      })
    }
  })

  it('nothing is written where what was there cannot be kept', async () => {
    files.images.isBroken = true
    expect(await files.call('write_file', { path: 'src/a.ts', content: 'x' })).toMatchObject({
      kind: 'failure',
      code: 'not_kept',
      effect: 'none',
    })
    expect(files.text('src/a.ts')).toBe('hello')
  })

  it('text that cannot be stored as given is refused', async () => {
    expect(await files.call('write_file', { path: 'x', content: 'a\ud800' })).toMatchObject({
      kind: 'refused',
      code: 'invalid_args',
    })
  })

  it('knows whether it happened', async () => {
    const { happened } = files.tool('write_file')
    expect(await happened?.({ path: 'src/a.ts', content: 'hello' })).toBe(true)
    expect(await happened?.({ path: 'src/a.ts', content: 'other' })).toBe(false)
    expect(await happened?.({ path: 'absent', content: 'other' })).toBe(false)
  })
})

describe('edit_file', () => {
  const edit = (find: string, replace: string, more: object = {}) =>
    files.call('edit_file', { path: 'src/a.ts', find, replace, ...more })

  it('replaces one certain place, literally', async () => {
    expect(await edit('hello', "$& $1 $' $$")).toMatchObject({
      touches: [`read file:${files.path('src/a.ts')}`, `write file:${files.path('src/a.ts')}`],
      value: { replaced: 1, lines: [1], hash: sha256("$& $1 $' $$") },
    })
    expect(files.text('src/a.ts')).toBe("$& $1 $' $$")
  })

  it('refuses a place that is not certain, and says how many there are', async () => {
    files.put('src/a.ts', 'a\nb\na\n')
    expect(await edit('a', 'x')).toMatchObject({
      kind: 'failure',
      code: 'ambiguous',
      effect: 'none',
      message: expect.stringContaining('2 times'),
    })
    expect(await edit('a', 'x', { all: true })).toMatchObject({ value: { replaced: 2, lines: [1, 3] } })
    expect(files.text('src/a.ts')).toBe('x\nb\nx\n')
  })

  it.each([
    [{ find: '', replace: 'x' }, 'refused', 'invalid_args'],
    [{ find: 'a', replace: 'a' }, 'refused', 'invalid_args'],
    [{ find: 'absent', replace: 'x' }, 'failure', 'no_match'],
    [{ find: 'hello', replace: 'x', ifHash: sha256('other') }, 'failure', 'stale'],
    [{ find: 'hello', replace: 'x', path: 'absent' }, 'failure', 'file_not_found'],
    [{ find: 'hello', replace: 'x', path: 'src' }, 'failure', 'not_a_file'],
    [{ find: 'a', replace: 'x', path: 'bin' }, 'failure', 'binary'],
    [{ find: 'SECRET', replace: 'x', path: 'hard-out' }, 'failure', 'linked_elsewhere'],
  ])('%j is %s %s', async (args, kind, code) => {
    files.put('bin', 'a\0')
    expect(await files.call('edit_file', { path: 'src/a.ts', ...args })).toMatchObject({ kind, code })
    expect(files.text('src/a.ts')).toBe('hello')
  })

  it('says where only blanks differ', async () => {
    files.put('src/a.ts', 'one\n\tif (x) {\n')
    expect(await edit('  if (x) {', 'y')).toMatchObject({
      code: 'no_match',
      message: expect.stringContaining('line 2'),
    })
  })

  it('keeps CRLF, a missing last line end, and a byte order mark', async () => {
    files.put('src/a.ts', '\ufeffa\r\nb')
    await edit('a\nb', 'x\ny')
    expect(fs.readFileSync(files.path('src/a.ts'))).toEqual(Buffer.from('\ufeffx\r\ny'))
  })

  it('the second of two equal edits finds nothing to do', async () => {
    await edit('hello', 'bye')
    expect(await edit('hello', 'bye')).toMatchObject({ code: 'no_match' })
  })
})

describe('delete_file', () => {
  it('removes one file and keeps what it held', async () => {
    expect(await files.call('delete_file', { path: 'src/../src/a.ts' })).toMatchObject({
      args: { path: 'src/a.ts' },
      touches: [`write file:${files.path('src/a.ts')}`],
      value: { bytes: 5 },
    })
    expect(files.exists('src/a.ts')).toBe(false)
  })

  it('removes no folder, no link and nothing that cannot be kept', async () => {
    expect(await files.call('delete_file', { path: 'src' })).toMatchObject({ code: 'not_a_file' })
    expect(await files.call('delete_file', { path: 'link-in' })).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
    expect(await files.call('delete_file', { path: 'absent' })).toMatchObject({ code: 'file_not_found' })
    files.images.isBroken = true
    expect(await files.call('delete_file', { path: 'src/a.ts' })).toMatchObject({ code: 'not_kept' })
    expect(files.exists('src/a.ts')).toBe(true)
  })
})

describe('move_file', () => {
  const move = (from: string, to: string) => files.call('move_file', { from, to })

  it('moves a file, and declares reading it', async () => {
    expect(await move('src/a.ts', 'lib/b.ts')).toMatchObject({
      touches: [
        `read file:${files.path('src/a.ts')}`,
        `write file:${files.path('src/a.ts')}`,
        `write file:${files.path('lib/b.ts')}`,
      ],
      value: { from: 'src/a.ts', to: 'lib/b.ts', what: 'file' },
    })
    expect(files.text('lib/b.ts')).toBe('hello')
    expect(files.exists('src/a.ts')).toBe(false)
  })

  it('moves a folder, and declares all below it', async () => {
    expect(await move('src', 'lib')).toMatchObject({
      touches: [
        `read file:${files.path('src')}/*`,
        `write file:${files.path('src')}/*`,
        `write file:${files.path('lib')}/*`,
      ],
      value: { what: 'directory' },
    })
    expect(files.text('lib/a.ts')).toBe('hello')
  })

  it('puts nothing over what exists', async () => {
    files.put('b.ts', 'other')
    expect(await move('src/a.ts', 'b.ts')).toMatchObject({ kind: 'failure', code: 'exists' })
    files.put('full/x', '')
    expect(await move('src/a.ts', 'full')).toMatchObject({ code: 'exists', message: expect.stringContaining('folder') })
    expect(await move('src', 'full')).toMatchObject({ code: 'exists' })
    expect(await move('src/a.ts', 'src/./a.ts')).toMatchObject({ kind: 'refused', code: 'invalid_args' })
    expect(await move('src', 'src/deeper')).toMatchObject({ kind: 'refused', code: 'invalid_args' })
    expect(await move('absent', 'x')).toMatchObject({ code: 'file_not_found' })
    expect(await move('link-in', 'x')).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
    expect(files.text('b.ts')).toBe('other')
  })

  it('a folder takes nothing along that may not be moved by itself', async () => {
    files.put('a/deep/.env', 'secret')
    files.put('b/sub/.git/config', 'x')
    files.put('c/state/key', 'x')
    files.own.push(files.path('c/state'))
    files.mayTouch = (resource) => !/^read .*\.env/.test(resource)
    expect(await move('a', 'z')).toMatchObject({
      kind: 'failure',
      code: 'not_permitted',
      message: expect.stringContaining('1 entries'),
    })
    expect(await move('b', 'z')).toMatchObject({ kind: 'failure', code: 'not_permitted' })
    expect(await move('c', 'z')).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
    expect(files.exists('z')).toBe(false)
    files.mayTouch = (resource) => resource !== `write file:${files.path('z/deep/.env')}`
    expect(await move('a', 'z')).toMatchObject({ code: 'not_permitted' })
    files.mayTouch = () => true
    expect(await move('a', 'z')).toMatchObject({ kind: 'value' })
  })

  it('a folder cannot become a protected one', async () => {
    files.put('git/hooks/pre-commit', 'x')
    expect(await move('git', '.git')).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
    expect(await move('git', 'sub/.GIT')).toMatchObject({ kind: 'refused' })
  })

  it('knows whether it happened', async () => {
    const { happened } = files.tool('move_file')
    expect(await happened?.({ from: 'src/a.ts', to: 'x' })).toBe(false)
    expect(await happened?.({ from: 'x', to: 'src/a.ts' })).toBe(true)
    expect(await happened?.({ from: 'x', to: 'y' })).toBeUndefined()
  })
})

it.each([
  ['write_file', { path: 'src/a.ts', content: 'x' }],
  ['write_file', { path: 'src/new.ts', content: 'x' }],
  ['edit_file', { path: 'src/a.ts', find: 'hello', replace: 'x' }],
  ['delete_file', { path: 'src/a.ts' }],
])('%s %j takes the place of nothing that somebody else wrote meanwhile', async (tool, args) => {
  files.images.onKept = () => files.put(args.path, 'somebody else')
  expect(await files.call(tool, args)).toMatchObject({ kind: 'failure', code: 'stale', effect: 'none' })
  expect(files.text(args.path)).toBe('somebody else')
})

describe('undo_change', () => {
  const undo = (callId: string) => files.call('undo_change', { callId })

  it.each([
    ['an edit', () => files.call('edit_file', { path: 'src/a.ts', find: 'hello', replace: 'bye' })],
    ['a write', () => files.call('write_file', { path: 'src/a.ts', content: 'bye' })],
    ['a new file', () => files.call('write_file', { path: 'src/new.ts', content: 'bye' })],
    ['a deletion', () => files.call('delete_file', { path: 'src/a.ts' })],
    ['a move', () => files.call('move_file', { from: 'src/a.ts', to: 'lib/b.ts' })],
  ])('takes back %s, and can be taken back itself', async (_, change) => {
    fs.chmodSync(files.path('src/a.ts'), 0o740)
    const before = snapshot()
    const changed = await change()
    const after = snapshot()
    expect(after).not.toEqual(before)
    const undone = await undo(callIdOf(changed))
    expect(undone).toMatchObject({ kind: 'value' })
    expect(snapshot()).toEqual(before)
    expect(fs.statSync(files.path('src/a.ts')).mode & 0o777).toBe(0o740)
    expect(await undo(callIdOf(undone))).toMatchObject({ kind: 'value' })
    expect(snapshot()).toEqual(after)
  })

  it('declares the files that it will touch', async () => {
    const moved = await files.call('move_file', { from: 'src/a.ts', to: 'b' })
    expect(await undo(callIdOf(moved))).toMatchObject({
      touches: ['src/a.ts', 'b'].flatMap((path) => [`read file:${files.path(path)}`, `write file:${files.path(path)}`]),
    })
  })

  it('leaves alone a file that has changed since', async () => {
    const changed = await files.call('edit_file', { path: 'src/a.ts', find: 'hello', replace: 'bye' })
    files.put('src/a.ts', 'somebody else')
    expect(await undo(callIdOf(changed))).toMatchObject({ kind: 'failure', code: 'stale', effect: 'none' })
    expect(files.text('src/a.ts')).toBe('somebody else')
    const deleted = await files.call('delete_file', { path: 'src/a.ts' })
    files.put('src/a.ts', 'new')
    expect(await undo(callIdOf(deleted))).toMatchObject({ code: 'stale' })
  })

  it('the second undo of one change finds it changed', async () => {
    const changed = await files.call('edit_file', { path: 'src/a.ts', find: 'hello', replace: 'bye' })
    await undo(callIdOf(changed))
    expect(await undo(callIdOf(changed))).toMatchObject({ code: 'stale' })
  })

  it("somebody else's change is as unknown as one that never was", async () => {
    const changed = await files.call('edit_file', { path: 'src/a.ts', find: 'hello', replace: 'bye' })
    files.caller = { ...ANA, user: 'ben' }
    const foreign = await undo(callIdOf(changed))
    expect(foreign).toMatchObject({ kind: 'failure', code: 'no_such_change', touches: [] })
    expect(foreign).toEqual(await undo('never'))
    expect(files.text('src/a.ts')).toBe('bye')
  })

  it('what has become a link or an own file since is left alone', async () => {
    const changed = await files.call('edit_file', { path: 'src/a.ts', find: 'hello', replace: 'bye' })
    files.own.push(files.path('src/a.ts'))
    expect(await undo(callIdOf(changed))).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
    files.own.pop()
    fs.renameSync(files.path('src'), files.path('real'))
    fs.symlinkSync('real', files.path('src'))
    expect(await undo(callIdOf(changed))).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
    expect(files.text('real/a.ts')).toBe('bye')
  })

  it('has no root to choose', async () => {
    expect(await files.call('undo_change', { callId: 'x', root: 'ws' })).toMatchObject({
      kind: 'refused',
      code: 'invalid_args',
    })
  })

  function snapshot(): readonly string[] {
    return fs
      .readdirSync(files.workspace, { recursive: true, encoding: 'utf8' })
      .filter((path) => fs.lstatSync(files.path(path)).isFile())
      .map((path) => `${path}=${files.text(path)}`)
      .sort()
  }
})

it('last-check: a write after a swap lands nowhere', async () => {
  files.put('open/a.txt', 'open')
  files.put('closed/a.txt', 'closed')
  files.beforeRun = () => {
    fs.rmSync(files.path('open'), { recursive: true, force: true })
    fs.symlinkSync('closed', files.path('open'))
    files.beforeRun = () => {}
  }
  for (const [tool, args] of [
    ['write_file', { path: 'open/a.txt', content: 'x' }],
    ['edit_file', { path: 'open/a.txt', find: 'closed', replace: 'x' }],
    ['delete_file', { path: 'open/a.txt' }],
  ] as const) {
    expect(await files.call(tool, args)).not.toMatchObject({ kind: 'value' })
    expect(files.text('closed/a.txt')).toBe('closed')
    fs.rmSync(files.path('open'), { recursive: true, force: true })
    files.put('open/a.txt', 'open')
    files.beforeRun = () => {
      fs.rmSync(files.path('open'), { recursive: true, force: true })
      fs.symlinkSync('closed', files.path('open'))
      files.beforeRun = () => {}
    }
  }
})

it('a person is shown what a change changed', async () => {
  files.put('a.txt', 'one\ntwo\nthree\n')
  const edited = await files.call('edit_file', { path: 'a.txt', find: 'two', replace: '2' })
  expect(edited).toMatchObject({
    display: { kind: 'diff', path: 'a.txt', text: '@@ -1,3 +1,3 @@\n one\n-two\n+2\n three' },
  })
  const made = await files.call('write_file', { path: 'new.txt', content: 'x\n' })
  expect(made).toMatchObject({ text: expect.stringMatching(/^created/), display: { text: '@@ -0,0 +1 @@\n+x' } })
  const again = await files.call('write_file', { path: 'new.txt', content: 'x\n' })
  expect(again).toMatchObject({ kind: 'value', display: undefined })
  const large = await files.call('write_file', { path: 'new.txt', content: 'y'.repeat(2_000_000) })
  expect(large).toMatchObject({ kind: 'value', display: undefined })
})
