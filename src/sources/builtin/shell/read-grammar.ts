// Reads a program grammar that an operator wrote: every key, type and pattern is checked, so that a misspelt restriction is an
// error and never a restriction that is not there. Patterns that cannot be matched in linear time are refused.

import { didYouMean } from '../../../base/did-you-mean.ts'
import { readPattern } from '../../../describe/schema/linear-pattern.ts'
import type { OperandKind, OperandSlot, ProgramGrammar } from './program-grammar.ts'

type Problem = { readonly key: string; readonly message: string }
type Fields = Readonly<Record<string, unknown>>

const NESTING_MAX = 6
const LIST_MAX = 1_000
const KINDS: readonly OperandKind[] = ['path', 'pathspec', 'text', 'number', 'revision', 'none']
const FLAG = /^[^\s\u0000-\u001f]{1,100}$/

/** What each key of a grammar has to be; undefined means that it is right. */
const CHECKS: ReadonlyMap<string, (value: unknown, key: string, depth: number) => readonly Problem[]> = new Map<
  string,
  (value: unknown, key: string, depth: number) => readonly Problem[]
>([
  ['flags', flagList],
  [
    'clusters',
    (value, key) =>
      unless(typeof value === 'string' && /^[A-Za-z0-9.]*$/.test(value), key, 'must be letters and digits'),
  ],
  ['values', slotsByFlag],
  ['anyValue', isTrueOrFalse],
  ['forms', patternList],
  ['operands', slotList],
  ['least', smallNumber],
  ['more', isTrueOrFalse],
  ['firstBy', flagList],
  ['operandsNeed', flagList],
  ['ends', isTrueOrFalse],
  ['behindEnds', slot],
  ['literal', isTrueOrFalse],
  ['stdin', isTrueOrFalse],
  ['getopt', isTrueOrFalse],
  ['subcommands', subcommands],
  ['reads', isTrueOrFalse],
  ['walks', isTrueOrFalse],
  ['walksBy', flagList],
  [
    'looksAt',
    (value, key) => unless(value === 'folder' || value === 'repository', key, 'must be `folder` or `repository`'),
  ],
  ['runsWorkspaceCode', isTrueOrFalse],
  [
    'script',
    (value, key) => unless(typeof value === 'string' && value !== '', key, 'must be the name of a package script'),
  ],
  ['benign', exitCodes],
  ['before', textList],
  ['instead', textsByFlag],
])
const SLOT_KEYS = ['kind', 'pattern', 'oneOf', 'behind']

/** The grammar, or what is wrong with it. Never throws. */
export function readGrammar(value: unknown, key: string): ProgramGrammar | readonly Problem[] {
  const problems = grammarProblems(value, key, 0)
  // Every key and value has just been checked; a copy keeps it as it was then.
  return problems.length > 0 ? problems : (structuredClone(value) as ProgramGrammar)
}

function grammarProblems(value: unknown, key: string, depth: number): readonly Problem[] {
  if (!isFields(value)) return [{ key, message: 'a grammar must be a mapping' }]
  if (depth > NESTING_MAX) return [{ key, message: `subcommands are nested deeper than ${NESTING_MAX}` }]
  const problems = Object.entries(value).flatMap(([name, part]) => {
    const check = CHECKS.get(name)
    return check === undefined
      ? [unknownKey(name, `${key}.${name}`, CHECKS.keys())]
      : check(part, `${key}.${name}`, depth)
  })
  if (value.reads === undefined)
    return [
      ...problems,
      {
        key,
        message: '`reads` must say whether this only looks: true, or false where it changes, sends or starts anything',
      },
    ]
  return problems.length > 0 ? problems : contradictions(value, key)
}

/** What is right part by part and cannot mean anything together. */
function contradictions(grammar: Fields, key: string): readonly Problem[] {
  const problems: Problem[] = []
  const say = (name: string, message: string): void => void problems.push({ key: `${key}.${name}`, message })
  const operands = Array.isArray(grammar.operands) ? grammar.operands.length : 0
  if (grammar.reads === true && grammar.runsWorkspaceCode === true)
    say('reads', 'what runs code of the workspace cannot be said to only read')
  if (grammar.more === true && operands === 0) say('more', '`more` repeats the last of `operands`, and there is none')
  if (Number(grammar.least ?? 0) > operands && grammar.more !== true)
    say('least', `\`least\` asks for more than the ${operands} operands that are allowed`)
  if (grammar.subcommands !== undefined && (operands > 0 || grammar.literal === true))
    say('subcommands', 'a program takes subcommands or operands here, not both')
  if (grammar.getopt === true && grammar.behindEnds !== undefined)
    say('getopt', '`getopt` puts every operand behind `--`, so `behindEnds` says nothing')
  const known = new Set([
    ...texts(grammar.flags),
    ...Object.keys(isFields(grammar.values) ? grammar.values : {}).map(bare),
    ...letters(grammar.clusters),
  ])
  for (const name of ['firstBy', 'operandsNeed', 'walksBy']) {
    const missing = texts(grammar[name]).find((flag) => !known.has(flag))
    if (missing !== undefined) say(name, `\`${missing}\` is none of the flags of this grammar`)
  }
  return problems
}

const bare = (flag: string): string => flag.replace(/=$/, '')
const letters = (value: unknown): readonly string[] =>
  typeof value === 'string' ? [...value].map((letter) => `-${letter}`) : []
const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : [])

function subcommands(value: unknown, key: string, depth: number): readonly Problem[] {
  if (!isFields(value)) return [{ key, message: 'must be a mapping of subcommands to grammars' }]
  return Object.entries(value).flatMap(([name, grammar]) => [
    ...unless(!name.startsWith('-') && FLAG.test(name), `${key}.${name}`, 'must be a word that begins with no dash'),
    ...grammarProblems(grammar, `${key}.${name}`, depth + 1),
  ])
}

function slotsByFlag(value: unknown, key: string): readonly Problem[] {
  if (!isFields(value)) return [{ key, message: 'must be a mapping of flags to what their value may be' }]
  return Object.entries(value).flatMap(([flag, part]) => [
    ...unless(
      /^-/.test(flag) && flag !== '--' && FLAG.test(flag),
      `${key}.${flag}`,
      'must be a flag that begins with a dash',
    ),
    ...slot(part, `${key}.${flag}`),
  ])
}

function slotList(value: unknown, key: string): readonly Problem[] {
  if (!Array.isArray(value) || value.length > LIST_MAX) return [{ key, message: 'must be a list of operands' }]
  return value.flatMap((part, index) => slot(part, `${key}.${index}`))
}

function slot(value: unknown, key: string): readonly Problem[] {
  if (!isFields(value)) return [{ key, message: 'must be a mapping with a `kind`' }]
  const problems = Object.keys(value)
    .filter((name) => !SLOT_KEYS.includes(name))
    .map((name) => unknownKey(name, `${key}.${name}`, SLOT_KEYS))
  const { kind, pattern, oneOf, behind }: { readonly [Name in keyof OperandSlot]?: unknown } = value
  if (!KINDS.some((one) => one === kind))
    problems.push({ key: `${key}.kind`, message: `must be one of ${KINDS.map((one) => `\`${one}\``).join(', ')}` })
  if (pattern !== undefined) problems.push(...onePattern(pattern, `${key}.pattern`))
  if (behind !== undefined) problems.push(...onePattern(behind, `${key}.behind`))
  if (behind !== undefined && kind !== 'path')
    problems.push({ key: `${key}.behind`, message: 'only a path stands behind something' })
  if (oneOf !== undefined) problems.push(...textList(oneOf, `${key}.oneOf`))
  return problems
}

function patternList(value: unknown, key: string): readonly Problem[] {
  if (!Array.isArray(value) || value.length > LIST_MAX) return [{ key, message: 'must be a list of patterns' }]
  return value.flatMap((part, index) => onePattern(part, `${key}.${index}`))
}

function onePattern(value: unknown, key: string): readonly Problem[] {
  if (typeof value !== 'string') return [{ key, message: 'must be a regular expression as text' }]
  // Alone first: `a)|(b` is none, and would be one between the anchors that are put around it.
  const alone = readPattern(value)
  const read = alone.kind === 'ok' ? readPattern(`^(?:${value})$`) : alone
  return read.kind === 'ok' ? [] : [{ key, message: `cannot be used: ${read.reason}` }]
}

function flagList(value: unknown, key: string): readonly Problem[] {
  const isList = Array.isArray(value) && value.length <= LIST_MAX
  return unless(
    isList && value.every((flag) => typeof flag === 'string' && flag !== '--' && FLAG.test(flag)),
    key,
    'must be a list of flags, each without blanks',
  )
}

function textList(value: unknown, key: string): readonly Problem[] {
  const isList = Array.isArray(value) && value.length <= LIST_MAX
  return unless(
    isList && value.every((text) => typeof text === 'string' && !text.includes('\0')),
    key,
    'must be a list of texts',
  )
}

function textsByFlag(value: unknown, key: string): readonly Problem[] {
  return unless(
    isFields(value) && Object.values(value).every((text) => typeof text === 'string'),
    key,
    'must be a mapping of flags to texts',
  )
}

function exitCodes(value: unknown, key: string): readonly Problem[] {
  const isRight = Array.isArray(value) && value.every((code) => Number.isInteger(code) && code >= 1 && code <= 255)
  return unless(isRight, key, 'must be a list of exit codes from 1 to 255')
}

function smallNumber(value: unknown, key: string): readonly Problem[] {
  return unless(
    Number.isInteger(value) && Number(value) >= 0 && Number(value) <= LIST_MAX,
    key,
    'must be a whole number',
  )
}

function isTrueOrFalse(value: unknown, key: string): readonly Problem[] {
  return unless(typeof value === 'boolean', key, 'must be true or false')
}

function unknownKey(name: string, key: string, known: Iterable<string>): Problem {
  const near = didYouMean(name, known)
  return { key, message: `\`${name}\` is not known here${near === undefined ? '' : `; did you mean \`${near}\``}` }
}

const unless = (isRight: boolean, key: string, message: string): readonly Problem[] =>
  isRight ? [] : [{ key, message }]

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
