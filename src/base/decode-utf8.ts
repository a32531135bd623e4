// Reads bytes as UTF-8 and nothing else: bytes that are no UTF-8 have no text, so that nobody decides on a repaired one.

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text; undefined for bytes that are not well-formed UTF-8. A byte order mark stays and is for the reader to refuse. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
