// Whether git, in a repository, could start a program that the repository itself names. Asked where no sandbox would hold it.

import { programKey } from './git-config.ts'
import { type GitRepository, repositoryConfig } from './git-repository.ts'

/** What may start one, in words; undefined where nothing does. Repositories inside it are not gone into: the grammar sees to that. */
export function gitStarts(repository: GitRepository): string | undefined {
  const config = repositoryConfig(repository)
  if (config === undefined) return 'it cannot be read'
  const key = programKey(config)
  return key === undefined ? undefined : `\`${key}\``
}
