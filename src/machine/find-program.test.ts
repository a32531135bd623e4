// Names of programs: found where the system would find them, and nowhere else.

import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findProgram } from './find-program.ts'

let root: string
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-find-')))
  for (const folder of ['one', 'two']) mkdirSync(join(root, folder))
  for (const path of ['one/plain', 'two/plain', 'two/tool', 'here']) writeFileSync(join(root, path), '#!/bin/sh\n')
  for (const path of ['two/plain', 'two/tool', 'here']) chmodSync(join(root, path), 0o755)
  mkdirSync(join(root, 'one/tool'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const find = (name: string, path = `${root}/one:${root}/two`) => findProgram(name, { path, cwd: root })

test('the first folder with a program of that name decides; folders and plain files are no programs', () => {
  expect(find('tool')).toBe(join(root, 'two/tool'))
  expect(find('plain')).toBe(join(root, 'two/plain'))
})

test('the working folder is never searched, also not by an empty or a relative folder of PATH', () => {
  for (const path of ['', ':', '.', `:${root}/one:.`]) expect(find('here', path)).toBeUndefined()
})

test('a name with a slash is a path from the working folder; an empty name is nothing', () => {
  expect(find('./here')).toBe(join(root, 'here'))
  expect(find('two/absent')).toBeUndefined()
  expect(find('')).toBeUndefined()
})
