// What a model reads of a tool: description, what comes back and when to use it, within a byte budget that is never
// exceeded in silence.

import type { JsonObject } from '../base/json-value.ts'
import { cutToBytes, utf8Bytes } from '../base/text-cut.ts'
import { type DeclaredEffect, effectMost } from '../describe/effect.ts'
import type { ToolAnnotations, ToolListing } from '../describe/entry.ts'
import type { Guidance, Tool } from '../describe/tool.ts'

/** Bytes of everything that a model reads of one tool, schemas aside. */
export const DESCRIPTION_BYTES_MAX = 4_096

/** The listing of a tool; `cut` tells its author how much of the text did not fit. */
export function listTool(
  tool: Tool,
  inputSchema: JsonObject,
  outputSchema: JsonObject | undefined,
): { readonly listing: ToolListing; readonly cut: string | undefined } {
  const whole = describe(tool)
  const bytes = utf8Bytes(whole)
  const description = bytes > DESCRIPTION_BYTES_MAX ? cutAtSentence(whole) : whole
  const listing: ToolListing = Object.freeze({
    name: tool.name,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: annotationsOf(effectMost(tool.effect), tool.repeat === 'safe'),
  })
  if (bytes <= DESCRIPTION_BYTES_MAX) return { listing, cut: undefined }
  return {
    listing,
    cut: `the description of \`${tool.name}\` is cut: ${utf8Bytes(description)} of ${bytes} bytes are shown to models`,
  }
}

function describe({ description, returns, guidance }: Tool): string {
  const parts = [
    description,
    returns === undefined ? '' : `Returns: ${returns}`,
    ...(guidance === undefined ? [] : guide(guidance)),
  ]
  return parts.filter((part) => part !== '').join('\n')
}

function guide({ useWhen, avoidWhen, limits, instead = [] }: Guidance): readonly string[] {
  return [
    useWhen === undefined ? '' : `Use when: ${useWhen}`,
    avoidWhen === undefined ? '' : `Avoid when: ${avoidWhen}`,
    limits === undefined ? '' : `Limits: ${limits}`,
    ...instead.map(({ tool, because }) => `Instead: ${tool}, ${because}`),
  ]
}

/** Ends on the last whole sentence or line that fits, and says that something is missing. */
function cutAtSentence(text: string): string {
  const notice = '\n[cut: the rest of this description did not fit]'
  const kept = cutToBytes(text, DESCRIPTION_BYTES_MAX - utf8Bytes(notice))
  const end = Math.max(kept.lastIndexOf('. '), kept.lastIndexOf('.\n'), kept.lastIndexOf('\n'))
  return (end > kept.length / 2 ? kept.slice(0, end + 1).trimEnd() : kept) + notice
}

function annotationsOf(effect: DeclaredEffect, repeatable: boolean): ToolAnnotations {
  return Object.freeze({
    readOnlyHint: effect === 'read',
    destructiveHint: effect === 'destructive' || effect === 'undeclared',
    idempotentHint: effect === 'read' || repeatable,
    openWorldHint: effect === 'external' || effect === 'undeclared',
  })
}
