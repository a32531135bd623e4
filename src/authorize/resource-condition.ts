// Conditions on what a call touches: `verb kind:glob` against `read file:/ws/a.txt`. A touch may stand for a whole folder
// (`read file:/ws/*`); what is below it is then judged as one, or file by file where the tool asks for each.

import type { Resource } from '../describe/resource.ts'
import {
  type FileGlob,
  type FileScope,
  isSettled,
  namesFile,
  type Spellings,
  segmentsOf,
  spelled,
} from './file-scope.ts'
import type { OptionReader } from './option-reader.ts'
import { readAnyGlob, readFileGlob } from './pattern-shape.ts'
import { addressSpellings } from './text-readings.ts'

/** `verb` is `*` where every verb is meant. */
export type ResourcePattern = FileGlob & {
  readonly text: string
  readonly verb: string
  readonly kind: string
  readonly isFile: boolean
}

/** One touched resource, taken apart as far as somebody looks: most rules are about another verb or kind. */
export class Touched {
  readonly verb: string
  readonly kind: string
  readonly isFile: boolean
  /** The key without its kind, as the tool wrote it. */
  readonly given: string
  /** It stands for everything below `path`, which is then a folder. */
  readonly whole: boolean
  readonly path: string
  readonly #scope: FileScope
  #spellings: Spellings | undefined
  #settled: boolean | undefined

  constructor({ verb, key }: Resource, scope: FileScope) {
    const colon = key.indexOf(':')
    this.verb = verb
    this.kind = key.slice(0, colon)
    this.isFile = this.kind === 'file'
    this.given = key.slice(colon + 1)
    this.whole = this.isFile ? isFolder(this.given) : this.given.endsWith('*')
    this.path = this.whole ? folderOf(this.given, this.isFile) : this.isFile ? fileOf(this.given) : this.given
    this.#scope = scope
  }

  /** Only files and addresses are spelled in more than one way. */
  get spellings(): Spellings {
    this.#spellings ??= this.isFile ? this.#scope.spellings(this.path) : asGiven(this.path)
    return this.#spellings
  }

  /** False for a path or address whose meaning its letters do not tell: the stricter side counts. */
  get settled(): boolean {
    this.#settled ??= this.isFile ? isSettled(this.path) : addressSpellings(this.path) !== undefined
    return this.#settled
  }

  /** A root stands below this folder. */
  get holdsRoot(): boolean {
    return this.whole && this.isFile && this.#scope.holdsRoot(this.path)
  }
}

function asGiven(path: string): Spellings {
  const all = addressSpellings(path) ?? [path]
  return { absolute: all, relative: all }
}

/** Files may have a star at the end of their names. Only `/*` at the end is a folder, and a star that stands alone. */
const isFolder = (key: string): boolean => key.endsWith('/*') || key === '*'

/** `/.` at the end says that what stands before it is meant, and not what is below it. */
const fileOf = (key: string): string => (key.endsWith('/.') ? key.slice(0, -2) || '/' : key)

/** The folder that a key with a trailing star stands for; of `a/b*` the folder is `a`, which is more and never less. */
function folderOf(key: string, isFile: boolean): string {
  const end = key.lastIndexOf('/')
  if (isFile && key.startsWith('/')) return key.slice(0, Math.max(end, 1))
  return key.slice(0, Math.max(end, 0))
}

const SHAPE = /^(\*|[a-z]+) ([A-Za-z0-9_.-]+):(.+)$/su

export function readResources(
  value: unknown,
  key: string,
  reader: OptionReader,
): readonly ResourcePattern[] | undefined {
  const texts = reader.texts(value, key)
  if (texts === undefined) return undefined
  const patterns: ResourcePattern[] = []
  for (const text of texts) {
    const [, verb, kind, path] = SHAPE.exec(text) ?? []
    if (verb === undefined || kind === undefined || path === undefined) {
      reader.problem(key, `\`${text}\` must have the form \`verb kind:glob\`, e.g. \`read file:**/.env*\``)
      continue
    }
    const glob = kind === 'file' ? readFileGlob(path) : readAnyGlob(path)
    if (typeof glob === 'string') reader.problem(key, `\`${text}\` is no pattern over resources: ${glob}`)
    else {
      // Written out, so that all of them have one shape.
      const { glob: compiled, absolute } = glob
      patterns.push({ glob: compiled, absolute, text, verb, kind, isFile: kind === 'file' })
    }
  }
  return patterns.length === texts.length ? patterns : undefined
}

/**
 * Whether a deny or ask pattern speaks of a touch. `filtered`: the tool asks for each file below a folder that it reads,
 * so a pattern speaks of the folder only where it names it or covers all of it.
 */
export function concerns(pattern: ResourcePattern, touched: Touched, filtered: boolean): boolean {
  if (!sameSort(pattern, touched)) return false
  if (!touched.settled || isSameKey(pattern, touched)) return true
  const paths = spelled(pattern, touched.spellings)
  for (const path of paths) if (names(pattern, path)) return true
  if (!touched.whole) return false
  const { glob } = pattern
  if (filtered && touched.verb === 'read') return paths.some((path) => glob.coversBelow(segmentsFor(pattern, path)))
  if (touched.holdsRoot && !pattern.absolute && glob.concernsBelow([])) return true
  return paths.some((path) => glob.concernsBelow(segmentsFor(pattern, path)))
}

/** Whether an allow pattern speaks of all of a touch, in every spelling. */
export function covers(pattern: ResourcePattern, touched: Touched): boolean {
  if (!sameSort(pattern, touched) || !touched.settled) return false
  if (isSameKey(pattern, touched)) return true
  const paths = spelled(pattern, touched.spellings)
  if (touched.whole) return paths.every((path) => pattern.glob.coversBelow(segmentsFor(pattern, path)))
  return paths.every((path) => names(pattern, path))
}

/** `write repo:*` speaks of `write repo:*`, whatever a star means to the ones who wrote them. Files have their own rules. */
const isSameKey = (pattern: ResourcePattern, { isFile, given }: Touched): boolean =>
  !isFile && pattern.glob.pattern === given

const sameSort = (pattern: ResourcePattern, touched: Touched): boolean =>
  pattern.isFile === touched.isFile &&
  (pattern.verb === touched.verb || pattern.verb === '*') &&
  (touched.isFile || pattern.kind === touched.kind)

const names = (pattern: ResourcePattern, path: string): boolean =>
  pattern.isFile ? namesFile(pattern, path) : pattern.glob.matches(path)

const segmentsFor = (pattern: ResourcePattern, path: string): readonly string[] =>
  segmentsOf(path, pattern.isFile && path.startsWith('/'))
