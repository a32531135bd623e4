// Goal: no subcommand of git that the grammar allows starts a program that the repository names, or reaches another repository.
// Method: a real repository whose configuration and attributes name a marker in every place that the command line can
// override; each command is judged, run, and has to leave the marker untouched. Without the overrides the marker is run.

import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { judgeCommand } from './judge-command.ts'
import { SHIPPED } from './shipped-programs.ts'

const base = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'lockgate-git-'))
const repository = join(base, 'repository')
const marker = join(base, 'marker')
const helper = join(base, 'helper')
const hasGit = spawnSync('git', ['--version']).status === 0
const environment = {
  ...{
    PATH: process.env.PATH ?? '',
    HOME: base,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  },
  ...{ GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' },
}

function git(args: readonly string[], folder = repository) {
  return spawnSync('git', [...args], { cwd: folder, env: environment, encoding: 'utf8', input: '', timeout: 20_000 })
}

function commit(message: string, folder = repository): void {
  git(['add', '-A'], folder)
  expect(git(['commit', '-qm', message], folder).status).toBe(0)
}

/** Runs what the judge makes of a command, and says what it printed. */
function judged(args: readonly string[]): string {
  const command = judgeCommand(SHIPPED, 'git', args)
  if (command.kind === 'refused') throw new Error(`${args.join(' ')}: ${command.message}`)
  const { stdout, stderr } = git([...command.before, ...command.args])
  return `${stdout}${stderr}`
}

const wasRun = (): boolean => fs.existsSync(marker)

describe.skipIf(!hasGit)('a repository that names programs', () => {
  beforeAll(() => {
    fs.mkdirSync(join(repository, 'src'), { recursive: true })
    fs.writeFileSync(helper, `#!/bin/sh\ntouch ${marker}\ncat "$1" 2>/dev/null\nexit 0\n`, { mode: 0o755 })
    git(['init', '-q', '-b', 'main'])
    fs.writeFileSync(join(repository, 'src/a.ts'), 'hello\n')
    fs.writeFileSync(join(repository, '.gitattributes'), '*.ts diff=evil\n')
    commit('one')
    const inner = join(repository, 'inner')
    fs.mkdirSync(inner)
    git(['init', '-q', '-b', 'main'], inner)
    fs.writeFileSync(join(inner, 'b.ts'), 'inner\n')
    commit('inner', inner)
    commit('two')
    fs.appendFileSync(join(repository, 'src/a.ts'), 'more\n')
    signedCommit()
    fs.appendFileSync(join(repository, 'src/a.ts'), 'dirty\n')
    fs.appendFileSync(join(inner, 'b.ts'), 'dirty\n')
    for (const [key, value] of settings()) expect(git(['config', key, value]).status).toBe(0)
    git(['config', 'core.fsmonitor', helper], inner)
  })
  beforeEach(() => fs.rmSync(marker, { force: true }))

  /** A commit with something that looks like a signature, so that checking it would start a program. */
  function signedCommit(): void {
    git(['add', '-A'])
    const tree = git(['write-tree']).stdout.trim()
    const parent = git(['rev-parse', 'HEAD']).stdout.trim()
    const who = 'a <a@b> 1700000000 +0000'
    const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----'
    const text = `tree ${tree}\nparent ${parent}\nauthor ${who}\ncommitter ${who}\n${signature}\n\nsigned\n`
    const made = spawnSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
      cwd: repository,
      env: environment,
      encoding: 'utf8',
      input: text,
    })
    expect(git(['reset', '-q', made.stdout.trim()]).status).toBe(0)
  }

  const settings = (): readonly (readonly [string, string])[] => [
    ['core.fsmonitor', helper],
    ['core.pager', helper],
    ['pager.log', helper],
    ['core.hooksPath', base],
    ['diff.external', helper],
    ['diff.evil.command', helper],
    ['diff.evil.textconv', helper],
    ['gpg.program', helper],
    ['log.showSignature', 'true'],
    ['format.pretty', '%G? %s'],
    ['pretty.mine', '%G? %s'],
    ['status.submoduleSummary', 'true'],
    ['diff.submodule', 'diff'],
    ['diff.ignoreSubmodules', 'none'],
    ['submodule.recurse', 'true'],
    ['alias.log', `!${helper}`],
  ]

  test.each([
    ['diff'],
    ['log', '-1'],
    ['log', '-p'],
    ['show', '--format=%G? %s'],
    ['-c', 'core.pager=cat', 'blame', 'src/a.ts'],
    ['grep', '--textconv', 'hello'],
    ['status', '--short'],
  ])('the marker is run where nothing is overridden: git %s %s', (...args) => {
    git(args.filter((arg) => arg !== undefined))
    expect(wasRun()).toBe(true)
  })

  test.each([
    [['status']],
    [['status', '-sb', '-uall']],
    [['status', '--porcelain=v2', '--ignored']],
    [['diff']],
    [['diff', '--cached', '--stat']],
    [['diff', 'HEAD~1', '--', 'src/a.ts']],
    [['diff', '--submodule=short']],
    [['diff', '--', '--no-ext-diff', 'src/a.ts']],
    [['log']],
    [['log', '-p', '--stat', '-3']],
    [['log', '--oneline', '--graph', '--all']],
    [['log', '--format=%H %an %s']],
    [['log', '-L', '1,1:src/a.ts']],
    [['log', '-m', '-p']],
    [['show']],
    [['show', 'HEAD:src/a.ts']],
    [['show', '--stat', 'HEAD']],
    [['blame', 'src/a.ts']],
    [['grep', '-n', 'hello']],
    [['grep', 'hello', 'HEAD', '--', 'src']],
    [['ls-files', '-m']],
    [['ls-files', '--others', '--exclude-standard']],
    [['rev-parse', '--abbrev-ref', 'HEAD']],
    [['branch', '--list', '-vv']],
    [['--no-pager', 'log', '-1']],
  ])('nothing is run, and there is an answer: git %j', (args) => {
    const text = judged(args)
    expect(text).not.toMatch(/^(fatal|error|usage):/m)
    expect(wasRun()).toBe(false)
  })

  test.each([
    [['log', '--format=%G?']],
    [['log', '--format=%h %+G?']],
    [['log', '--pretty=format:%-GG']],
    [['log', '--pretty=%h%G?']],
    [['log', '--pretty=mine']],
    [['log', '--format=mine']],
    [['log', '--show-signature']],
    [['show', '--textconv', 'HEAD']],
    [['log', '--remerge-diff']],
    [['log', '--diff-merges=remerge']],
    [['diff', '--submodule=diff']],
    [['diff', '--ignore-submodules=none']],
    [['branch', '--format=%(signature:grade)']],
    [['branch', '--sort=signature']],
    [['status', '-v']],
    [['grep', '--textconv', 'x']],
    [['blame', '--textconv', 'src/a.ts']],
  ])('what has to be asked for to start something cannot be: git %j', (args) => {
    expect(judgeCommand(SHIPPED, 'git', args)).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
  })

  test('a missing object is not fetched from where the repository says', () => {
    const partial = join(base, 'partial')
    git(['init', '-q', partial], base)
    for (const [key, value] of [
      ['core.repositoryFormatVersion', '1'],
      ['extensions.partialClone', 'origin'],
      ['remote.origin.url', repository],
      ['remote.origin.uploadpack', helper],
      ['remote.origin.promisor', 'true'],
      ['protocol.file.allow', 'always'],
    ] as const)
      git(['config', key, value], partial)
    const missing = '1234567890123456789012345678901234567890'
    git(['show', missing], partial)
    expect(wasRun()).toBe(true)
    fs.rmSync(marker)
    const command = judgeCommand(SHIPPED, 'git', ['show', missing])
    if (command.kind === 'refused') throw new Error(command.message)
    git([...command.before, ...command.args], partial)
    expect(wasRun()).toBe(false)
  })

  test('looking changes nothing in the repository', () => {
    const index = join(repository, '.git/index')
    const before = fs.readFileSync(index)
    fs.utimesSync(join(repository, 'src/a.ts'), new Date(), new Date())
    for (const args of [['status'], ['diff'], ['diff', '--stat'], ['ls-files', '-m']]) judged(args)
    expect(fs.readFileSync(index).equals(before)).toBe(true)
    expect(fs.existsSync(`${index}.lock`)).toBe(false)
  })

  afterAll(() => fs.rmSync(base, { recursive: true, force: true }))
})
