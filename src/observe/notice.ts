// What is said of a cut, in the content itself: who cut, how much there was, what is shown of it, the digest of the whole, and
// how this caller gets the rest. In a budget that has no room for all of it, the shortest form that says that something is missing.

import { cutToBytes, utf8Bytes } from '../base/text-cut.ts'
import type { Truncation } from '../describe/outcome.ts'
import type { KeptWhole } from './keep-whole.ts'
import type { Cut } from './shapes/shaped.ts'

/** Below this budget only the shortest form is said. */
const FULL_FROM_BYTES = 512
const FULL_BYTES = 420
const SHORT_BYTES = 112
const WHY_BYTES = 120

/** Bytes that a notice takes at most of such a budget. */
export const noticeBytes = (bytesMax: number): number =>
  bytesMax >= FULL_FROM_BYTES ? FULL_BYTES : Math.min(SHORT_BYTES, bytesMax)

/** `digest`: SHA-256 (hex) of the whole. */
export function truncationOf(cut: Cut, kept: KeptWhole | undefined, digest: string): Truncation {
  const { layer, originalBytes, keptBytes, unit, originalUnits, kept: ranges } = cut
  return { layer, originalBytes, keptBytes, digest, unit, originalUnits, kept: ranges, next: nextOf(cut, kept) }
}

// INVARIANT said-cut: whatever is cut or withheld says so in the content, in the shortest form at least.
export function noticeText(truncation: Truncation, cut: Cut, bytesMax: number): string {
  const { layer, originalBytes, keptBytes, digest, next } = truncation
  const who = `cut by ${layer === 'presentation' ? 'the default presentation' : `the ${layer}`}`
  const withheld = cut.withheld.length === 0 ? '' : `; withheld whole: ${summarise(cut.withheld)}`
  const full = `[${who}: ${keptBytes} of ${originalBytes} bytes are shown${rangesText(truncation)}${withheld}; sha256 ${digest}; ${next}]`
  const most = noticeBytes(bytesMax)
  if (utf8Bytes(full) <= most) return full
  const short = `[${who}: ${keptBytes} of ${originalBytes} bytes are shown${withheld}; ${next}]`
  if (utf8Bytes(short) <= most) return short
  const shortest = `[${who}: ${keptBytes} of ${originalBytes} bytes]`
  return utf8Bytes(shortest) <= most ? shortest : cutToBytes('[cut]', most)
}

function rangesText({ unit, originalUnits, kept }: Truncation): string {
  if (unit === 'bytes' || kept.length === 0) return ''
  const [first, last] = [kept[0], kept.at(-1)]
  const isStart = kept.length === 1 && first?.from === 0
  if (isStart) return `, the first ${first.to} of ${originalUnits} ${unit}`
  const hasEnds = kept.length === 2 && first?.from === 0 && last?.to === originalUnits
  if (hasEnds) return `, the first ${first.to} and the last ${last.to - last.from} of ${originalUnits} ${unit}`
  const ranges = kept.slice(0, 4).map(({ from, to }) => (to === from + 1 ? `${from}` : `${from}-${to - 1}`))
  return `, ${unit} ${ranges.join(', ')}${kept.length > 4 ? ', …' : ''} of ${originalUnits}, counted from 0`
}

/** A way on that this caller can really use. */
function nextOf({ unit, kept: ranges, more }: Cut, kept: KeptWhole | undefined): string {
  if (more !== undefined) return more
  if (kept?.kind === 'kept') {
    const from = ranges.at(0)?.from === 0 ? (ranges.at(0)?.to ?? 0) : 0
    // What is kept of several parts is one text, or JSON of them.
    const where = unit === 'parts' ? '' : `, "unit": "${unit}", "from": ${from}`
    return `the rest: read_artifact {"id": "${kept.id}"${where}}`
  }
  const why = kept === undefined ? '' : `the whole is not kept: ${cutToBytes(kept.why, WHY_BYTES)}; `
  return `${why}ask for a smaller part to see the rest`
}

function summarise(types: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1)
  return [...counts].map(([type, count]) => `${count} ${type}`).join(', ')
}
