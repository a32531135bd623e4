// Cuts a window of whole lines out of a text file and numbers it. A line ends with LF; a CR before it belongs to the line.
// It decodes only what it shows, and cuts inside a line only where a single line is larger than the bound.

import { cutToBytes } from '../../../base/text-cut.ts'

export type TextWindow = {
  /** The exact text of the lines, with their endings. */
  readonly content: string
  /** The first line of the window, from 1. */
  readonly fromLine: number
  /** How many lines are in the window. */
  readonly lines: number
  readonly totalLines: number
  /** The line to ask for next; undefined where the window reaches the end. */
  readonly nextLine: number | undefined
  /** Bytes of the only line of the window where it was cut inside; undefined where it was not. */
  readonly cutLineBytes: number | undefined
}

const LF = 10

/** The window that begins at a line and holds at most so many lines and bytes. */
export function textWindow(bytes: Buffer, fromLine: number, linesMax: number, bytesMax: number): TextWindow {
  const start = startOfLine(bytes, fromLine)
  const taken = start === undefined ? { end: bytes.length, lines: 0 } : takeLines(bytes, start, linesMax, bytesMax)
  const lines = taken.lines
  const totalLines = countLines(bytes)
  const common = { fromLine, totalLines }
  if (start !== undefined && lines === 0 && start < bytes.length) return cutWindow(bytes, start, bytesMax, common)
  const content = bytes.toString('utf8', start ?? bytes.length, taken.end)
  return {
    ...common,
    content,
    lines,
    nextLine: taken.end < bytes.length ? fromLine + lines : undefined,
    cutLineBytes: undefined,
  }
}

/** Where a line begins; undefined where the text has fewer lines. */
function startOfLine(bytes: Buffer, line: number): number | undefined {
  let start = 0
  for (let passed = 1; passed < line; passed++) {
    const end = bytes.indexOf(LF, start)
    if (end < 0 || end + 1 >= bytes.length) return undefined
    start = end + 1
  }
  return start
}

function takeLines(
  bytes: Buffer,
  start: number,
  linesMax: number,
  bytesMax: number,
): { readonly end: number; readonly lines: number } {
  let end = start
  let lines = 0
  while (lines < linesMax && end < bytes.length) {
    const found = bytes.indexOf(LF, end)
    const next = found < 0 ? bytes.length : found + 1
    if (next - start > bytesMax) break
    end = next
    lines++
  }
  return { end, lines }
}

/** The start of one line that alone is larger than the bound. */
function cutWindow(
  bytes: Buffer,
  start: number,
  bytesMax: number,
  common: { readonly fromLine: number; readonly totalLines: number },
): TextWindow {
  const found = bytes.indexOf(LF, start)
  const end = found < 0 ? bytes.length : found + 1
  // A few bytes more than the bound, so that a character on the edge can be seen whole and left out whole.
  const content = cutToBytes(
    bytes.toString('utf8', start, Math.min(end, start + bytesMax + 256)).replace(/\ufffd+$/, ''),
    bytesMax,
  )
  return {
    ...common,
    content,
    lines: 1,
    nextLine: end < bytes.length ? common.fromLine + 1 : undefined,
    cutLineBytes: end - start,
  }
}

/** Lines of a text; a last one without LF counts, an empty text has none. */
export function countLines(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) lines++
  return bytes.length > 0 && bytes[bytes.length - 1] !== LF ? lines + 1 : lines
}

/** The lines with their numbers before them, for a model to read and name. */
export function numberLines(content: string, fromLine: number): string {
  if (content === '') return ''
  const lines = content.endsWith('\n') ? content.slice(0, -1).split('\n') : content.split('\n')
  const width = String(fromLine + lines.length - 1).length
  return lines
    .map(
      (line, index) => `${String(fromLine + index).padStart(width)}\t${line.endsWith('\r') ? line.slice(0, -1) : line}`,
    )
    .join('\n')
}
