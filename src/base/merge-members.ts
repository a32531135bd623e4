// One object of two that speak of the same thing. A member that both have as an object is joined in turn, one level deep;
// of any other the second one counts. It changes neither.

import { isJsonObject, type JsonObject, type JsonValue } from './json-value.ts'

export function mergeMembers(first: JsonObject, second: JsonObject): JsonObject {
  // By entries, so that a member called `__proto__` stays one.
  return Object.fromEntries([
    ...Object.entries(first).map(([name, value]): [string, JsonValue] => [name, joined(value, own(second, name))]),
    ...Object.entries(second).filter(([name]) => !Object.hasOwn(first, name)),
  ])
}

const own = (object: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined

function joined(value: JsonValue, other: JsonValue | undefined): JsonValue {
  if (other === undefined) return value
  if (!isJsonObject(value) || !isJsonObject(other)) return other
  return Object.fromEntries([...Object.entries(value), ...Object.entries(other)])
}
