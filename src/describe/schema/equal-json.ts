// Equality of JSON values, paid for by the step: key order does not matter, 1 and 1.0 are one number, and a list is
// searched for equal items in one pass, not pair by pair.

import { canonicalJson, isJsonArray, isJsonObject, type JsonValue } from '../../base/json-value.ts'
import type { CheckRun } from './check-run.ts'

/** True where two values are equal. Costs no more than the smaller of them. */
export function equalJson(left: JsonValue, right: JsonValue, run: CheckRun): boolean {
  run.stepsLeft--
  if (left === right) return true
  if (isJsonArray(left)) {
    return (
      isJsonArray(right) &&
      left.length === right.length &&
      left.every((item, index) => equalJson(item, right[index] ?? null, run))
    )
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false
  const names = Object.keys(left)
  if (names.length !== Object.keys(right).length) return false
  return names.every((name) => Object.hasOwn(right, name) && equalJson(left[name] ?? null, right[name] ?? null, run))
}

/** Characters of canonical text that one step pays for. */
const CHARACTERS_PER_STEP = 2

/** True where two items of a list are equal. Linear in the text of the list. */
export function hasEqualItems(items: readonly JsonValue[], run: CheckRun): boolean {
  const scalars = new Set<JsonValue>()
  const texts = new Set<string>()
  run.stepsLeft -= items.length
  for (const item of items) {
    if (typeof item !== 'object' || item === null) {
      if (scalars.has(item)) return true
      scalars.add(item)
      continue
    }
    const text = canonicalJson(item)
    run.stepsLeft -= Math.trunc(text.length / CHARACTERS_PER_STEP)
    if (texts.has(text)) return true
    if (run.stepsLeft < 0) {
      run.isExhausted = true
      return true
    }
    texts.add(text)
  }
  return false
}
