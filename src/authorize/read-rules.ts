// Rules and defaults as they were written, checked and compiled. One rule that does not hold is one problem with its
// place; none is ever left out, narrowed or widened to make it fit.

import { DECLARED_EFFECTS, type DeclaredEffect, isDeclaredEffect } from '../describe/effect.ts'
import { readWhere } from './argument-condition.ts'
import { readCallers } from './caller-condition.ts'
import { readToolNames } from './name-condition.ts'
import { type Fields, isPlainObject, nameOf, type OptionReader } from './option-reader.ts'
import type { Answer } from './policy-options.ts'
import { readResources } from './resource-condition.ts'
import type { Rule } from './rule.ts'
import { ruleText } from './rule-text.ts'

const ANSWERS = ['allow', 'ask', 'deny'] as const
const RULE_KEYS = [...ANSWERS, 'for', 'where', 'because', 'at']
const SUBJECT_KEYS = ['tool', 'source', 'effect', 'resource']
const BECAUSE_MAX = 1_000

export type Defaults = Readonly<Record<DeclaredEffect, Answer>>

const DEFAULTS: Defaults = {
  read: 'allow',
  write: 'ask',
  execute: 'ask',
  external: 'ask',
  destructive: 'deny',
  undeclared: 'ask',
}

const isAnswer = (value: unknown): value is Answer => ANSWERS.some((answer) => answer === value)

export function readDefaults(value: unknown, key: string, reader: OptionReader): Defaults {
  const fields = value === undefined ? undefined : reader.fields(value, key, DECLARED_EFFECTS)
  const defaults: Record<DeclaredEffect, Answer> = { ...DEFAULTS }
  for (const effect of DECLARED_EFFECTS) {
    if (fields?.has(effect) !== true) continue
    const answer = fields.get(effect)
    if (isAnswer(answer)) defaults[effect] = answer
    else reader.problem(`${key}.${effect}`, 'must be allow, ask or deny')
  }
  return Object.freeze(defaults)
}

/** Undefined where the rule does not hold; the reader then has at least one problem more. */
export function readRule(
  value: unknown,
  key: string,
  reader: OptionReader,
  file: string | undefined,
): Rule | undefined {
  const at = placeOf(value)
  const here = reader.at(at ?? {})
  const problemsBefore = reader.problems.length
  const fields = here.fields(value, key, RULE_KEYS)
  if (fields === undefined) return undefined
  if (fields.get('at') !== undefined && at === undefined) here.problem(`${key}.at`, 'must be { file, line, column }')
  const [answer, ...others] = ANSWERS.filter((name) => fields.has(name))
  if (answer === undefined || others.length > 0)
    return here.problem(key, 'must have exactly one of allow, ask and deny')
  const subject = readSubject(fields.get(answer), `${key}.${answer}`, here)
  const callers = fields.has('for') ? readCallers(fields.get('for'), `${key}.for`, here) : []
  const where = fields.has('where') ? readWhere(fields.get('where'), `${key}.where`, here) : []
  const because = readBecause(fields, key, here)
  if (subject === undefined || callers === undefined || where === undefined || reader.problems.length > problemsBefore)
    return undefined
  return assemble({ answer, ...subject, callers, where }, because, at ?? (file === undefined ? {} : { file }))
}

function assemble(
  conditions: Omit<Rule, 'reference'>,
  because: string | undefined,
  place: { file?: string; line?: number },
): Rule {
  const { file, line } = place
  const reference = Object.freeze({
    text: ruleText(conditions),
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
    ...(because === undefined ? {} : { because }),
  })
  return Object.freeze({ ...conditions, reference })
}

type Subject = Pick<Rule, 'tools' | 'sources' | 'effects' | 'resources'>

function readSubject(value: unknown, key: string, reader: OptionReader): Subject | undefined {
  const everything = { tools: undefined, sources: undefined, effects: undefined, resources: undefined }
  if (!isPlainObject(value)) {
    if (typeof value !== 'string' && !Array.isArray(value))
      return reader.problem(key, `must be a name, a glob, a list of them or an object, not ${nameOf(value)}`)
    const tools = readToolNames(value, key, reader)
    return tools === undefined ? undefined : { ...everything, tools }
  }
  const fields = reader.fields(value, key, SUBJECT_KEYS)
  if (fields === undefined) return undefined
  // INVARIANT closed: a subject that says nothing would speak of everything.
  if (!SUBJECT_KEYS.some((name) => fields.has(name)))
    return reader.problem(key, `says nothing; name one of ${SUBJECT_KEYS.join(', ')}`)
  return {
    tools: readIf(fields, 'tool', key, (given, at) => readToolNames(given, at, reader)),
    sources: readIf(fields, 'source', key, (given, at) => readToolNames(given, at, reader)),
    effects: readIf(fields, 'effect', key, (given, at) => readEffects(given, at, reader)),
    resources: readIf(fields, 'resource', key, (given, at) => readResources(given, at, reader)),
  }
}

const readIf = <Value>(
  fields: Fields,
  name: string,
  key: string,
  read: (given: unknown, key: string) => Value | undefined,
): Value | undefined => (fields.has(name) ? read(fields.get(name), `${key}.${name}`) : undefined)

function readEffects(value: unknown, key: string, reader: OptionReader): readonly DeclaredEffect[] | undefined {
  const texts = reader.texts(value, key)
  const unknown = texts?.find((text) => !isDeclaredEffect(text))
  if (unknown !== undefined)
    return reader.problem(key, `\`${unknown}\` is no effect; known: ${DECLARED_EFFECTS.join(', ')}`)
  return texts?.filter(isDeclaredEffect)
}

function readBecause(fields: Fields, key: string, reader: OptionReader): string | undefined {
  const because = fields.get('because')
  if (because === undefined) return undefined
  if (typeof because !== 'string' || because.trim() === '')
    return reader.problem(`${key}.because`, 'must be a text that says why')
  if (because.length > BECAUSE_MAX) return reader.problem(`${key}.because`, `is longer than ${BECAUSE_MAX} characters`)
  return because.trim()
}

type Place = { readonly file: string; readonly line: number; readonly column: number }

function placeOf(value: unknown): Place | undefined {
  if (!isPlainObject(value) || !Object.hasOwn(value, 'at')) return undefined
  const at = value.at
  if (!isPlainObject(at)) return undefined
  const { file, line, column } = at
  if (typeof file !== 'string' || typeof line !== 'number' || typeof column !== 'number') return undefined
  return { file, line, column }
}
