// What `where` may ask of an argument, as it is written: a glob or a list of them, or a test `{ in, min, max, prefix }`, whose
// keys all have to hold. Texts of a test are looked at as globs without wildcards, so that a path is one however it is spelled.

import type { FileGlob } from './file-scope.ts'
import { isPlainObject, nameOf, type OptionReader } from './option-reader.ts'
import { readAnyGlob, readFileGlob } from './pattern-shape.ts'

/** `begins`: what an allow asks besides, so that `docs/` at the beginning is not the folder `docs` itself. */
export type ValuePattern = FileGlob & { readonly text: string; readonly begins: string | undefined }

// Written out, so that all of them have one shape.
const patternOf = ({ glob, absolute }: FileGlob, text: string, begins?: string): ValuePattern => ({
  glob,
  absolute,
  text,
  begins,
})

export type ValueRange = { readonly min: number | undefined; readonly max: number | undefined }

/** `all`: of each list one pattern has to match. */
export type ValueTest = {
  readonly all: readonly (readonly ValuePattern[])[]
  readonly range: ValueRange | undefined
  /** For people, e.g. `docs/**` or `{min=1,max=5}`. */
  readonly texts: readonly string[]
  /** Whether these are globs, and no test. */
  readonly globs: boolean
}

const TEST_KEYS = ['in', 'min', 'max', 'prefix']
/** The argument that names where a tool works. */
const PATH = 'path'

export function readValueTest(name: string, given: unknown, key: string, reader: OptionReader): ValueTest | undefined {
  if (isPlainObject(given)) return readTest(given, key, reader)
  const values: readonly unknown[] = Array.isArray(given) ? given : [given]
  const patterns: ValuePattern[] = []
  for (const value of values) {
    const text = patternText(value)
    if (text === undefined) {
      reader.problem(key, `must be a glob, a number, a boolean, a list of these or a test, not ${nameOf(value)}`)
      continue
    }
    const glob = name === PATH ? readFileGlob(text) : readAnyGlob(text)
    if (typeof glob === 'string') reader.problem(key, `\`${text}\` is no glob: ${glob}`)
    else patterns.push(patternOf(glob, text))
  }
  if (patterns.length < values.length) return undefined
  return { all: [patterns], range: undefined, texts: patterns.map(({ text }) => text), globs: true }
}

function patternText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return JSON.stringify(value)
  return undefined
}

function readTest(given: object, key: string, reader: OptionReader): ValueTest | undefined {
  const problemsBefore = reader.problems.length
  const fields = reader.fields(given, key, TEST_KEYS)
  if (fields === undefined) return undefined
  if (fields.size === 0) return reader.problem(key, `says nothing; name one of ${TEST_KEYS.join(', ')}`)
  const all: (readonly ValuePattern[])[] = []
  const texts: string[] = []
  if (fields.has('in')) {
    const values = readValues(fields.get('in'), `${key}.in`, reader)
    all.push(values.flatMap((value) => literalPattern(value, {}, `${key}.in`, reader)))
    texts.push(`in=${JSON.stringify(fields.get('in'))}`)
  }
  const min = readNumber(fields, 'min', key, reader)
  const max = readNumber(fields, 'max', key, reader)
  if (min !== undefined) texts.push(`min=${min}`)
  if (max !== undefined) texts.push(`max=${max}`)
  if (min !== undefined && max !== undefined && min > max)
    reader.problem(key, '`min` is more than `max`, so no number is between them')
  if (fields.has('prefix')) {
    const prefix = fields.get('prefix')
    if (typeof prefix !== 'string' || prefix === '') reader.problem(`${key}.prefix`, 'must be a text that is not empty')
    else all.push(literalPattern(prefix, { tail: '**', begins: prefix }, `${key}.prefix`, reader))
    texts.push(`prefix=${JSON.stringify(prefix)}`)
  }
  if (reader.problems.length > problemsBefore) return undefined
  const range = min === undefined && max === undefined ? undefined : { min, max }
  return { all, range, texts, globs: false }
}

function readValues(value: unknown, key: string, reader: OptionReader): readonly string[] {
  if (!Array.isArray(value)) {
    reader.problem(key, `must be a list, not ${nameOf(value)}`)
    return []
  }
  return value.flatMap((item: unknown, index) => {
    const text = patternText(item)
    if (text === undefined)
      reader.problem(`${key}[${index}]`, `must be a text, a number or a boolean, not ${nameOf(item)}`)
    return text ?? []
  })
}

function readNumber(
  fields: ReadonlyMap<string, unknown>,
  name: string,
  key: string,
  reader: OptionReader,
): number | undefined {
  if (!fields.has(name)) return undefined
  const value = fields.get(name)
  if (typeof value === 'number' && Number.isFinite(value)) return value
  return reader.problem(`${key}.${name}`, `must be a number, not ${nameOf(value)}`)
}

/** A pattern that matches this very text, and `tail` after it. */
function literalPattern(
  text: string,
  { tail = '', begins }: { readonly tail?: string; readonly begins?: string },
  key: string,
  reader: OptionReader,
): readonly ValuePattern[] {
  const glob = readAnyGlob(text.replaceAll(/[\\*?[\]{}!,]/g, '\\$&') + tail)
  if (typeof glob !== 'string') return [patternOf(glob, text, begins)]
  reader.problem(key, `\`${text}\` cannot be compared: ${glob}`)
  return []
}
