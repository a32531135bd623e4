// Says whether a schema lets any object through, as far as its types tell. Arguments are always an object, so an input
// schema that admits none describes no tool.

import { isJsonArray, isJsonObject, type JsonValue } from '../../base/json-value.ts'
import type { LintedSchema } from './lint-schema.ts'

/** False where types, literals or `false` rule out every object. References are followed; constraints on members are not judged. */
export function admitsObjects({ root, targets }: Pick<LintedSchema, 'root' | 'targets'>): boolean {
  const admits = (schema: JsonValue): boolean => {
    if (!isJsonObject(schema)) return schema === true
    const { type, const: literal, enum: literals, allOf, anyOf, oneOf } = schema
    if (type !== undefined && !(isJsonArray(type) ? type : [type]).includes('object')) return false
    if (literal !== undefined && !isJsonObject(literal)) return false
    if (literals !== undefined && isJsonArray(literals) && !literals.some(isJsonObject)) return false
    if (allOf !== undefined && isJsonArray(allOf) && !allOf.every(admits)) return false
    for (const branches of [anyOf, oneOf]) {
      if (branches !== undefined && isJsonArray(branches) && !branches.some(admits)) return false
    }
    return (targets.get(schema) ?? []).every(admits)
  }
  return admits(root)
}
