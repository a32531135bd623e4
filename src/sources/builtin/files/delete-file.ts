// `delete_file`: removes one regular file and keeps what it held. It removes no folder and no link.

import { textPart } from '../../../describe/content.ts'
import type { Refusal, RunContext, Tool } from '../../../describe/tool.ts'
import { defineFileTool, PATH_FIELD, type Rooted } from './define-file-tool.ts'
import { currentFile, imageOf, isFailure, keepBefore } from './file-change.ts'
import { failureFor, fileFailure } from './file-failure.ts'
import { type FilePlace, isRefusal, type Settled } from './file-place.ts'
import { fileResource } from './file-resources.ts'
import { linkRefusal, writeRefusal } from './write-rules.ts'

export type DeleteFileArgs = Rooted<{ readonly path: string }>

export type DeleteFileValue = {
  readonly path: string
  readonly bytes: number /** What `undo_change` takes. */
  readonly callId: string
}

export function deleteFileTool(place: FilePlace): Tool {
  return defineFileTool<DeleteFileArgs, DeleteFileValue>(place, {
    name: 'delete_file',
    title: 'Delete a file',
    description: 'Delete one file of the workspace.',
    returns: 'How large the file was, and the `callId` with which undo_change brings it back.',
    guidance: {
      useWhen: 'a file is not needed any more',
      limits: 'single regular files up to 10 MiB; no folders and no links',
      instead: [{ tool: 'move_file', because: 'it puts a file out of the way without deleting it' }],
    },
    effect: 'destructive',
    repeat: 'never',
    properties: { path: PATH_FIELD },
    required: ['path'],
    examples: [{ path: 'src/unused.ts' }],
    resolve: (args) => resolved(place, args),
    touches: (args) => [fileResource('write', place.settled(args).absolute)],
    happened: (args) => {
      const { folder, relative } = place.settled(args)
      const looked = folder.look(relative)
      return looked.kind === 'ok' ? false : looked.kind === 'missing' ? true : undefined
    },
    run: (args, context) => remove(place, place.settled(args), context),
    present: ({ path, bytes, callId }) => ({
      content: [textPart(`deleted ${path} (${bytes} bytes)\n[can be undone: callId ${callId}]`)],
    }),
  })
}

function resolved(place: FilePlace, args: DeleteFileArgs): DeleteFileArgs | Refusal {
  const located = place.locate(args)
  if (isRefusal(located)) return located
  return linkRefusal(located) ?? writeRefusal(located) ?? { ...args, ...place.spot(located) }
}

async function remove(place: FilePlace, file: Settled, context: RunContext) {
  const { relative: path, folder } = file
  const current = await currentFile(file)
  if (isFailure(current)) return current.options.code === 'too_large' ? tooLargeToKeep(path) : current
  if (current === undefined) return failureFor({ kind: 'missing' }, path)
  const notKept = await keepBefore(place, context, 'delete_file', [imageOf(file, current, undefined)])
  if (notKept !== undefined) return notKept
  const removed = await folder.remove(path, current.hash)
  if (removed.kind !== 'ok') return failureFor(removed, path)
  return { path, bytes: current.bytes.length, callId: context.callId }
}

const tooLargeToKeep = (path: string) =>
  fileFailure(
    'too_large',
    `\`${path}\` is too large to be kept for undoing, so it is not deleted; a person has to do it`,
  )
