// Whether the files that a command names, and the folder that it runs in, are of a kind that a program may be given.

import { type ToolFailure, toolFailure } from '../../../describe/tool-failure.ts'
import type { Operand, SettledCommand } from './settled-command.ts'

export async function filesProblem({ cwd, operands }: SettledCommand): Promise<ToolFailure | undefined> {
  const looked = cwd.folder.look(cwd.relative)
  if (looked.kind !== 'ok' || !looked.stat.isDirectory())
    return toolFailure({
      ...{ code: 'not_a_folder', effect: 'none', retry: 'fix_args' },
      message: `\`cwd\`: \`${cwd.relative}\` is no folder`,
    })
  for (const operand of operands) {
    const problem = await fileProblem(operand)
    if (problem !== undefined) return problem
  }
  return undefined
}

async function fileProblem({ settled: { folder, relative } }: Operand): Promise<ToolFailure | undefined> {
  const found = folder.look(relative)
  if (found.kind !== 'ok' || found.stat.isDirectory() || found.stat.isSymbolicLink()) return undefined
  // Reading a pipe waits for whoever writes into it, and a device is no file of the workspace.
  if (!found.stat.isFile())
    return toolFailure({
      ...{ code: 'not_a_file', effect: 'none', retry: 'fix_args' },
      message: `\`${relative}\` is neither a regular file nor a folder`,
    })
  // INVARIANT own-files: another name of one of the gate's own files is that file.
  const isOwn = found.stat.nlink > 1 && (await folder.read(relative, 0)).kind === 'own'
  if (!isOwn) return undefined
  return toolFailure({
    ...{ type: 'unsafe_args', code: 'not_permitted', effect: 'none', retry: 'fix_args' },
    message: 'this file belongs to the gate itself and is out of reach of every tool',
  })
}
