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
/** Names of commits of one command. */
const WORDS_MAX = 16

/** Commits, and with them everything that any reference or its log still reaches. */
const LOG = [
  ...['--no-pager', 'log', '--all', '--reflog', '--format=', '--name-only', '-z', '-m', '--root', '--no-renames'],
  ...['--no-ext-diff', '--no-textconv', '--ignore-submodules=all'],
]

export class GitHistory {
  readonly #kept = new Map<string, { readonly state: string; readonly paths: readonly string[] }>()

  /**
   * Paths relative to the worktree; undefined where they cannot be told.
   *
   * @param words Names of commits in the command line, which no reference has to reach.
   */
  async paths(
    repository: GitRepository,
    run: RunGit,
    words: readonly string[],
  ): Promise<readonly string[] | undefined> {
    const named = await commitsOf(words, run)
    const references = textOf(await run(['--no-pager', 'rev-parse', '--all', '--reflog', 'HEAD']), true)
    if (references === undefined || named === undefined) return undefined
    const state = sha256(`${references}\0${named.join(' ')}\0${indexState(repository)}`)
    const known = this.#kept.get(repository.gitFolder)
    if (known?.state === state) return known.paths
    const names = [textOf(await run([...LOG, ...named]), false), textOf(await run(['ls-files', '-z']), false)]
    if (names.some((one) => one === undefined)) return undefined
    const paths = [...new Set(names.flatMap((one) => (one ?? '').split(/[\0\n]/)))].filter((name) => name !== '')
    if (this.#kept.size >= KEPT_MAX) this.#kept.clear()
    this.#kept.set(repository.gitFolder, { state, paths })
    return paths
  }
}

/** Paths that git takes from the index though it looks at files: those that it was told to assume unchanged. */
export async function assumedPaths(run: RunGit): Promise<readonly string[] | undefined> {
  const listed = textOf(await run(['ls-files', '-v', '-z']), false)
  return listed
    ?.split('\0')
    .filter((line) => /^[a-z] /.test(line))
    .map((line) => line.slice(2))
}

/** The commits among these words; undefined where one is a file or a folder of a commit, whose path nobody can tell. */
async function commitsOf(words: readonly string[], run: RunGit): Promise<readonly string[] | undefined> {
  if (words.length > WORDS_MAX) return undefined
  const objects: string[] = []
  for (const word of words) {
    const found = textOf(await run(['rev-parse', '--verify', '--quiet', word]), true)
    if (found === undefined) return undefined
    // What is no name of an object is a path.
    if (found.trim() !== '') objects.push(found.trim())
  }
  if (objects.length === 0) return []
  const commits = textOf(await run(['rev-parse', ...objects.map((object) => `${object}^{commit}`)]), false)
  return commits?.split('\n').filter((line) => line !== '')
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

/**
 * Whether what a command shows may come from commits or the index: of the whole repository, of what lies below the paths that it
 * names, or of files that only the index is asked about.
 */
export function showsHistory(args: readonly string[]): 'all' | 'named' | 'assumed' | 'no' {
  const at = args.findIndex((arg) => !arg.startsWith('-'))
  const rest = args.slice(at + 1)
  switch (args[at]) {
    // Both take an object by its own name, whatever paths are named beside it.
    case 'show':
    case 'diff':
      return 'all'
    // These go beyond the paths: to all of a commit that touches them, or to the name that a file had before.
    case 'log':
      return rest.some((arg) => /^(?:--full-diff|--follow|-L.*)$/s.test(arg)) ? 'all' : 'named'
    case 'blame':
      return 'named'
    case 'grep':
      return grepWords(rest).length > 0 || rest.includes('--cached') ? 'all' : 'assumed'
    default:
      return 'no'
  }
}

/** What in a command may name a commit, each by itself; of a path in a commit the commit. */
export function revisionWords(args: readonly string[]): readonly string[] {
  const at = args.findIndex((arg) => !arg.startsWith('-'))
  const rest = args.slice(at + 1)
  const words = args[at] === 'grep' ? grepWords(rest) : wordsOf(rest)
  const names = [...words, ...(rest.includes('--merge') ? ['MERGE_HEAD'] : [])]
    // Up to the first colon outside of braces; git looks for the dots of a range before it looks for braces.
    .map((word) => /^\^?((?:[^:{]|\{[^}]*\}?)*)/.exec(word)?.[1] ?? '')
    .flatMap((word) => [word, ...word.split(/\.{2,3}/)])
    .map((word) => word.replace(/\^(?:[!@]|-[0-9]*)$/, ''))
  return [...new Set(names)].filter((word) => word !== '' && !word.startsWith('-'))
}

const wordsOf = (args: readonly string[]): readonly string[] =>
  (args.includes('--') ? args.slice(0, args.indexOf('--')) : args).filter((arg) => !arg.startsWith('-'))

/** Without a commit `git grep` looks at the files that stand there. Any word besides the pattern may be a commit. */
const grepWords = (args: readonly string[]): readonly string[] =>
  wordsOf(args).slice(args.some((arg) => /^-[A-Za-z]*e/.test(arg)) ? 0 : 1)
