// Conditions on canonical arguments. What cannot be judged counts as the stricter side: a deny or ask holds, an allow does not.

import { isJsonObject, type JsonObject, type JsonValue } from '../base/json-value.ts'
import { type FileGlob, type FileScope, namesFile, segmentsOf, spelled } from './file-scope.ts'
import { nameOf, type OptionReader } from './option-reader.ts'
import { readAnyGlob, readFileGlob } from './pattern-shape.ts'

/** `strict`: of a deny or ask, which one value is enough for. `wide`: of an allow, which every value has to meet. */
export type Side = 'strict' | 'wide'

export type ArgumentCondition = {
  readonly name: string
  /** The way to a nested argument, e.g. `author`, `name`. */
  readonly way: readonly string[]
  readonly patterns: readonly ValuePattern[]
}

type ValuePattern = FileGlob & { readonly text: string }

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
    const patterns = readPatterns(name, given, `${key}.${name}`, reader)
    if (patterns !== undefined) conditions.push({ name, way: name.split('.'), patterns })
  }
  return conditions.length === fields.size ? conditions : undefined
}

function readPatterns(
  name: string,
  given: unknown,
  key: string,
  reader: OptionReader,
): readonly ValuePattern[] | undefined {
  const values: readonly unknown[] = Array.isArray(given) ? given : [given]
  const patterns: ValuePattern[] = []
  for (const value of values) {
    const text = patternText(value)
    if (text === undefined) {
      reader.problem(key, `must be a glob, a number, a boolean or a list of these, not ${nameOf(value)}`)
      continue
    }
    const glob = name === PATH ? readFileGlob(text) : readAnyGlob(text)
    if (typeof glob === 'string') reader.problem(key, `\`${text}\` is no glob: ${glob}`)
    else patterns.push({ ...glob, text })
  }
  return patterns.length === values.length ? patterns : undefined
}

function patternText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return JSON.stringify(value)
  return undefined
}

/** Whether the condition holds for these arguments, seen from one side. */
export function argumentHolds(condition: ArgumentCondition, side: Side, argued: Argued): boolean {
  const { name, way, patterns } = condition
  if (patterns.length === 0) return false
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

function valueHolds({ name, patterns }: ArgumentCondition, side: Side, value: JsonValue, argued: Argued): boolean {
  if (typeof value === 'object' && value !== null) return side === 'strict'
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

const SCHEME = /^([a-z][a-z0-9+.-]+):/i
/** Schemes of which readers of URLs make a host out of nearly anything: one slash, none, or turned ones. */
const LENIENT = new Set(['http', 'https', 'ws', 'wss', 'ftp', 'file'])
/** Readers of URLs drop these, so they can hide what stands behind them. */
const DROPPED = /[\u0000-\u001f\u007f]/g
const OUTSIDE_HOST = /[#?\\@\s]/u

/**
 * Whether a reader of URLs might see another host, or another path, than the slashes show: `https://a.test#.b.test/x` goes
 * to `a.test`.
 */
function isDoubtfulUrl(text: string): boolean {
  if (!text.includes(':')) return false
  const bare = text.replace(DROPPED, '').trimStart()
  const scheme = SCHEME.exec(bare)?.[1]
  if (scheme === undefined) return false
  const rest = bare.slice(scheme.length + 1)
  const lenient = LENIENT.has(scheme.toLowerCase())
  if (!rest.startsWith('//')) return lenient
  const end = rest.indexOf('/', 2)
  const host = end < 0 ? rest.slice(2) : rest.slice(2, end)
  if (bare !== text || OUTSIDE_HOST.test(host)) return true
  if (!lenient) return false
  if (host === '' && scheme.toLowerCase() !== 'file') return true
  const [path = ''] = rest.slice(2 + host.length).split(/[?#]/u)
  return path.includes('\\') || /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/iu.test(path)
}

const STEPS_UP = /(?:^|\/)\.\.(?:\/|$)/
const LOOSE = /(?:^|\/)\.(?:\/|$)|\/\/|.\/$/

/**
 * How a text may be read that no tool has put into a canonical form. Undefined where it cannot be told without looking:
 * a step up leads elsewhere once a folder on the way is a link.
 */
function readingsOf(text: string, side: Side): readonly string[] | undefined {
  if (isDoubtfulUrl(text)) return undefined
  if (!text.includes('/') && text !== '..') return [text]
  if (STEPS_UP.test(text)) return undefined
  if (!LOOSE.test(text) || text.includes('://')) return [text]
  const [first = '', ...rest] = text.split('/')
  const tight = [...(first === '.' ? [] : [first]), ...rest.filter((part) => part !== '' && part !== '.')].join('/')
  const settled = tight === '' ? (text.startsWith('/') ? '/' : '.') : tight
  return side === 'strict' ? [text, settled] : [settled]
}

function textHolds(pattern: ValuePattern, name: string, given: string, side: Side, argued: Argued): boolean {
  const text = name === PATH && given === '.' ? '' : given
  if (!pattern.absolute && !text.startsWith('/')) {
    if (namesFile(pattern, text)) return true
    if (side === 'wide') return false
  } else {
    const forms = spelled(pattern, argued.scope.spellings(text))
    if (side === 'wide') return forms.length > 0 && forms.every((form) => namesFile(pattern, form))
    if (forms.some((form) => namesFile(pattern, form))) return true
  }
  if (text === '' && !walks(argued) && pattern.glob.matches('.')) return true
  return !argued.filtered && reachesBelow(pattern, text, argued)
}

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
