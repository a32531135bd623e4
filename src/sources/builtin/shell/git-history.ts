// Which paths the commits and the index of a repository hold: git shows them whatever the folder holds now, so no sandbox can
// hide them. Asked only where the policy keeps some files from a caller; the names are kept until the repository changes.

import * as fs from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../../base/digest.ts'
import type { ProcessEnd } from '../../../machine/process-plan.ts'
import type { GitRepository } from './git-repository.ts'

/** Runs git in the worktree with these arguments. */
export type RunGit = (args: readonly string[]) => Promise<ProcessEnd>

/** More repositories than these are read anew each time. */
const KEPT_MAX = 16

/** Commits, and with them everything that any reference or its log still reaches. */
const LOG = [
  ...['--no-pager', 'log', '--all', '--reflog', '--format=', '--name-only', '-z', '-m', '--root', '--no-renames'],
  ...['--no-ext-diff', '--no-textconv', '--ignore-submodules=all'],
]

export class GitHistory {
  readonly #kept = new Map<string, { readonly state: string; readonly paths: readonly string[] }>()

  /** Paths relative to the worktree; undefined where they cannot be told. */
  async paths(repository: GitRepository, run: RunGit): Promise<readonly string[] | undefined> {
    const references = textOf(await run(['--no-pager', 'rev-parse', '--all', '--reflog', 'HEAD']), true)
    if (references === undefined) return undefined
    const state = sha256(`${references}\0${indexState(repository)}`)
    const known = this.#kept.get(repository.gitFolder)
    if (known?.state === state) return known.paths
    const names = [textOf(await run(LOG), false), textOf(await run(['ls-files', '-z']), false)]
    if (names.some((one) => one === undefined)) return undefined
    const paths = [...new Set(names.flatMap((one) => (one ?? '').split(/[\0\n]/)))].filter((name) => name !== '')
    if (this.#kept.size >= KEPT_MAX) this.#kept.clear()
    this.#kept.set(repository.gitFolder, { state, paths })
    return paths
  }
}

/** All that it printed; undefined where that is not all, or where it failed. */
function textOf(end: ProcessEnd, mayFail: boolean): string | undefined {
  if (end.kind === 'unstarted' || end.stopped !== undefined) return undefined
  const { head, tail, totalBytes } = end.stdout
  if (head.length + tail.length < totalBytes || (!mayFail && end.exitCode !== 0)) return undefined
  return Buffer.concat([head, tail]).toString('utf8')
}

function indexState({ gitFolder }: GitRepository): string {
  const stat = fs.statSync(join(gitFolder, 'index'), { throwIfNoEntry: false })
  return stat === undefined ? '' : `${stat.mtimeMs} ${stat.size} ${stat.ino}`
}

/** Whether what a command shows may come from commits or the index: of the whole repository, or below the paths that it names. */
export function showsHistory(args: readonly string[]): 'all' | 'named' | 'no' {
  const at = args.findIndex((arg) => !arg.startsWith('-'))
  const rest = args.slice(at + 1)
  switch (args[at]) {
    // Both take an object by its own name, whatever paths are named beside it.
    case 'show':
    case 'diff':
      return 'all'
    case 'log':
    case 'blame':
      return 'named'
    case 'grep':
      return grepsHistory(rest) ? 'all' : 'no'
    default:
      return 'no'
  }
}

/** Without a commit `git grep` looks at the files that stand there. Any word besides the pattern may be a commit. */
function grepsHistory(args: readonly string[]): boolean {
  const words = (args.includes('--') ? args.slice(0, args.indexOf('--')) : args).filter((arg) => !arg.startsWith('-'))
  const patterns = args.some((arg) => /^-e|^--regexp/.test(arg)) ? 0 : 1
  return args.includes('--cached') || words.length > patterns
}
