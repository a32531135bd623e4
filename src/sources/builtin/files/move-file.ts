// `move_file`: gives a file or folder another place in the same root. It puts nothing over what exists, takes no protected
// name along or on, and needs the right to read what it moves, so that nobody reads a file by moving it.

import { textPart } from '../../../describe/content.ts'
import type { Refusal, RunContext, Tool } from '../../../describe/tool.ts'
import { ToolFailure } from '../../../describe/tool-failure.ts'
import { defineFileTool, PATH_FIELD, type Rooted } from './define-file-tool.ts'
import { currentFile, imageOf, isFailure, keepBefore } from './file-change.ts'
import { failureFor, fileFailure } from './file-failure.ts'
import { type FilePlace, isRefusal, refusal, type Settled } from './file-place.ts'
import { fileResource, treeResource } from './file-resources.ts'
import { mayMoveAlong, treeProblem } from './move-tree.ts'
import { linkRefusal, placeRefusal, writeRefusal } from './write-rules.ts'

export type MoveFileArgs = Rooted<{ readonly from: string; readonly to: string }>

export type MoveFileValue = {
  readonly from: string
  readonly to: string
  readonly what: 'file' | 'directory'
  /** What `undo_change` takes; absent for folders and files over 10 MiB, which are moved back by another move. */
  readonly callId?: string
}

export function moveFileTool(place: FilePlace): Tool {
  return defineFileTool<MoveFileArgs, MoveFileValue>(place, {
    name: 'move_file',
    title: 'Move or rename',
    description: 'Move or rename a file or a folder within the workspace.',
    returns: 'Where it stands now, and for files the `callId` with which undo_change takes the change back.',
    guidance: {
      useWhen: 'a file or folder shall have another name or place',
      limits:
        'nothing is put over an existing file or folder; `to` is the whole new path; folders on the way are made; links are not moved',
      instead: [{ tool: 'write_file', because: 'it makes a copy when given what read_file returned' }],
    },
    effect: 'write',
    repeat: 'never',
    properties: {
      from: {
        ...PATH_FIELD,
        description:
          'Path of the file or folder to move, relative to the root of the workspace (or absolute inside it).',
      },
      to: { ...PATH_FIELD, description: 'Its whole new path, name included.' },
    },
    required: ['from', 'to'],
    examples: [{ from: 'src/old-name.ts', to: 'src/new-name.ts' }],
    resolve: (args) => resolved(place, args),
    touches: (args) => touches(ends(place, args)),
    happened: (args) => happened(ends(place, args)),
    run: (args, context) => move(place, ends(place, args), context),
    present,
  })
}

type Ends = { readonly from: Settled; readonly to: Settled }

function ends(place: FilePlace, { from, to, root }: MoveFileArgs): Ends {
  return { from: place.settled({ path: from, root }), to: place.settled({ path: to, root }) }
}

function resolved(place: FilePlace, args: MoveFileArgs): MoveFileArgs | Refusal {
  const from = place.locate({ path: args.from, root: args.root })
  if (isRefusal(from)) return from
  const to = place.locate({ path: args.to, root: from.root })
  if (isRefusal(to)) return to
  const refused = linkRefusal(from) ?? writeRefusal(from) ?? placeRefusal(to)
  if (refused !== undefined) return refused
  if (from.folder.holdsOwn(from.relative))
    return refusal('this folder holds files of the gate itself, which stay where they are')
  if (to.relative === from.relative) return refusal('`from` and `to` are the same place', 'invalid_args')
  if (to.relative.startsWith(`${from.relative}/`))
    return refusal('a folder cannot be moved into itself', 'invalid_args')
  const { path, ...root } = place.spot(from)
  return { ...args, ...root, from: path, to: to.relative }
}

function touches({ from, to }: Ends): readonly string[] {
  const looked = from.folder.look(from.relative)
  const resource = looked.kind === 'ok' && looked.stat.isDirectory() ? treeResource : fileResource
  return [resource('read', from.absolute), resource('write', from.absolute), resource('write', to.absolute)]
}

function happened({ from, to }: Ends): boolean | undefined {
  const left = from.folder.look(from.relative).kind
  const arrived = to.folder.look(to.relative).kind
  if (left === 'missing' && arrived === 'ok') return true
  return left === 'ok' && arrived === 'missing' ? false : undefined
}

async function move(place: FilePlace, { from, to }: Ends, context: RunContext) {
  const { folder } = from
  const looked = folder.look(from.relative)
  if (looked.kind !== 'ok') return failureFor(looked, from.relative)
  if (folder.look(to.relative).kind === 'ok') return existsFailure(to)
  const kept = looked.stat.isDirectory()
    ? await treeProblem({ from, to }, context)
    : await keepFile(place, { from, to }, context)
  if (kept instanceof ToolFailure) return kept
  const moved = folder.move(from.relative, to.relative, (below) => mayMoveAlong(below, { from, to }, context))
  if (moved.kind === 'exists') return existsFailure(to)
  if (moved.kind !== 'ok') return failureFor(moved, from.relative)
  const result = { from: from.relative, to: to.relative, what: moved.what }
  return kept === 'kept' ? { ...result, callId: context.callId } : result
}

const existsFailure = (to: Settled): ToolFailure => {
  const looked = to.folder.look(to.relative)
  if (looked.kind !== 'ok' || !looked.stat.isDirectory()) return failureFor({ kind: 'exists' }, to.relative)
  return fileFailure('exists', `\`${to.relative}\` is an existing folder; give the whole new path, name included`)
}

/** The two images of a move: gone from one place, new in the other. A file too large to keep is moved without them. */
async function keepFile(
  place: FilePlace,
  { from, to }: Ends,
  context: RunContext,
): Promise<'kept' | 'not kept' | ToolFailure> {
  const current = await currentFile(from)
  if (isFailure(current)) return current.options.code === 'too_large' ? 'not kept' : current
  if (current === undefined) return failureFor({ kind: 'missing' }, from.relative)
  const images = [imageOf(from, current, undefined), imageOf(to, undefined, current.hash)]
  return (await keepBefore(place, context, 'move_file', images)) ?? 'kept'
}

function present({ from, to, what, callId }: MoveFileValue) {
  const undo = callId === undefined ? `[can be undone by moving ${to} back]` : `[can be undone: callId ${callId}]`
  return { content: [textPart(`moved ${what === 'file' ? '' : 'folder '}${from} to ${to}\n${undo}`)] }
}
