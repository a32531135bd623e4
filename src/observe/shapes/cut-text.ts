// Cuts one text to its bytes: between lines, and inside a line only where it alone is larger than the budget. JSON is cut
// between its elements. Says which part is kept.

import { cutJsonText } from '../../base/json-cut.ts'
import { cutEndToBytes, cutToBytes, pieceOf, utf8Bytes } from '../../base/text-cut.ts'
import type { CutUnit, Truncation } from '../../describe/outcome.ts'

export type TextCut = {
  readonly text: string
  readonly unit: CutUnit
  readonly units: number
  readonly kept: Truncation['kept']
}

/** `bytesMax`: what may be kept. `budgetBytes`: a line with more than that may be cut inside. */
export type CutBounds = { readonly bytesMax: number; readonly budgetBytes: number }

export function cutText(text: string, keeps: 'start' | 'ends', bounds: CutBounds): TextCut {
  const json = cutJson(text, bounds)
  if (json !== undefined) return json
  return keeps === 'start' ? cutStart(text, bounds) : cutMiddle(text, bounds)
}

function cutJson(text: string, { bytesMax, budgetBytes }: CutBounds): TextCut | undefined {
  const cut = cutJsonText(text, bytesMax, budgetBytes)
  if (cut === undefined) return undefined
  return {
    text: pieceOf(cut.text, 0, cut.text.length),
    ...inBytes(text, [{ from: 0, to: utf8Bytes(text.slice(0, cut.keptUnits)) }]),
  }
}

function cutStart(text: string, bounds: CutBounds): TextCut {
  const { kept, isWhole } = startOf(text, bounds)
  if (!isWhole) return { text: kept, ...inBytes(text, [{ from: 0, to: utf8Bytes(kept) }]) }
  const lines = linesOf(kept)
  return { text: kept, unit: 'lines', units: linesOf(text), kept: lines === 0 ? [] : [{ from: 0, to: lines }] }
}

function cutMiddle(text: string, { bytesMax, budgetBytes }: CutBounds): TextCut {
  const half = Math.max(0, Math.floor((bytesMax - MARK_BYTES) / 2))
  const start = startOf(text, { bytesMax: half, budgetBytes })
  const end = endOf(text, { bytesMax: half, budgetBytes })
  if (start.kept === '' && end.kept === '') return cutStart(text, { bytesMax, budgetBytes })
  if (start.isWhole && end.isWhole) {
    const units = linesOf(text)
    const kept = [
      { from: 0, to: linesOf(start.kept) },
      { from: units - linesOf(end.kept), to: units },
    ].filter(({ from, to }) => to > from)
    const left = units - kept.reduce((sum, { from, to }) => sum + to - from, 0)
    return { text: joined(start.kept, `[... ${left} lines left out ...]`, end.kept), unit: 'lines', units, kept }
  }
  const bytes = utf8Bytes(text)
  const kept = [
    { from: 0, to: utf8Bytes(start.kept) },
    { from: bytes - utf8Bytes(end.kept), to: bytes },
  ].filter(({ from, to }) => to > from)
  const left = bytes - kept.reduce((sum, { from, to }) => sum + to - from, 0)
  return { text: joined(start.kept, `[... ${left} bytes left out ...]`, end.kept), unit: 'bytes', units: bytes, kept }
}

/** Room for the words between the two ends. */
const MARK_BYTES = 48

const joined = (start: string, mark: string, end: string): string =>
  `${start}${start === '' || start.endsWith('\n') ? '' : '\n'}${mark}\n${end}`

type Piece = { readonly kept: string; readonly isWhole: boolean }

/** Whole lines from the start; and of one that alone is larger than the budget its beginning. */
function startOf(text: string, { bytesMax, budgetBytes }: CutBounds): Piece {
  const most = cutToBytes(text, bytesMax)
  const lines = pieceOf(text, 0, text[most.length] === '\n' ? most.length : most.lastIndexOf('\n') + 1)
  const broken = lineEnd(text, lines.length)
  const isLarge = broken - lines.length > bytesMax && utf8Bytes(text.slice(lines.length, broken)) > budgetBytes
  return isLarge ? { kept: most, isWhole: false } : { kept: lines, isWhole: true }
}

function endOf(text: string, { bytesMax, budgetBytes }: CutBounds): Piece {
  const most = cutEndToBytes(text, bytesMax)
  const at = text.length - most.length
  const next = text[at - 1] === '\n' ? 0 : most.indexOf('\n') + 1
  // Without a line feed in it, or with one at its very end, it is a piece of a single line.
  const hasLine = text[at - 1] === '\n' || (next > 0 && next < most.length)
  const from = hasLine ? at + next : text.length
  const begin = text.lastIndexOf('\n', at - 1) + 1
  const broken = hasLine && next === 0 ? 0 : from - begin
  const isLarge = broken > 0 && utf8Bytes(text.slice(begin, hasLine ? from : text.length)) > budgetBytes
  return isLarge ? { kept: most, isWhole: false } : { kept: pieceOf(text, from, text.length), isWhole: true }
}

function lineEnd(text: string, from: number): number {
  const found = text.indexOf('\n', from)
  return found < 0 ? text.length : found + 1
}

/** A last line without a line feed counts; an empty text has none. */
export function linesOf(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
  return text === '' || text.endsWith('\n') ? lines : lines + 1
}

const inBytes = (text: string, kept: Truncation['kept']): Omit<TextCut, 'text'> => ({
  ...{ unit: 'bytes', units: utf8Bytes(text) },
  kept: kept.filter(({ from, to }) => to > from),
})
