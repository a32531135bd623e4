// `list_dir`: what a folder holds, a few levels deep. Links are shown as links and never followed.

import { textPart } from '../../../describe/content.ts'
import type { RunContext, Tool } from '../../../describe/tool.ts'
import type { EntryKind } from '../../../machine/rooted-failure.ts'
import { AllowedWalk, type LeftOut, leftOutNotes } from './allowed-walk.ts'
import { defineFileTool, FOLDER_FIELD, type Rooted } from './define-file-tool.ts'
import { failureFor, fileFailure } from './file-failure.ts'
import { type FilePlace, isRefusal, type Settled } from './file-place.ts'
import { treeResource } from './file-resources.ts'

const DEPTH_MAX = 10
const ENTRIES_MAX = 1_000

export type ListDirArgs = Rooted<{ readonly path?: string; readonly depth?: number }>

/** `bytes`: of a file. */
export type ListedEntry = { readonly path: string; readonly kind: EntryKind; readonly bytes?: number }

export type ListDirValue = LeftOut & { readonly path: string; readonly entries: readonly ListedEntry[] }

export function listDirTool(place: FilePlace): Tool {
  return defineFileTool<ListDirArgs, ListDirValue>(place, {
    name: 'list_dir',
    title: 'List a folder',
    description: 'List what a folder of the workspace holds, hidden entries included.',
    returns:
      'Files with their sizes, folders and links in the order of names; how many entries this caller may not see.',
    guidance: {
      useWhen: 'you want to know what is there',
      limits: `at most ${ENTRIES_MAX} entries and ${DEPTH_MAX} levels; below the first level .git and node_modules are left out unless \`path\` names them`,
      instead: [{ tool: 'find_files', because: 'it finds files by a pattern in the whole tree' }],
    },
    effect: 'read',
    repeat: 'safe',
    walks: true,
    properties: {
      path: FOLDER_FIELD,
      depth: {
        type: 'integer',
        minimum: 1,
        maximum: DEPTH_MAX,
        description: 'How many levels to show; 1 where it is left out.',
      },
    },
    required: [],
    examples: [{}, { path: 'src', depth: 2 }],
    resolve: (args) => {
      const located = place.locate({ ...args, path: args.path ?? '.' })
      return isRefusal(located) ? located : { ...args, ...place.spot(located) }
    },
    touches: (args) => [treeResource('read', settledFolder(place, args).absolute)],
    run: (args, context) => list(settledFolder(place, args), args.depth ?? 1, context),
    present: (value) => ({ content: [textPart(present(value))] }),
  })
}

const settledFolder = (place: FilePlace, args: ListDirArgs): Settled =>
  place.settled({ ...args, path: args.path ?? '.' })

async function list(start: Settled, depth: number, context: RunContext) {
  const looked = start.folder.look(start.relative)
  if (looked.kind !== 'ok') return failureFor(looked, start.relative)
  if (!looked.stat.isDirectory())
    return fileFailure('not_a_folder', `\`${start.relative}\` is no folder; read it instead`)
  const walk = new AllowedWalk(start, { depthMax: depth, names: new Set(start.relative.split('/')) }, context)
  const entries: ListedEntry[] = []
  for await (const entry of walk.entries()) {
    if (entries.length === ENTRIES_MAX) {
      walk.end(`${ENTRIES_MAX} entries`)
      break
    }
    const bytes = entry.kind === 'file' ? entry.size() : undefined
    entries.push({ path: entry.relative, kind: entry.kind, ...(bytes === undefined ? {} : { bytes }) })
  }
  return { path: start.relative, entries, ...walk.leftOut() }
}

function present(value: ListDirValue): string {
  const lines = value.entries.map(({ path, kind, bytes }) => {
    if (kind === 'directory') return `${path}/`
    return kind === 'file'
      ? `${path}  ${bytes ?? '?'} bytes`
      : `${path}  (${kind === 'link' ? 'link' : 'no regular file'})`
  })
  return [`${value.path}: ${value.entries.length} entries`, ...lines, ...leftOutNotes(value)].join('\n')
}
