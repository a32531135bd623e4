// `unevaluatedProperties` and `unevaluatedItems`: what becomes of the parts of a value that no other subschema has judged.
// They run last, when the account of the others is complete.

import { isJsonArray, isJsonObject, type JsonObject } from '../../base/json-value.ts'
import type { Check } from './check-run.ts'
import type { Compiler } from './compiler.ts'

export function unjudgedChecks(schema: JsonObject, { compile }: Compiler): readonly Check[] {
  const { unevaluatedProperties, unevaluatedItems } = schema
  const checks: Check[] = []
  if (unevaluatedProperties !== undefined)
    checks.push(unjudgedProperties(compile(unevaluatedProperties), unevaluatedProperties === false))
  if (unevaluatedItems !== undefined) checks.push(unjudgedItems(compile(unevaluatedItems)))
  return checks
}

function unjudgedProperties(check: Check, isClosed: boolean): Check {
  return (value, run) => {
    const { judged } = run
    if (!isJsonObject(value) || judged === undefined || judged.allProperties) return true
    let holds = true
    const names = run.namesOf(value)
    if (names === undefined) return false
    for (const name of names) {
      if (judged.has(name)) continue
      const fits = isClosed
        ? run.failMember(name, () => 'no further property', 'an unknown property')
        : run.below(name, check, value[name] ?? null)
      if (fits) continue
      holds = false
      if (run.issues === undefined) return false
    }
    judged.allProperties = true
    return holds
  }
}

function unjudgedItems(check: Check): Check {
  return (value, run) => {
    const { judged } = run
    if (!isJsonArray(value) || judged === undefined) return true
    if (!run.pay(Math.max(0, value.length - judged.itemsTo))) return false
    let holds = true
    for (let index = judged.itemsTo; index < value.length; index++) {
      if (judged.has(index) || run.below(index, check, value[index] ?? null)) continue
      holds = false
      if (run.issues === undefined) return false
    }
    judged.itemsTo = value.length
    return holds
  }
}
