// What every change of a file does first: it reads the file as it stands and keeps that outside the workspace, so that the
// change can be undone. A change whose before-image cannot be kept does not happen.

import { sha256 } from '../../../base/digest.ts'
import { unifiedDiff } from '../../../base/unified-diff.ts'
import type { FileImage } from '../../../describe/before-images.ts'
import { principalOf } from '../../../describe/caller.ts'
import type { Presentation, RunContext } from '../../../describe/tool.ts'
import { ToolFailure, toolFailure } from '../../../describe/tool-failure.ts'
import { ToolResult } from '../../../describe/tool-result.ts'
import { failureFor } from './file-failure.ts'
import { FILE_BYTES_MAX, type FilePlace, type Settled } from './file-place.ts'
import { isText } from './text-file.ts'

export type Current = { readonly bytes: Buffer; readonly hash: string; readonly mode: number }

/** The file as it stands; undefined where there is none. */
export async function currentFile({ folder, relative }: Settled): Promise<Current | undefined | ToolFailure> {
  const read = await folder.read(relative, FILE_BYTES_MAX)
  if (read.kind === 'missing') return undefined
  if (read.kind !== 'ok') return failureFor(read, relative)
  return { bytes: read.bytes, hash: sha256(read.bytes), mode: read.stat.mode & 0o777 }
}

/** The image of a file before a change that leaves `afterHash`. */
export const imageOf = (
  { absolute }: Settled,
  current: Current | undefined,
  afterHash: string | undefined,
): FileImage => ({
  path: absolute,
  before: current?.bytes,
  afterHash,
  ...(current === undefined ? {} : { mode: current.mode }),
})

/** Keeps the images of a change under the id of its call; a failure means that nothing may be changed. */
export async function keepBefore(
  place: FilePlace,
  context: RunContext,
  tool: string,
  files: readonly FileImage[],
): Promise<ToolFailure | undefined> {
  const { callId, caller, clock } = context
  try {
    await place.images.keep({ callId, principal: principalOf(caller), at: clock.now(), tool, files })
    return undefined
  } catch (error) {
    const message = 'what the file held before could not be kept for undoing, so nothing was changed; try again later'
    return toolFailure({
      code: 'not_kept',
      message,
      effect: 'none',
      retry: 'later',
      help: error instanceof Error ? error.message : String(error),
    })
  }
}

/** Bytes of a file before and after, up to which a person is shown what changed. */
const DIFF_BYTES_MAX = 1_048_576

/** The value with the change beside it, for a person; the value alone where a text is too large for that, or is none. */
export function withDiff<Value>(
  value: Value,
  path: string,
  { before, after }: { readonly before: Buffer | undefined; readonly after: Buffer },
  present: (value: Value) => Presentation,
): Value | ToolResult<Value> {
  if (Math.max(before?.length ?? 0, after.length) > DIFF_BYTES_MAX) return value
  if (before !== undefined && !isText(before)) return value
  const text = unifiedDiff(before?.toString('utf8') ?? '', after.toString('utf8'))
  return text === '' ? value : new ToolResult(value, present(value).content, { kind: 'diff', path, text })
}

export const isFailure = (value: unknown): value is ToolFailure => value instanceof ToolFailure
