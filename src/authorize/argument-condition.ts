// Conditions on canonical arguments. What cannot be judged counts as the stricter side: a deny or ask holds, an allow does not.

import { isJsonObject, type JsonObject, type JsonValue } from '../base/json-value.ts'
import { readValueTest, type ValuePattern, type ValueRange, type ValueTest } from './argument-pattern.ts'
import { type FileScope, namesFile, segmentsOf, spelled } from './file-scope.ts'
import type { OptionReader } from './option-reader.ts'
import { readingsOf, type Side } from './text-readings.ts'

export type { Side }

export type ArgumentCondition = {
  readonly name: string
  /** The way to a nested argument, e.g. `author`, `name`. */
  readonly way: readonly string[]
  readonly test: ValueTest
}

/** What conditions look at. */
export type Argued = {
  readonly args: JsonObject
  readonly scope: FileScope
  /** The tool has put its arguments into the form that it opens; nothing else is read into them. */
  readonly resolved: boolean
  /** The tool only reads, and asks for each file below a folder that it walks. */
  readonly filtered: boolean
  /** The tool is known to take no argument `path`: the files that it touches stand in for it where a rule narrows. */
  readonly pathless: boolean
  /** The file that a walking tool asks about, absolute: it stands in for the argument `path`. */
  readonly pathAsked: string | undefined
  /** Folders that the call touches as a whole, absolute. */
  folders(): readonly string[]
  /** Files and folders that the call touches; undefined where the tool failed to say. */
  files(): readonly string[] | undefined
}

/** The argument that names where a tool works; absent, it is the root. */
const PATH = 'path'

export function readWhere(value: unknown, key: string, reader: OptionReader): readonly ArgumentCondition[] | undefined {
  const fields = reader.fields(value, key)
  if (fields === undefined) return undefined
  if (fields.size === 0) return reader.problem(key, 'names no argument, so it narrows nothing; leave it out')
  const conditions: ArgumentCondition[] = []
  for (const [name, given] of fields) {
    const test = readValueTest(name, given, `${key}.${name}`, reader)
    if (test !== undefined) conditions.push({ name, way: name.split('.'), test })
  }
  return conditions.length === fields.size ? conditions : undefined
}

/** Whether the condition holds for these arguments, seen from one side. */
export function argumentHolds(condition: ArgumentCondition, side: Side, argued: Argued): boolean {
  const { name, way, test } = condition
  for (const patterns of test.all) if (patterns.length === 0) return false
  // Most conditions are about one text at the top: nothing has to be gathered for these.
  const { args, pathAsked } = argued
  const single =
    way.length === 1 && (pathAsked === undefined || name !== PATH) && Object.hasOwn(args, name) ? args[name] : undefined
  if (typeof single === 'string') return valueHolds(condition, side, single, argued)
  if (side === 'strict' && name === PATH && argued.pathless && pathAsked === undefined && !Object.hasOwn(args, PATH)) {
    const files = argued.files()
    if (files === undefined) return true
    if (files.length > 0) return files.some((file) => valueHolds(condition, side, file, argued))
  }
  const found = findValues(condition, argued)
  if (side === 'strict') return found.values.some((value) => valueHolds(condition, side, value, argued))
  // INVARIANT closed: an allow asks that there is a value, and that each one is what the rule says.
  return (
    !found.missing &&
    found.values.length > 0 &&
    found.values.every((value) => valueHolds(condition, side, value, argued))
  )
}

type Found = { readonly values: JsonValue[]; missing: boolean }

function findValues({ name, way }: ArgumentCondition, { args, pathAsked }: Argued): Found {
  const found: Found = { values: [], missing: false }
  const [first = ''] = way
  if (name === PATH && pathAsked !== undefined) found.values.push(pathAsked)
  else if (Object.hasOwn(args, name)) gather(args[name] ?? null, way, way.length, found)
  else if (name === PATH) found.values.push('.')
  else if (way.length === 1 || !Object.hasOwn(args, first)) found.missing = true
  if (way.length > 1 && Object.hasOwn(args, first)) gather(args, way, 0, found)
  return found
}

/** Takes every element of a list on the way: a rule means each of them. */
function gather(value: JsonValue, way: readonly string[], at: number, found: Found): void {
  const step = way[at]
  if (Array.isArray(value)) for (const item of value) gather(item, way, at, found)
  else if (step === undefined) found.values.push(value)
  else if (isJsonObject(value) && Object.hasOwn(value, step)) gather(value[step] ?? null, way, at + 1, found)
  else found.missing = true
}

function valueHolds({ name, test }: ArgumentCondition, side: Side, value: JsonValue, argued: Argued): boolean {
  if (typeof value === 'object' && value !== null) return side === 'strict'
  if (test.range !== undefined && !inRange(test.range, side, value)) return false
  for (const patterns of test.all) if (!patternsHold(patterns, name, side, value, argued)) return false
  return true
}

/** What is no number is neither in nor out, so the stricter side counts. */
function inRange({ min, max }: ValueRange, side: Side, value: JsonValue): boolean {
  if (typeof value !== 'number') return side === 'strict'
  return (min === undefined || value >= min) && (max === undefined || value <= max)
}

function patternsHold(
  patterns: readonly ValuePattern[],
  name: string,
  side: Side,
  value: JsonValue,
  argued: Argued,
): boolean {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (argued.resolved || (name === PATH && argued.pathAsked !== undefined))
    return anyHolds(patterns, name, text, side, argued)
  const readings = readingsOf(text, side)
  if (readings === undefined) return side === 'strict'
  return readings.some((reading) => anyHolds(patterns, name, reading, side, argued))
}

function anyHolds(patterns: readonly ValuePattern[], name: string, text: string, side: Side, argued: Argued): boolean {
  for (const pattern of patterns) if (textHolds(pattern, name, text, side, argued)) return true
  return false
}

function textHolds(pattern: ValuePattern, name: string, given: string, side: Side, argued: Argued): boolean {
  const text = name === PATH && given === '.' ? '' : given
  if (!pattern.absolute && !text.startsWith('/')) {
    if (side === 'wide') return covered(pattern, text)
    if (namesFile(pattern, text)) return true
  } else {
    const forms = spelled(pattern, argued.scope.spellings(text))
    if (side === 'wide') return forms.length > 0 && forms.every((form) => covered(pattern, form))
    if (forms.some((form) => namesFile(pattern, form))) return true
  }
  if (text === '' && !walks(argued) && pattern.glob.matches('.')) return true
  return !argued.filtered && reachesBelow(pattern, text, argued)
}

const covered = (pattern: ValuePattern, text: string): boolean =>
  namesFile(pattern, text) && (pattern.begins === undefined || text.startsWith(pattern.begins))

/** Whether each file below the argument `path` is asked for on its own. */
const walks = (argued: Argued): boolean =>
  argued.pathAsked !== undefined || (argued.filtered && argued.folders().length > 0)

/** A folder that a call changes as a whole: a condition on something below it speaks of the call. */
function reachesBelow(pattern: ValuePattern, text: string, argued: Argued): boolean {
  const folders = argued.folders()
  if (folders.length === 0) return false
  const spellings = argued.scope.spellings(text)
  if (!spellings.absolute.some((path) => folders.includes(path))) return false
  return spelled(pattern, spellings).some((path) => pattern.glob.concernsBelow(segmentsOf(path, pattern.absolute)))
}
