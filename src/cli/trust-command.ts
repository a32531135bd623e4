// `lockgate trust`: the operator has looked at a configuration and vouches for it, as it stands now. What it would start is
// shown, so that the look is not skipped; nothing of it is started.

import type { SourceConfig } from '../server/config/lockgate-config.ts'
import type { RunCommand } from './command.ts'
import { makeStateFolder, readProject } from './project.ts'
import { recordTrust } from './trust-store.ts'

export const trustCommand: RunCommand = async (input) => {
  const { terminal } = input
  const read = await readProject(input, { vouching: true })
  if (read.kind === 'end') return read.code
  const { config, root, trust } = read.value
  const problem = makeStateFolder(root)
  if (problem !== undefined) return terminal.fail('configuration', problem)
  if (trust.kind === 'changed') for (const { path, what } of trust.changes) terminal.line(`${what}: `, path)
  for (const source of config.sources) terminal.line('source ', ['bold', source.name], ': ', launchText(source))
  recordTrust(root, config.files)
  // Each for itself: a project whose rules have changed is looked at again, and the configuration goes on without them.
  for (const file of config.projectFiles) {
    terminal.line('rules of the project: ', file.path)
    recordTrust(root, [file])
  }
  terminal.line(
    ['green', 'trusted '],
    config.file,
    config.files.length === 1 ? '' : ` and ${config.files.length - 1} files that it refers to`,
  )
  terminal.value({ trusted: config.file, files: [...config.files, ...config.projectFiles] })
  return 0
}

function launchText(source: SourceConfig): string {
  switch (source.kind) {
    case 'stdio':
      return `starts ${[source.command, ...source.args].map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(' ')} in ${source.cwd}`
    case 'http':
      return `talks to ${source.url}`
    case 'module':
      return `loads ${source.file}`
  }
}
