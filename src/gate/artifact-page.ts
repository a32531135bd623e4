// A window of a kept content, by bytes or by lines: what fits, and where it goes on. No character is broken, and no line but
// one that alone is larger than the window.

import { isUtf8 } from 'node:buffer'
import { cutToBytes, utf8Bytes } from '../base/text-cut.ts'

/** What a reader asks for: `from` counts from 0, and `bytesMax` bounds the text of the window. */
export type PageAsk = { readonly from: number; readonly count: number; readonly bytesMax: number }

export type TextPage = {
  readonly unit: 'bytes' | 'lines'
  /** The first unit shown, and the one after the last. */
  readonly from: number
  readonly to: number
  readonly total: number
  /** Where to go on; absent at the end. */
  readonly next?: number
  readonly text: string
  /** Of bytes that are no text. */
  readonly encoding?: 'base64'
  /** Bytes of the only line shown, where it was cut. */
  readonly cutLineBytes?: number
}

/** More bytes than any one character that people write. */
const CHARACTER_BYTES_MAX = 256
const LINE_END = 10

export function bytesPage(content: Uint8Array, ask: PageAsk): TextPage {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  const total = bytes.length
  const from = Math.min(ask.from, total)
  if (!isUtf8(bytes)) return binaryPage(bytes, from, ask)
  const start = characterStart(bytes, from)
  const most = Math.min(ask.count, ask.bytesMax)
  const window = bytes.toString('utf8', start, Math.min(total, start + most + CHARACTER_BYTES_MAX))
  // A window smaller than one character still goes on.
  const text = cutToBytes(window, most) || firstCharacter(window)
  return goesOn({ unit: 'bytes', from: start, to: start + utf8Bytes(text), total, text })
}

function binaryPage(bytes: Buffer, from: number, { count, bytesMax }: PageAsk): TextPage {
  const to = Math.min(bytes.length, from + Math.max(1, Math.min(count, Math.floor((bytesMax * 3) / 4))))
  const text = bytes.toString('base64', from, to)
  return goesOn({ unit: 'bytes', from, to, total: bytes.length, text, encoding: 'base64' })
}

export function linesPage(content: Uint8Array, { from, count, bytesMax }: PageAsk): TextPage {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  let line = 0
  let [start, end, to] = [bytes.length, bytes.length, 0]
  for (let at = 0; at < bytes.length; line++) {
    const found = bytes.indexOf(LINE_END, at)
    const next = found === -1 ? bytes.length : found + 1
    if (line === from) [start, end] = [at, at]
    const fits = line >= from && line < from + count && end === at && next - start <= bytesMax
    if (fits) [end, to] = [next, line + 1]
    at = next
  }
  const first = Math.min(from, line)
  if (to > first || first === line)
    return goesOn({
      ...{ unit: 'lines', from: first, to: Math.max(to, first), total: line },
      text: bytes.toString('utf8', start, end),
    })
  return longLine(bytes, { first, start, total: line, bytesMax })
}

/** One line that alone is larger than the window. */
function longLine(
  bytes: Buffer,
  { first, start, total, bytesMax }: { first: number; start: number; total: number; bytesMax: number },
): TextPage {
  const found = bytes.indexOf(LINE_END, start)
  const end = found === -1 ? bytes.length : found
  const text = cutToBytes(
    bytes.toString('utf8', start, Math.min(end, start + bytesMax + CHARACTER_BYTES_MAX)),
    bytesMax,
  )
  return goesOn({ unit: 'lines', from: first, to: first + 1, total, text, cutLineBytes: end - start })
}

const goesOn = (page: TextPage): TextPage => (page.to < page.total ? { ...page, next: page.to } : page)

function firstCharacter(text: string): string {
  const [first] = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)
  return first?.segment ?? ''
}

function characterStart(bytes: Buffer, from: number): number {
  let start = from
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  return start
}
