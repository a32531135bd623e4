// Goal: git looks at what it was asked about and at nothing else, and no configuration that a repository brings along starts a
// program, unless a sandbox holds it. Each repository here is made by git itself, with a helper that leaves a mark when it runs.

import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { machineAbilities } from '../../../machine/probe-machine.ts'
import { ShellFixture } from './shell.fixture.ts'

const boxed = (await machineAbilities()).sandbox.kind === 'ready'
let shell: ShellFixture

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync(
    'git',
    ['-C', folder, '-c', 'user.name=x', '-c', 'user.email=x@localhost', '-c', 'protocol.file.allow=always', ...args],
    {
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '', HOME: shell.base, GIT_CONFIG_NOSYSTEM: '1' },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )

const commit = (folder: string): void => {
  git(folder, 'add', '-A')
  git(folder, 'commit', '-qm', 'one')
}

/** A program that leaves a mark beside the workspace and passes on what it gets. */
const helper = (): string => {
  const path = `${shell.base}/helper.sh`
  fs.writeFileSync(path, `#!/bin/sh\necho ran >> ${shell.base}/mark\ncat\n`, { mode: 0o755 })
  return path
}
const marked = (): boolean => fs.existsSync(`${shell.base}/mark`)

beforeEach(async () => {
  shell = await new ShellFixture().start({ shell: { programs: { git: true } } })
  git(shell.base, 'init', '-q', '-b', 'main', 'ws')
  shell.put('src/a.ts', 'one\n')
  commit(shell.workspace)
  shell.put('src/a.ts', 'two\n')
})
afterEach(() => shell.close())

const LOOKING = [
  ['status'],
  ['diff'],
  ['log', '-p', '-n', '1'],
  ['show', 'HEAD'],
  ['blame', '--', 'src/a.ts'],
  ['ls-files'],
  ['grep', 'two'],
  ['rev-parse', 'HEAD'],
  ['branch', '--list'],
]

/** The ones that start something by themselves where they are let. */
const STARTING = [['status'], ['diff'], ['log', '-p', '-n', '1'], ['blame', '--', 'src/a.ts']]

it.each(LOOKING)('git %s %s %s answers', async (...args) => {
  expect(await shell.run('git', ...args.filter((arg) => arg !== undefined))).toMatchObject({
    kind: 'value',
    value: { exitCode: 0 },
  })
})

describe('a repository whose configuration names programs', () => {
  const KEYS: readonly (readonly [key: string, attributes: string])[] = [
    ['core.fsmonitor', ''],
    ['core.pager', ''],
    ['diff.external', ''],
    ['core.hooksPath', ''],
    ['filter.evil.clean', '*.ts filter=evil\n'],
    ['filter.evil.process', '*.ts filter=evil\n'],
    ['diff.evil.textconv', '*.ts diff=evil\n'],
    ['diff.evil.command', '*.ts diff=evil\n'],
    ['gpg.program', ''],
  ]

  it.each(KEYS)('%s starts nothing outside of a sandbox', async (key, attributes) => {
    git(shell.workspace, 'config', key, helper())
    if (attributes !== '') shell.put('.gitattributes', attributes)
    shell.place = 'child'
    for (const args of STARTING) {
      const ran = await shell.run('git', ...args)
      expect([args, ran.kind === 'value' || (ran.kind === 'failure' && ran.effect === 'none')]).toEqual([args, true])
    }
    expect(marked()).toBe(false)
  })

  it.runIf(boxed).each(KEYS)('%s starts nothing that leaves a mark outside of the sandbox', async (key, attributes) => {
    git(shell.workspace, 'config', key, helper())
    if (attributes !== '') shell.put('.gitattributes', attributes)
    for (const args of STARTING) await shell.run('git', ...args)
    expect(marked()).toBe(false)
  })

  it('is refused without a sandbox where nothing else helps, and used where it can be switched off', async () => {
    shell.place = 'child'
    git(shell.workspace, 'config', 'core.fsmonitor', helper())
    git(shell.workspace, 'config', 'remote.origin.url', 'https://example.org/x.git')
    expect(await shell.run('git', 'status')).toMatchObject({ kind: 'value' })
    git(shell.workspace, 'config', 'filter.evil.clean', helper())
    expect(await shell.run('git', 'status')).toMatchObject({ type: 'permission_denied', effect: 'none' })
  })

  it('is refused without a sandbox where it includes another file', async () => {
    shell.place = 'child'
    fs.writeFileSync(shell.path('more'), `[filter "evil"]\n\tclean = ${helper()}\n`)
    git(shell.workspace, 'config', 'include.path', '../more')
    expect(await shell.run('git', 'status')).toMatchObject({ type: 'permission_denied', effect: 'none' })
  })
})

describe('a repository that lies elsewhere', () => {
  it('above the workspace is none', async () => {
    fs.rmSync(shell.path('.git'), { recursive: true })
    git(shell.base, 'init', '-q')
    fs.writeFileSync(`${shell.base}/secret.txt`, 'secret')
    commit(shell.base)
    const ran = await shell.run('git', 'log')
    expect(ran).toMatchObject({ kind: 'failure', type: 'tool_error' })
    expect(JSON.stringify(ran)).not.toContain('secret')
  })

  it('is refused behind a file, a link, a worktree, and where it borrows', async () => {
    git(shell.base, 'init', '-q', '-b', 'main', 'outside')
    fs.writeFileSync(`${shell.base}/outside/secret.txt`, 'secret')
    commit(`${shell.base}/outside`)
    const own = shell.path('.git')
    const refused = async (): Promise<void> => {
      for (const place of boxed ? (['sandbox', 'child'] as const) : (['child'] as const)) {
        shell.place = place
        expect(await shell.run('git', 'log')).toMatchObject({ kind: 'failure', type: 'unsafe_args', effect: 'none' })
      }
    }
    fs.writeFileSync(`${own}/objects/info/alternates`, `${shell.base}/outside/.git/objects\n`)
    await refused()
    fs.rmSync(`${own}/objects/info/alternates`)
    git(shell.workspace, 'config', 'core.worktree', `${shell.base}/outside`)
    await refused()
    git(shell.workspace, 'config', '--unset', 'core.worktree')
    fs.renameSync(`${own}/objects`, `${shell.base}/objects`)
    fs.symlinkSync(`${shell.base}/objects`, `${own}/objects`)
    await refused()
    fs.rmSync(own, { recursive: true })
    fs.writeFileSync(own, `gitdir: ${shell.base}/outside/.git\n`)
    await refused()
    fs.rmSync(own)
    fs.symlinkSync(`${shell.base}/outside/.git`, own)
    await refused()
    fs.rmSync(own)
    git(`${shell.base}/outside`, 'worktree', 'add', '-q', shell.path('tree'))
    shell.beforeRun = () => {}
    expect(await shell.call('run_command', { program: 'git', args: ['log'], cwd: 'tree' })).toMatchObject({
      type: 'unsafe_args',
    })
  })

  it('a worktree and a submodule that lie inside with everything are used', async () => {
    git(shell.workspace, 'worktree', 'add', '-q', shell.path('tree'))
    expect(await shell.call('run_command', { program: 'git', args: ['log', '-n', '1'], cwd: 'tree' })).toMatchObject({
      kind: 'value',
    })
    git(shell.base, 'clone', '-q', shell.workspace, 'other')
    git(shell.workspace, 'submodule', '--quiet', 'add', `${shell.base}/other`, 'sub')
    expect(await shell.call('run_command', { program: 'git', args: ['log', '-n', '1'], cwd: 'sub' })).toMatchObject({
      kind: 'value',
    })
    expect(await shell.run('git', 'status')).toMatchObject({ kind: 'value' })
  })

  it('a folder that only looks like a repository is none, also where it stands inside of one', async () => {
    git(shell.base, 'init', '-q', '--bare', 'ws/bare')
    git(shell.path('bare'), 'config', 'core.fsmonitor', helper())
    for (const place of ['child', shell.place] as const) {
      shell.place = place
      const inside = await shell.call('run_command', { program: 'git', args: ['rev-parse', 'HEAD'], cwd: 'bare' })
      expect(inside).toMatchObject({ value: { stdout: git(shell.workspace, 'rev-parse', 'HEAD') } })
    }
    fs.rmSync(shell.path('.git'), { recursive: true })
    expect(await shell.call('run_command', { program: 'git', args: ['log'], cwd: 'bare' })).toMatchObject({
      kind: 'failure',
      type: 'tool_error',
    })
    expect(marked()).toBe(false)
  })
})

describe('paths in commits', () => {
  it('are resources, counted from the top of the repository', async () => {
    const ran = await shell.call('run_command', { program: 'git', args: ['show', 'HEAD:src/a.ts'], cwd: 'src' })
    expect(ran).toMatchObject({
      value: { stdout: 'one\n' },
      touches: expect.arrayContaining([`read file:${shell.path('src/a.ts')}`]),
    })
    expect(await shell.run('git', 'show', 'HEAD:../x')).toMatchObject({ kind: 'refused' })
  })

  it('stand for their letters too, whatever the folder holds now', async () => {
    shell.put('key', 'secret\n')
    commit(shell.workspace)
    fs.rmSync(shell.path('key'))
    fs.symlinkSync('src/a.ts', shell.path('key'))
    expect(await shell.run('git', 'show', 'HEAD:key')).toMatchObject({
      touches: expect.arrayContaining([`read file:${shell.path('key')}`]),
    })
  })

  it('without a path it looks at the whole repository, and not only at the working folder', async () => {
    expect(await shell.call('run_command', { program: 'git', args: ['log', '-p'], cwd: 'src' })).toMatchObject({
      touches: [`read file:${shell.workspace}/*`],
    })
  })
})

describe('files that a caller may not read', () => {
  const hide = (name: RegExp): void => {
    shell.mayTouch = (resource) => !name.test(resource) && !resource.endsWith('/*')
  }

  it('are not shown from commits either, nor from the index, nor by the name of the object', async () => {
    shell.put('.env', 'secret\n')
    commit(shell.workspace)
    const object = git(shell.workspace, 'rev-parse', 'HEAD:.env').trim()
    git(shell.workspace, 'rm', '-q', '.env')
    commit(shell.workspace)
    hide(/\.env$/)
    for (const args of [
      ['log', '-p'],
      ['show', 'HEAD~1'],
      ['show', object],
      ['diff', 'HEAD~1', 'HEAD'],
      ['grep', 'secret', 'HEAD~1'],
      ['log', '-p', '--', '.'],
    ]) {
      const ran = await shell.run('git', ...args)
      expect([args, ran.kind === 'failure' && ran.type]).toEqual([args, 'permission_denied'])
    }
    for (const args of [['log', '-p', '--', 'src'], ['status'], ['grep', 'two'], ['blame', '--', 'src/a.ts']])
      expect([args, (await shell.run('git', ...args)).kind]).toEqual([args, 'value'])
  })

  it('are not shown beside the paths that are named, nor by an earlier name of one of them', async () => {
    shell.put('.env', 'secret\n')
    shell.put('src/a.ts', 'three\n')
    commit(shell.workspace)
    git(shell.workspace, 'mv', '.env', 'plain.txt')
    commit(shell.workspace)
    hide(/\.env$/)
    for (const args of [
      ['log', '-p', '--full-diff', '--', 'src'],
      ['log', '-p', '--follow', '--', 'plain.txt'],
      ['log', '-L', '1,1:plain.txt'],
      ['grep', '-nesecret', 'HEAD~1'],
    ]) {
      const ran = await shell.run('git', ...args)
      expect([args, ran.kind === 'failure' && ran.type]).toEqual([args, 'permission_denied'])
    }
  })

  it('are not shown from what was fetched or added and is in no branch', async () => {
    git(shell.base, 'clone', '-q', shell.workspace, 'other')
    fs.writeFileSync(`${shell.base}/other/.env`, 'secret\n')
    commit(`${shell.base}/other`)
    git(shell.workspace, 'fetch', '-q', `${shell.base}/other`, 'main')
    shell.put('.env', 'secret\n')
    git(shell.workspace, 'add', '.env')
    const object = git(shell.workspace, 'rev-parse', ':.env').trim()
    git(shell.workspace, 'rm', '-q', '--cached', '.env')
    hide(/\.env$/)
    for (const args of [
      ['show', 'FETCH_HEAD'],
      ['diff', 'HEAD..FETCH_HEAD'],
      ['grep', 'secret', 'FETCH_HEAD'],
      ['show', object],
    ]) {
      const ran = await shell.run('git', ...args)
      expect([args, ran.kind === 'failure' && ran.type]).toEqual([args, 'permission_denied'])
    }
    const others = [
      ['show', 'HEAD'],
      ['diff', 'HEAD', '--', 'src'],
      ['show', 'HEAD:src/a.ts'],
      ['grep', 'one', 'HEAD'],
    ]
    for (const args of boxed ? others : [])
      expect([args, (await shell.run('git', ...args)).kind]).toEqual([args, 'value'])
  })

  it.runIf(boxed)('are not shown from the index where git assumes that they are unchanged', async () => {
    shell.place = 'sandbox'
    shell.put('.env', 'secret two\n')
    commit(shell.workspace)
    hide(/\.env$/)
    expect(JSON.stringify(await shell.run('git', 'grep', 'secret'))).not.toContain('.env')
    git(shell.workspace, 'update-index', '--assume-unchanged', '.env')
    expect(await shell.run('git', 'grep', 'secret')).toMatchObject({ type: 'permission_denied' })
    expect(await shell.run('git', 'grep', 'two', '--', 'src')).toMatchObject({ kind: 'value' })
  })

  it('that were never committed keep nobody from looking at commits', async () => {
    shell.put('.gitignore', '.env\n')
    commit(shell.workspace)
    shell.put('.env', 'secret\n')
    hide(/\.env$/)
    const places = boxed ? (['sandbox'] as const) : ([] as const)
    for (const place of places) {
      shell.place = place
      for (const args of [['log', '-p'], ['show', 'HEAD'], ['diff']]) {
        const ran = await shell.run('git', ...args)
        expect([args, ran.kind]).toEqual([args, 'value'])
        expect(JSON.stringify(ran)).not.toContain('secret')
      }
    }
  })
})
