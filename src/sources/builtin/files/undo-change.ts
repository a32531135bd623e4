// `undo_change`: brings files back to what they were before one change of this caller, as long as they are still as that change
// left them. It is a change itself, so it can be undone. It undoes nobody else's change.

import { sha256 } from '../../../base/digest.ts'
import type { FileChange, FileImage } from '../../../describe/before-images.ts'
import { type Caller, samePrincipal } from '../../../describe/caller.ts'
import { textPart } from '../../../describe/content.ts'
import type { Refusal, RunContext, Tool } from '../../../describe/tool.ts'
import { type ToolFailure, toolFailure } from '../../../describe/tool-failure.ts'
import { defineFileTool } from './define-file-tool.ts'
import { type Current, currentFile, imageOf, isFailure, keepBefore } from './file-change.ts'
import { failureFor, fileFailure } from './file-failure.ts'
import { type FilePlace, isRefusal, refusal, type Settled } from './file-place.ts'
import { fileResource } from './file-resources.ts'
import { placeRefusal } from './write-rules.ts'

export type UndoChangeArgs = { readonly callId: string }

export type UndoneFile = { readonly path: string /** Absent where the file is gone again. */; readonly hash?: string }

export type UndoChangeValue = {
  readonly undone: string
  readonly tool: string
  readonly files: readonly UndoneFile[] /** What undoes this. */
  readonly callId: string
}

export function undoChangeTool(place: FilePlace): Tool {
  return defineFileTool<UndoChangeArgs, UndoChangeValue>(place, {
    name: 'undo_change',
    title: 'Undo a change',
    description: 'Take back one earlier write, edit, move or deletion of a file that you made.',
    returns: 'Which files are back in which state, and the `callId` that undoes this again.',
    guidance: {
      useWhen: 'a change of yours was wrong and nothing has changed the file since',
      limits:
        'a file that has changed since is left alone (`stale`); old changes are forgotten once their room is needed',
    },
    effect: 'write',
    repeat: 'never',
    isRootless: true,
    properties: {
      callId: { type: 'string', minLength: 1, maxLength: 128, description: 'The `callId` that the change returned.' },
    },
    required: ['callId'],
    examples: [{ callId: 'call_01' }],
    resolve: async (args, caller) => (await undoRefusal(place, args, caller)) ?? args,
    touches: async (args, caller) => {
      const change = await ownChange(place, args, caller)
      return (change?.files ?? []).flatMap(({ path }) => [fileResource('read', path), fileResource('write', path)])
    },
    run: (args, context) => undo(place, args, context),
    present: (value) => ({ content: [textPart(present(value))] }),
  })
}

/** A change of this caller; somebody else's is as unknown as none. */
async function ownChange(
  place: FilePlace,
  { callId }: UndoChangeArgs,
  caller: Caller,
): Promise<FileChange | undefined> {
  const change = await place.images.find(callId)
  return change !== undefined && samePrincipal(change.principal, caller) ? change : undefined
}

/** The rules for writing hold for undoing as well: the workspace may have other protected paths by now. */
async function undoRefusal(place: FilePlace, args: UndoChangeArgs, caller: Caller): Promise<Refusal | undefined> {
  for (const { path } of (await ownChange(place, args, caller))?.files ?? []) {
    const located = place.locate({ path })
    if (isRefusal(located)) return located
    if (located.absolute !== path)
      return refusal('a file of this change is reached through a link by now and is left alone')
    const refused = placeRefusal(located)
    if (refused !== undefined) return refused
  }
  return undefined
}

type Step = { readonly file: Settled; readonly image: FileImage; readonly current: Current | undefined }

async function undo(place: FilePlace, args: UndoChangeArgs, context: RunContext) {
  const change = await ownChange(place, args, context.caller)
  if (change === undefined)
    return fileFailure('no_such_change', 'no change of yours is kept under this callId; it may be too old')
  const steps = await stepsOf(place, change)
  if (isFailure(steps)) return steps
  const images = steps.map(({ file, image, current }) =>
    imageOf(file, current, image.before === undefined ? undefined : sha256(image.before)),
  )
  const notKept = await keepBefore(place, context, 'undo_change', images)
  if (notKept !== undefined) return notKept
  // What comes back is written before anything is removed: a failure in between leaves a file twice, never none.
  const ordered = [...steps].sort(
    (one, other) => Number(one.image.before === undefined) - Number(other.image.before === undefined),
  )
  for (const [index, step] of ordered.entries()) {
    const failure = await restore(step)
    if (failure !== undefined) return index === 0 ? failure : halfDone(failure)
  }
  return { undone: args.callId, tool: change.tool, files: steps.map(undoneFile), callId: context.callId }
}

/** Every file of a change as it stands, or the failure that one of them is not as the change left it. */
async function stepsOf(place: FilePlace, change: FileChange): Promise<readonly Step[] | ToolFailure> {
  const steps: Step[] = []
  for (const image of change.files) {
    const file = place.settledAbsolute(image.path)
    if (file === undefined)
      return fileFailure('no_such_change', 'a file of this change is in no root of the workspace any more')
    const current = await currentFile(file)
    if (isFailure(current)) return current
    if (current?.hash !== image.afterHash)
      return fileFailure(
        'stale',
        `\`${file.relative}\` has changed since, so it is left alone; read it and change it by hand`,
      )
    steps.push({ file, image, current })
  }
  return steps
}

async function restore({ file, image, current }: Step): Promise<ToolFailure | undefined> {
  const { folder, relative } = file
  if (image.before === undefined && current === undefined) return undefined
  const mode = image.mode === undefined ? {} : { mode: image.mode }
  const done =
    image.before === undefined
      ? await folder.remove(relative, current?.hash ?? '')
      : await folder.write(relative, image.before, { expectHash: current?.hash ?? null, ...mode })
  return done.kind === 'ok' ? undefined : failureFor(done, relative)
}

const halfDone = ({ options }: ToolFailure): ToolFailure =>
  toolFailure({ ...options, effect: 'done', retry: 'never', message: `undone in part, then: ${options.message}` })

const undoneFile = ({ file, image }: Step): UndoneFile => ({
  path: file.relative,
  ...(image.before === undefined ? {} : { hash: sha256(image.before) }),
})

function present({ tool, files, callId }: UndoChangeValue): string {
  const lines = files.map(({ path, hash }) =>
    hash === undefined ? `${path} is gone again` : `${path} is back, hash ${hash}`,
  )
  return [`undid a change by ${tool}`, ...lines, `[can be undone: callId ${callId}]`].join('\n')
}
