// `read_file`: a window of numbered lines of one text file, with totals and the hash of the whole. It changes nothing, and
// shows no folder, device or binary file.

import { sha256 } from '../../../base/digest.ts'
import { textPart } from '../../../describe/content.ts'
import type { Tool } from '../../../describe/tool.ts'
import { defineFileTool, PATH_FIELD, type Rooted } from './define-file-tool.ts'
import { failureFor, fileFailure } from './file-failure.ts'
import { FILE_BYTES_MAX, type FilePlace, isRefusal, type Settled } from './file-place.ts'
import { fileResource } from './file-resources.ts'
import { isText } from './text-file.ts'
import { numberLines, type TextWindow, textWindow } from './text-window.ts'

const LINES_MAX = 2_000
/** With the numbers of 2,000 lines this stays below the usual 48 KB of a result. */
const BYTES_DEFAULT = 32_768
const BYTES_MAX = 1_048_576

export type ReadFileArgs = Rooted<{
  readonly path: string
  readonly fromLine?: number
  readonly lines?: number
  readonly maxBytes?: number
}>

export type ReadFileValue = {
  readonly path: string
  /** The exact text of the window, with its line ends. */
  readonly content: string
  readonly fromLine: number
  readonly lines: number
  readonly totalLines: number
  readonly totalBytes: number
  /** SHA-256 (hex) of the whole file. */
  readonly hash: string
  /** The line to continue with; absent where the window reaches the end. */
  readonly nextLine?: number
  /** Bytes of the only line shown, where it was cut. */
  readonly cutLineBytes?: number
}

export function readFileTool(place: FilePlace): Tool {
  return defineFileTool<ReadFileArgs, ReadFileValue>(place, {
    name: 'read_file',
    title: 'Read a file',
    description: 'Read a text file of the workspace, whole or a window of its lines.',
    returns:
      'The lines with their numbers, how many lines and bytes the file has, its `hash` (for `ifHash`), and where to continue if there is more.',
    guidance: {
      useWhen: 'you need what a known file holds, and before every change of it',
      limits: `at most ${LINES_MAX} lines and ${BYTES_DEFAULT} bytes at a time unless maxBytes asks for more; UTF-8 text up to 10 MiB`,
      instead: [
        { tool: 'search_text', because: 'it finds lines in many files at once' },
        { tool: 'find_files', because: 'it finds a file whose path is not known' },
        { tool: 'list_dir', because: 'it shows what a folder holds' },
      ],
    },
    effect: 'read',
    repeat: 'safe',
    properties: {
      path: PATH_FIELD,
      fromLine: {
        type: 'integer',
        minimum: 1,
        description: 'First line of the window, from 1; 1 where it is left out.',
      },
      lines: {
        type: 'integer',
        minimum: 1,
        maximum: LINES_MAX,
        description: `How many lines at most; ${LINES_MAX} where it is left out.`,
      },
      maxBytes: {
        type: 'integer',
        minimum: 1,
        maximum: BYTES_MAX,
        description: `How many bytes of text at most; ${BYTES_DEFAULT} where it is left out.`,
      },
    },
    required: ['path'],
    examples: [{ path: 'src/index.ts' }, { path: 'docs/guide.md', fromLine: 201, lines: 100 }],
    resolve: (args) => {
      const located = place.locate(args)
      return isRefusal(located) ? located : { ...args, ...place.spot(located) }
    },
    touches: (args) => [fileResource('read', place.settled(args).absolute)],
    run: (args) => readWindow(place.settled(args), args),
    present: presentWindow,
  })
}

async function readWindow({ folder, relative: path }: Settled, args: ReadFileArgs) {
  const read = await folder.read(path, FILE_BYTES_MAX)
  if (read.kind !== 'ok') return failureFor(read, path)
  const { bytes } = read
  if (!isText(bytes))
    return fileFailure('binary', `\`${path}\` is no UTF-8 text (${bytes.length} bytes), and only text is shown`, {
      bytes: bytes.length,
    })
  const window = textWindow(bytes, args.fromLine ?? 1, args.lines ?? LINES_MAX, args.maxBytes ?? BYTES_DEFAULT)
  return windowValue(path, bytes, window)
}

function windowValue(path: string, bytes: Buffer, window: TextWindow): ReadFileValue {
  const { content, fromLine, lines, totalLines, nextLine, cutLineBytes } = window
  return {
    path,
    content,
    fromLine,
    lines,
    totalLines,
    totalBytes: bytes.length,
    hash: sha256(bytes),
    ...(nextLine === undefined ? {} : { nextLine }),
    ...(cutLineBytes === undefined ? {} : { cutLineBytes }),
  }
}

function presentWindow(value: ReadFileValue) {
  const { path, content, fromLine, lines, totalLines, totalBytes, hash } = value
  const shown = lines === 0 ? 'no lines' : `lines ${fromLine}-${fromLine + lines - 1}`
  const head = `${path}: ${shown} of ${totalLines}, ${totalBytes} bytes, hash ${hash}`
  const text = [head, numberLines(content, fromLine), ...notes(value)].filter((part) => part !== '').join('\n')
  return {
    content: [textPart(text)],
    display: { kind: 'file' as const, path, fromLine, text: content },
    // The first line of the text is about the file.
    more: (shownLines: number) => `go on with fromLine ${fromLine + Math.max(0, shownLines - 1)}`,
  }
}

function notes({ fromLine, lines, totalLines, nextLine, cutLineBytes }: ReadFileValue): readonly string[] {
  const said: string[] = []
  if (cutLineBytes !== undefined)
    said.push(`[line ${fromLine} has ${cutLineBytes} bytes and was cut; maxBytes up to ${BYTES_MAX} shows more of it]`)
  if (nextLine !== undefined) said.push(`[${totalLines - nextLine + 1} more lines; continue with fromLine ${nextLine}]`)
  if (lines === 0 && totalLines > 0) said.push(`[the file ends at line ${totalLines}; nothing is at line ${fromLine}]`)
  if (totalLines === 0) said.push('[the file is empty]')
  return said
}
