// A structured value goes to a client beside its content. It is for programs, as the value of an outcome is, and no part of what
// a model reads; it has a cap of its own. One that is larger is left out there, and that is said; programs of the library still
// have it.

import { utf8Bytes } from '../../base/text-cut.ts'
import type { Call, Ending } from '../../describe/call.ts'
import type { ContentPart } from '../../describe/content.ts'
import { structuredOf } from '../../describe/structured-value.ts'
import type { KeptWhole, Whole } from '../keep-whole.ts'

/** Kept free for what is said of it. */
export const STRUCTURE_BYTES = 260

const PREFIX = '[the call was done; its structured value '

/** Whether an answer that is given again says it already. */
export const saysTooLarge = (part: ContentPart): boolean => part.type === 'text' && part.text.startsWith(PREFIX)

export type TooLarge = { readonly bytes: number; readonly whole: () => Whole }

/** Bytes of JSON that go to a client beside the content; never fewer than the content itself may have. */
export const STRUCTURED_BYTES_MAX = 1024 * 1024

/** Undefined where no such value goes out, or it fits. */
export function tooLargeStructure({ request, trail }: Call, ending: Ending, bytesMax: number): TooLarge | undefined {
  if (request.entrance !== 'mcp' || ending.kind !== 'value') return undefined
  const structured = structuredOf(ending.value, {
    hasSchema: trail.entry?.tool.output !== undefined,
    isUpstream: trail.entry?.tool.place === 'upstream',
  })
  if (structured === undefined) return undefined
  const known = structured.value === ending.value && typeof trail.result === 'string' ? trail.result : undefined
  const text = known ?? textOf(structured.value)
  if (text.length * 3 <= bytesMax) return undefined
  const bytes = utf8Bytes(text)
  return bytes <= bytesMax ? undefined : { bytes, whole: () => ({ mediaType: 'application/json', content: text }) }
}

export function structureNotice({ bytes }: TooLarge, kept: KeptWhole | undefined, bytesMax: number): string {
  const next = kept?.kind === 'kept' ? `; all of it: read_artifact {"id": "${kept.id}"}` : ''
  const full = `${PREFIX}has ${bytes} bytes, more than are sent beside the content, and is left out${next}]`
  if (utf8Bytes(full) <= bytesMax) return full
  const short = `${PREFIX}is left out]`
  return short.length <= bytesMax ? short : ''
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}
