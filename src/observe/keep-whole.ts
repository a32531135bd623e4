// How shaping asks for the whole of what it cuts to be kept, and what it may promise to the model then.

import type { Call } from '../describe/call.ts'

/** The whole of which a part is shown, settled and redacted. */
export type Whole = {
  /** `application/json` for a value, `text/plain` for text, or what a part says of itself. */
  readonly mediaType: string
  readonly content: string | Uint8Array
}

export type KeptWhole =
  /** Durable, and this caller may read it: `id` may be named to the model. */
  | { readonly kind: 'kept'; readonly id: string }
  /** `why` in words for the model: too large to be kept, kept for nobody, not readable by this caller. */
  | { readonly kind: 'refused'; readonly why: string }

/** Never rejects, and takes a bounded time. */
export type KeepWhole = (call: Call, whole: Whole) => Promise<KeptWhole>
