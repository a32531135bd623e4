// Finds the repository that git would find from a folder, without git, and whether all of it lies inside the workspace. A
// worktree or a repository elsewhere is refused, however it is reached: its files were never asked about.

import * as fs from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type ConfigEntry, readGitConfig } from './git-config.ts'

export type GitRepository = {
  readonly kind: 'repository'
  /** The folder that holds `.git`, absolute. */
  readonly worktree: string
  readonly gitFolder: string
  /** Where the configuration stands, which linked worktrees share. */
  readonly commonFolder: string
}

export type FoundRepository =
  | GitRepository
  | { readonly kind: 'none' }
  /** Some of it lies outside, or cannot be told to lie inside. */
  | { readonly kind: 'outside'; readonly reason: string }

const FILE_BYTES_MAX = 1_048_576

/** @param root The root of the workspace that holds `folder`; both real paths. */
export function findRepository(folder: string, root: string): FoundRepository {
  for (let at = folder; ; at = dirname(at)) {
    const entry = join(at, '.git')
    if (exists(entry)) return readable(() => openRepository(at, entry, root))
    if (at === root || dirname(at) === at) return { kind: 'none' }
  }
}

/** What cannot be looked at cannot be told to lie inside. */
function readable(open: () => FoundRepository): FoundRepository {
  try {
    return open()
  } catch {
    return { kind: 'outside', reason: 'the git repository here cannot be looked at' }
  }
}

function openRepository(worktree: string, entry: string, root: string): FoundRepository {
  const outside = (what: string): FoundRepository => ({
    kind: 'outside',
    reason: `the git repository here ${what}; only repositories that lie inside the workspace with all of their parts can be used`,
  })
  const gitFolder = gitFolderAt(worktree, entry)
  if (gitFolder === undefined) return outside('cannot be read')
  if (!isInside(gitFolder, root)) return outside('keeps its data elsewhere')
  const common = pointed(join(gitFolder, 'commondir'), /^(.+)$/)
  const commonFolder = common === undefined ? gitFolder : real(resolve(gitFolder, common))
  if (commonFolder === undefined || !isInside(commonFolder, root)) return outside('shares the data of one elsewhere')
  if (![gitFolder, commonFolder].every((one) => partsAreInside(one, root))) return outside('has parts elsewhere')
  const repository: GitRepository = { kind: 'repository', worktree, gitFolder, commonFolder }
  const config = repositoryConfig(repository)
  if (config === undefined) return outside('has a configuration that cannot be read')
  // A submodule names its own folder, seen from where its data lies.
  const elsewhere = config.some(
    ({ key, value }) => key === 'core.worktree' && real(resolve(gitFolder, value ?? '')) !== worktree,
  )
  if (elsewhere) return outside('names another worktree')
  return repository
}

/** What the repository says of itself; undefined where some of it cannot be read. Files that it includes are not looked into. */
export function repositoryConfig({ gitFolder, commonFolder }: GitRepository): readonly ConfigEntry[] | undefined {
  const files = [...new Set([commonFolder, gitFolder])].flatMap((folder) => [
    join(folder, 'config'),
    join(folder, 'config.worktree'),
  ])
  const entries: ConfigEntry[] = []
  for (const file of files.filter(exists)) {
    const text = readSmall(file)
    const read = text === undefined ? undefined : readGitConfig(text)
    if (read === undefined) return undefined
    entries.push(...read)
  }
  return entries
}

function gitFolderAt(worktree: string, entry: string): string | undefined {
  const path = real(entry)
  if (path === undefined) return undefined
  if (fs.statSync(path).isDirectory()) return path
  const named = pointed(path, /^gitdir: (.+)$/)
  return named === undefined ? undefined : real(resolve(worktree, named))
}

/** Links in the folder itself, and other object stores that it borrows from. */
function partsAreInside(folder: string, root: string): boolean {
  const objects = join(folder, 'objects')
  const entries = [folder, objects, join(objects, 'info'), join(folder, 'info')].filter(exists).flatMap(namesIn)
  const borrowed = (readSmall(join(objects, 'info', 'alternates')) ?? '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => resolve(objects, line))
  // A store that is borrowed from may borrow on; nobody follows that further.
  const borrowsOn = borrowed.some((path) => exists(join(path, 'info', 'alternates')))
  return !borrowsOn && [...entries, ...borrowed].every((path) => isInside(real(path) ?? '', root))
}

function namesIn(folder: string): readonly string[] {
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isSymbolicLink())
    .map(({ name }) => join(folder, name))
}

/** The one path that a file of one line names. */
function pointed(path: string, pattern: RegExp): string | undefined {
  if (!exists(path)) return undefined
  return pattern.exec((readSmall(path) ?? '').trimEnd())?.[1]
}

function readSmall(path: string): string | undefined {
  try {
    const stat = fs.statSync(path)
    return stat.isFile() && stat.size <= FILE_BYTES_MAX ? fs.readFileSync(path, 'utf8') : undefined
  } catch {
    return undefined
  }
}

const exists = (path: string): boolean => fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined

function real(path: string): string | undefined {
  try {
    return fs.realpathSync.native(path)
  } catch {
    return undefined
  }
}

const isInside = (path: string, root: string): boolean =>
  path === root || path.startsWith(root === '/' ? root : `${root}/`)
