// `edit_file`: replaces one certain place in a text file, or all places. Find and replace are literal. It refuses a place that
// is not certain, a file that changed since it was read, and everything that write_file refuses.

import { sha256 } from '../../../base/digest.ts'
import { textPart } from '../../../describe/content.ts'
import type { Refusal, RunContext, Tool } from '../../../describe/tool.ts'
import type { ToolFailure } from '../../../describe/tool-failure.ts'
import { defineFileTool, HASH_FIELD, PATH_FIELD, type Rooted } from './define-file-tool.ts'
import { type Current, currentFile, imageOf, isFailure, keepBefore, withDiff } from './file-change.ts'
import { failureFor, fileFailure } from './file-failure.ts'
import { FILE_BYTES_MAX, type FilePlace, isRefusal, refusal, type Settled } from './file-place.ts'
import { fileResource } from './file-resources.ts'
import { type Replacement, replaceText } from './replace-text.ts'
import { isText } from './text-file.ts'
import { staleFailure } from './write-file.ts'
import { placeRefusal, textRefusal } from './write-rules.ts'

const LINES_SHOWN_MAX = 10

export type EditFileArgs = Rooted<{
  readonly path: string
  readonly find: string
  readonly replace: string
  readonly all?: boolean
  readonly ifHash?: string
}>

export type EditFileValue = {
  readonly path: string
  readonly replaced: number
  /** The lines where replaced places began, before the change; of the first 1,000 places. */
  readonly lines: readonly number[]
  readonly bytes: number
  /** SHA-256 (hex) of what the file holds now. */
  readonly hash: string
  /** What `undo_change` takes. */
  readonly callId: string
}

export function editFileTool(place: FilePlace): Tool {
  return defineFileTool<EditFileArgs, EditFileValue>(place, {
    name: 'edit_file',
    title: 'Edit a file',
    description: 'Replace one piece of text in a file of the workspace, or every occurrence of it.',
    returns:
      'How many places were replaced and in which lines, the new `hash`, and the `callId` with which undo_change takes the change back.',
    guidance: {
      useWhen: 'a part of a file changes and you have read it',
      limits:
        '`find` must match exactly, blanks included, and only once unless `all` is true; UTF-8 text up to 10 MiB; line ends of the file are kept',
      instead: [{ tool: 'write_file', because: 'it creates files and replaces whole ones' }],
    },
    effect: 'write',
    repeat: 'never',
    properties: {
      path: PATH_FIELD,
      find: {
        type: 'string',
        minLength: 1,
        description: 'The text to replace, exactly as it stands in the file, without line numbers.',
      },
      replace: { type: 'string', description: 'The text to put there, taken literally. Empty to remove.' },
      all: {
        type: 'boolean',
        description: 'Replace every occurrence. Where it is left out, more than one is refused as `ambiguous`.',
      },
      ifHash: HASH_FIELD,
    },
    required: ['path', 'find', 'replace'],
    examples: [{ path: 'src/index.ts', find: 'const limit = 10', replace: 'const limit = 20' }],
    resolve: (args) => resolved(place, args),
    touches: (args) => {
      const { absolute } = place.settled(args)
      return [fileResource('read', absolute), fileResource('write', absolute)]
    },
    happened: (args) => happened(place.settled(args), args),
    run: (args, context) => edit(place, place.settled(args), args, context),
    present,
  })
}

function resolved(place: FilePlace, args: EditFileArgs): EditFileArgs | Refusal {
  const located = place.locate(args)
  if (isRefusal(located)) return located
  if (args.find === args.replace)
    return refusal('`find` and `replace` are equal, so nothing would change', 'invalid_args')
  return (
    placeRefusal(located) ??
    textRefusal('find', args.find) ??
    textRefusal('replace', args.replace) ?? { ...args, ...place.spot(located) }
  )
}

/** Known only where the caller said which file it meant: if that is what stands there, nothing happened. */
async function happened(file: Settled, { ifHash }: EditFileArgs): Promise<boolean | undefined> {
  if (ifHash === undefined) return undefined
  const current = await currentFile(file)
  return current !== undefined && !isFailure(current) && current.hash === ifHash ? false : undefined
}

async function edit(place: FilePlace, file: Settled, args: EditFileArgs, context: RunContext) {
  const { relative: path, folder } = file
  const current = await currentFile(file)
  if (isFailure(current)) return current
  if (current === undefined) return failureFor({ kind: 'missing' }, path)
  if (args.ifHash !== undefined && args.ifHash !== current.hash) return staleFailure(path, true)
  const changed = replaced(path, current, args)
  if (isFailure(changed)) return changed
  const hash = sha256(changed.bytes)
  const notKept = await keepBefore(place, context, 'edit_file', [imageOf(file, current, hash)])
  if (notKept !== undefined) return notKept
  const written = await folder.write(path, changed.bytes, { expectHash: current.hash })
  if (written.kind !== 'ok') return failureFor(written, path)
  const { bytes, count, lines } = changed
  const value: EditFileValue = { path, replaced: count, lines, bytes: bytes.length, hash, callId: context.callId }
  return withDiff(value, path, { before: current.bytes, after: bytes }, present)
}

function replaced(path: string, current: Current, { find, replace, all = false }: EditFileArgs) {
  if (!isText(current.bytes)) return fileFailure('binary', `\`${path}\` is no UTF-8 text, and only text can be edited`)
  const replacement = replaceText(current.bytes.toString('utf8'), find, replace, all, FILE_BYTES_MAX)
  if (replacement.kind !== 'ok') return placeFailure(path, replacement)
  const bytes = Buffer.from(replacement.text)
  if (bytes.length > FILE_BYTES_MAX)
    return failureFor({ kind: 'too-large', bytes: bytes.length, bytesMax: FILE_BYTES_MAX }, path)
  return { bytes, count: replacement.count, lines: replacement.lines }
}

function placeFailure(path: string, replacement: Exclude<Replacement, { kind: 'ok' }>): ToolFailure {
  if (replacement.kind === 'too-many')
    return fileFailure(
      'too_large',
      `\`find\` matches more than ${replacement.placesMax} times in \`${path}\`, so nothing was replaced; give more of the text`,
    )
  if (replacement.kind === 'too-long')
    return fileFailure(
      'too_large',
      `\`${path}\` would have ${replacement.length} characters or more; at most ${FILE_BYTES_MAX} bytes can be handled`,
    )
  if (replacement.kind === 'ambiguous') {
    const { count, lines, isCut } = replacement
    const message = `\`find\` matches ${isCut ? 'more than ' : ''}${count} times in \`${path}\` (lines ${lineList(lines)}); give more of the text around the one you mean, or set all to replace every one`
    return fileFailure('ambiguous', message, { count, lines: lines.slice(0, LINES_SHOWN_MAX) })
  }
  const { nearLine } = replacement
  const near =
    nearLine === undefined
      ? 'read the file again and copy the text exactly, without line numbers'
      : `line ${nearLine} differs only in blanks or line ends; read it again and copy it exactly`
  return fileFailure(
    'no_match',
    `\`find\` does not occur in \`${path}\`; ${near}`,
    nearLine === undefined ? {} : { nearLine },
  )
}

const lineList = (lines: readonly number[]): string =>
  `${lines.slice(0, LINES_SHOWN_MAX).join(', ')}${lines.length > LINES_SHOWN_MAX ? ', …' : ''}`

function present(value: EditFileValue) {
  const { path, replaced, lines, hash, callId } = value
  const places = replaced === 1 ? `1 place (line ${lineList(lines)})` : `${replaced} places (lines ${lineList(lines)})`
  return {
    content: [textPart(`edited ${path}: ${places}, hash ${hash}\n[can be undone: callId ${callId}]`)],
  }
}
