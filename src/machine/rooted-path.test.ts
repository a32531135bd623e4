import { describe, expect, it } from 'vitest'
import { type Platform, rootedPath } from './rooted-path.ts'

const ROOT = '/home/ana/ws'
const judge = (path: unknown, platform: Platform = 'linux') => rootedPath(path, [ROOT], platform)
const relativeOf = (path: unknown, platform: Platform = 'linux') => {
  const judged = judge(path, platform)
  return judged.kind === 'ok' ? judged.relative : `refused: ${judged.reason}`
}

describe('a path that does not stay in the root as text is refused', () => {
  it.each([
    '..',
    '../',
    '../outside/secret.txt',
    'a/./b/../../../outside',
    'src//../..//outside',
    'a/in.txt/../../../outside',
    '/',
    '/etc/passwd',
    '//etc/passwd',
    `${ROOT}-evil/secret.txt`,
    `${ROOT}/../outside`,
    '/proc/self/root/etc/passwd',
    '/dev/fd/0',
    '/home/ana',
    '/home/ana/ws2',
    './../x',
    '../ws-evil/x',
    '../WS/x',
    '/proc/self/cwd/x',
  ])('%s', (path) => {
    expect(judge(path)).toMatchObject({ kind: 'refused' })
  })

  it('the refusal never says where the path leads', () => {
    expect(relativeOf('/etc/shadow')).not.toContain('shadow')
  })
})

describe('text that is not a plain path is refused', () => {
  it.each([
    ['', 'empty'],
    ['src/a.ts\0.png', 'NUL'],
    ['src/\ud800.ts', 'surrogate'],
    ['\udc00', 'surrogate'],
    ['file:///etc/passwd', 'URI'],
    ['FILE:///x', 'URI'],
    ['file:/etc/passwd', 'URI'],
    ['https://x/y', 'URI'],
    ['vscode-remote://x', 'URI'],
    ['~', 'not expanded'],
    ['~/x', 'not expanded'],
    ['~ana/x', 'not expanded'],
    ['./~/x', 'not expanded'],
    ['x'.repeat(256), '255'],
    ['é'.repeat(128), '255'],
    [`${'a/'.repeat(2_050)}x`, '4096'],
  ])('%j: %s', (path, reason) => {
    expect(relativeOf(path)).toContain(`refused: `)
    expect(relativeOf(path)).toContain(reason)
  })

  it.each([[null], [undefined], [7], [['src/a.ts']], [{ toString: () => 'src/a.ts' }], [new String('src/a.ts')]])(
    '%j is no text',
    (path) => {
      expect(judge(path)).toEqual({ kind: 'refused', reason: 'a path is text' })
    },
  )
})

describe('every other path is taken as it is spelled', () => {
  it.each([
    ['.', '.'],
    ['./', '.'],
    ['src/a.ts', 'src/a.ts'],
    ['./src/a.ts', 'src/a.ts'],
    ['src//a.ts', 'src/a.ts'],
    ['src/', 'src'],
    ['a/../src/a.ts', 'src/a.ts'],
    ['docs/../src/x', 'src/x'],
    ['..foo', '..foo'],
    ['..foo-dir/bar.txt', '..foo-dir/bar.txt'],
    ['...', '...'],
    ['foo..bar', 'foo..bar'],
    [' a ', ' a '],
    ['a b', 'a b'],
    ['src/日本.ts', 'src/日本.ts'],
    ['enc/%2e%2e/x.txt', 'enc/%2e%2e/x.txt'],
    ['%2e%2e/x', '%2e%2e/x'],
    ['．．/x', '．．/x'],
    ['‥/x', '‥/x'],
    ['e\u0301', 'e\u0301'],
    ['\u00e9', '\u00e9'],
    ['`x`.txt', '`x`.txt'],
    ['$HOME/x', '$HOME/x'],
    ['file:name.txt', 'file:name.txt'],
    ['~notes.txt', '~notes.txt'],
    ['a/~/b', 'a/~/b'],
    ['docs\\notes.txt', 'docs\\notes.txt'],
    ['aux.ts', 'aux.ts'],
    ['GIT~1', 'GIT~1'],
    ['a:b', 'a:b'],
    ['C:\\x', 'C:\\x'],
    [`${'é'.repeat(127)}`, `${'é'.repeat(127)}`],
    [`${ROOT}`, '.'],
    [`${ROOT}/`, '.'],
    [`${ROOT}/src/a.ts`, 'src/a.ts'],
    [`/${ROOT}/./src/../src/a.ts`, 'src/a.ts'],
    ['../ws/src/a.ts', 'src/a.ts'],
    [`/home/x/../ana/ws/src`, 'src'],
    [`${ROOT}/../ws/src`, 'src'],
  ])('%s is %s', (path, relative) => {
    expect(relativeOf(path)).toBe(relative)
  })

  it('`..` stays in the segments, for a link before it may change its meaning', () => {
    expect(judge('link/../src/./a.ts')).toMatchObject({ segments: ['link', '..', 'src', 'a.ts'], relative: 'src/a.ts' })
    expect(judge('../ws/link/../x')).toMatchObject({ segments: ['link', '..', 'x'] })
    expect(judge(`${ROOT}/link/../x`)).toMatchObject({ segments: ['link', '..', 'x'] })
  })

  it('another spelling of the root is known when it is given', () => {
    expect(rootedPath('/var/ws/a', ['/private/var/ws', '/var/ws'], 'darwin')).toMatchObject({
      kind: 'ok',
      relative: 'a',
    })
    expect(rootedPath('/other/ws/a', ['/private/var/ws', '/var/ws'], 'darwin')).toMatchObject({ kind: 'refused' })
  })

  it('a root of `/` holds everything', () => {
    expect(rootedPath('/etc/passwd', ['/'], 'linux')).toMatchObject({ kind: 'ok', relative: 'etc/passwd' })
  })
})

describe('Windows reads names in its own way', () => {
  const spellings = ['C:\\Users\\ana\\ws']
  const win = (path: string) => rootedPath(path, spellings, 'win32')

  it.each([
    '..\\..\\outside\\secret.txt',
    'a\\..\\..\\x',
    'C:\\Windows\\win.ini',
    'c:/windows/win.ini',
    'D:\\Users\\ana\\ws\\a',
    'C:a.txt',
    'D:',
    '\\Windows',
    '\\\\host\\share\\x',
    '//host/share',
    '\\\\?\\C:\\Users\\ana\\ws\\a',
    '\\\\.\\pipe\\x',
    'src\\a.ts::$DATA',
    'src/a.ts:x',
    'src/NUL.txt',
    'nul',
    'COM1',
    'com¹.txt',
    'lpt9.log',
    'aux .txt',
    'CONIN$',
    '.git.',
    '.git ',
    'a./b',
    'a /b',
    'GIT~1/config',
    'PROGRA~1',
    'notes~12.txt',
    'a?',
    'a*',
    'a|b',
    'a<b',
    'a"b',
    'a\u0007',
    '~\\x',
    'C:\\Users\\ana\\ws-evil\\x',
  ])('%s is refused', (path) => {
    expect(win(path)).toMatchObject({ kind: 'refused' })
  })

  it.each([
    ['src\\a.ts', 'src/a.ts'],
    ['src/a.ts', 'src/a.ts'],
    ['C:\\Users\\ana\\ws\\a', 'a'],
    ['c:/USERS/ana/WS/Sub/a', 'Sub/a'],
    ['a\\..\\b', 'b'],
    ['console.ts', 'console.ts'],
    ['null.txt', 'null.txt'],
    ['com10', 'com10'],
    ['.gitignore', '.gitignore'],
    ['a.b.c', 'a.b.c'],
    ['longername~1.txt', 'longername~1.txt'],
  ])('%s is %s', (path, relative) => {
    expect(win(path)).toMatchObject({ kind: 'ok', relative })
  })
})
