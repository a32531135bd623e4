// Finds the change that would make a bare git repository out of an ordinary folder: git takes any folder with the right
// names in it for one, and then runs what its settings name. One or a few of the names by themselves are ordinary.

import { foldName } from './protected-names.ts'

/** What git looks for before it believes a folder; `commondir` stands for the last two, in another folder. */
const NEEDED = ['HEAD', 'objects', 'refs']
const COMMON = 'commondir'
/** What it runs programs from. */
const RUNS = ['config', 'config.worktree', 'hooks']

const telling = new Set([...NEEDED, ...RUNS, COMMON].map(foldName))

/**
 * Whether a new or changed entry leaves a folder above it as a repository that says what to run.
 *
 * @param names The names of the entry below the root.
 * @param stands Whether anything stands at a path below the root now.
 */
export function completesRepository(names: readonly string[], stands: (relative: string) => boolean): boolean {
  return names.some((name, index) => {
    const changed = foldName(name)
    if (!telling.has(changed)) return false
    const has = (wanted: string): boolean =>
      foldName(wanted) === changed || stands([...names.slice(0, index), wanted].join('/'))
    if (!has('HEAD')) return false
    return has(COMMON) || (NEEDED.every(has) && RUNS.some(has))
  })
}
