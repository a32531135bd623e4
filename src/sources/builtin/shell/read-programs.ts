// Reads which programs an operator allows: shipped grammars, parts of them, package scripts, grammars of their own. Everything
// that it does not know is a problem with a key and a message, and then nothing is allowed at all.

import { didYouMean } from '../../../base/did-you-mean.ts'
import type { ProgramGrammar, ProgramsOption } from './program-grammar.ts'
import { readGrammar } from './read-grammar.ts'
import { INSPECTING, SHIPPED } from './shipped-programs.ts'
import { npmWithScripts } from './shipped-programs-npm.ts'

/** `key` says where, from `programs` down: `git`, `git.0`, `tsc.flags`. Empty for the whole. */
export type ProgramsProblem = { readonly key: string; readonly message: string }

export type ProgramsRead =
  | { readonly kind: 'ok'; readonly programs: ReadonlyMap<string, ProgramGrammar> }
  | { readonly kind: 'refused'; readonly problems: readonly ProgramsProblem[] }

type OneRead = ProgramGrammar | readonly ProgramsProblem[]

const PROGRAMS_MAX = 200
const SCRIPTS_MAX = 100
/** A bare name; neither a path nor something that a program could take for a flag. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}$/
const SCRIPT = /^[A-Za-z0-9_][\w.:/-]{0,99}$/

/** Reads `programs` of the shell tools. Never throws. */
export function readPrograms(option: ProgramsOption): ProgramsRead {
  const given: unknown = option
  if (given === 'inspect') return { kind: 'ok', programs: INSPECTING }
  if (!isRecord(given))
    return refused([
      { key: '', message: 'programs must be `inspect` or a mapping of program names to what is allowed' },
    ])
  const entries = Object.entries(given)
  if (entries.length > PROGRAMS_MAX)
    return refused([{ key: '', message: `there are ${entries.length} programs; at most ${PROGRAMS_MAX}` }])
  const programs = new Map<string, ProgramGrammar>()
  const problems: ProgramsProblem[] = []
  for (const [name, value] of entries) {
    const read = readOne(name, value)
    if (isProblems(read)) problems.push(...read)
    else programs.set(name, read)
  }
  return problems.length > 0 ? refused(problems) : { kind: 'ok', programs }
}

function readOne(name: string, value: unknown): OneRead {
  if (!NAME.test(name)) return [{ key: name, message: `\`${name}\` is not the bare name of a program` }]
  if (value === true) return SHIPPED.get(name) ?? [{ key: name, message: noShipped(name) }]
  if (Array.isArray(value)) return narrowed(name, value)
  if (!isRecord(value))
    return [{ key: name, message: `\`${name}\` must be true, a list of subcommands, { scripts } or a grammar` }]
  return Object.hasOwn(value, 'scripts') ? withScripts(name, value) : readGrammar(value, name)
}

function noShipped(name: string): string {
  const near = didYouMean(name, SHIPPED.keys())
  const meant = near === undefined ? '' : `; did you mean \`${near}\``
  return `there is no shipped grammar for \`${name}\`${meant}; write one as an object`
}

function narrowed(name: string, wanted: readonly unknown[]): OneRead {
  const shipped = SHIPPED.get(name)
  if (shipped === undefined) return [{ key: name, message: noShipped(name) }]
  if (shipped.subcommands === undefined)
    return [{ key: name, message: `\`${name}\` has no subcommands to choose from; \`true\` takes its shipped grammar` }]
  const known = new Map(Object.entries(shipped.subcommands))
  const chosen: [string, ProgramGrammar][] = []
  const problems: ProgramsProblem[] = []
  for (const [index, word] of wanted.entries()) {
    const grammar = typeof word === 'string' ? known.get(word) : undefined
    if (typeof word === 'string' && grammar !== undefined) chosen.push([word, grammar])
    else problems.push({ key: `${name}.${index}`, message: noSubcommand(name, word, known) })
  }
  return problems.length > 0 ? problems : { ...shipped, subcommands: Object.fromEntries(chosen) }
}

function noSubcommand(name: string, word: unknown, known: ReadonlyMap<string, ProgramGrammar>): string {
  if (typeof word !== 'string') return `a subcommand of \`${name}\` must be text`
  const near = didYouMean(word, known.keys())
  const names = [...known.keys()].map((one) => `\`${one}\``).join(', ')
  return `the shipped grammar of \`${name}\` has no subcommand \`${word}\`${near === undefined ? '' : `; did you mean \`${near}\``}; it has ${names}`
}

function withScripts(name: string, value: Readonly<Record<string, unknown>>): OneRead {
  const problems: ProgramsProblem[] = Object.keys(value)
    .filter((key) => key !== 'scripts')
    .map((key) => ({ key: `${name}.${key}`, message: `\`${key}\` cannot stand beside \`scripts\`` }))
  if (name !== 'npm')
    problems.push({ key: `${name}.scripts`, message: `\`scripts\` is for \`npm\`; write a grammar for \`${name}\`` })
  const { scripts } = value
  if (!Array.isArray(scripts) || scripts.length === 0 || scripts.length > SCRIPTS_MAX)
    return [
      ...problems,
      { key: `${name}.scripts`, message: `\`scripts\` must be a list of 1 to ${SCRIPTS_MAX} names of package scripts` },
    ]
  for (const [index, script] of scripts.entries()) {
    if (typeof script !== 'string' || !SCRIPT.test(script))
      problems.push({
        key: `${name}.scripts.${index}`,
        message: `${JSON.stringify(script)} is not the name of a package script`,
      })
  }
  return problems.length > 0 ? problems : npmWithScripts(scripts.map(String))
}

const refused = (problems: readonly ProgramsProblem[]): ProgramsRead => ({ kind: 'refused', problems })
const isProblems = (read: OneRead): read is readonly ProgramsProblem[] => Array.isArray(read)

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
