// `write_file`: puts a whole text in the place of a file, or creates it with the folders on the way. It keeps what was there,
// and writes over nothing that changed since it was read, through no link and to no protected name.

import { sha256 } from '../../../base/digest.ts'
import { textPart } from '../../../describe/content.ts'
import type { Presentation, Refusal, RunContext, Tool } from '../../../describe/tool.ts'
import { defineFileTool, HASH_FIELD, PATH_FIELD, type Rooted } from './define-file-tool.ts'
import { currentFile, imageOf, isFailure, keepBefore, withDiff } from './file-change.ts'
import { failureFor, fileFailure } from './file-failure.ts'
import { FILE_BYTES_MAX, type FilePlace, isRefusal, type Settled } from './file-place.ts'
import { fileResource } from './file-resources.ts'
import { placeRefusal, textRefusal } from './write-rules.ts'

export type WriteFileArgs = Rooted<{ readonly path: string; readonly content: string; readonly ifHash?: string }>

export type WriteFileValue = {
  readonly path: string
  readonly created: boolean
  readonly bytes: number
  /** SHA-256 (hex) of what the file holds now. */
  readonly hash: string
  /** What `undo_change` takes. */
  readonly callId: string
}

export function writeFileTool(place: FilePlace): Tool {
  return defineFileTool<WriteFileArgs, WriteFileValue>(place, {
    name: 'write_file',
    title: 'Write a file',
    description: 'Create a text file in the workspace, or replace all that it holds.',
    returns:
      'Whether the file is new, its size and `hash`, and the `callId` with which undo_change takes the change back.',
    guidance: {
      useWhen: 'a file is new, or most of it changes',
      avoidWhen: 'only a part of a file changes',
      limits:
        'the whole content in one call; folders on the way are made; settings of git, editors, agents and shells are protected',
      instead: [{ tool: 'edit_file', because: 'it changes one place and cannot lose the rest' }],
    },
    effect: 'write',
    repeat: 'safe',
    properties: {
      path: PATH_FIELD,
      content: { type: 'string', description: 'The whole new text, written as UTF-8 exactly as given.' },
      ifHash: HASH_FIELD,
    },
    required: ['path', 'content'],
    examples: [{ path: 'notes/today.md', content: '# Today\n' }],
    resolve: (args) => resolved(place, args),
    touches: (args) => [fileResource('write', place.settled(args).absolute)],
    happened: async (args) => {
      const current = await currentFile(place.settled(args))
      if (isFailure(current)) return undefined
      return current !== undefined && current.hash === sha256(args.content)
    },
    run: (args, context) => write(place, place.settled(args), args, context),
    present,
  })
}

function resolved(place: FilePlace, args: WriteFileArgs): WriteFileArgs | Refusal {
  const located = place.locate(args)
  if (isRefusal(located)) return located
  return placeRefusal(located) ?? textRefusal('content', args.content) ?? { ...args, ...place.spot(located) }
}

async function write(place: FilePlace, file: Settled, args: WriteFileArgs, context: RunContext) {
  const { relative: path, folder } = file
  const bytes = Buffer.from(args.content)
  if (bytes.length > FILE_BYTES_MAX)
    return failureFor({ kind: 'too-large', bytes: bytes.length, bytesMax: FILE_BYTES_MAX }, path)
  const current = await currentFile(file)
  if (isFailure(current)) return current
  if (args.ifHash !== undefined && args.ifHash !== current?.hash) return staleFailure(path, current !== undefined)
  const hash = sha256(bytes)
  const notKept = await keepBefore(place, context, 'write_file', [imageOf(file, current, hash)])
  if (notKept !== undefined) return notKept
  const written = await folder.write(path, bytes, { expectHash: current?.hash ?? null })
  if (written.kind !== 'ok') return failureFor(written, path)
  const value: WriteFileValue = { path, created: written.created, bytes: bytes.length, hash, callId: context.callId }
  return withDiff(value, path, { before: current?.bytes, after: bytes }, present)
}

/** The file is not the one that the caller has read. */
export const staleFailure = (path: string, exists: boolean) =>
  exists
    ? failureFor({ kind: 'stale' }, path)
    : fileFailure('stale', `\`${path}\` does not exist any more; leave out ifHash to create it`)

const present = ({ path, created, bytes, hash, callId }: WriteFileValue): Presentation => ({
  content: [
    textPart(
      `${created ? 'created' : 'replaced'} ${path}: ${bytes} bytes, hash ${hash}\n[can be undone: callId ${callId}]`,
    ),
  ],
})
