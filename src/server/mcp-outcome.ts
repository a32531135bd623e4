// An outcome as MCP says it. A failed call is a result that says so, in text for the model and as a typed error beside
// it; only an unknown tool is an error of the protocol. What is meant for the operator never leaves here.

import { type ContentPart, textPart } from '../describe/content.ts'
import type { DeclaredEffect } from '../describe/effect.ts'
import type { ToolListing } from '../describe/entry.ts'
import type { Outcome, OutcomeError } from '../describe/outcome.ts'
import { outcomeError } from '../describe/refused.ts'
import { structuredOf } from '../describe/structured-value.ts'

export const ERROR_META = 'dev.lockgate/error'

export type McpResult = {
  readonly content: readonly ContentPart[]
  readonly structuredContent?: unknown
  readonly isError?: true
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type McpAnswer =
  | { readonly kind: 'result'; readonly result: McpResult }
  | { readonly kind: 'unknown-tool'; readonly message: string }

export function mcpAnswer(outcome: Outcome, listing: ToolListing | undefined): McpAnswer {
  if (outcome.ok) {
    return { kind: 'result', result: resultOf(outcome, listing) }
  }
  const { error } = outcome
  if (error.type === 'not_found') return { kind: 'unknown-tool', message: error.message }
  const content = outcome.content.length > 0 ? outcome.content : [{ type: 'text' as const, text: error.message }]
  return { kind: 'result', result: { content, isError: true, _meta: { [ERROR_META]: publicError(error) } } }
}

/**
 * The structured value stands beside the content: where it is too large for that the content says so, and where nobody wrote any
 * content it is its text.
 */
function resultOf(outcome: Outcome & { ok: true }, listing: ToolListing | undefined): McpResult {
  const { content, meta, value } = outcome
  const structured = structuredOf(value, {
    hasSchema: listing?.outputSchema !== undefined,
    isUpstream: meta.place === 'upstream',
  })
  if (structured === undefined) return { content }
  // Clients refuse a result without the structure that the tool has a schema for, unless it is an error.
  if (meta.valueTooLarge === true)
    return listing?.outputSchema === undefined
      ? { content }
      : { content, isError: true, _meta: { [ERROR_META]: tooLarge(meta.effect) } }
  const twin = content.length > 0 ? content : [textPart(JSON.stringify(structured.value) ?? 'done')]
  return { content: twin, structuredContent: structured.value }
}

const tooLarge = (effect: DeclaredEffect | undefined): OutcomeError =>
  outcomeError(
    'oversized',
    'the call was done; its structured value is larger than what is sent beside the content, and is left out',
    {
      effect: effect === 'read' ? 'none' : 'done',
      retry: { advice: 'never' },
    },
  )

/** Without `help`, which names rules, files and lines. */
export function publicError({
  type,
  message,
  retry,
  effect,
  fatal,
  details,
}: OutcomeError): Omit<OutcomeError, 'help'> {
  return { type, message, retry, effect, fatal, ...(details === undefined ? {} : { details }) }
}
