// Goal: every `shell` case of the attack corpus comes out right through a whole gate, and so do mutations that the corpus does
// not hold: what must be refused is refused before anything is started, every look-alike runs. Method: the fixture of the corpus
// on a real disk with a real repository, and a comparison of everything that no command may change. Mutations keep what a case
// means: long options abbreviated, short ones clustered, values joined and apart, operands moved, `./` inserted, letter case.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtinTools, createGate, type Gate, type Outcome } from '../src/index.ts'
import { judgeCommand } from '../src/sources/builtin/shell/judge-command.ts'
import { SHIPPED } from '../src/sources/builtin/shell/shipped-programs.ts'
import { splitCommandLine } from '../src/sources/builtin/shell/split-command-line.ts'
import { buildInput } from './corpus/build-input.ts'
import './property-seed.ts'

type ShellInput = {
  readonly argv?: readonly unknown[]
  readonly command?: string
  readonly env?: object
  readonly cwd?: string
  readonly stdin?: string
  readonly given?: { readonly repo_config?: Readonly<Record<string, string>> }
}
type Case = {
  readonly id: string
  readonly tool_kind: string
  readonly expect: 'reject' | 'allow'
  readonly why: string
  readonly input: ShellInput
}

const corpus = JSON.parse(
  fs.readFileSync(new URL('./corpus/attack-corpus.json', import.meta.url), 'utf8'),
) as readonly Case[]
const cases = corpus.filter(({ tool_kind }) => tool_kind === 'shell')
const SECRET = 'outside-secret-value'
let base = ''
let workspace = ''
let gate: Gate

const marker = (): string => join(base, 'marker')
const helper = (): string => join(base, 'helper')

function put(path: string, text = 'hello\nworld\n'): void {
  fs.mkdirSync(dirname(path), { recursive: true })
  fs.writeFileSync(path, text)
}

function git(...args: readonly string[]): void {
  const env = { PATH: process.env.PATH ?? '', HOME: base, GIT_CONFIG_GLOBAL: '/dev/null' }
  const settings = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  const { status, stderr } = spawnSync('git', [...settings, ...args], { cwd: workspace, env, encoding: 'utf8' })
  expect(status, stderr).toBe(0)
}

beforeAll(async () => {
  base = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'lockgate-corpus-'))
  workspace = join(base, 'ws')
  for (const name of ['src/a.ts', 'a/b/f', '..foo', '-rf', 'a;b.txt', '$(id).txt']) put(join(workspace, name))
  put(join(base, 'outside/secret.txt'), SECRET)
  fs.symlinkSync(join(base, 'outside'), join(workspace, 'link-out'))
  fs.writeFileSync(helper(), `#!/bin/sh\ntouch ${marker()}\n`, { mode: 0o755 })
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('commit', '-qm', 'one')
  fs.appendFileSync(join(workspace, 'src/a.ts'), 'more\n')
  git('commit', '-qam', 'two')
  gate = await createGate({
    sources: [builtinTools(['shell'])],
    workspace,
    policy: { defaults: { write: 'allow', execute: 'allow', external: 'allow', destructive: 'allow' } },
  })
})

afterAll(async () => {
  await gate?.close()
  fs.rmSync(base, { recursive: true, force: true })
})

/** Everything below the fixture, the repository's own folder too: no case may change any of it. */
function state(): string {
  const hash = createHash('sha256')
  const visit = (path: string): void => {
    const stat = fs.lstatSync(path)
    hash.update(`${path} ${stat.mode} `)
    if (stat.isDirectory()) for (const name of fs.readdirSync(path).sort()) visit(join(path, name))
    else if (stat.isFile()) hash.update(fs.readFileSync(path))
  }
  visit(base)
  return hash.digest('hex')
}

/** The arguments of `run_command` that a case stands for. What the tool does not know stays, and has to be refused. */
function argumentsOf(input: ShellInput): Record<string, unknown> {
  const { argv, given: _given, ...others } = input
  const { assert: _assert, ...rest } = others as Record<string, unknown>
  if (argv === undefined) return rest
  const [program, ...args] = argv
  return { ...(argv.length === 0 ? {} : { program }), ...(argv.length < 2 ? {} : { args }), ...rest }
}

async function call(input: ShellInput): Promise<Outcome> {
  return gate.session().call({ name: 'run_command', arguments: argumentsOf(input) })
}

/** `npm` and the like may be in a place of their own, where nothing that a gate runs is looked for. */
const isMissing = (outcome: Outcome): boolean => !outcome.ok && outcome.error.type === 'unavailable'

describe('shell cases of the attack corpus', () => {
  const right = { reject: 0, allow: 0 }

  test.each(cases.map((one) => [one.id, one.why, one] as const))('%s %s', async (_id, _why, one) => {
    const input = buildInput(one.input) as ShellInput
    const settings = Object.entries(input.given?.repo_config ?? {})
    for (const [key, value] of settings) git('config', key, value.replace('${MARKER_HELPER}', helper()))
    const before = state()
    const outcome = await call(input)
    expect(state()).toBe(before)
    for (const [key] of settings) git('config', '--unset', key)
    expect(JSON.stringify(outcome)).not.toContain(SECRET)
    if (one.expect === 'allow' && isMissing(outcome)) expect(outcome.ok).toBe(false)
    else expect(outcome.ok ? 'allow' : 'reject', JSON.stringify(outcome.content)).toBe(one.expect)
    if (!outcome.ok) expect(outcome.error.effect).toBe('none')
    right[one.expect] += 1
  })

  test('both counts', () => {
    const wanted = (expected: string) => cases.filter((one) => one.expect === expected).length
    console.log(`shell: ${right.reject}/${wanted('reject')} rejected, ${right.allow}/${wanted('allow')} allowed`)
    expect(right).toEqual({ reject: wanted('reject'), allow: wanted('allow') })
  })
})

/** The programs and arguments of the cases that are about nothing else. */
const lines = (expected: string): readonly (readonly string[])[] =>
  cases
    .filter(
      ({ expect: wanted, input }) =>
        wanted === expected && [input.env, input.cwd, input.stdin].every((other) => other === undefined),
    )
    .flatMap(({ input }) => {
      const { argv, command = '' } = buildInput(input) as ShellInput
      if (argv !== undefined)
        return argv.length > 0 && argv.every((one) => typeof one === 'string') ? [argv as string[]] : []
      const split = splitCommandLine(command)
      return split.kind === 'ok' ? [split.words] : []
    })
    .filter((words) => words.length < 1_000)

/** Why a command is refused by the judge, or by where its paths lead; undefined where it may run. */
function refusalOf([program = '', ...args]: readonly string[]): string | undefined {
  const judged = judgeCommand(SHIPPED, program, args)
  if (judged.kind === 'refused') return judged.message
  return judged.paths
    .map(({ index, start, end }) => (judged.args[index] ?? '').slice(start, end))
    .map((path) => [path, resolve('/ws', path)] as const)
    .find(([, real]) => real !== '/ws' && !real.startsWith('/ws/'))?.[0]
}

type Mutation = (words: readonly string[], pick: (count: number) => number) => readonly string[]

const replaced = (words: readonly string[], index: number, ...by: readonly string[]): readonly string[] => [
  ...words.slice(0, index),
  ...by,
  ...words.slice(index + 1),
]

/** Indexes of arguments, never of the program. */
const where = (words: readonly string[], fits: (word: string, index: number) => boolean): readonly number[] =>
  words.map((word, index) => (index > 0 && fits(word, index) ? index : -1)).filter((index) => index > 0)

function at(words: readonly string[], fits: (word: string, index: number) => boolean, pick: (count: number) => number) {
  const found = where(words, fits)
  return found[found.length === 0 ? 0 : pick(found.length)]
}

/** None of these makes a hostile command harmless. */
const HOSTILE: Readonly<Record<string, Mutation>> = {
  abbreviated: (words, pick) => {
    const index = at(words, (word) => /^--?[a-z][a-z-]{3,}(=|$)/.test(word), pick)
    if (index === undefined) return words
    const [name = '', ...value] = (words[index] ?? '').split('=')
    const cut = name.slice(0, 4 + pick(Math.max(1, name.length - 4)))
    return replaced(words, index, [cut, ...value].join('='))
  },
  clustered: (words, pick) => {
    const index = at(words, (word) => /^-[a-zA-Z]$/.test(word), pick)
    if (index === undefined) return words
    // Of no program that the cases allow does one of these letters take what follows it.
    const letter = 'niuqvlx'[pick(7)] ?? 'n'
    return replaced(words, index, `-${letter}${(words[index] ?? '').slice(1)}`)
  },
  joined: (words, pick) => {
    const index = at(words, (word, at) => /^-[oTfOcCKI]$/.test(word) && words[at + 1] !== undefined, pick)
    return index === undefined
      ? words
      : replaced(words.slice(0, index + 1), index, `${words[index]}${words[index + 1]}`).concat(words.slice(index + 2))
  },
  apart: (words, pick) => {
    const index = at(words, (word) => /^--[a-z0-9-]+=./.test(word), pick)
    if (index === undefined) return words
    const [name = '', ...value] = (words[index] ?? '').split('=')
    return replaced(words, index, name, value.join('='))
  },
  dotted: (words, pick) => {
    const index = at(words, (word) => /^(\.\.|\/[a-z])/.test(word), pick)
    if (index === undefined) return words
    const word = words[index] ?? ''
    const spellings = word.startsWith('/')
      ? [`/.${word}`, `//${word.slice(1)}`, `/tmp/..${word}`, `${word}/.`]
      : [`./${word}`, `src/../${word}`, `.//${word}`, `${word}/.`]
    return replaced(words, index, spellings[pick(4)] ?? word)
  },
  'in another letter case': (words, pick) =>
    replaced(words, 0, [words[0]?.toUpperCase(), capital(words[0])][pick(2)] ?? ''),
  'behind an allowed flag': (words) => {
    const [program = '', ...args] = words
    const flag = new Map([
      ['git', '--no-pager'],
      ['sort', '-u'],
      ['grep', '-n'],
      ['rg', '-n'],
      ['find', '.'],
      ['sed', '-n'],
    ]).get(program)
    return flag === undefined ? words : [program, flag, ...args]
  },
  'before more operands': (words) => [...words, 'src/a.ts'],
}

const capital = (word = ''): string => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`

/** None of these makes a harmless command hostile, or another command. */
const HARMLESS: Readonly<Record<string, Mutation>> = {
  'with `./`': (words, pick) => {
    const index = at(words, (word) => /^(src|a|\.\.foo)(\/|$)/.test(word), pick)
    return index === undefined ? words : replaced(words, index, `./${words[index]}`)
  },
  'with `--`': (words) => {
    const [program = ''] = words
    const operands = words.slice(1).findIndex((word) => !word.startsWith('-'))
    const [flags, rest] = [words.slice(1, operands + 1), words.slice(operands + 1)]
    const isPlain =
      ['cat', 'ls', 'uniq'].includes(program) ||
      (['wc', 'sort', 'grep'].includes(program) && !flags.includes('-k') && !flags.includes('-e'))
    return isPlain && operands >= 0 && rest.every((word) => !word.startsWith('-')) && !flags.includes('--')
      ? [program, ...flags, '--', ...rest]
      : words
  },
  'with its flags behind': (words) => {
    const [program = '', flag = '', ...rest] = words
    const isFlag = /^-[a-z]{1,2}$/.test(flag) && flag !== '-e' && flag !== '-n' && flag !== '-k'
    return ['cat', 'ls', 'wc', 'sort', 'grep'].includes(program) && isFlag && !rest.includes('--')
      ? [program, ...rest, flag]
      : words
  },
  joined: (words) => {
    const index = words.findIndex(
      (word, at) =>
        ['-n', '-k', '-e'].includes(word) &&
        ['head', 'sort', 'grep'].includes(words[0] ?? '') &&
        words[at + 1] !== undefined,
    )
    return index < 0 || (words[0] === 'grep' && words[index] !== '-e')
      ? words
      : [...words.slice(0, index), `${words[index]}${words[index + 1]}`, ...words.slice(index + 2)]
  },
}

function mutated(
  mutations: Readonly<Record<string, Mutation>>,
  words: readonly string[],
  names: readonly string[],
  numbers: readonly number[],
): readonly string[] {
  let next = 0
  const pick = (count: number): number => (numbers[next++ % numbers.length] ?? 0) % count
  return names.reduce((sofar, name) => mutations[name]?.(sofar, pick) ?? sofar, words)
}

const mutations = (of: Readonly<Record<string, Mutation>>) =>
  fc.tuple(
    fc.array(fc.constantFrom(...Object.keys(of)), { minLength: 1, maxLength: 3 }),
    fc.array(fc.nat(1_000), { minLength: 6, maxLength: 6 }),
  )

describe('mutations of the shell cases', () => {
  test('what is refused stays refused', () => {
    const hostile = lines('reject')
    expect(hostile.length).toBeGreaterThan(80)
    for (const words of hostile) expect(refusalOf(words), words.join(' ')).toBeDefined()
    fc.assert(
      fc.property(fc.constantFrom(...hostile), mutations(HOSTILE), (words, [names, numbers]) => {
        const changed = mutated(HOSTILE, words, names, numbers)
        expect(refusalOf(changed), JSON.stringify([names, changed])).toBeDefined()
      }),
      { numRuns: 3_000 },
    )
  })

  test('what is allowed stays allowed, and names the same files', () => {
    const harmless = lines('allow')
    expect(harmless.length).toBeGreaterThan(40)
    let changes = 0
    const filesOf = ([program = '', ...args]: readonly string[]) => {
      const judged = judgeCommand(SHIPPED, program, args)
      if (judged.kind === 'refused') return judged.message
      return judged.paths.map(({ index, start, end }) => resolve('/ws', (judged.args[index] ?? '').slice(start, end)))
    }
    fc.assert(
      fc.property(fc.constantFrom(...harmless), mutations(HARMLESS), (words, [names, numbers]) => {
        const changed = mutated(HARMLESS, words, names, numbers)
        if (changed.join('\0') !== words.join('\0')) changes++
        expect(refusalOf(changed), JSON.stringify([names, changed])).toBeUndefined()
        expect(filesOf(changed), JSON.stringify([names, changed])).toEqual(filesOf(words))
      }),
      { numRuns: 1_500 },
    )
    expect(changes).toBeGreaterThan(200)
  })
})
