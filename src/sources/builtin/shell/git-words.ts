// What git makes of a word that names commits or files: revisions, `commit:path`, pathspecs with their patterns and magic. It
// refuses magic that makes a word mean other files than it seems to, and asks neither git nor the disk.

import { type JudgedOperand, type NamedPath, operandRefused as refused } from './judged-operand.ts'
import { shownArgument } from './shown-argument.ts'

/** Names that only a commit has, with what goes behind them: `HEAD~2`, `@{u}`, `4f2a91c^`. A file of such a name is nobody's. */
const COMMIT = String.raw`\^?(?:[A-Z_]*HEAD|@|[0-9a-f]{7,64}|(?=@\{))(?:[~^][0-9]*|@\{[^{}]*\}|\^\{[^{}]*\})*`
const ONLY_COMMIT = new RegExp(`^${COMMIT}(?:\\.\\.\\.?(?:${COMMIT})?)?$`)
/** A name of a branch or tag without a slash, which cannot lead out of a folder. */
const PLAIN_NAME = /^[A-Za-z0-9_@][\w.@+=-]*(?:[~^][0-9]*|@\{[^{}]*\}|\^\{[^{}]*\})*$/
const LENGTH_MAX = 4_096
const STAGE = /^:(?:[0-3]:)?/

/**
 * A word before `--`, or the value of a flag. `mayBePath`: git takes it for a path where no commit has that name, so the whole
 * word is judged as one too.
 */
export function readRevision(text: string, mayBePath: boolean): JudgedOperand {
  if (text === '') return refused('a revision is empty')
  if (text.length > LENGTH_MAX) return refused(`a revision is longer than ${LENGTH_MAX} characters`)
  if (text.startsWith('-')) return refused(`the revision ${shownArgument(text)} may not begin with a dash`)
  if (/[\r\n]/.test(text)) return refused('a revision has to be one line')
  if (text.startsWith(':')) return readColon(text, mayBePath)
  const colon = colonOutsideBraces(text)
  if (colon < 0) return readName(text, mayBePath)
  const inside = pathInCommit(text, colon + 1)
  // `../x:y` may be a file of that name beside the workspace.
  const isName = !mayBePath || PLAIN_NAME.test(text.slice(0, colon))
  const whole = isName ? [] : wordPaths(text)
  return { kind: 'ok', paths: [...whole, ...inside], bounds: isName && inside.length > 0 ? 'only' : 'nothing' }
}

function readName(text: string, mayBePath: boolean): JudgedOperand {
  if (!mayBePath || ONLY_COMMIT.test(text)) return { kind: 'ok', paths: [], bounds: 'nothing' }
  return readPattern(text, 0, 'nothing')
}

/** `:path` and `:0:path` are files of the index; `:!path` and `:(top)path` patterns; `:/text` means two things. */
function readColon(text: string, mayBePath: boolean): JudgedOperand {
  if (text.startsWith(':/'))
    return refused('`:/` means a commit or a path; use `--grep` for the one, or put it behind `--` for the other')
  if (mayBePath && /^:[!^(]/.test(text)) return readPathspec(text)
  const start = STAGE.exec(text)?.[0].length ?? 1
  if (start === text.length) return refused(`the revision ${shownArgument(text)} names nothing`)
  return { kind: 'ok', paths: pathInCommit(text, start), bounds: 'only' }
}

function colonOutsideBraces(text: string): number {
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '{') depth++
    else if (text[index] === '}') depth--
    else if (text[index] === ':' && depth <= 0) return index
  }
  return -1
}

/** Paths in commits count from the top of the repository, unless they begin with a dot and a slash. */
function pathInCommit(text: string, start: number): readonly NamedPath[] {
  if (start === text.length) return []
  const isHere = /^\.\.?(?:\/|$)/.test(text.slice(start))
  return [{ start, below: true, stays: true, ...(isHere ? {} : { from: 'top' as const }) }]
}

function wordPaths(text: string): readonly NamedPath[] {
  const end = literalEnd(text, 0)
  return end === 0 ? [] : [{ start: 0, below: true, stays: true, ...(end === undefined ? {} : { end }) }]
}

/** Of a pattern, where its last whole folder ends; undefined for a word that is none. */
function literalEnd(text: string, start: number): number | undefined {
  const active = text.slice(start).search(/[*?[\\]/)
  return active < 0 ? undefined : start + text.slice(start, start + active).lastIndexOf('/') + 1
}

/** A path that git also reads as a pattern, so that `src/*.ts` may be anything below `src`. */
function readPattern(text: string, start: number, bounds: 'only' | 'nothing', from?: 'top'): JudgedOperand {
  const end = literalEnd(text, start)
  if (end !== undefined && /(?:^|\/)\.\.(?:\/|$)/.test(text.slice(end)))
    return refused(`the pattern ${shownArgument(text)} may not go up with \`..\``)
  // A pattern that begins where it counts from may be anything below.
  if (end === start) return { kind: 'ok', paths: [], bounds: from === undefined ? 'folder' : 'repository' }
  const path: NamedPath = { start, below: true, stays: true, ...(end === undefined ? {} : { end }) }
  return { kind: 'ok', paths: [from === undefined ? path : { ...path, from }], bounds }
}

const MAGIC_WORDS = new Set(['top', 'exclude', 'glob', 'literal'])

/** A word behind `--`: a path, a pattern, or either with magic before it (`:!x`, `:/x`, `:(top,glob)x`). */
export function readPathspec(text: string): JudgedOperand {
  if (text === '') return refused('a path is empty')
  if (!text.startsWith(':')) return readPattern(text, 0, 'only')
  const long = /^:\(([^)]*)\)/.exec(text)
  const short = /^:([!^/]+):?/.exec(text)
  const magic = long ?? short
  if (magic === null)
    return refused(
      `the pathspec ${shownArgument(text)} begins with magic that is not allowed; write \`./\` before a name that begins with a colon`,
    )
  const words =
    long === null
      ? [...(short?.[1] ?? '')].map((sign) => (sign === '/' ? 'top' : 'exclude'))
      : (long[1] ?? '').split(',')
  const unknown = words.find((word) => !MAGIC_WORDS.has(word))
  if (unknown !== undefined) return refused(`the pathspec magic ${shownArgument(unknown)} is not allowed`)
  // What is left out is not looked at, and bounds nothing by itself.
  if (words.includes('exclude')) return { kind: 'ok', paths: [], bounds: 'nothing' }
  const start = magic[0].length
  if (words.includes('top') && start === text.length) return { kind: 'ok', paths: [], bounds: 'repository' }
  if (start === text.length) return refused('a path is empty')
  return readPattern(text, start, 'only', words.includes('top') ? 'top' : undefined)
}
