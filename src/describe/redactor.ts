// What takes secrets out of texts and values before anybody outside holds them. The rooms that meet raw results are given
// one; how secrets are told is `observe/redact`'s. A secret is replaced by `[redacted:name]`, where `name` says which kind it is.

/** `names`: the kinds of secrets that were replaced, each once, in the order found. None: `value` is the very one that came. */
export type Redacted<Value> = { readonly value: Value; readonly names: readonly string[] }

/**
 * Text that comes in pieces. A secret that begins in one piece and ends in another is found all the same: what could still be
 * the beginning of one is held back until it is decided.
 */
export interface RedactedStream {
  /** What may go out now; it may be empty, and it may hold the end of earlier pieces. */
  push(piece: string): string
  /** The rest. Nothing may be pushed after it. */
  end(): string
  readonly names: readonly string[]
}

export interface Redactor {
  text(text: string): Redacted<string>
  /**
   * A value as JSON has it: texts in it, and whatever stands under a secret-named key. Copies only what it changes, and keeps
   * the shape. What is no JSON is left as it is.
   */
  json<Value>(value: Value): Redacted<Value>
  /** The same for JSON text, and JSON text again. For what is written for every call: nothing is parsed where nothing is found. */
  jsonText(text: string): Redacted<string>
  stream(): RedactedStream
}

const NOTHING: readonly string[] = Object.freeze([])

/** Finds nothing. For rooms that are tried alone. */
export const NO_REDACTION: Redactor = Object.freeze({
  text: (text: string) => ({ value: text, names: NOTHING }),
  json: <Value>(value: Value) => ({ value, names: NOTHING }),
  jsonText: (text: string) => ({ value: text, names: NOTHING }),
  stream: () => ({ push: (piece: string) => piece, end: () => '', names: NOTHING }),
})
