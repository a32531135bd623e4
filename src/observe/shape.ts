// From an ending to the one outcome: what the model reads, what a person sees, what programs get, and what is known of
// the call. A `present` that fails loses its own rendering and nothing else.

import type { Clock } from '../base/clock.ts'
import type { Call, Ending } from '../describe/call.ts'
import { type ContentPart, type Display, isContentPart, readDisplay, textPart } from '../describe/content.ts'
import { summaryOf } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import type { Outcome, OutcomeMeta, Truncation } from '../describe/outcome.ts'
import { fitContent, partBytes } from './fit-content.ts'

export type ShapeParts = { readonly clock: Clock; readonly resultBytes: number }

/** Never throws: content that cannot be read is left out and said, and value, error and effect stay what they are. */
export function shapeOutcome(call: Call, ending: Ending, parts: ShapeParts): Outcome {
  try {
    return shape(call, ending, parts)
  } catch {
    return shape(call, withoutContent(ending), parts)
  }
}

const withoutContent = (ending: Ending): Ending =>
  ending.kind === 'failure'
    ? { kind: 'failure', error: ending.error }
    : { kind: 'value', value: ending.value, content: [textPart('done; the content of the result cannot be shown')] }

function shape(call: Call, ending: Ending, { clock, resultBytes }: ShapeParts): Outcome {
  const { entry } = call.trail
  const shown =
    ending.kind === 'value'
      ? present(ending, entry)
      : { content: readContent(ending.content) ?? [textPart(ending.error.message)] }
  const remarks = remarkParts(call)
  const bytesMax = Math.min(resultBytes, entry?.tool.limits?.resultBytes ?? resultBytes)
  // INVARIANT said-remark: what the gate itself remarks is taken off the budget first, and never cut.
  const fitted = fitContent(shown.content, bytesMax - remarks.reduce((sum, part) => sum + partBytes(part), 0))
  const { truncated } = fitted
  const content = remarks.length === 0 ? fitted.content : [...fitted.content, ...remarks]
  const elapsedMs = clock.monotonic() - call.openedMonotonicMs
  const meta = metaOf(call, truncated)
  const seen = shown.display === undefined ? undefined : { display: fitDisplay(shown.display) }
  if (ending.kind === 'value') return { ok: true, value: ending.value, content, elapsedMs, meta, ...seen }
  return { ok: false, error: ending.error, content, elapsedMs, meta, ...seen }
}

const remarkParts = ({ trail }: Call): readonly ContentPart[] =>
  trail.remark === undefined ? [] : [textPart(trail.remark)]

type Shown = { readonly content: readonly ContentPart[]; readonly display?: Display }

/** A rendering that fails, or that is no content, falls back to the value as text; the effect stays what it was. */
function present({ content, display, value }: Ending & { kind: 'value' }, entry: Entry | undefined): Shown {
  const shown = content === undefined ? presented(value, entry) : readShown({ content, display })
  return shown ?? { content: [textPart(asText(value))] }
}

function presented(value: unknown, entry: Entry | undefined): Shown | undefined {
  if (entry?.tool.present === undefined) return undefined
  try {
    return readShown(entry.tool.present(value))
  } catch {
    return undefined
  }
}

/** What an author answered, as a copy: what is read once is what goes out. */
function readShown(shown: unknown): Shown | undefined {
  if (typeof shown !== 'object' || shown === null || !('content' in shown)) return undefined
  const content = readContent(shown.content)
  if (content === undefined) return undefined
  const display = 'display' in shown ? readDisplay(shown.display) : undefined
  return display === undefined ? { content } : { content, display }
}

function readContent(content: unknown): readonly ContentPart[] | undefined {
  if (!Array.isArray(content)) return undefined
  const parts: unknown[] = content.map((part: unknown) =>
    typeof part === 'object' && part !== null ? { ...part } : part,
  )
  return parts.every(isContentPart) ? parts : undefined
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value) ?? 'done'
  } catch {
    return 'done; the value cannot be shown as JSON'
  }
}

/** Characters of a display; it has a cap of its own and is no part of what the model reads. */
const DISPLAY_CHARACTERS_MAX = 256 * 1024

function fitDisplay(display: Display): Display {
  if (display.kind === 'table') return display
  if (display.text.length <= DISPLAY_CHARACTERS_MAX) return display
  const text = `${display.text.slice(0, DISPLAY_CHARACTERS_MAX)}\n[cut for display: ${DISPLAY_CHARACTERS_MAX} of ${display.text.length} characters]`
  return { ...display, text }
}

type Growing<Shape> = { -readonly [Key in keyof Shape]: Shape[Key] }

function metaOf(call: Call, truncated: Truncation | undefined): OutcomeMeta {
  const { trail } = call
  const { entry, decision, input, attempts, approvalId, grantId, remark } = trail
  const { id, name, parent, ticket } = call.request
  const meta: Growing<OutcomeMeta> = { callId: call.id, runId: call.runId, tool: name, attempts }
  if (id !== undefined) meta.id = id
  if (ticket !== undefined) meta.position = ticket.position
  if (parent !== undefined) meta.parent = parent.id
  if (entry !== undefined) {
    meta.version = entry.tool.version
    meta.source = entry.source
    meta.fingerprint = entry.fingerprint
    meta.place = trail.place?.place ?? entry.tool.place ?? 'process'
  }
  if (decision !== undefined) meta.decision = summaryOf(decision)
  if (approvalId !== undefined) meta.approval = approvalId
  if (grantId !== undefined) meta.grant = grantId
  if (remark !== undefined) meta.remark = remark
  if (input !== undefined) meta.effect = input.effect
  if (trail.startedAtMs !== undefined) {
    meta.openedAtMs = call.openedAtMs
    meta.startedMs = Math.max(0, trail.startedAtMs - call.openedAtMs)
    if (trail.endedAtMs !== undefined) meta.endedMs = Math.max(meta.startedMs, trail.endedAtMs - call.openedAtMs)
  }
  if (trail.cachedFrom !== undefined) meta.cached = trail.cachedFrom
  if (trail.replayOf !== undefined) meta.replayOf = trail.replayOf
  if (trail.limitsHit !== undefined) meta.limitsHit = trail.limitsHit
  if (truncated !== undefined) meta.truncated = truncated
  return meta
}
