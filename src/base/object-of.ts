// Reads text that should be the JSON text of an object. It believes nothing: what is none is empty.

import { isJsonObject, type JsonObject } from './json-value.ts'

export function objectOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}
