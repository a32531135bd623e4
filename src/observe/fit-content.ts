// Fits the content of a result into its byte budget. Whatever is cut or withheld says so, in the content itself: how much
// there was, how much is kept, and the digest of the whole. The budget holds for the sum of all parts.

import { sha256 } from '../base/digest.ts'
import { cutToBytes, utf8Bytes } from '../base/text-cut.ts'
import { type ContentPart, textPart } from '../describe/content.ts'
import type { Truncation } from '../describe/outcome.ts'

export type Fitted = { readonly content: readonly ContentPart[]; readonly truncated?: Truncation }

/** Kept free for the notices, so that the content with them stays within the budget. */
const NOTICE_BYTES = 320

export function fitContent(content: readonly ContentPart[], bytesMax: number): Fitted {
  if (surelyFits(content, bytesMax)) return { content }
  const originalBytes = content.reduce((sum, part) => sum + partBytes(part), 0)
  if (originalBytes <= bytesMax) return { content }
  return cut(content, originalBytes, bytesMax)
}

/** Three bytes a UTF-16 unit is the most that UTF-8 takes; one short text needs no measuring. */
function surelyFits(content: readonly ContentPart[], bytesMax: number): boolean {
  const [only] = content
  return content.length === 1 && only?.type === 'text' && only.text.length * 3 <= bytesMax
}

// INVARIANT said-cut: no part is shortened or left out without a notice that names the layer, the sizes and the digest.
function cut(content: readonly ContentPart[], originalBytes: number, bytesMax: number): Fitted {
  let left = Math.max(0, bytesMax - NOTICE_BYTES)
  const kept: ContentPart[] = []
  const withheld: string[] = []
  for (const part of content) {
    const bytes = partBytes(part)
    if (bytes <= left) {
      kept.push(part)
      left -= bytes
    } else if (part.type === 'text' && left > 0) {
      const text = cutToBytes(part.text, left)
      if (text !== '') kept.push(textPart(text))
      left = 0
    } else withheld.push(part.type)
  }
  const keptBytes = kept.reduce((sum, part) => sum + partBytes(part), 0)
  const digest = sha256(content.map((part) => (part.type === 'text' ? part.text : JSON.stringify(part))).join('\n'))
  const truncated: Truncation = { layer: 'result budget', originalBytes, keptBytes, digest }
  return { content: [...kept, textPart(notice(truncated, withheld))], truncated }
}

function notice({ originalBytes, keptBytes, digest }: Truncation, withheld: readonly string[]): string {
  const parts = withheld.length === 0 ? '' : `; withheld whole: ${summarise(withheld)}`
  return `[cut by the result budget: the first ${keptBytes} of ${originalBytes} bytes are shown${parts}; sha256 ${digest}; ask for a smaller part to see the rest]`
}

function summarise(types: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1)
  return [...counts].map(([type, count]) => `${count} ${type}`).join(', ')
}

/** Bytes of a part as a model gets it. */
export function partBytes(part: ContentPart): number {
  if (part.type === 'text') return utf8Bytes(part.text)
  if (part.type === 'image' || part.type === 'audio') return part.data.length + part.mimeType.length
  return utf8Bytes(JSON.stringify(part))
}
