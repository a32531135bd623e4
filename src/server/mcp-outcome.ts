// An outcome as MCP says it. A failed call is a result that says so, in text for the model and as a typed error beside
// it; only an unknown tool is an error of the protocol. What is meant for the operator never leaves here.

import type { ContentPart } from '../describe/content.ts'
import type { ToolListing } from '../describe/entry.ts'
import type { Outcome, OutcomeError } from '../describe/outcome.ts'

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
    const structured = listing?.outputSchema === undefined ? {} : { structuredContent: outcome.value }
    return { kind: 'result', result: { content: outcome.content, ...structured } }
  }
  const { error } = outcome
  if (error.type === 'not_found') return { kind: 'unknown-tool', message: error.message }
  const content = outcome.content.length > 0 ? outcome.content : [{ type: 'text' as const, text: error.message }]
  return { kind: 'result', result: { content, isError: true, _meta: { [ERROR_META]: publicError(error) } } }
}

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
