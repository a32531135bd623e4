import { describe, expect, test } from 'vitest'
import { judgeCommand } from './judge-command.ts'
import type { ProgramsOption } from './program-grammar.ts'
import { readPrograms } from './read-programs.ts'
import { SHIPPED } from './shipped-programs.ts'

/** Reads what a configuration file may hold, whatever its type says. */
const read = (option: unknown) => readPrograms(option as ProgramsOption)

function programs(option: unknown) {
  const result = read(option)
  if (result.kind === 'refused') throw new Error(JSON.stringify(result.problems))
  return result.programs
}

const problems = (option: unknown): readonly string[] => {
  const result = read(option)
  return result.kind === 'refused' ? result.problems.map(({ key, message }) => `${key}: ${message}`) : []
}

describe('what cannot be read is a problem, and nothing is allowed then', () => {
  test.each([
    [undefined, ''],
    [null, ''],
    ['all', 'inspect'],
    [['git'], ''],
    [{ git: false }, 'git'],
    [{ git: null }, 'git'],
    [{ gti: true }, 'did you mean `git`'],
    [{ bash: true }, 'no shipped grammar'],
    [{ constructor: true }, 'no shipped grammar'],
    [{ '../git': true }, 'bare name'],
    [{ '-x': true }, 'bare name'],
    [{ '': true }, 'bare name'],
    [{ 'a b': { reads: true } }, 'bare name'],
    [
      { git: ['status', 'stauts'] },
      'git.1: the shipped grammar of `git` has no subcommand `stauts`; did you mean `status`',
    ],
    [{ git: ['push'] }, 'git.0'],
    [{ git: ['__proto__'] }, 'git.0'],
    [{ git: [1] }, 'git.0: a subcommand of `git` must be text'],
    [{ ls: ['-l'] }, 'no subcommands'],
    [{ npm: { scripts: [] } }, 'npm.scripts'],
    [{ npm: { scripts: 'test' } }, 'npm.scripts'],
    [{ npm: { scripts: ['-x'] } }, 'npm.scripts.0'],
    [{ npm: { scripts: ['a b'] } }, 'npm.scripts.0'],
    [{ npm: { scripts: [true] } }, 'npm.scripts.0'],
    [{ npm: { scripts: ['test'], flags: ['-x'] } }, 'npm.flags: `flags` cannot stand beside `scripts`'],
    [{ pnpm: { scripts: ['test'] } }, '`scripts` is for `npm`'],
  ])('%j', (option, message) => {
    expect(problems(option).join('\n')).toContain(message)
    expect(problems(option)).not.toEqual([])
  })

  test('every problem is named, not the first only', () => {
    expect(problems({ gti: true, git: ['x', 'y'], ls: true })).toHaveLength(3)
  })
})

describe('grammars of an operator’s own are checked key by key', () => {
  test.each([
    [{}, '`reads` must say'],
    [{ reads: 'yes' }, 'tool.reads: must be true or false'],
    [{ reads: true, flag: ['-x'] }, 'tool.flag: `flag` is not known here; did you mean `flags`'],
    [{ reads: true, flags: '-x' }, 'tool.flags'],
    [{ reads: true, flags: ['--'] }, 'tool.flags'],
    [{ reads: true, flags: ['-a b'] }, 'tool.flags'],
    [{ reads: true, clusters: '-x' }, 'tool.clusters'],
    [{ reads: true, values: ['-n'] }, 'tool.values'],
    [{ reads: true, values: { n: { kind: 'text' } } }, 'tool.values.n: must be a flag'],
    [{ reads: true, values: { '-n': 'text' } }, 'tool.values.-n'],
    [{ reads: true, values: { '-n': { kind: 'file' } } }, 'tool.values.-n.kind: must be one of `path`'],
    [{ reads: true, values: { '-n': { kind: 'text', patern: 'x' } } }, 'did you mean `pattern`'],
    [{ reads: true, values: { '-n': { kind: 'text', pattern: '(a' } } }, 'tool.values.-n.pattern: cannot be used'],
    [
      { reads: true, values: { '-n': { kind: 'text', pattern: '(?=a)b(?!c)' } } },
      'tool.values.-n.pattern: cannot be used',
    ],
    [{ reads: true, values: { '-n': { kind: 'text', pattern: '(a)\\1' } } }, 'tool.values.-n.pattern: cannot be used'],
    [{ reads: true, values: { '-n': { kind: 'text', pattern: 'a)|(b' } } }, 'tool.values.-n.pattern: cannot be used'],
    [{ reads: true, values: { '-n': { kind: 'text', oneOf: 'a' } } }, 'tool.values.-n.oneOf'],
    [{ reads: true, values: { '-n': { kind: 'text', behind: 'a:' } } }, 'only a path stands behind'],
    [{ reads: true, forms: ['('] }, 'tool.forms.0'],
    [{ reads: true, operands: { kind: 'text' } }, 'tool.operands'],
    [{ reads: true, least: -1 }, 'tool.least'],
    [{ reads: true, least: 2, operands: [{ kind: 'text' }] }, 'asks for more than the 1 operands'],
    [{ reads: true, more: true }, '`more` repeats the last'],
    [{ reads: true, firstBy: ['-e'] }, '`-e` is none of the flags'],
    [{ reads: true, walksBy: ['-r'] }, '`-r` is none of the flags'],
    [{ reads: true, looksAt: 'all' }, 'tool.looksAt'],
    [{ reads: true, benign: [0] }, 'tool.benign'],
    [{ reads: true, benign: [1.5] }, 'tool.benign'],
    [{ reads: true, before: [1] }, 'tool.before'],
    [{ reads: true, runsWorkspaceCode: true }, 'cannot be said to only read'],
    [{ reads: true, subcommands: { '-x': { reads: true } } }, 'begins with no dash'],
    [{ reads: true, subcommands: { x: {} } }, 'tool.subcommands.x: `reads` must say'],
    [{ reads: true, subcommands: { x: { reads: true } }, operands: [{ kind: 'text' }] }, 'not both'],
    [{ reads: true, instead: { '-x': 1 } }, 'tool.instead'],
    [{ reads: true, getopt: true, behindEnds: { kind: 'path' } }, '`behindEnds` says nothing'],
  ])('%j', (grammar, message) => {
    expect(problems({ tool: grammar }).join('\n')).toContain(message)
  })

  test('a nesting without end is refused', () => {
    let grammar: Record<string, unknown> = { reads: true }
    for (let depth = 0; depth < 10; depth++) grammar = { reads: true, subcommands: { x: grammar } }
    expect(problems({ tool: grammar }).join()).toContain('nested deeper')
  })

  test('what is right is kept as it was, whatever happens to it later', () => {
    const grammar = { flags: ['--check'], operands: [{ kind: 'path' }], more: true, reads: true }
    const read = programs({ fmt: grammar })
    grammar.flags.push('--write')
    expect(judgeCommand(read, 'fmt', ['--check', 'a'])).toMatchObject({ kind: 'ok', reads: true })
    expect(judgeCommand(read, 'fmt', ['--write', 'a'])).toMatchObject({ kind: 'refused' })
  })

  test('every shipped grammar passes the same checks', () => {
    expect(
      problems(Object.fromEntries([...SHIPPED].map(([name, grammar]) => [name, structuredClone(grammar)]))),
    ).toEqual([])
  })
})

describe('choosing from what is shipped', () => {
  test('`inspect` is what only looks', () => {
    const inspect = programs('inspect')
    expect([...inspect.keys()].sort()).toEqual(
      'cat echo find git grep head ls node npm pwd rg sed sort tail uniq wc'.split(' '),
    )
    for (const name of ['true', 'false', 'sleep'])
      expect(judgeCommand(inspect, name, [])).toMatchObject({ code: 'permission_denied' })
    expect([...inspect.values()].every(({ reads }) => reads)).toBe(true)
  })

  test('only what is named may be run', () => {
    const some = programs({ git: ['status', 'log'], cat: true, sleep: true })
    expect(judgeCommand(some, 'git', ['status'])).toMatchObject({ kind: 'ok' })
    expect(judgeCommand(some, 'git', ['--version'])).toMatchObject({ kind: 'ok' })
    expect(judgeCommand(some, 'git', ['diff'])).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
    expect(judgeCommand(some, 'cat', ['a'])).toMatchObject({ kind: 'ok' })
    expect(judgeCommand(some, 'sleep', ['1'])).toMatchObject({ kind: 'ok' })
    expect(judgeCommand(some, 'ls', [])).toMatchObject({ kind: 'refused', code: 'permission_denied' })
  })

  test('an empty list allows no subcommand, and no programs allow nothing', () => {
    expect(judgeCommand(programs({ git: [] }), 'git', ['status'])).toMatchObject({ kind: 'refused' })
    expect(judgeCommand(programs({}), 'ls', [])).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('no program'),
    })
  })
})

describe('package scripts', () => {
  const npm = programs({ npm: { scripts: ['test', 'build:all'] } })
  const judge = (...args: readonly string[]) => judgeCommand(npm, 'npm', args)

  test.each([
    [['run', 'test'], 'test'],
    [['run-script', 'test'], 'test'],
    [['test'], 'test'],
    [['--silent', 'test'], 'test'],
    [['run', '-s', 'build:all'], 'build:all'],
  ])('%j runs code of the workspace', (args, script) => {
    expect(judge(...args)).toMatchObject({ kind: 'ok', script, runsWorkspaceCode: true, reads: false })
  })

  test.each([
    ...[
      ['build:all'],
      ['run', 'lint'],
      ['run', 'constructor'],
      ['t'],
      ['run', 'test', '--', '-x'],
      ['run', 'test', 'x'],
    ],
    ...[
      ['test', '--script-shell=x'],
      ['run', '--prefix=..', 'test'],
      ['run', '-w', 'x', 'test'],
      ['run', '--', 'test'],
      ['exec', 'x'],
      ['-g', 'test'],
    ],
  ])('%j is refused', (...args) => {
    expect(judge(...args)).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
  })

  test('a configuration of the workspace chooses neither the shell nor options of node', () => {
    expect(judge('test')).toMatchObject({
      before: expect.arrayContaining(['--script-shell=/bin/sh', '--node-options=']),
    })
  })

  test('looking needs no script', () => {
    expect(judge('--version')).toMatchObject({ kind: 'ok', reads: true, runsWorkspaceCode: false })
    expect(judge('run')).toMatchObject({ kind: 'ok', reads: true, runsWorkspaceCode: false })
  })
})
