// Goal: the judge and the program read the same letters in the same way. Method: random commands out of everything that the
// grammars list, with the names of files outside among them. Where the judge names no path that leads outside, the real program
// is run, and must neither print anything from outside nor change anything inside. Programs that are not there are left out.

import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { judgeCommand } from './judge-command.ts'
import type { JudgedCommand, OperandSlot, ProgramGrammar } from './program-grammar.ts'
import { SHIPPED } from './shipped-programs.ts'

const RUNS = Number(process.env.JUDGE_RUNS ?? 60)
const SECRET = 'k7q2secret'
const base = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'lockgate-judge-'))
const workspace = join(base, 'ws')
const outside = join(base, `outside-${SECRET}`)
const environment = {
  PATH: process.env.PATH ?? '',
  HOME: base,
  TMPDIR: base,
  LC_ALL: 'C',
  GIT_CONFIG_GLOBAL: '/dev/null',
}
const run = (program: string, args: readonly string[]) =>
  spawnSync(program, [...args], {
    ...{ cwd: workspace, env: environment, encoding: 'utf8', input: '', timeout: 10_000, maxBuffer: 8_000_000 },
  })

beforeAll(() => {
  fs.mkdirSync(join(workspace, 'src'), { recursive: true })
  fs.mkdirSync(outside)
  fs.writeFileSync(join(workspace, 'src/a.ts'), 'hello\nworld\n')
  fs.writeFileSync(join(workspace, 'b.txt'), 'hello\n')
  fs.writeFileSync(join(workspace, '-rf'), 'hello\n')
  fs.writeFileSync(join(outside, `${SECRET}.txt`), `hello ${SECRET}\n`)
  fs.writeFileSync(join(outside, `${SECRET}-other.txt`), `hello ${SECRET}\n`)
  fs.symlinkSync(outside, join(workspace, 'src/link'))
  const settings = ['-c', 'user.name=a', '-c', 'user.email=a@b']
  run('git', ['init', '-q', '.'])
  run('git', ['add', '-A'])
  run('git', [...settings, 'commit', '-qm', 'one'])
  fs.appendFileSync(join(workspace, 'b.txt'), 'more\n')
  run('git', [...settings, 'commit', '-qam', 'two'])
  fs.appendFileSync(join(workspace, 'b.txt'), 'dirty\n')
})
afterAll(() => fs.rmSync(base, { recursive: true, force: true }))

/** Every file with its text, so that one that is written anywhere is seen. */
function state(): string {
  const seen: string[] = []
  const visit = (path: string): void => {
    for (const entry of fs.readdirSync(path, { withFileTypes: true })) {
      const inner = join(path, entry.name)
      if (entry.isDirectory()) visit(inner)
      else if (entry.isFile()) seen.push(`${inner} ${fs.readFileSync(inner, 'latin1')}`)
    }
  }
  visit(base)
  return seen.sort().join('\n')
}

/** Whether a path that the judge names leads outside: then nothing is run. */
function leadsOut(command: Extract<JudgedCommand, { kind: 'ok' }>): boolean {
  return command.paths.some(({ index, start, end }) => {
    const path = resolve(workspace, (command.args[index] ?? '').slice(start, end))
    const real = fs.existsSync(path) ? fs.realpathSync(path) : path
    return real !== workspace && !real.startsWith(`${workspace}/`)
  })
}

/** The longer ones first, so that they can be taken out of a text. */
const OUTSIDE = [
  ...[join(outside, `${SECRET}.txt`), outside],
  ...[`../outside-${SECRET}/${SECRET}.txt`, `../outside-${SECRET}`],
]
const ABSOLUTE = OUTSIDE.slice(0, 2)
const OPERANDS = [
  'hello',
  'src',
  'src/a.ts',
  'b.txt',
  'HEAD',
  '1,2p',
  '.',
  '--',
  '-',
  '-rf',
  '-5',
  'src/link',
  ...OUTSIDE,
]
const VALUES = ['1', '2', 'hello', '.', 'b.txt', '', '--', '-', 'HEAD', '1,1', ...OUTSIDE]

/** `tail -f` is left out: it does not end. */
const lettersOf = (program: string, { clusters = '' }: ProgramGrammar): readonly string[] =>
  [...clusters].filter((letter) => program !== 'tail' || letter !== 'f')
const flagsOf = (program: string, grammar: ProgramGrammar): readonly string[] =>
  [...(grammar.flags ?? []), ...lettersOf(program, grammar).map((letter) => `-${letter}`)].filter(
    (flag) => program !== 'tail' || !flag.startsWith('--follow'),
  )

/** One flag, cluster, value or operand, as one or two arguments. */
function pieces(program: string, grammar: ProgramGrammar): fc.Arbitrary<readonly string[]> {
  const letters = lettersOf(program, grammar)
  const flags = flagsOf(program, grammar)
  const values = Object.entries(grammar.values ?? {})
  const parts: fc.Arbitrary<readonly string[]>[] = [OPERANDS, OUTSIDE].map((words) =>
    fc.constantFrom(...words).map((word) => [word]),
  )
  if (flags.length > 0) parts.push(fc.constantFrom(...flags).map((flag) => [flag]))
  if (letters.length > 1) {
    const some = fc.array(fc.constantFrom(...letters), { minLength: 2, maxLength: 3 })
    parts.push(some.map((chosen) => [`-${chosen.join('')}`]))
  }
  if (values.length > 0) parts.push(valued(values))
  return fc.oneof(...parts)
}

function valued(values: readonly (readonly [string, OperandSlot])[]): fc.Arbitrary<readonly string[]> {
  return fc
    .tuple(fc.constantFrom(...values), fc.constantFrom(...VALUES), fc.boolean(), fc.integer({ min: 0, max: 3 }))
    .map(([[flag, slot], other, isApart, chance]) => {
      const value = chance > 0 && slot.oneOf !== undefined ? (slot.oneOf[0] ?? '') : other
      const name = flag.replace(/=$/, '')
      if (isApart) return [name, value]
      return [name.startsWith('--') ? `${name}=${value}` : `${name}${value}`]
    })
}

const commands: (readonly [string, string, ProgramGrammar])[] = [...SHIPPED]
  .filter(([name]) => !['npm', 'node', 'true', 'false', 'sleep', 'echo', 'pwd'].includes(name))
  .flatMap(([name, grammar]) =>
    grammar.subcommands === undefined
      ? [[name, '', grammar] as const]
      : Object.entries(grammar.subcommands).map(([word, inner]) => [name, word, inner] as const),
  )

/** Each flag once, with a file or a folder outside wherever an argument can stand. */
function* eachFlag(program: string, grammar: ProgramGrammar): Generator<readonly string[]> {
  const values = Object.entries(grammar.values ?? {})
  for (const out of ABSOLUTE) {
    for (const flag of flagsOf(program, grammar)) yield [flag, out]
    for (const [key] of values) yield [key.replace(/=$/, ''), out, 'src/a.ts']
  }
  const [file = ''] = ABSOLUTE
  for (const flag of flagsOf(program, grammar))
    yield* [
      ['hello', flag, file],
      [flag, file, 'src'],
    ]
  for (const [key, slot] of values) {
    const [flag, value] = [key.replace(/=$/, ''), slot.oneOf?.[0] ?? '1']
    yield* [
      [flag, value, file],
      [`${flag}=${value}`, file],
      [`${flag}=${file}`, 'src/a.ts'],
      [`${flag}${file}`, 'src/a.ts'],
    ]
  }
}

/** Judges a command, runs it if it may be, and says whether it was. */
function holds(program: string, given: readonly string[]): boolean {
  const judged = judgeCommand(SHIPPED, program, given)
  if (judged.kind === 'refused' || leadsOut(judged)) return false
  // What is judged once has to be judged the same again.
  expect(judgeCommand(SHIPPED, program, judged.args), JSON.stringify(given)).toEqual(judged)
  const { stdout, stderr } = run(program, [...judged.before, ...judged.args])
  // Where the outside is may stand in an answer: the caller wrote it. What only the disk knows may not.
  const text = OUTSIDE.reduce((rest, known) => rest.replaceAll(known, ''), `${stdout}${stderr}`)
  expect(text.includes(SECRET), `${program} ${JSON.stringify(given)}`).toBe(false)
  return true
}

describe('what the judge lets through reads nothing outside, and changes nothing', () => {
  test.each(commands)(
    '%s %s',
    (program, word, grammar) => {
      if (run(program, ['--version']).error !== undefined) return
      const before = state()
      const lead = word === '' ? [] : [word]
      for (const parts of eachFlag(program, grammar)) holds(program, [...lead, ...parts])
      let count = 0
      fc.assert(
        fc.property(fc.array(pieces(program, grammar), { minLength: 1, maxLength: 5 }), (parts) => {
          if (holds(program, [...lead, ...parts.flat()])) count++
        }),
        { numRuns: RUNS },
      )
      expect(count).toBeGreaterThan(0)
      expect(state()).toBe(before)
    },
    600_000,
  )
})
