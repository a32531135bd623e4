import { describe, expect, it } from 'vitest'
import { globScope } from './glob-scope.ts'

describe('a glob that leads out is refused', () => {
  it.each([
    '/etc/**',
    '/etc/passwd',
    '//x',
    'C:\\x',
    'c:/x',
    '\\\\host\\x',
    'file:/x',
    'https://x/*',
    '~',
    '~/x',
    '~ana/*',
    '../*',
    '..',
    'src/**/../../../outside/*',
    'a/{..,b}/c',
    'a/..',
  ])('%s', (glob) => {
    expect(globScope(glob)).toMatchObject({ kind: 'bad', code: 'unsafe_args' })
  })

  it.each(['a{', '[a', 'a\\', '{b'])('%s cannot be read', (glob) => {
    expect(globScope(glob)).toMatchObject({ kind: 'bad', code: 'invalid_args' })
  })
})

describe('a glob begins where its wildcards begin', () => {
  it.each([
    ['**/*.ts', '.', ['a.ts', 'b/c.ts'], ['a.js']],
    ['*.ts', '.', ['a.ts', 'b/c.ts'], ['b.ts/c']],
    ['src/**/*.ts', 'src', ['a.ts', 'b/c.ts'], ['a.js']],
    ['./src/*.ts', 'src', ['a.ts'], ['b/c.ts']],
    ['src/a.ts', 'src', ['a.ts'], ['b/a.ts']],
    ['src//deep/{a,b}.ts', 'src/deep', ['a.ts', 'b.ts'], ['c.ts']],
    ['{src/x,docs}/a', '.', ['src/x/a', 'docs/a'], ['x/a']],
    ['..foo/*', '..foo', ['x'], []],
    ['~notes.txt', '.', ['~notes.txt', 'a/~notes.txt'], []],
    ['./a.ts', '.', ['a.ts'], ['b/a.ts']],
    ['a:b/*', 'a:b', ['x'], []],
  ])('%s begins at %s', (glob, prefix, matching, others) => {
    const scope = globScope(glob)
    if (scope.kind === 'bad') throw new Error(scope.reason)
    expect(scope.prefix).toBe(prefix)
    for (const path of matching) expect(scope.matches(path), path).toBe(true)
    for (const path of others) expect(scope.matches(path), path).toBe(false)
  })

  it('what is left means the same when it is given again', () => {
    for (const glob of ['src/a.ts', 'src/*.ts', 'src/**/x']) {
      const scope = globScope(glob)
      const again = scope.kind === 'ok' ? globScope(scope.rest) : scope
      for (const path of ['a.ts', 'b/a.ts', 'x', 'b/x'])
        expect(again.kind === 'ok' && again.matches(path)).toBe(scope.kind === 'ok' && scope.matches(path))
    }
  })

  it('knows the names that it spells', () => {
    const scope = globScope('**/{node_modules,x}/*.js')
    expect(scope.kind === 'ok' && scope.names.has('node_modules')).toBe(true)
    expect(scope.kind === 'ok' && scope.names.has('.git')).toBe(false)
  })
})
