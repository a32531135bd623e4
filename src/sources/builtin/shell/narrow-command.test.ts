import * as fs from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GateConfigError } from '../../../describe/gate-config-error.ts'
import { builtinTools } from '../builtin-tools.ts'
import { ShellFixture } from './shell.fixture.ts'
import type { NarrowCommandOptions } from './shell-options.ts'

let shell: ShellFixture

const COMMANDS = {
  say: { program: 'echo', args: ['{what}', '--', 'end'], inputs: { what: { text: true } }, effect: 'read' },
  say_flag: { program: 'echo', args: ['{what}'], inputs: { what: { text: true, flag: true } }, effect: 'read' },
  tagged: {
    program: 'echo',
    args: ['v{version}'],
    inputs: { version: { text: true, pattern: '[0-9]+(\\.[0-9]+)*' } },
    effect: 'read',
  },
  show: { program: 'cat', args: ['{file}'], inputs: { file: { path: true } }, effect: 'read' },
  named: { program: 'echo', args: ['--file={file}'], inputs: { file: { path: true } }, effect: 'read' },
  pick: {
    program: 'echo',
    args: ['{mode}', '{count}'],
    inputs: { mode: { oneOf: ['-a', 'b'] }, count: { number: true, max: 9, optional: true } },
    effect: 'read',
  },
  braces: { program: 'echo', args: ['{{{a}}}'], inputs: { a: { text: true } }, effect: 'read' },
  touch_it: {
    program: 'touch',
    args: ['{file}'],
    inputs: { file: { path: true } },
    effect: 'write',
    runsWorkspaceCode: false,
  },
  make_file: { program: 'touch', args: ['made.txt'], effect: 'write', runsWorkspaceCode: false },
  run_test: { program: 'npm', args: ['run', 'probe'], effect: 'execute' },
  missing: { program: 'no-such-program', args: [], effect: 'read' },
  constructor: {
    program: 'echo',
    args: ['{toString}'],
    inputs: { toString: { text: true, optional: true } },
    effect: 'read',
  },
} as unknown as Readonly<Record<string, NarrowCommandOptions>>

beforeEach(async () => {
  shell = await new ShellFixture().start({ commands: COMMANDS })
  shell.put('src/a.ts', 'hello\n')
})
afterEach(() => shell.close())

describe('an input becomes a part of one argument', () => {
  it.each(['a b', '$(id)', '; id', '"', "'", 'a && b', '*', 'a|b', '`id`'])(
    '%j is passed on as it is',
    async (what) => {
      expect(await shell.call('say', { what })).toMatchObject({
        value: { args: [what, '--', 'end'], stdout: `${what} -- end\n` },
      })
    },
  )

  it('never a flag that the operator did not write', async () => {
    for (const what of ['-n', '--version', '-'])
      expect(await shell.call('say', { what })).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
    expect(await shell.call('say_flag', { what: '-n' })).toMatchObject({ kind: 'value', value: { stdout: '' } })
    expect(await shell.call('tagged', { version: '1.2' })).toMatchObject({ value: { stdout: 'v1.2\n' } })
  })

  it.each(['', 'a\nb', 'a\u0000b', '\u001b[2J', 'x'.repeat(1_001)])('%j is no text', async (what) => {
    expect(await shell.call('say', { what })).toMatchObject({ kind: 'refused' })
  })

  it('a pattern has to fit the whole text', async () => {
    for (const version of ['1.2x', 'x1', '1.2\n', '1..2'])
      expect(await shell.call('tagged', { version })).toMatchObject({ kind: 'refused' })
  })

  it('one of what is written, and whole numbers in their range', async () => {
    expect(await shell.call('pick', { mode: '-a', count: 3 })).toMatchObject({ value: { args: ['-a', '3'] } })
    expect(await shell.call('pick', { mode: 'b' })).toMatchObject({ value: { args: ['b'] } })
    for (const given of [
      { mode: 'c' },
      { mode: 'b', count: -1 },
      { mode: 'b', count: 10 },
      { mode: 'b', count: 1.5 },
      { mode: 'b', count: '1' },
      { count: 1 },
    ])
      expect(await shell.call('pick', given)).toMatchObject({ kind: 'refused' })
  })

  it('braces are written twice', async () => {
    expect(await shell.call('braces', { a: 'x' })).toMatchObject({ value: { stdout: '{x}\n' } })
  })

  it('names of JavaScript are names like others', async () => {
    expect(await shell.tool('constructor').resolve?.({}, shell.caller)).toEqual({})
    expect(await shell.call('constructor', { toString: 'x' })).toMatchObject({ value: { args: ['x'] } })
  })
})

describe('a path', () => {
  it('stays inside, is canonical, and is what the call touches', async () => {
    const ran = await shell.call('show', { file: 'x/../src/a.ts' })
    expect(ran).toMatchObject({
      value: { stdout: 'hello\n', args: ['src/a.ts'] },
      args: { file: 'src/a.ts' },
      touches: expect.arrayContaining([`read file:${shell.path('src/a.ts')}`]),
    })
    for (const file of ['../x', '/etc/passwd', 'src/../../x'])
      expect(await shell.call('show', { file })).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
  })

  it('through a link is the file that the link stands for, and none outside', async () => {
    fs.symlinkSync('src/a.ts', shell.path('in'))
    fs.symlinkSync('/etc/passwd', shell.path('out'))
    expect(await shell.call('show', { file: 'in' })).toMatchObject({ args: { file: 'src/a.ts' } })
    expect(await shell.call('show', { file: 'out' })).toMatchObject({ kind: 'refused' })
  })

  it('that looks like a flag is written so that it is none', async () => {
    shell.put('-n', 'dashed\n')
    expect(await shell.call('show', { file: '-n' })).toMatchObject({ value: { stdout: 'dashed\n', args: ['./-n'] } })
    expect(await shell.call('named', { file: '-n' })).toMatchObject({ value: { args: ['--file=./-n'] } })
  })

  it('a path is no host, no protocol and no setting to any program', async () => {
    for (const file of ['host:etc/passwd', 'label:@x', 'SHELL=./x'])
      expect(await shell.call('named', { file })).toMatchObject({ value: { args: [`--file=./${file}`] } })
    shell.put('a:b', 'colon\n')
    for (const file of ['a:b', shell.path('a:b')])
      expect(await shell.call('show', { file })).toMatchObject({ value: { stdout: 'colon\n', args: ['./a:b'] } })
  })
})

describe('what it may do', () => {
  it('is what its effect says, and its description shows the whole command', () => {
    expect(shell.tool('make_file')).toMatchObject({ effect: 'write', repeat: 'never' })
    expect(shell.tool('run_test').description).toContain('npm run probe')
    expect(shell.tool('run_test').command?.({})).toEqual({ program: 'npm', reads: false })
    expect(shell.tool('show').command?.({})).toEqual({ program: 'cat', reads: true })
  })

  it('one that writes changes the workspace, and says so', async () => {
    const ran = await shell.call('make_file', {})
    expect(ran).toMatchObject({ kind: 'value', touches: [`write file:${shell.workspace}/*`] })
    expect(shell.exists('made.txt')).toBe(true)
  })

  it('one that writes is given no name that is protected, in whatever place it runs', async () => {
    for (const place of ['child', shell.place] as const) {
      shell.place = place
      for (const file of ['.git/hooks/pre-commit', 'sub/.VSCODE/x', '.envrc', 'x/../.npmrc'])
        expect(await shell.call('touch_it', { file })).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
      expect(await shell.call('touch_it', { file: `src/new-${place}.ts` })).toMatchObject({ kind: 'value' })
    }
    expect(await shell.call('show', { file: '.npmrc' })).toMatchObject({ kind: 'failure', code: 'exit_code' })
  })

  it('one that runs code of the workspace needs a sandbox or an approval of its text', async () => {
    shell.put('package.json', JSON.stringify({ scripts: { probe: 'echo ran' } }))
    shell.place = 'child'
    expect(await shell.call('run_test', {})).toMatchObject({ type: 'permission_denied', effect: 'none' })
    shell.approved = true
    expect(await shell.call('run_test', {})).toMatchObject({ kind: 'value' })
    shell.beforeRun = () => shell.put('package.json', JSON.stringify({ scripts: { probe: 'echo evil' } }))
    expect(await shell.call('run_test', {})).toMatchObject({ kind: 'failure', code: 'stale' })
  })

  it('one whose program this machine lacks is unavailable', async () => {
    expect(await shell.call('missing', {})).toMatchObject({ kind: 'refused', code: 'unavailable' })
  })
})

describe('what does not hold is a configuration error', () => {
  const WRONG: readonly (readonly [key: string, options: unknown])[] = [
    ['x.program', { program: './x', args: [], effect: 'read' }],
    ['x.program', { program: 'sh -c', args: [], effect: 'read' }],
    ['x.effect', { program: 'x', args: [] }],
    ['x.effect', { program: 'x', args: [], effect: 'undeclared' }],
    ['x.args.0', { program: 'x', args: ['{a}'], effect: 'read' }],
    ['x.args.0', { program: 'x', args: ['{a'], effect: 'read' }],
    ['x.args', { program: 'x', args: 'a b', effect: 'read' }],
    ['x.inputs.a', { program: 'x', args: [], inputs: { a: { path: true } }, effect: 'read' }],
    ['x.inputs.a', { program: 'x', args: ['{a}'], inputs: { a: { path: true, text: true } }, effect: 'read' }],
    [
      'x.inputs.a.pattern',
      { program: 'x', args: ['{a}'], inputs: { a: { text: true, pattern: '(a+)+\\1' } }, effect: 'read' },
    ],
    ['x.inputs.a.flag', { program: 'x', args: ['{a}'], inputs: { a: { path: true, flag: true } }, effect: 'read' }],
    ['x.inputs.a.oneOf', { program: 'x', args: ['{a}'], inputs: { a: { oneOf: [] } }, effect: 'read' }],
    ['x.limits.memoryBytes', { program: 'x', args: [], effect: 'read', limits: { memoryBytes: 1 } }],
    ['x.limits.speed', { program: 'x', args: [], effect: 'read', limits: { speed: 1 } }],
    ['x.deadlineMs', { program: 'x', args: [], effect: 'read', deadlineMs: 86_400_001 }],
    ['x.sandbox', { program: 'x', args: [], effect: 'read', sandbox: 'maybe' }],
    ['x.shell', { program: 'x', args: [], effect: 'read', shell: true }],
  ]
  it.each(WRONG)('%s of %j', (key, options) => {
    const make = (): unknown => builtinTools([], { commands: { x: options } as never })
    expect(make).toThrow(GateConfigError)
    try {
      make()
    } catch (error) {
      expect((error as GateConfigError).problems.map((problem) => problem.key)).toContain(`tools.commands.${key}`)
    }
  })

  it('a tool cannot take the name of a shell tool', () => {
    expect(() => builtinTools([], { commands: { run_command: { program: 'x', args: [], effect: 'read' } } })).toThrow(
      GateConfigError,
    )
  })

  it.each([
    ['sandbox', { sandbox: 'sometimes' }],
    ['network', { network: 'yes' }],
    ['limits.outputBytes', { limits: { outputBytes: 0 } }],
    ['jobs.perSession', { jobs: { perSession: -1 } }],
    ['jobs.more', { jobs: { more: 1 } }],
    ['folders', { folders: ['bin'] }],
    ['env', { env: {} }],
  ])('tools.shell.%s', (key, options) => {
    try {
      builtinTools(['shell'], { shell: options as never })
      expect.unreachable()
    } catch (error) {
      expect((error as GateConfigError).problems.map((problem) => problem.key)).toContain(`tools.shell.${key}`)
    }
  })
})
