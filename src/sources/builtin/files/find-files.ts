// `find_files`: the paths of regular files that match a glob. Links are not followed and not among the answers.

import { textPart } from '../../../describe/content.ts'
import type { RunContext, Tool } from '../../../describe/tool.ts'
import { type LeftOut, leftOutNotes } from './allowed-walk.ts'
import { defineFileTool, FOLDER_FIELD, type Rooted } from './define-file-tool.ts'
import type { FilePlace } from './file-place.ts'
import { treeResource } from './file-resources.ts'
import { GLOB_FIELD, GlobWalk, locateWalk, settledWalk, walkProblem } from './glob-walk.ts'

const PATHS_MAX = 2_000

export type FindFilesArgs = Rooted<{ readonly glob: string; readonly path?: string }>

export type FindFilesValue = LeftOut & {
  readonly path: string
  readonly glob: string
  readonly files: readonly string[]
}

export function findFilesTool(place: FilePlace): Tool {
  return defineFileTool<FindFilesArgs, FindFilesValue>(place, {
    name: 'find_files',
    title: 'Find files',
    description: 'Find files of the workspace by a glob over their paths, hidden files included.',
    returns: 'Matching paths in the order of names, relative to the root; how many entries this caller may not see.',
    guidance: {
      useWhen: 'you know a part of a path or an ending, and not where the file is',
      limits: `at most ${PATHS_MAX} paths and 10 seconds; .git and node_modules are left out unless \`path\` or the glob names them; links are not followed`,
      instead: [
        { tool: 'search_text', because: 'it finds files by what they hold' },
        { tool: 'list_dir', because: 'it shows everything that one folder holds' },
      ],
    },
    effect: 'read',
    repeat: 'safe',
    walks: true,
    properties: { glob: GLOB_FIELD, path: FOLDER_FIELD },
    required: ['glob'],
    examples: [{ glob: '**/*.ts' }, { glob: '*.{md,txt}', path: 'docs' }],
    resolve: (args) => locateWalk(place, args),
    touches: (args) => [treeResource('read', settledWalk(place, args).start.absolute)],
    run: (args, context) => find(place, args, context),
    present: (value) => ({ content: [textPart(present(value))] }),
  })
}

async function find(place: FilePlace, args: FindFilesArgs, context: RunContext) {
  const spot = settledWalk(place, args)
  const problem = walkProblem(spot)
  if (problem !== undefined) return problem
  const walk = new GlobWalk(spot, context)
  const files: string[] = []
  for await (const entry of walk.files()) {
    if (files.length === PATHS_MAX) {
      walk.bounds.end(`${PATHS_MAX} paths`)
      break
    }
    files.push(entry.relative)
  }
  return { path: spot.base.relative, glob: args.glob, files, ...walk.leftOut() }
}

function present(value: FindFilesValue): string {
  const head =
    value.files.length === 0 ? `no file matches \`${value.glob}\` in ${value.path}` : `${value.files.length} files`
  return [head, ...value.files, ...leftOutNotes(value)].join('\n')
}
