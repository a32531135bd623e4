// Which part of a value a client is given as structured beside the content: all of it where the tool has an output schema; of
// an upstream tool without one, what its server gave so.

import { isJsonObject } from '../base/json-value.ts'

/** Undefined where there is nothing structured to give. */
export function structuredOf(
  value: unknown,
  { hasSchema, isUpstream }: { readonly hasSchema: boolean; readonly isUpstream: boolean },
): { readonly value: unknown } | undefined {
  if (hasSchema) return { value }
  if (!isUpstream || !isJsonObject(value)) return undefined
  if (!Object.hasOwn(value, 'content') || !Object.hasOwn(value, 'structuredContent')) return undefined
  return { value: value.structuredContent }
}
