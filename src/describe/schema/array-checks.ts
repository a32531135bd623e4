// The constraints on the items of an array.

import { isJsonArray, type JsonObject, type JsonValue } from '../../base/json-value.ts'
import type { Check } from './check-run.ts'
import type { Compiler } from './compiler.ts'
import { expectedText } from './expected-text.ts'

export function arrayChecks(schema: JsonObject, compiler: Compiler): readonly Check[] {
  const { contains } = schema
  const checks = [...itemChecks(schema, compiler)]
  if (contains !== undefined) checks.push(containsCheck(schema, contains, compiler))
  return checks
}

/** Both spellings: `prefixItems` with `items` for the rest, and before 2020-12 a list of `items` with `additionalItems`. */
function itemChecks(schema: JsonObject, { compile }: Compiler): readonly Check[] {
  const { items, prefixItems, additionalItems } = schema
  const list = items !== undefined && isJsonArray(items) ? items : undefined
  const first = (list ?? (prefixItems !== undefined && isJsonArray(prefixItems) ? prefixItems : [])).map(compile)
  const restSchema = list === undefined ? items : additionalItems
  if (first.length === 0 && restSchema === undefined) return []
  const rest = restSchema === undefined || isJsonArray(restSchema) ? undefined : compile(restSchema)
  const isClosed = restSchema === false
  return [
    (value, run) => {
      if (!isJsonArray(value)) return true
      let holds = true
      const judgedTo = rest === undefined ? Math.min(first.length, value.length) : value.length
      if (isClosed && value.length > first.length)
        return run.fail(() => `an array of at most ${first.length} items`, value)
      for (let index = 0; index < judgedTo; index++) {
        const check = first[index] ?? rest
        if (check === undefined || run.below(index, check, value[index] ?? null)) continue
        holds = false
        if (run.issues === undefined) return false
      }
      if (run.judged !== undefined) run.judged.itemsTo = Math.max(run.judged.itemsTo, judgedTo)
      return holds
    },
  ]
}

function containsCheck(schema: JsonObject, contains: JsonValue, { compile, linted }: Compiler): Check {
  const check = compile(contains)
  const least = typeof schema.minContains === 'number' ? schema.minContains : 1
  const most = typeof schema.maxContains === 'number' ? schema.maxContains : Number.POSITIVE_INFINITY
  // Only 2020-12 counts an item that `contains` found as judged.
  const marks = linted.dialect === 'draft-2020-12'
  const expected = (): string => {
    const count = most === Number.POSITIVE_INFINITY ? `at least ${least}` : `${least} to ${most}`
    return `an array in which ${count} of the items are ${expectedText(contains)}`
  }
  return (value, run) => {
    if (!isJsonArray(value)) return true
    let found = 0
    const { judged } = run
    run.judged = undefined
    const matching: number[] = []
    for (const [index, item] of value.entries()) {
      if (!run.pay(1)) break
      if (!run.apart(check, item)) continue
      found++
      if (marks && judged !== undefined) matching.push(index)
      if (judged === undefined && (found > most || (found >= least && most === Number.POSITIVE_INFINITY))) break
    }
    run.judged = judged
    if (run.isExhausted) return false
    for (const index of matching) run.note(index)
    return (found >= least && found <= most) || run.fail(expected, value)
  }
}
