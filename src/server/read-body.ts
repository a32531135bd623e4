// Reads the body of a request: bounded bytes of a JSON media type, UTF-8, and JSON that every reader reads alike. What
// does not hold is refused here, before any other code looks at it.

import { decodeUtf8 } from '../base/decode-utf8.ts'
import { parseJsonText } from '../base/json-text.ts'
import type { JsonValue } from '../base/json-value.ts'

/** Bytes of one request, as MCP messages may have. */
export const BODY_BYTES_MAX = 4 * 1024 * 1024
/** Arguments are bounded more narrowly by the gate; these bounds also hold what is around them. */
const MESSAGE_BOUNDS = { bytesMax: BODY_BYTES_MAX, depthMax: 80, keysMax: 20_000 } as const

export type BodyRead =
  | { readonly kind: 'ok'; readonly value: JsonValue }
  | { readonly kind: 'refused'; readonly why: 'media-type' | 'too-large' | 'malformed'; readonly reason: string }

export async function readJsonBody(request: Request): Promise<BodyRead> {
  if (!isJsonMediaType(request.headers.get('content-type')))
    return { kind: 'refused', why: 'media-type', reason: 'expected the media type application/json' }
  const bytes = await readBytes(request)
  if (bytes === undefined)
    return { kind: 'refused', why: 'too-large', reason: `expected at most ${BODY_BYTES_MAX} bytes` }
  return readJsonBytes(bytes)
}

/** The same for bytes that are already there. */
export function readJsonBytes(bytes: Uint8Array): BodyRead {
  const text = decodeUtf8(bytes)
  if (text === undefined) return { kind: 'refused', why: 'malformed', reason: 'expected UTF-8' }
  const parsed = parseJsonText(text, MESSAGE_BOUNDS)
  return parsed.kind === 'ok'
    ? { kind: 'ok', value: parsed.value }
    : { kind: 'refused', why: parsed.code === 'oversized' ? 'too-large' : 'malformed', reason: parsed.message }
}

/** Media types compare without regard to case, and may have parameters (RFC 9110, 8.3.1); JSON is UTF-8 only. */
export function isJsonMediaType(header: string | null): boolean {
  if (header === null) return false
  const [type = '', ...parameters] = header.split(';')
  if (type.trim().toLowerCase() !== 'application/json') return false
  return parameters.every(
    (parameter) => !/^\s*charset\s*=/i.test(parameter) || /^\s*charset\s*=\s*"?utf-8"?\s*$/i.test(parameter),
  )
}

/** Undefined once more has come than a body may have. */
async function readBytes(request: Request): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > BODY_BYTES_MAX) return undefined
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body) {
    length += chunk.length
    if (length > BODY_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
