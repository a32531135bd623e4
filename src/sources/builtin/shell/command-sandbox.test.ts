// Goal: what a caller may not read is not there for a command, and what no tool may change cannot be changed by one, whatever
// code it runs. Where the machine has a sandbox these are tried in it; the refusals without one are tried everywhere.

import * as fs from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { machineAbilities } from '../../../machine/probe-machine.ts'
import { ShellFixture } from './shell.fixture.ts'

const boxed = (await machineAbilities()).sandbox.kind === 'ready'
let shell: ShellFixture

beforeEach(async () => {
  shell = await new ShellFixture().start({
    shell: { programs: { grep: true, cat: true, rg: true, ls: true, npm: { scripts: ['test', 'probe'] } } },
  })
  shell.put('src/a.ts', 'word\n')
  shell.put('src/.env', 'word=secret\n')
  shell.mayTouch = (resource) => !/\/\.env$/.test(resource) && !(resource.endsWith('/*') && resource.startsWith('read'))
})
afterEach(() => shell.close())

const script = (text: string, name = 'probe'): void =>
  shell.put('package.json', JSON.stringify({ name: 'x', version: '1.0.0', scripts: { [name]: text } }))

describe('files that a caller may not read', () => {
  it('are refused to a program that looks below a folder, where nothing can hide them', async () => {
    shell.place = 'child'
    expect(await shell.run('grep', '-rn', 'word', '.')).toMatchObject({
      kind: 'failure',
      type: 'permission_denied',
      effect: 'none',
    })
    fs.rmSync(shell.path('src/.env'))
    expect(await shell.run('grep', '-rn', 'word', '.')).toMatchObject({
      kind: 'value',
      value: { stdout: './src/a.ts:1:word\n' },
    })
  })

  it.runIf(boxed)('are empty in the sandbox', async () => {
    for (const args of [
      ['grep', '-rn', 'word', '.'],
      ['rg', '--hidden', '--no-ignore', 'word'],
    ]) {
      const [program = '', ...rest] = args
      const ran = await shell.run(program, ...rest)
      expect(ran).toMatchObject({ kind: 'value', value: { stdout: expect.stringContaining('a.ts') } })
      expect(JSON.stringify(ran)).not.toContain('secret')
    }
  })

  it.runIf(boxed)('are hidden from the code of the workspace too, and whole folders of them', async () => {
    shell.put('keys/one.txt', 'key one\n')
    shell.mayTouch = (resource) => !/\/\.env$|\/keys($|\/)/.test(resource) && !resource.endsWith('/*')
    script('cat src/.env keys/one.txt; ls keys; cat src/a.ts')
    const ran = await shell.run('npm', 'run', 'probe')
    expect(JSON.stringify(ran)).not.toMatch(/secret|key one/)
    expect(JSON.stringify(ran)).toContain('word')
  })

  it.runIf(boxed)('are not there beside a job that may swap a name for a link to them', async () => {
    shell.put('a.txt', 'plain\n')
    let isSwapped = false
    shell.mayTouch = (resource) => {
      // After the name was judged, before the program opens it.
      if (resource.endsWith('/*') && shell.exists('ready')) {
        fs.rmSync(shell.path('a.txt'))
        fs.symlinkSync('src/.env', shell.path('a.txt'))
        fs.rmSync(shell.path('ready'))
        isSwapped = true
      }
      return !/\/\.env$/.test(resource) && !resource.endsWith('/*')
    }
    script('sleep 30')
    const started = await shell.call('run_command', { program: 'npm', args: ['run', 'probe'], background: true })
    shell.put('ready')
    const ran = await shell.run('cat', 'a.txt')
    expect(isSwapped).toBe(true)
    expect(JSON.stringify(ran)).not.toContain('secret')
    const job = started.kind === 'value' ? started.value.job : ''
    await shell.call('job_stop', { job })
  })

  it.runIf(boxed)('cannot be moved to where no rule looks for them', async () => {
    shell.put('src/keys/one.txt', 'key one\n')
    shell.mayTouch = (resource) => !/ws\/src\/keys($|\/)/.test(resource) && !resource.endsWith('/*')
    script('mv src moved; mkdir made && mv made named; cat */keys/one.txt; true')
    const ran = await shell.run('npm', 'run', 'probe')
    expect(ran).toMatchObject({ kind: 'value' })
    expect(JSON.stringify(ran)).not.toContain('key one')
    expect(shell.text('src/keys/one.txt')).toBe('key one\n')
    expect(['moved', 'named'].map((name) => shell.exists(name))).toEqual([false, true])
  })
})

it('where more is kept back than can be hidden one by one, the command does not run', async () => {
  for (let index = 0; index < 1_005; index++) shell.put(`keys/${index}.key`, 'x')
  shell.mayTouch = (resource) => !/\.key$/.test(resource) && !resource.endsWith('/*')
  const ran = await shell.run('grep', '-rn', 'word', '.')
  expect(ran).toMatchObject({ kind: 'failure', type: 'permission_denied', effect: 'none' })
  expect(await shell.run('grep', '-rn', 'word', 'src')).toMatchObject({ kind: 'value' })
})

describe('code of the workspace', () => {
  it('runs in no other place than a sandbox, unless a person has approved this very call', async () => {
    script('echo ran')
    shell.mayTouch = () => true
    shell.place = 'child'
    expect(await shell.run('npm', 'run', 'probe')).toMatchObject({ type: 'permission_denied', effect: 'none' })
    shell.approved = true
    expect(await shell.run('npm', 'run', 'probe')).toMatchObject({
      kind: 'value',
      value: { stdout: expect.stringContaining('ran') },
    })
  })

  it('is approved with its text: the script, and what runs before and after it', async () => {
    shell.put(
      'package.json',
      JSON.stringify({ scripts: { pretest: 'one', test: 'two', posttest: 'three', other: 'four' } }),
    )
    const tool = shell.tool('run_command')
    const args = (await tool.resolve?.({ program: 'npm', args: ['test'] }, shell.caller)) as never
    expect(await tool.binds?.(args, shell.caller)).toEqual([
      { title: 'package script test', text: 'pretest: one\ntest: two\nposttest: three' },
    ])
  })

  it('that has changed since it was decided does not run', async () => {
    shell.mayTouch = () => true
    shell.approved = true
    script('echo one')
    shell.beforeRun = () => script('echo two')
    expect(await shell.run('npm', 'run', 'probe')).toMatchObject({ kind: 'failure', code: 'stale', effect: 'none' })
  })

  it('a script that does not exist is named as such', async () => {
    script('echo one', 'other')
    shell.approved = true
    expect(await shell.run('npm', 'run', 'probe')).toMatchObject({
      kind: 'failure',
      code: 'no_such_script',
      effect: 'none',
    })
  })

  it('says that it writes everywhere and looks for the network', async () => {
    script('echo one')
    const tool = shell.tool('run_command')
    const args = (await tool.resolve?.({ program: 'npm', args: ['run', 'probe'] }, shell.caller)) as never
    expect(await tool.touches?.(args, shell.caller)).toEqual([`write file:${shell.workspace}/*`])
  })

  it.runIf(boxed)('changes the workspace, and no name that is protected, there or not', async () => {
    shell.mayTouch = () => true
    shell.put('sub/.git/hooks/pre-commit', 'as it was\n')
    shell.put('.vscode/settings.json', '{}')
    script(
      [
        'echo made > made.txt',
        'echo evil > .vscode/settings.json',
        'mkdir -p .claude; echo evil > .claude/settings.json',
        'echo evil > .mcp.json',
        'echo evil > .envrc',
        'mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit',
        'echo evil > sub/.git/hooks/pre-commit',
        'mv sub moved; mv .vscode elsewhere',
        'true',
      ].join('; '),
    )
    const ran = await shell.run('npm', 'run', 'probe')
    expect(ran).toMatchObject({ kind: 'value' })
    expect(shell.text('made.txt')).toBe('made\n')
    expect(shell.text('.vscode/settings.json')).toBe('{}')
    expect(shell.text('sub/.git/hooks/pre-commit')).toBe('as it was\n')
    for (const name of ['.claude', '.mcp.json', '.envrc', '.git', 'moved', 'elsewhere'])
      expect([name, shell.exists(name)]).toEqual([name, false])
  })

  it.runIf(boxed)('can neither see nor make what belongs to the gate', async () => {
    shell.mayTouch = () => true
    shell.put('state/key', 'gate secret\n')
    shell.own.push(shell.path('state'), shell.path('later.lock'))
    script('cat state/key; echo evil > state/key; echo evil > later.lock; true')
    const ran = await shell.run('npm', 'run', 'probe')
    expect(JSON.stringify(ran)).not.toContain('gate secret')
    expect(shell.text('state/key')).toBe('gate secret\n')
    expect(shell.exists('later.lock')).toBe(false)
  })

  it.runIf(boxed)('that moves a protected link is found out', async () => {
    shell.mayTouch = () => true
    shell.put('agents/settings.json', '{}')
    fs.symlinkSync('agents', shell.path('.claude'))
    script('rm .claude; mkdir .claude; true')
    expect(await shell.run('npm', 'run', 'probe')).toMatchObject({
      kind: 'failure',
      code: 'protected_changed',
      effect: 'done',
    })
    fs.rmSync(shell.path('.claude'), { recursive: true })
    fs.symlinkSync('agents', shell.path('.claude'))
    script('true')
    expect(await shell.run('npm', 'run', 'probe')).toMatchObject({ kind: 'value' })
  })

  it.runIf(boxed)('that makes a protected name in a deeper folder is found out, and told which', async () => {
    shell.mayTouch = () => true
    const made = async (text: string): Promise<unknown> => {
      script(text)
      return shell.run('npm', 'run', 'probe')
    }
    const failure = { kind: 'failure', type: 'permission_denied', code: 'protected_changed', effect: 'done' }
    const ran = await made(
      'mkdir -p n/.git/hooks n/.config/git; echo evil > n/.git/hooks/pre-commit; echo x > n/.ENVRC',
    )
    expect(ran).toMatchObject(failure)
    const { message } = ran as { message: string }
    for (const name of ['`n/.git`', '`n/.config/git`', '`n/.ENVRC`']) expect(message).toContain(name)
    expect(message).not.toContain(shell.base)
    // Told once: from now on it is there, and frozen like the others.
    expect(await made('echo more > n/.git/hooks/pre-commit; true')).toMatchObject({ kind: 'value' })
    expect(shell.text('n/.git/hooks/pre-commit')).toBe('evil\n')
    shell.put('node_modules/x/.vscode/settings.json', '{}')
    expect(await made('mv node_modules/x y')).toMatchObject({
      ...failure,
      message: expect.stringContaining('`y/.vscode`'),
    })
    const many = await made('for i in $(seq 40); do mkdir -p "m$i/.git"; done')
    expect(many).toMatchObject({ ...failure, message: expect.stringMatching(/ and 30 more;/) })
  })

  it.runIf(boxed)('that leaves more than can be looked through afterwards is not taken for harmless', async () => {
    shell.mayTouch = () => true
    script('p=d; for i in $(seq 70); do p=$p/d; done; mkdir -p $p/.git')
    expect(await shell.run('npm', 'run', 'probe')).toMatchObject({
      ...{ kind: 'failure', code: 'protected_changed', effect: 'done' },
      message: expect.stringContaining('levels deep'),
    })
  })

  it.runIf(boxed)('makes ordinary folders, and what programs fill themselves, as it likes', async () => {
    shell.mayTouch = () => true
    script(
      'mkdir -p coverage/lib n/.config/other .cache/x sub/node_modules/a/.git; echo a > coverage/lib/a; echo b > n/.gitignore',
    )
    expect(await shell.run('npm', 'run', 'probe')).toMatchObject({ kind: 'value' })
    expect(shell.text('coverage/lib/a')).toBe('a\n')
    expect(shell.exists('sub/node_modules/a/.git')).toBe(true)
  })

  it.runIf(boxed)('is found out at a root too, where it makes a name in a spelling that nothing holds', async () => {
    shell.mayTouch = () => true
    shell.put('there.code-workspace', 'as it was\n')
    script('echo evil > there.code-workspace; echo evil > new.code-workspace; mkdir .Vscode; true')
    const ran = await shell.run('npm', 'run', 'probe')
    expect(ran).toMatchObject({ kind: 'failure', code: 'protected_changed', effect: 'done' })
    const { message } = ran as { message: string }
    for (const name of ['`new.code-workspace`', '`.Vscode`']) expect(message).toContain(name)
    expect(message).not.toContain('there')
    expect(shell.text('there.code-workspace')).toBe('as it was\n')
  })

  it.runIf(boxed)('cannot change a name that is protected below another one either, at any depth', async () => {
    shell.mayTouch = () => true
    shell.put('sub/.config/git/config', 'as it was\n')
    shell.put('sub/.config/other/config', 'as it was\n')
    script('for p in git other; do echo evil > sub/.config/$p/config; done; mv sub/.config sub/c; true')
    expect(await shell.run('npm', 'run', 'probe')).toMatchObject({ kind: 'value' })
    expect(shell.text('sub/.config/git/config')).toBe('as it was\n')
    expect(shell.text('sub/.config/other/config')).toBe('evil\n')
  })

  it.runIf(boxed)('in the background is looked through when it ends, and its job says what it did', async () => {
    shell.mayTouch = () => true
    script('mkdir -p n/.git')
    const started = await shell.call('run_command', { program: 'npm', args: ['run', 'probe'], background: true })
    const job = started.kind === 'value' ? started.value.job : ''
    await vi.waitFor(
      async () =>
        expect(await shell.call('job_output', { job })).toMatchObject({
          value: { state: 'ended', ended: expect.stringContaining('`n/.git`') },
        }),
      10_000,
    )
  })

  it('that nothing holds is compared afterwards too: what it made, what it changed, and nothing else', async () => {
    shell.mayTouch = () => true
    shell.approved = true
    shell.place = 'child'
    shell.put('.npmrc', 'as it was\n')
    shell.put('sub/.envrc', 'as it was\n')
    script('echo made > made.txt')
    expect(await shell.run('npm', 'run', 'probe')).toMatchObject({ kind: 'value' })
    script('echo changed >> sub/.envrc; mkdir -p n/.vscode .idea')
    const ran = await shell.run('npm', 'run', 'probe')
    expect(ran).toMatchObject({ kind: 'failure', code: 'protected_changed', effect: 'done' })
    const { message } = ran as { message: string }
    for (const name of ['`sub/.envrc`', '`n/.vscode`', '`.idea`']) expect(message).toContain(name)
    expect(message).not.toContain('.npmrc')
  })

  it.runIf(boxed)('a program that reads cannot change anything, whatever it is', async () => {
    await shell.close()
    shell = await new ShellFixture().start({
      shell: { programs: { touch: { reads: true, operands: [{ kind: 'path' }] } } },
    })
    expect(await shell.run('touch', 'new.txt')).toMatchObject({ kind: 'failure', code: 'exit_code', effect: 'none' })
    expect(shell.exists('new.txt')).toBe(false)
  })
})
