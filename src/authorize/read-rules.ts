// Rules and defaults as they were written, checked and compiled. One rule that does not hold is one problem with its
// place; none is ever left out, narrowed or widened to make it fit.

import { didYouMean } from '../base/did-you-mean.ts'
import { RULE_ORIGINS, type RuleOrigin } from '../describe/decision.ts'
import { DECLARED_EFFECTS, type DeclaredEffect } from '../describe/effect.ts'
import { PLACES, type Place } from '../describe/place.ts'
import { readWhere } from './argument-condition.ts'
import { readCallers } from './caller-condition.ts'
import { type CelCondition, compileCel } from './cel-condition.ts'
import type { FileScope } from './file-scope.ts'
import { readProgramNames, readToolNames } from './name-condition.ts'
import { type Groups, readGroupNames } from './name-groups.ts'
import { type Fields, isPlainObject, nameOf, type OptionReader } from './option-reader.ts'
import type { Answer } from './policy-options.ts'
import type { Defaults } from './profiles.ts'
import { readResources } from './resource-condition.ts'
import { type Rule, type RuleConditions, ruleOf } from './rule.ts'
import { checkExamples } from './rule-examples.ts'
import { canonicalRule, ruleText } from './rule-text.ts'
import { readEffects } from './task-steps.ts'

const ANSWERS = ['allow', 'ask', 'deny'] as const
const RULE_KEYS = [...ANSWERS, 'for', 'where', 'when', 'place', 'because', 'examples', 'origin', 'at']
const SUBJECT_KEYS = ['tool', 'source', 'group', 'effect', 'resource', 'program', 'reads']
const BECAUSE_MAX = 1_000

/** What rules are read with. */
export type RuleReading = {
  readonly reader: OptionReader
  readonly groups: Groups
  readonly scope: FileScope
  /** Of a rule that does not say where it stands. */
  readonly file: string | undefined
  /** Of every rule, whatever it says; undefined: as it says. */
  readonly origin: RuleOrigin | undefined
  readonly trustProject: boolean
}

const isAnswer = (value: unknown): value is Answer => ANSWERS.some((answer) => answer === value)
const isOrigin = (value: unknown): value is RuleOrigin => RULE_ORIGINS.some((origin) => origin === value)
const isPlace = (value: string): value is Place => PLACES.some((place) => place === value)

/** `base`: what the profile says. */
export function readDefaults(value: unknown, key: string, base: Defaults, reader: OptionReader): Defaults {
  const fields = value === undefined ? undefined : reader.fields(value, key, DECLARED_EFFECTS)
  const defaults: Record<DeclaredEffect, Answer> = { ...base }
  for (const effect of DECLARED_EFFECTS) {
    if (fields?.has(effect) !== true) continue
    const answer = fields.get(effect)
    if (isAnswer(answer)) defaults[effect] = answer
    else reader.problem(`${key}.${effect}`, 'must be allow, ask or deny')
  }
  return Object.freeze(defaults)
}

/** Undefined where the rule does not hold; the reader then has at least one problem more. */
export function readRule(value: unknown, key: string, reading: RuleReading): Rule | undefined {
  const at = placeOf(value)
  const here = reading.reader.at(at ?? {})
  const problemsBefore = here.problems.length
  const fields = here.fields(value, key, RULE_KEYS)
  if (fields === undefined) return undefined
  if (fields.get('at') !== undefined && at === undefined) here.problem(`${key}.at`, 'must be { file, line, column }')
  const [answer, ...others] = ANSWERS.filter((name) => fields.has(name))
  if (answer === undefined || others.length > 0)
    return here.problem(key, 'must have exactly one of allow, ask and deny')
  const conditions = readConditions(answer, fields, key, { ...reading, reader: here })
  const because = readBecause(fields, key, here)
  const origin = readOrigin(answer, fields, key, { ...reading, reader: here })
  if (conditions === undefined || here.problems.length > problemsBefore) return undefined
  if (fields.get('examples') !== undefined)
    checkExamples(fields.get('examples'), conditions, reading.scope, `${key}.examples`, here)
  if (here.problems.length > problemsBefore) return undefined
  const place = at ?? (reading.file === undefined ? {} : { file: reading.file })
  return assemble(conditions, { because, origin }, { ...place, key })
}

type Said = { readonly because: string | undefined; readonly origin: RuleOrigin | undefined }

function assemble(conditions: RuleConditions, { because, origin }: Said, place: Rule['place']): Rule {
  const { file, line } = place
  const reference = Object.freeze({
    text: ruleText(conditions),
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
    ...(because === undefined ? {} : { because }),
    ...(origin === undefined ? {} : { origin }),
  })
  return ruleOf(conditions, { reference, canonical: canonicalRule(conditions, reference), place, displaced: false })
}

function readConditions(
  answer: Answer,
  fields: Fields,
  key: string,
  { reader, groups }: RuleReading,
): RuleConditions | undefined {
  const subject = readSubject(fields.get(answer), `${key}.${answer}`, groups, reader)
  const callers = fields.has('for') ? readCallers(fields.get('for'), `${key}.for`, reader) : []
  const where = fields.has('where') ? readWhere(fields.get('where'), `${key}.where`, reader) : []
  const when = readIf(fields, 'when', key, (given, at) => readWhen(given, at, reader))
  const places = readIf(fields, 'place', key, (given, at) => readPlaces(answer, given, at, reader))
  if (subject === undefined || callers === undefined || where === undefined) return undefined
  return { answer, ...subject, callers, where, when, places }
}

type Subject = Pick<Rule, 'tools' | 'sources' | 'groups' | 'effects' | 'resources' | 'programs' | 'reads'>

const EVERYTHING: Subject = {
  tools: undefined,
  sources: undefined,
  groups: undefined,
  effects: undefined,
  resources: undefined,
  programs: undefined,
  reads: undefined,
}

function readSubject(value: unknown, key: string, groups: Groups, reader: OptionReader): Subject | undefined {
  if (!isPlainObject(value)) {
    if (typeof value !== 'string' && !Array.isArray(value))
      return reader.problem(key, `must be a name, a glob, a list of them or an object, not ${nameOf(value)}`)
    const tools = readToolNames(value, key, reader)
    return tools === undefined ? undefined : { ...EVERYTHING, tools }
  }
  const fields = reader.fields(value, key, SUBJECT_KEYS)
  if (fields === undefined) return undefined
  // INVARIANT closed: a subject that says nothing would speak of everything.
  if (!SUBJECT_KEYS.some((name) => fields.has(name)))
    return reader.problem(key, `says nothing; name one of ${SUBJECT_KEYS.join(', ')}`)
  return {
    tools: readIf(fields, 'tool', key, (given, at) => readToolNames(given, at, reader)),
    sources: readIf(fields, 'source', key, (given, at) => readToolNames(given, at, reader)),
    groups: readIf(fields, 'group', key, (given, at) => readGroupNames(given, at, groups, reader)),
    effects: readIf(fields, 'effect', key, (given, at) => readEffects(given, at, reader)),
    resources: readIf(fields, 'resource', key, (given, at) => readResources(given, at, reader)),
    programs: readIf(fields, 'program', key, (given, at) => readProgramNames(given, at, reader)),
    reads: readIf(fields, 'reads', key, (given, at) =>
      typeof given === 'boolean' ? given : reader.problem(at, 'must be true or false'),
    ),
  }
}

const readIf = <Value>(
  fields: Fields,
  name: string,
  key: string,
  read: (given: unknown, key: string) => Value | undefined,
): Value | undefined => (fields.has(name) ? read(fields.get(name), `${key}.${name}`) : undefined)

function readWhen(value: unknown, key: string, reader: OptionReader): CelCondition | undefined {
  if (typeof value !== 'string' || value.trim() === '')
    return reader.problem(key, 'must be a CEL expression, such as `args.count > 3`')
  const compiled = compileCel(value)
  return compiled.kind === 'ok' ? compiled.condition : reader.problem(key, `\`${cut(value)}\`: ${compiled.reason}`)
}

const cut = (text: string): string => (text.length <= 60 ? text : `${text.slice(0, 60)}…`)

function readPlaces(answer: Answer, value: unknown, key: string, reader: OptionReader): readonly Place[] | undefined {
  if (answer === 'deny') return reader.problem(key, 'a denied call runs nowhere; say where an `allow` or `ask` may run')
  const texts = reader.texts(value, key)
  if (texts === undefined) return undefined
  if (texts.length === 0) return reader.problem(key, 'names no place, so no call could run')
  const unknown = texts.find((text) => !isPlace(text))
  if (unknown === undefined) return texts.filter(isPlace)
  const meant = didYouMean(unknown, PLACES)
  const hint = meant === undefined ? '' : `; did you mean \`${meant}\`?`
  return reader.problem(key, `\`${unknown}\` is no place where tools run${hint} (known: ${PLACES.join(', ')})`)
}

function readOrigin(answer: Answer, fields: Fields, key: string, reading: RuleReading): RuleOrigin | undefined {
  const { reader, trustProject } = reading
  const given = fields.get('origin')
  if (given !== undefined && !isOrigin(given))
    return reader.problem(`${key}.origin`, `must be one of ${RULE_ORIGINS.join(', ')}`)
  const origin = reading.origin ?? given
  // INVARIANT deny-wins: what lies in a project that nobody trusted can narrow what its user allows, and nothing else.
  if (origin === 'project' && answer === 'allow' && !trustProject)
    reader.problem(`${key}.allow`, 'a project that is not trusted can only ask or deny')
  return origin === 'user' ? undefined : origin
}

function readBecause(fields: Fields, key: string, reader: OptionReader): string | undefined {
  const because = fields.get('because')
  if (because === undefined) return undefined
  if (typeof because !== 'string' || because.trim() === '')
    return reader.problem(`${key}.because`, 'must be a text that says why')
  if (because.length > BECAUSE_MAX) return reader.problem(`${key}.because`, `is longer than ${BECAUSE_MAX} characters`)
  return because.trim()
}

type WrittenPlace = { readonly file: string; readonly line: number; readonly column: number }

function placeOf(value: unknown): WrittenPlace | undefined {
  if (!isPlainObject(value) || !Object.hasOwn(value, 'at')) return undefined
  const at = value.at
  if (!isPlainObject(at)) return undefined
  const { file, line, column } = at
  if (typeof file !== 'string' || typeof line !== 'number' || typeof column !== 'number') return undefined
  return { file, line, column }
}
