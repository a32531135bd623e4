// What a model reads and what a person sees of an ending, before anything is cut: what the tool gave beside its value, what its
// own `present` makes of it, or else a default shape. A `present` that fails loses its own rendering and nothing else.

import { hasControls, plainTerminalText } from '../../base/terminal-text.ts'
import type { Ending } from '../../describe/call.ts'
import { type ContentPart, type Display, isContentPart, readDisplay, textPart } from '../../describe/content.ts'
import type { Entry } from '../../describe/entry.ts'
import type { Body, Shown } from './shaped.ts'
import { rowCount, tableShape } from './table-shape.ts'

export type ShownParts = {
  readonly entry: Entry | undefined
  /** The JSON text of the value, where it is known already. */
  readonly text: string | undefined
  /** Takes the secrets out of what a `present` made. */
  readonly clean: (shown: Shown) => Shown
}

export function shownOf(ending: Ending, { entry, text, clean }: ShownParts): Shown {
  if (ending.kind === 'failure') return shownFailure(ending)
  const { content, display, value } = ending
  const shown = content === undefined ? presented(value, entry, clean) : readShown({ content, display })
  return shown ?? defaultShape(value, text)
}

/** Of a failure its end says as much as its beginning. */
function shownFailure({ content, display: given, error }: Ending & { kind: 'failure' }): Shown {
  const display = readDisplay(given)
  const read = readContent(content) ?? [textPart(wellFormed(error.message))]
  const parts = display?.kind === 'terminal' ? read.map(withoutControls) : read
  const body: Body = { kind: 'parts', parts, keeps: 'ends' }
  return display === undefined ? { body } : { body, display }
}

function presented(value: unknown, entry: Entry | undefined, clean: ShownParts['clean']): Shown | undefined {
  if (entry?.tool.present === undefined) return undefined
  try {
    const shown = readShown(entry.tool.present(value))
    return shown === undefined ? undefined : clean(shown)
  } catch {
    return undefined
  }
}

/** What an author answered, as a copy: what is read once is what goes out. */
function readShown(shown: unknown): Shown | undefined {
  if (typeof shown !== 'object' || shown === null || !('content' in shown)) return undefined
  const parts = readContent(shown.content)
  if (parts === undefined) return undefined
  const display = ('display' in shown ? readDisplay(shown.display) : undefined) ?? displayOf(parts)
  const more = 'more' in shown ? readMore(shown.more) : undefined
  const isTerminal = display?.kind === 'terminal'
  const body: Body = {
    kind: 'parts',
    parts: isTerminal ? parts.map(withoutControls) : parts,
    keeps: isTerminal ? 'ends' : 'start',
    ...(more === undefined ? {} : { more }),
  }
  return display === undefined ? { body } : { body, display }
}

function readContent(content: unknown): readonly ContentPart[] | undefined {
  if (!Array.isArray(content)) return undefined
  const parts: unknown[] = content.map((part: unknown) =>
    typeof part === 'object' && part !== null ? { ...part } : part,
  )
  return parts.every(isContentPart) ? parts.map(withWholeText) : undefined
}

/** Text goes out in UTF-8, in which a surrogate that stands alone does not exist. */
function withWholeText(part: ContentPart): ContentPart {
  if (part.type === 'text') return part.text.isWellFormed() ? part : { ...part, text: part.text.toWellFormed() }
  if (part.type !== 'resource' || part.resource.text?.isWellFormed() !== false) return part
  return { ...part, resource: { ...part.resource, text: part.resource.text.toWellFormed() } }
}

const withoutControls = (part: ContentPart): ContentPart =>
  part.type === 'text' ? textPart(plainTerminalText(part.text)) : part

/** The tool's own words, as far as it has any. */
function readMore(more: unknown): ((lines: number) => string) | undefined {
  if (typeof more !== 'function') return undefined
  return (lines) => {
    const said: unknown = more(lines)
    return typeof said === 'string' ? said.slice(0, 120) : ''
  }
}

/** An image is seen by a person too, and a single link can be followed. */
function displayOf(parts: readonly ContentPart[]): Display | undefined {
  const image = parts.find((part) => part.type === 'image')
  if (image?.type === 'image') return { kind: 'image', data: image.data, mimeType: image.mimeType }
  const [only] = parts
  return parts.length === 1 && only?.type === 'resource_link'
    ? { kind: 'link', uri: only.uri, title: only.name }
    : undefined
}

/** What there is where a tool says nothing of how its values look. */
export function defaultShape(value: unknown, known?: string): Shown {
  if (typeof value === 'string') return textShape(wellFormed(value))
  let text = known
  const json = (): string => {
    text ??= jsonOf(value)
    return text
  }
  try {
    return tableShape(value, json) ?? jsonShape(value, json())
  } catch {
    return textShape('done; the value cannot be shown as JSON')
  }
}

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? 'done'

/** Text with escape sequences is what a program printed for a terminal. */
function textShape(text: string): Shown {
  const body = (shown: string, keeps: 'start' | 'ends'): Body => ({ kind: 'parts', parts: [textPart(shown)], keeps })
  if (!text.includes('\u001b') || !hasControls(text)) return { body: body(text, 'start') }
  return { body: body(plainTerminalText(text), 'ends'), display: { kind: 'terminal', text } }
}

const PRETTY_FROM = 80
const PRETTY_TO = 400

function jsonShape(value: unknown, text: string): Shown {
  const isShort = text.length > PRETTY_FROM && text.length <= PRETTY_TO
  return {
    body: { kind: 'json', text: isShort ? (JSON.stringify(value, undefined, 2) ?? text) : text, rows: rowCount(value) },
  }
}

const wellFormed = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed())
