import * as fs from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ShellFixture } from './shell.fixture.ts'

let shell: ShellFixture

/** Programs of these tests besides the shipped ones. */
const PRINTENV = { printenv: { reads: true, operands: [], flags: [] } } as const

beforeEach(async () => {
  shell = await new ShellFixture().start()
  shell.put('src/a.ts', 'hello\nworld\n')
})
afterEach(() => shell.close())

const again = async (...given: Parameters<ShellFixture['start']>): Promise<void> => {
  await shell.close()
  shell = await new ShellFixture().start(...given)
  shell.put('src/a.ts', 'hello\nworld\n')
}

describe('what never runs', () => {
  it.each([
    ['sh', ['-c', 'id'], 'permission_denied'],
    ['./cat', ['src/a.ts'], 'permission_denied'],
    ['cat', ['../outside.txt'], 'unsafe_args'],
    ['cat', ['/etc/passwd'], 'unsafe_args'],
    ['sort', ['-o', 'out', 'src/a.ts'], 'unsafe_args'],
  ])('%s %j is refused as it is', async (program, args, code) => {
    expect(await shell.run(program, ...args)).toMatchObject({ kind: 'refused', code })
  })

  it('a link that leads out of the workspace is no path, its twin inside is', async () => {
    fs.writeFileSync(`${shell.base}/secret.txt`, 'secret')
    fs.symlinkSync(`${shell.base}/secret.txt`, shell.path('out'))
    fs.symlinkSync('src/a.ts', shell.path('in'))
    expect(await shell.run('cat', 'out')).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
    expect(await shell.run('cat', 'in')).toMatchObject({ kind: 'value', value: { stdout: 'hello\nworld\n' } })
  })

  it('a link that is put in the place of a file after the decision is not followed', async () => {
    fs.writeFileSync(`${shell.base}/secret.txt`, 'secret')
    shell.beforeRun = () => {
      fs.rmSync(shell.path('src/a.ts'))
      fs.symlinkSync(`${shell.base}/secret.txt`, shell.path('src/a.ts'))
    }
    expect(await shell.run('cat', 'src/a.ts')).toMatchObject({ kind: 'failure', code: 'stale', effect: 'none' })
  })

  it('what an earlier call of the same turn makes is no such change', async () => {
    shell.beforeRun = () => shell.put('made/b.txt', 'word\n')
    expect(await shell.run('grep', '-rn', 'word', 'made')).toMatchObject({
      kind: 'value',
      value: { stdout: 'made/b.txt:1:word\n' },
    })
  })

  it('a pipe is no file to read, and nobody waits for it', async () => {
    const { execFileSync } = await import('node:child_process')
    execFileSync('mkfifo', [shell.path('pipe')])
    expect(await shell.run('cat', 'pipe')).toMatchObject({ kind: 'failure', code: 'not_a_file', effect: 'none' })
  })

  it('what belongs to the gate cannot be named, nor found by looking below a folder', async () => {
    shell.put('state/key', 'gate secret\n')
    shell.own.push(shell.path('state'))
    expect(await shell.run('cat', 'state/key')).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
    const ran = await shell.run('grep', '-rn', 'gate secret', '.')
    expect(JSON.stringify(ran)).not.toContain('state/key:')
    expect(ran.kind === 'value' ? ran.value.exitCode : 1).toBe(1)
  })

  it('another name of what belongs to the gate is refused, and a file with two names of its own is not', async () => {
    fs.mkdirSync(`${shell.base}/state`)
    fs.writeFileSync(`${shell.base}/state/key`, 'gate secret')
    fs.linkSync(`${shell.base}/state/key`, shell.path('linked'))
    fs.linkSync(shell.path('src/a.ts'), shell.path('second'))
    shell.own.push(`${shell.base}/state`)
    expect(await shell.run('cat', 'linked')).toMatchObject({ kind: 'failure', type: 'unsafe_args', effect: 'none' })
    expect(await shell.run('cat', 'second')).toMatchObject({ kind: 'value' })
  })

  it('fields that are not in the schema are refused', async () => {
    expect(await shell.call('run_command', { program: 'ls', env: { PATH: '.' } })).toMatchObject({ kind: 'refused' })
    expect(await shell.call('run_command', { program: 'ls', sandbox: false })).toMatchObject({ kind: 'refused' })
  })

  it.each(['node', 'npm'])(
    '%s alone, which could be told on its standard input what to run, is refused',
    async (program) => {
      const call = (more: object) => shell.call('run_command', { program, ...more })
      expect(await call({ stdin: 'console.log(1)' })).toMatchObject({ kind: 'refused', code: 'invalid_args' })
      expect(await call({})).toMatchObject({ kind: 'refused', code: 'invalid_args' })
    },
  )

  it('a program gets text on its standard input only where its grammar says so', async () => {
    const reader = { flags: ['-n'], reads: true } as const
    await again({ shell: { programs: { sh: reader, cat: { ...reader, stdin: true }, node: true } } })
    const call = (program: string, ...args: readonly string[]) =>
      shell.call('run_command', { program, args, stdin: 'echo ran' })
    expect(await call('sh')).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
    expect(await call('node', '--version')).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
    expect(await call('cat')).toMatchObject({ kind: 'value', value: { stdout: 'echo ran' } })
  })

  it.each([
    {},
    { args: ['x'] },
    { program: 'ls', command: 'ls' },
    { command: 'ls', args: ['src'] },
    { program: 'ls', timeoutMs: 60_001 },
    { program: 'ls', args: ['\ud800'] },
  ])('%j is asked for in no form that there is', async (given) => {
    expect(await shell.call('run_command', given)).toMatchObject({ kind: 'refused', code: 'invalid_args' })
  })
})

describe('what runs', () => {
  it('a program, with every path in its canonical form', async () => {
    const ran = await shell.run('cat', 'x/../src/./a.ts')
    expect(ran).toMatchObject({
      kind: 'value',
      value: { program: 'cat', exitCode: 0, stdout: 'hello\nworld\n', stderr: '', place: shell.place },
      touches: [`read file:${shell.path('src/a.ts')}`],
    })
    expect(ran.kind === 'value' && ran.args.args).toContain('src/a.ts')
  })

  it('the same in one line', async () => {
    const ran = await shell.call('run_command', { command: 'grep -n "wor" src/a.ts' })
    expect(ran).toMatchObject({ kind: 'value', value: { stdout: '2:world\n' }, args: { program: 'grep' } })
    expect(ran.kind === 'value' && Object.hasOwn(ran.args, 'command')).toBe(false)
  })

  it('resolving what was resolved changes nothing', async () => {
    for (const given of [
      { command: 'cat src/../src/a.ts', cwd: '.' },
      { program: 'cat', args: ['--', '-rf'], cwd: 'src' },
      { program: 'cat', args: ['../src/a.ts'], cwd: 'src/../src' },
      { program: 'grep', args: ['-rn', 'x', '.'] },
      { program: 'git', args: ['log', '--oneline', '--', 'src/a.ts'] },
    ]) {
      const tool = shell.tool('run_command')
      const first = await tool.resolve?.(given as never, shell.caller)
      const second = await tool.resolve?.(first as never, shell.caller)
      expect(second).toEqual(first)
      expect(first).not.toHaveProperty('kind')
    }
  })

  it('in a folder of the workspace: paths count from there, and may go up', async () => {
    shell.put('top.txt', 'top\n')
    const ran = await shell.call('run_command', { program: 'cat', args: ['a.ts', '../top.txt'], cwd: 'src' })
    expect(ran).toMatchObject({
      value: { stdout: 'hello\nworld\ntop\n' },
      touches: [`read file:${shell.path('src/a.ts')}`, `read file:${shell.path('top.txt')}`],
    })
    expect(await shell.call('run_command', { program: 'cat', args: ['../../x'], cwd: 'src' })).toMatchObject({
      kind: 'refused',
    })
    expect(await shell.call('run_command', { program: 'ls', cwd: '..' })).toMatchObject({ kind: 'refused' })
    expect(await shell.call('run_command', { program: 'ls', cwd: 'src/a.ts' })).toMatchObject({
      kind: 'failure',
      code: 'not_a_folder',
      effect: 'none',
    })
  })

  it('a file whose name looks like a flag is named so that no program takes it for one', async () => {
    shell.put('-rf', 'dashed\n')
    const ran = await shell.run('cat', '--', '-rf')
    expect(ran).toMatchObject({ value: { stdout: 'dashed\n' }, touches: [`read file:${shell.path('-rf')}`] })
    expect(ran.kind === 'value' && ran.args.args).toContain('./-rf')
  })

  it('text goes in as it was given', async () => {
    const ran = await shell.call('run_command', { program: 'sort', args: [], stdin: 'b\na\n' })
    expect(ran).toMatchObject({ value: { stdout: 'a\nb\n' } })
  })

  it('names the folder that it looks into, and the working folder where it names none', async () => {
    expect(await shell.run('grep', '-rn', 'hello', 'src')).toMatchObject({
      touches: [`read file:${shell.path('src')}/*`],
    })
    expect(await shell.run('rg', 'hello')).toMatchObject({ touches: [`read file:${shell.workspace}/*`] })
    expect(await shell.run('echo', 'src/a.ts')).toMatchObject({ value: { stdout: 'src/a.ts\n' }, touches: [] })
  })

  it('another root is named absolutely, and only where a path may be', async () => {
    await again({}, ['ws', 'docs'])
    fs.writeFileSync(`${shell.base}/docs/d.txt`, 'docs\n')
    const ran = await shell.run('cat', `${shell.base}/docs/d.txt`)
    expect(ran).toMatchObject({ value: { stdout: 'docs\n' }, touches: [`read file:${shell.base}/docs/d.txt`] })
    expect(await shell.call('run_command', { program: 'cat', args: ['d.txt'], root: 'docs' })).toMatchObject({
      value: { stdout: 'docs\n' },
    })
  })

  it('its environment is built from nothing', async () => {
    process.env.LOCKGATE_TEST_SECRET = 'do not pass on'
    try {
      await again({ shell: { programs: PRINTENV } })
      const ran = await shell.run('printenv')
      const names = String(ran.kind === 'value' && ran.value.stdout)
        .split('\n')
        .map((line) => line.split('=')[0])
      expect(names).toContain('PATH')
      expect(names).not.toContain('LOCKGATE_TEST_SECRET')
      expect(names.filter((name) => /^(LD_|NODE_|BASH_|GIT_)/.test(name ?? ''))).toEqual([])
    } finally {
      delete process.env.LOCKGATE_TEST_SECRET
    }
  })
})

describe('how it ends', () => {
  it('an exit code that the grammar calls an answer is one', async () => {
    expect(await shell.run('grep', 'absent', 'src/a.ts')).toMatchObject({
      kind: 'value',
      value: { exitCode: 1, stdout: '' },
    })
  })

  it('another exit code is a failure with the output in its content', async () => {
    const ran = await shell.run('cat', 'src/a.ts', 'absent.txt')
    expect(ran).toMatchObject({
      kind: 'failure',
      type: 'tool_error',
      code: 'exit_code',
      effect: 'none',
      details: { exitCode: 1 },
    })
    expect(ran.kind === 'failure' && ran.text).toMatch(/hello[\s\S]*absent\.txt/)
  })

  it('L48: what is said on standard error makes no failure', async () => {
    await again({ shell: { programs: { git: true, ls: true } } })
    const { execFileSync } = await import('node:child_process')
    execFileSync('git', ['init', '-q', shell.workspace])
    const ran = await shell.run('git', 'ls-files', '--', 'src')
    expect(ran).toMatchObject({ kind: 'value' })
  })

  it('what it prints is told while it runs', async () => {
    await shell.run('cat', 'src/a.ts')
    expect(shell.said.at(-1)).toEqual({ message: 'world' })
  })

  it('too long: ended, with what it had said', async () => {
    await again({ shell: { programs: { sleep: true } } })
    const ran = await shell.call('run_command', { program: 'sleep', args: ['30'], timeoutMs: 150 })
    expect(ran).toMatchObject({ kind: 'failure', type: 'timeout', effect: 'none', details: { timeoutMs: 150 } })
  })

  it('output past its bound is cut in the middle, and says so', async () => {
    await again({ shell: { limits: { outputBytes: 1_024 } } })
    shell.put('long.txt', `first\n${'x'.repeat(5_000)}\nlast\n`)
    const ran = await shell.run('cat', 'long.txt')
    expect(ran).toMatchObject({ kind: 'value', value: { cut: expect.stringContaining('stdout') } })
    expect(ran.kind === 'value' && ran.text).toMatch(/^first[\s\S]*bytes left out[\s\S]*last/)
  })

  it('a program that this machine lacks is unavailable', async () => {
    await again({ shell: { programs: { 'no-such-program': { reads: true } } } })
    expect(await shell.run('no-such-program')).toMatchObject({ kind: 'refused', code: 'unavailable' })
  })
})
