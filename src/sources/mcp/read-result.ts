// Reads a `tools/call` result: content that is MCP's comes through part by part as it is; anything else is no result. No
// link in it is followed, and nothing is repaired.

import { isJsonObject } from '../../base/json-value.ts'
import { type ContentPart, textPart } from '../../describe/content.ts'
import type { Presentation } from '../../describe/tool.ts'

export type CallResult =
  | {
      readonly kind: 'ok'
      readonly content: readonly ContentPart[]
      readonly structured: unknown
      readonly isError: boolean
    }
  | { readonly kind: 'malformed'; readonly reason: string }

export function readResult(result: unknown): CallResult {
  if (!isJsonObject(result)) return { kind: 'malformed', reason: 'the result is no object' }
  const { content, structuredContent: structured, isError = false } = result
  if (typeof isError !== 'boolean') return { kind: 'malformed', reason: '`isError` is neither true nor false' }
  // Some servers leave the content out where there is structured content; without either there is no answer.
  if (content === undefined && structured !== undefined) return { kind: 'ok', content: [], structured, isError }
  if (!Array.isArray(content)) return { kind: 'malformed', reason: '`content` is no list' }
  const parts: ContentPart[] = []
  for (const [index, part] of content.entries()) {
    if (!isContentPart(part)) return { kind: 'malformed', reason: `\`content[${index}]\` is no content of MCP` }
    parts.push(part)
  }
  return { kind: 'ok', content: parts, structured, isError }
}

function isContentPart(part: unknown): part is ContentPart {
  if (!isJsonObject(part)) return false
  switch (part.type) {
    case 'text':
      return typeof part.text === 'string'
    case 'image':
    case 'audio':
      return isBase64(part.data) && typeof part.mimeType === 'string'
    case 'resource_link':
      return typeof part.uri === 'string' && typeof part.name === 'string' && isTextOrAbsent(part.mimeType)
    case 'resource':
      return isResource(part.resource)
    default:
      return false
  }
}

function isResource(resource: unknown): boolean {
  if (!isJsonObject(resource) || typeof resource.uri !== 'string' || !isTextOrAbsent(resource.mimeType)) return false
  return typeof resource.text === 'string' || isBase64(resource.blob)
}

/** RFC 4648, section 4; padding may be missing. */
const isBase64 = (value: unknown): boolean =>
  typeof value === 'string' && value.length % 4 !== 1 && /^[A-Za-z0-9+/]*={0,2}$/.test(value)

const isTextOrAbsent = (value: unknown): boolean => value === undefined || typeof value === 'string'

/** Content of a value without an output schema: what its server said, or else the text of the structured part. */
export function presentAnswer(value: unknown): Presentation {
  const { content, structuredContent } = isJsonObject(value) ? value : {}
  if (Array.isArray(content) && content.length > 0 && content.every(isContentPart)) return { content }
  return { content: [textPart(JSON.stringify(structuredContent) ?? 'done')] }
}
