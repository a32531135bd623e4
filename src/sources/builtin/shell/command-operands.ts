// From the paths in a command's arguments to the files that they mean, by the rules of the file tools: inside the workspace,
// links followed, the gate's own files out of reach. Arguments are rewritten to that form where they may be, so that what is
// judged, approved and run are the same letters.

import { isAbsolute, posix } from 'node:path'
import type { Refusal } from '../../../describe/tool.ts'
import { type FilePlace, isRefusal, type Located, refusal, type Settled } from '../files/file-place.ts'
import { writeRefusal } from '../files/write-rules.ts'
import { findRepository } from './git-repository.ts'
import type { JudgedPath } from './program-grammar.ts'
import type { Operand } from './settled-command.ts'

export type OperandsOf = {
  readonly place: FilePlace
  readonly args: readonly string[]
  readonly paths: readonly JudgedPath[]
  readonly cwd: Settled
}

/**
 * The arguments with every path in its canonical form.
 *
 * @param changes The program may change what they name: nothing that no file tool may change either.
 */
export function canonicalArguments(
  given: OperandsOf,
  changes: boolean,
): { readonly args: readonly string[] } | Refusal {
  const args = [...given.args]
  for (const path of given.paths) {
    const located = locate(given, path)
    if (isRefusal(located)) return located
    const refused = changes ? changeRefusal(located) : undefined
    if (refused !== undefined) return refused
    if (path.stays === true) continue
    const text = args[path.index] ?? ''
    args[path.index] =
      `${text.slice(0, path.start)}${textFrom(given.cwd, located)}${path.end === undefined ? '' : text.slice(path.end)}`
  }
  return { args }
}

/** Why a command that changes things may not be given a name. The root as a whole is what many of them are for. */
export const changeRefusal = (located: Located): Refusal | undefined =>
  located.relative === '.' ? undefined : writeRefusal(located)

/** The files that the arguments mean now. What only git follows by its letters stands for both, the letters and the file. */
export function operandsOf(given: OperandsOf): readonly Operand[] | Refusal {
  const operands: Operand[] = []
  for (const path of given.paths) {
    const located = locate(given, path)
    if (isRefusal(located)) return located
    operands.push({ settled: located, below: path.below })
    const spelled = path.stays === true ? spelledOf(given, path) : undefined
    if (spelled !== undefined && spelled.absolute !== located.absolute)
      operands.push({ settled: spelled, below: path.below })
  }
  return operands
}

function locate(given: OperandsOf, path: JudgedPath): Located | Refusal {
  const text = textOf(given, path)
  if (text === '') return refusal('an empty argument stands where a path is expected', 'invalid_args')
  if (isAbsolute(text)) return given.place.locate({ path: text })
  const { root, relative } = baseOf(given, path)
  return given.place.locate({ root, path: relative === '.' ? text : `${relative}/${text}` })
}

/** The path by its letters alone, as it stands in commits: no link is followed there. */
function spelledOf(given: OperandsOf, path: JudgedPath): Settled | undefined {
  const text = textOf(given, path)
  const absolute = isAbsolute(text) ? text : `${baseOf(given, path).absolute}/${text}`
  return given.place.settledAbsolute(posix.resolve(absolute))
}

const textOf = ({ args }: OperandsOf, { index, start, end }: JudgedPath): string =>
  (args[index] ?? '').slice(start, end)

function baseOf({ place, cwd }: OperandsOf, { from }: JudgedPath): Settled {
  return from === 'top' ? repositoryTop(place, cwd) : cwd
}

/** The folder that holds the repository around a folder; the folder itself where there is none in the workspace. */
export function repositoryTop(place: FilePlace, cwd: Settled): Settled {
  const found = findRepository(cwd.absolute, cwd.folder.root)
  return (found.kind === 'repository' ? place.settledAbsolute(found.worktree) : undefined) ?? cwd
}

/** Relative to the working folder; a name that a program could take for something else (`host:x`) gets a `./` in front. */
function textFrom(cwd: Settled, located: Settled): string {
  if (located.root !== cwd.root) return located.absolute
  const relative = posix.relative(cwd.absolute, located.absolute) || '.'
  return /^[A-Za-z0-9_.\u0080-\uffff][^:=]*$/u.test(relative) ? relative : `./${relative}`
}
