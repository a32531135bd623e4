// Equality of JSON values, paid for by the step: key order does not matter, 1 and 1.0 are one number, and a list is
// searched for equal items in one pass, not pair by pair.

import { canonicalJson, isJsonArray, type JsonObject, type JsonValue } from '../../base/json-value.ts'
import type { CheckRun } from './check-run.ts'

/** True where two values are equal. Costs no more than the smaller of them. */
export function equalJson(left: JsonValue, right: JsonValue, run: CheckRun): boolean {
  run.stepsLeft--
  if (typeof left !== 'object' || left === null || typeof right !== 'object' || right === null) return left === right
  if (isJsonArray(left)) return isJsonArray(right) && equalArrays(left, right, run)
  return !isJsonArray(right) && equalObjects(left, right, run)
}

function equalArrays(left: readonly JsonValue[], right: readonly JsonValue[], run: CheckRun): boolean {
  if (left.length !== right.length) return false
  for (let index = 0; index < left.length; index++) {
    if (!equalJson(left[index] ?? null, right[index] ?? null, run)) return false
  }
  return true
}

function equalObjects(left: JsonObject, right: JsonObject, run: CheckRun): boolean {
  const names = run.namesOf(left)
  if (names === undefined || names.length !== Object.keys(right).length) return false
  for (const name of names) {
    if (!Object.hasOwn(right, name) || !equalJson(left[name] ?? null, right[name] ?? null, run)) return false
  }
  return true
}

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
    run.stepsLeft -= text.length
    if (texts.has(text)) return true
    if (run.stepsLeft < 0) {
      run.isExhausted = true
      return true
    }
    texts.add(text)
  }
  return false
}
