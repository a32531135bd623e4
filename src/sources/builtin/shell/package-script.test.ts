import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { packageScript, scriptOf } from './package-script.ts'

let base: string
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'script-')))
})
afterEach(() => fs.rmSync(base, { recursive: true, force: true }))

const put = (path: string, text: string): void => {
  fs.mkdirSync(join(base, path, '..'), { recursive: true })
  fs.writeFileSync(join(base, path), text)
}
const scripts = (named: object): string => JSON.stringify({ scripts: named })

it('the text has what runs before and after the script, and nothing else', () => {
  put('package.json', scripts({ pretest: 'a', test: 'b', posttest: 'c', other: 'd' }))
  expect(packageScript('test', base, base)).toEqual({
    kind: 'found',
    folder: base,
    text: 'pretest: a\ntest: b\nposttest: c',
  })
  expect(packageScript('other', base, base)).toMatchObject({ text: 'other: d' })
})

it('the nearest package counts, and no folder above the workspace', () => {
  put('package.json', scripts({ test: 'outside' }))
  put('ws/a/b/x', '')
  expect(packageScript('test', join(base, 'ws/a/b'), join(base, 'ws'))).toMatchObject({ kind: 'missing' })
  put('ws/package.json', scripts({ test: 'inside' }))
  expect(packageScript('test', join(base, 'ws/a/b'), join(base, 'ws'))).toMatchObject({ text: 'test: inside' })
  fs.mkdirSync(join(base, 'ws/a/node_modules'))
  expect(packageScript('test', join(base, 'ws/a/b'), join(base, 'ws'))).toMatchObject({ kind: 'missing' })
})

it.each(['constructor', '__proto__', 'absent', 'number'])('`%s` is no script', (name) => {
  put('package.json', scripts({ test: 'x', number: 1 }))
  expect(packageScript(name, base, base)).toMatchObject({ kind: 'missing' })
})

it('a text that two readers could read in two ways is not read', () => {
  put('package.json', '{"scripts":{"test":"one"},"scripts":{"test":"two"}}')
  expect(packageScript('test', base, base)).toMatchObject({ kind: 'missing' })
  fs.rmSync(join(base, 'package.json'))
  put('elsewhere.json', scripts({ test: 'x' }))
  fs.symlinkSync('elsewhere.json', join(base, 'package.json'))
  expect(packageScript('test', base, base)).toMatchObject({ kind: 'missing' })
})

it('which script a package manager is asked for', () => {
  expect(scriptOf('npm', ['test', '--', 'x'])).toBe('test')
  expect(scriptOf('npm', ['--silent', 'run', 'build'])).toBe('build')
  expect(scriptOf('yarn', ['run-script', 'build'])).toBe('build')
  expect(scriptOf('npm', ['install'])).toBeUndefined()
  expect(scriptOf('git', ['test'])).toBeUndefined()
})
