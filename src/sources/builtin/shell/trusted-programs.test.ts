import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM_FOLDERS, trustedProgram } from './trusted-programs.ts'

let base: string
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'programs-')))
})
afterEach(() => fs.rmSync(base, { recursive: true, force: true }))

const put = (path: string, mode = 0o755): string => {
  const file = join(base, path)
  fs.mkdirSync(join(file, '..'), { recursive: true })
  fs.writeFileSync(file, '#!/bin/sh\n')
  fs.chmodSync(file, mode)
  return file
}
const owners = [process.getuid?.() ?? 0]

it('a program of the system is its real file, under its own name', () => {
  const found = trustedProgram('cat', { folders: SYSTEM_FOLDERS, roots: [] })
  expect(found?.name).toBe('cat')
  expect(found?.path).toBe(fs.realpathSync(found?.path ?? ''))
  expect(found?.folders).toEqual([])
})

it('the first folder that has it counts', () => {
  put('one/tool')
  put('two/tool')
  const folders = [join(base, 'none'), join(base, 'two'), join(base, 'one')]
  expect(trustedProgram('tool', { folders, roots: [], owners })?.path).toBe(join(base, 'two/tool'))
})

describe('is not trusted', () => {
  const find = (roots: readonly string[] = []) =>
    trustedProgram('tool', { folders: [join(base, 'bin')], roots, owners })

  it('inside the workspace, by itself or behind a link', () => {
    put('bin/tool')
    expect(find()?.path).toBe(join(base, 'bin/tool'))
    expect(find([base])).toBeUndefined()
    put('ws/tool')
    fs.rmSync(join(base, 'bin/tool'))
    fs.symlinkSync(join(base, 'ws/tool'), join(base, 'bin/tool'))
    expect(find()?.path).toBe(join(base, 'ws/tool'))
    expect(find([join(base, 'ws')])).toBeUndefined()
  })

  it('where others may change the file or a folder above it', () => {
    put('bin/tool', 0o757)
    expect(find()).toBeUndefined()
    put('bin/tool')
    fs.chmodSync(join(base, 'bin/tool'), 0o755)
    fs.chmodSync(join(base, 'bin'), 0o777)
    expect(find()).toBeUndefined()
    fs.chmodSync(join(base, 'bin'), 0o755)
    expect(find()?.path).toBe(join(base, 'bin/tool'))
  })

  it('where it is no program: a folder, a file without the right to run, nothing', () => {
    fs.mkdirSync(join(base, 'bin/tool'), { recursive: true })
    expect(find()).toBeUndefined()
    fs.rmSync(join(base, 'bin/tool'), { recursive: true })
    put('bin/tool', 0o644)
    expect(find()).toBeUndefined()
    fs.rmSync(join(base, 'bin/tool'))
    expect(find()).toBeUndefined()
  })
})

it('what it needs besides the system is named, and never the folder around it', () => {
  put('opt/bin/tool')
  put('opt/lib/tool/data')
  put('opt/secret')
  const found = trustedProgram('tool', { folders: [join(base, 'opt/bin')], roots: [], owners })
  expect(found?.folders).toEqual([join(base, 'opt/bin'), join(base, 'opt/lib')])
})
