// What git is told besides its arguments, so that a repository's own configuration starts no program that can be switched off
// this way, reaches no network and is looked for nowhere outside the workspace. Filters have names that only the repository
// knows: `git-config.ts` looks for those. What is switched off by flags is in the grammar of git.

import { OVERRIDES_ENVIRONMENT } from './git-overrides.ts'
import type { GitRepository } from './git-repository.ts'

/** @param repository The one that was looked at; git looks for none itself. Undefined: there is none. */
export const gitEnvironment = (repository: GitRepository | undefined): Readonly<Record<string, string>> => ({
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  // INVARIANT last-check: the repository that was judged is the one that is opened.
  GIT_DIR: repository?.gitFolder ?? '/dev/null',
  ...(repository === undefined ? {} : { GIT_WORK_TREE: repository.worktree }),
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_PAGER: 'cat',
  GIT_EDITOR: 'false',
  GIT_ASKPASS: 'false',
  GIT_SSH_COMMAND: 'false',
  ...OVERRIDES_ENVIRONMENT,
})
