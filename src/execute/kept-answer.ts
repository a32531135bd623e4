// An answer in the form in which it can be given again: as JSON, so that nobody who holds it can change what the next one gets.
// What is no JSON data is not kept, because its copy would be something else.

import { type JsonValue, takeJson } from '../base/json-value.ts'
import type { Ending } from '../describe/call.ts'

/** One answer, and how to make the ending of a call of it. */
export type KeptAnswer = { readonly bytes: number; readonly give: () => Ending }

/** Larger answers cost more to keep than they save. */
const BOUNDS = { depthMax: 64, keysMax: 100_000, bytesMax: 1_048_576 } as const
const AS_IT_CAME = { keyOrder: 'given', undefinedMembers: 'drop', unsafeIntegers: 'keep' } as const

/** Undefined for an answer that is not kept. */
export function keepAnswer(ending: Ending): KeptAnswer | undefined {
  if (ending.kind !== 'value') return undefined
  const { value, content, display } = ending
  const kept = value === undefined ? NOTHING : keepValue(value)
  const shown = keepShown({ content, display })
  if (kept === undefined || shown === undefined) return undefined
  const { read } = kept
  return { bytes: kept.bytes + shown.bytes, give: () => ({ kind: 'value', value: read(), ...shown.parts }) }
}

const NOTHING = { bytes: 0, read: (): unknown => undefined }

/** A value that nobody can change is shared; of every other one each call gets a copy of its own, as it would from the tool. */
function keepValue(value: unknown): { readonly bytes: number; readonly read: () => unknown } | undefined {
  const taken = takeJson(value, BOUNDS, AS_IT_CAME)
  if (taken.kind === 'refused') return undefined
  const { text, bytes } = taken
  const copy: JsonValue = taken.value
  if (typeof value !== 'object' || Object.isFrozen(value)) return { bytes, read: () => copy }
  return { bytes, read: (): unknown => JSON.parse(text) }
}

type Shown = Pick<Ending & { kind: 'value' }, 'content' | 'display'>

/** What the tool itself made of its value for its readers, where it did. Each outcome takes copies of these parts. */
function keepShown({
  content,
  display,
}: {
  readonly content: Shown['content'] | undefined
  readonly display: Shown['display'] | undefined
}): { readonly bytes: number; readonly parts: Shown } | undefined {
  if (content === undefined && display === undefined) return { bytes: 0, parts: {} }
  const taken = takeJson({ content, display }, BOUNDS, AS_IT_CAME)
  // The copy has the shape of what was copied.
  return taken.kind === 'refused' ? undefined : { bytes: taken.bytes, parts: taken.value as unknown as Shown }
}
