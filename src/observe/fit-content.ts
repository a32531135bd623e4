// Fits what a model reads into its byte budget. Nothing is shortened or left out in silence: what is left comes with a `Cut`,
// and `notice.ts` says it. Text has one budget for the sum of all parts; images, audio and other bytes have caps of their own,
// and are shown whole or not at all.

import { cutJsonText } from '../base/json-cut.ts'
import { cutToBytes, utf8Bytes } from '../base/text-cut.ts'
import { type ContentPart, textPart } from '../describe/content.ts'
import type { Truncation } from '../describe/outcome.ts'
import type { Whole } from './keep-whole.ts'
import { cutText, type TextCut } from './shapes/cut-text.ts'
import type { Body, Cut, Fitted } from './shapes/shaped.ts'
import { shareFairly } from './shapes/share-fairly.ts'

/** Base64 characters of one image, sound or other piece of bytes, and of all of them in one result. */
const MEDIA_BYTES_MAX = 1_048_576
const MEDIA_BYTES_OF_ALL_MAX = 2 * MEDIA_BYTES_MAX
/** More parts than this are left out: each of them costs something, however little it holds. */
const PARTS_MAX = 1_000

/** `noticeBytes` is kept free where something is cut, for what has to be said of it. */
export type FitOptions = {
  readonly bytesMax: number
  readonly noticeBytes: number
  readonly layer: Truncation['layer']
}

export function fitBody(body: Body, options: FitOptions): Fitted {
  switch (body.kind) {
    case 'parts':
      return fitParts(body, options)
    case 'json':
      return fitJson(body, options)
    case 'table':
      return fitTable(body, options)
  }
}

const room = ({ bytesMax, noticeBytes }: FitOptions): number => Math.max(0, bytesMax - noticeBytes)

function fitJson({ text, rows }: Body & { kind: 'json' }, options: FitOptions): Fitted {
  const { bytesMax, layer } = options
  if (text.length * 3 <= bytesMax) return { content: [textPart(text)], cut: undefined }
  const originalBytes = utf8Bytes(text)
  if (originalBytes <= bytesMax) return { content: [textPart(text)], cut: undefined }
  const whole: Whole = { mediaType: 'application/json', content: text }
  const cut = cutJsonText(text, room(options), bytesMax)
  const content = cut === undefined ? [] : [textPart(Buffer.from(cut.text).toString())]
  const keptBytes = cut === undefined ? 0 : utf8Bytes(cut.text)
  const common = { layer, originalBytes, keptBytes, withheld: [], whole }
  const kept = cut?.rows ?? 0
  if (rows !== undefined && kept > 0)
    return { content, cut: { ...common, unit: 'rows', originalUnits: rows, kept: [{ from: 0, to: kept }] } }
  const keptText = cut === undefined ? 0 : utf8Bytes(text.slice(0, cut.keptUnits))
  const ranges = keptText === 0 ? [] : [{ from: 0, to: keptText }]
  return { content, cut: { ...common, unit: 'bytes', originalUnits: originalBytes, kept: ranges } }
}

function fitTable(
  { header, lines, rows, isPartial, beyond, text }: Body & { kind: 'table' },
  options: FitOptions,
): Fitted {
  const all = tableText([header, ...lines], beyond)
  const isShort = lines.length === rows && !isPartial
  if (isShort && utf8Bytes(all) <= options.bytesMax) return { content: [textPart(all)], cut: undefined }
  const left = room(options)
  const kept = fittingLines([header, ...lines], beyond, left)
  const first = lines.slice(0, 1)
  const isStart = kept.length <= first.length
  const shown = isStart ? [cutToBytes(tableText([header, ...first], beyond), left)] : [tableText(kept, beyond)]
  const isPresented = kept.length === lines.length + 1
  const json = text()
  const content = shown.filter((one) => one !== '').map(textPart)
  const originalBytes = utf8Bytes(json)
  // Where all rows are shown the rest is no further row.
  const isBeside = isPresented && lines.length === rows
  return {
    content,
    cut: {
      layer: isPresented ? 'presentation' : options.layer,
      originalBytes,
      keptBytes: content.reduce((sum, part) => sum + partBytes(part), 0),
      ...(isBeside || rows === 0
        ? { unit: 'bytes', originalUnits: originalBytes }
        : { unit: 'rows', originalUnits: rows }),
      withheld: [],
      kept: isStart || isBeside ? [] : [{ from: 0, to: kept.length - 1 }],
      whole: { mediaType: 'application/json', content: json },
    },
  }
}

const tableText = (lines: readonly string[], beyond: string): string =>
  [...lines, ...(beyond === '' ? [] : [beyond])].join('\n')

function fittingLines(lines: readonly string[], beyond: string, bytesMax: number): readonly string[] {
  let left = bytesMax - (beyond === '' ? 0 : utf8Bytes(beyond) + 1)
  const kept: string[] = []
  for (const line of lines) {
    left -= utf8Bytes(line) + (kept.length === 0 ? 0 : 1)
    if (left < 0) break
    kept.push(line)
  }
  return kept
}

function fitParts({ parts, keeps, more }: Body & { kind: 'parts' }, options: FitOptions): Fitted {
  if (surelyFits(parts, options.bytesMax)) return { content: parts, cut: undefined }
  const withheld = withheldMedia(parts)
  const texts = parts.map((part, index) => (withheld.has(index) || isMedia(part) ? 0 : partBytes(part)))
  const wanted = texts.reduce((sum, bytes) => sum + bytes, 0)
  if (withheld.size === 0 && wanted <= options.bytesMax) return { content: parts, cut: undefined }
  const budgetBytes = room(options)
  // What fits as soon as something is withheld has to fit beside the notice too.
  const shares = shareFairly(texts, budgetBytes)
  const kept = parts.map((part, index): KeptPart => {
    if (withheld.has(index)) return WITHHELD
    const share = shares[index] ?? 0
    if (isMedia(part) || (texts[index] ?? 0) <= share) return { part, isWhole: true }
    return cutPart(part, keeps, { bytesMax: share, budgetBytes: options.bytesMax })
  })
  return {
    content: kept.flatMap(({ part }) => (part === undefined ? [] : [part])),
    cut: partsCut(parts, kept, options, more),
  }
}

/** Three bytes a UTF-16 unit is the most that UTF-8 takes; one short text needs no measuring. */
function surelyFits(parts: readonly ContentPart[], bytesMax: number): boolean {
  const [only] = parts
  return parts.length === 1 && only?.type === 'text' && only.text.length * 3 <= bytesMax && !hasMore(only, 2)
}

const isMedia = (part: ContentPart): boolean =>
  part.type === 'image' || part.type === 'audio' || (part.type === 'resource' && part.resource.blob !== undefined)

/** Places of what is too large, or one too many. */
function withheldMedia(parts: readonly ContentPart[]): ReadonlySet<number> {
  const withheld = new Set<number>()
  let left = MEDIA_BYTES_OF_ALL_MAX
  for (const [index, part] of parts.entries()) {
    if (index >= PARTS_MAX) withheld.add(index)
    if (!isMedia(part)) continue
    const bytes = partBytes(part)
    if (bytes > MEDIA_BYTES_MAX || bytes > left) withheld.add(index)
    else left -= bytes
  }
  return withheld
}

type KeptPart = { readonly part: ContentPart | undefined; readonly isWhole: boolean; readonly cut?: TextCut }

const WITHHELD: KeptPart = { part: undefined, isWhole: false }

type PartBounds = { readonly bytesMax: number; readonly budgetBytes: number }

function cutPart(part: ContentPart, keeps: 'start' | 'ends', bounds: PartBounds): KeptPart {
  if (part.type === 'text') {
    // Only what it carries besides its text is too large.
    if (utf8Bytes(part.text) <= bounds.bytesMax) return { part: textPart(part.text), isWhole: false }
    const cut = cutText(part.text, keeps, bounds)
    return { part: cut.text === '' ? undefined : textPart(cut.text), isWhole: false, cut }
  }
  if (part.type !== 'resource' || part.resource.text === undefined) return WITHHELD
  const { text, ...rest } = part.resource
  const frame = partBytes({ type: 'resource', resource: { ...rest, text: '' } })
  // As JSON a text may take more bytes than by itself.
  for (let bytesMax = bounds.bytesMax - frame; bytesMax > 0; bytesMax = Math.floor(bytesMax / 2)) {
    const cut = cutText(text, keeps, { ...bounds, bytesMax })
    const kept: ContentPart = { type: 'resource', resource: { ...rest, text: cut.text } }
    if (cut.text !== '' && partBytes(kept) <= bounds.bytesMax) return { part: kept, isWhole: false, cut }
  }
  return WITHHELD
}

function partsCut(
  parts: readonly ContentPart[],
  kept: readonly KeptPart[],
  { layer }: FitOptions,
  more: ((lines: number) => string) | undefined,
): Cut {
  const common = {
    layer,
    originalBytes: sumOf(parts),
    keptBytes: sumOf(kept.flatMap(({ part }) => (part === undefined ? [] : [part]))),
    withheld: parts.filter((_part, index) => kept[index]?.part === undefined).map(({ type }) => type),
  }
  const [only] = parts
  const cut = kept[0]?.cut
  if (parts.length === 1 && only?.type === 'text' && cut !== undefined) {
    const lines = cut.kept[0]?.to ?? 0
    const own = more !== undefined && cut.unit === 'lines' && cut.kept.length === 1 ? { more: more(lines) } : {}
    const whole: Whole = { mediaType: 'text/plain', content: only.text }
    return { ...common, withheld: [], unit: cut.unit, originalUnits: cut.units, kept: cut.kept, whole, ...own }
  }
  const whole = parts.every((part) => part.type === 'text' && !hasMore(part, 2)) ? wholeText(parts) : wholeParts(parts)
  return { ...common, unit: 'parts', originalUnits: parts.length, kept: wholeRanges(kept), whole }
}

const wholeText = (parts: readonly ContentPart[]): Whole => ({
  mediaType: 'text/plain',
  content: parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n'),
})

const wholeParts = (parts: readonly ContentPart[]): Whole => ({
  mediaType: 'application/json',
  content: JSON.stringify(parts),
})

function wholeRanges(kept: readonly KeptPart[]): Truncation['kept'] {
  const ranges: { from: number; to: number }[] = []
  for (const [index, { isWhole }] of kept.entries()) {
    const last = ranges.at(-1)
    if (!isWhole) continue
    if (last?.to === index) last.to = index + 1
    else ranges.push({ from: index, to: index + 1 })
  }
  return ranges
}

const sumOf = (parts: readonly ContentPart[]): number => parts.reduce((sum, part) => sum + partBytes(part), 0)

/** Bytes of a part as a model gets it. What else a part carries counts too, as JSON. */
export function partBytes(part: ContentPart): number {
  if (part.type === 'text') return utf8Bytes(part.text) + (hasMore(part, 2) ? bytesOfRest({ ...part, text: '' }) : 0)
  if (part.type === 'image' || part.type === 'audio')
    return part.data.length + part.mimeType.length + (hasMore(part, 3) ? bytesOfRest({ ...part, data: '' }) : 0)
  return utf8Bytes(JSON.stringify(part))
}

const hasMore = (part: ContentPart, members: number): boolean => Object.keys(part).length > members

const bytesOfRest = (part: ContentPart): number => utf8Bytes(JSON.stringify(part))

/** Bytes that count against the budget of text. */
export const textBytes = (content: readonly ContentPart[]): number =>
  content.reduce((sum, part) => (isMedia(part) ? sum : sum + partBytes(part)), 0)
