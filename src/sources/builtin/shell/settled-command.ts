// One command with everything decided: which file runs, with which arguments, where, and which files of the workspace these
// arguments name. Rules, records and the run are all told from this one form.

import type { Settled } from '../files/file-place.ts'
import { fileResource, treeResource, wholeResource } from '../files/file-resources.ts'
import type { TrustedProgram } from './trusted-programs.ts'

/** A file or folder that an argument names. `below`: everything in it is looked at too. */
export type Operand = { readonly settled: Settled; readonly below: boolean }

export type SettledCommand = {
  readonly program: TrustedProgram
  /** What comes before the arguments that the caller knows. */
  readonly before: readonly string[]
  readonly args: readonly string[]
  readonly cwd: Settled
  readonly operands: readonly Operand[]
  /** A folder that is looked at though no argument names it: the working folder, or all of its repository. */
  readonly looksAt: Operand | undefined
  readonly reads: boolean
  readonly runsWorkspaceCode: boolean
  /** The package script that it runs. */
  readonly script: string | undefined
  readonly benign: readonly number[]
  readonly network: boolean
  readonly stdin: string | undefined
}

/** What the command touches, for rules and for lanes. */
export function touchesOf(command: SettledCommand): readonly string[] {
  const named = [...command.operands, ...(command.looksAt === undefined ? [] : [command.looksAt])]
  const reached = command.network ? ['connect host:*'] : []
  if (command.reads) return unique([...named.map(readOf), ...reached])
  return unique([
    // Whatever else of the workspace it reads is hidden or shown file by file when it runs.
    ...command.operands.map(({ settled }) => fileResource('read', settled.absolute)),
    ...rootsOf(command).map((root) => treeResource('write', root)),
    ...reached,
  ])
}

/** Folders that the command can look into as a whole. */
export function treesOf(command: SettledCommand): readonly Settled[] {
  const { cwd, operands, looksAt } = command
  const named = [...operands, ...(looksAt === undefined ? [] : [looksAt])]
  if (command.reads) return named.filter(({ below }) => below).map(({ settled }) => settled)
  const roots = new Map([cwd, ...operands.map(({ settled }) => settled)].map((one) => [rootOf(one), one]))
  return [...roots].map(([absolute, { folder, root }]) => ({ folder, root, relative: '.', absolute }))
}

/** The roots of the workspace that the command has to do with. */
export const rootsOf = (command: SettledCommand): readonly string[] =>
  unique([rootOf(command.cwd), ...command.operands.map(({ settled }) => rootOf(settled))])

export const rootOf = ({ folder }: Settled): string => folder.root

const readOf = ({ settled, below }: Operand): string =>
  below ? wholeResource('read', settled) : fileResource('read', settled.absolute)

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)]
