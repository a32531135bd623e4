import { describe, expect, it } from 'vitest'
import { COMMANDS, COMMON_OPTIONS } from './command-table.ts'
import { readCommandLine } from './read-command-line.ts'

const read = (...argv: string[]) => readCommandLine(argv, COMMANDS, COMMON_OPTIONS)

describe('the words of a command line', () => {
  it.each([
    [['clal', 'x'], /no command `clal`; did you mean `call`\?/],
    [['toString'], /no command `toString`/],
    [['__proto__'], /no command `__proto__`/],
    [['call', 'x', '--yess'], /no option `--yess` here; did you mean `--yes`\?/],
    [['serve', '--yes'], /no option `--yes` here/],
    [['call', 'x', '--toString'], /no option `--toString` here/],
    [['call', 'x', '-z'], /no option `-z` here/],
    [['call', 'x', '--user'], /`--user` needs a value/],
    [['call', 'x', '--user', '--json'], /`--user` needs a value/],
    [['--config', '--json', 'tools'], /`--config` needs a value/],
    [['call', 'x', '--json=yes'], /`--json` takes no value/],
    [['call', 'x', '{}', 'more'], /one argument too many: `more`/],
    [['serve', 'now'], /one argument too many: `now`/],
  ])('%j is refused with its reason', (argv, reason) => {
    const line = read(...argv)
    expect(line.kind).toBe('bad')
    expect(line.kind === 'bad' && line.message).toMatch(reason)
  })

  it('options stand before the command or after it', () => {
    for (const argv of [
      ['--config', 'c.yaml', 'call', 'x', '-', '--role', 'a', '--role=b'],
      ['call', '--role', 'a', 'x', '--config=c.yaml', '-', '--role', 'b'],
    ]) {
      const line = read(...argv)
      if (line.kind !== 'command') throw new Error(JSON.stringify(line))
      expect(line.spec.name).toBe('call')
      expect(line.line.positionals).toEqual(['x', '-'])
      expect(line.line.text('config')).toBe('c.yaml')
      expect(line.line.texts('role')).toEqual(['a', 'b'])
      expect(line.line.flag('yes')).toBe(false)
    }
  })

  it('a value may begin with a dash where it is written with an equals sign', () => {
    const line = read('call', 'x', '--user=-u')
    expect(line.kind === 'command' && line.line.text('user')).toBe('-u')
  })

  it('no command is no mistake yet', () => {
    expect(read()).toMatchObject({ kind: 'none' })
    expect(read('--version')).toMatchObject({ kind: 'none' })
  })

  it('every option of the table that takes a value says what stands for it', () => {
    for (const { options } of [...COMMANDS, { options: COMMON_OPTIONS }]) {
      for (const [name, { kind, value }] of Object.entries(options))
        expect(value !== undefined, name).toBe(kind !== 'flag')
    }
  })
})
