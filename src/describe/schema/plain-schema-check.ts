// The check of a plain JSON Schema. The value comes back as it was given: nothing is coerced, filled in or left out.

import { canonicalJson, type JsonValue } from '../../base/json-value.ts'
import { brokenSchema, type CheckResult, invalid, tooCostly } from './check-result.ts'
import { type Check, CheckRun, type FoundIssue } from './check-run.ts'
import { compileSchema } from './compile-schema.ts'
import type { LintedSchema } from './lint-schema.ts'

/** Steps that any value may cost, and steps more for each character of its text. A step takes 20 to 100 ns. */
const STEPS_MIN = 500_000
const STEPS_PER_CHARACTER = 4
/** Steps for finding words: the verdict is known by then. */
const STEPS_FOR_ISSUES = 50_000

/** `whole` names the value in messages. The schema is compiled by the first check that needs it. */
export function plainSchemaCheck(
  linted: LintedSchema,
  whole: string,
): (value: JsonValue, text?: string) => CheckResult {
  let compiled: Check | undefined
  return (value, text = canonicalJson(value)) => {
    try {
      compiled ??= compileSchema(linted)
      return judge(compiled, value, text, whole)
    } catch (error) {
      // INVARIANT closed: a check that breaks refuses.
      return error instanceof RangeError ? tooCostly(whole) : brokenSchema(String(error))
    }
  }
}

function judge(check: Check, value: JsonValue, text: string, whole: string): CheckResult {
  const stepsMax = STEPS_MIN + STEPS_PER_CHARACTER * text.length
  const run = new CheckRun(stepsMax)
  const holds = check(value, run)
  if (run.isExhausted || run.stepsLeft < 0) return tooCostly(whole)
  if (holds) return { kind: 'ok', value, text }
  return invalid(issuesOf(check, value), whole)
}

/** A second run collects what does not fit; the first one only decided. */
function issuesOf(check: Check, value: JsonValue): readonly FoundIssue[] {
  const issues: FoundIssue[] = []
  const run = new CheckRun(STEPS_FOR_ISSUES, issues)
  check(value, run)
  return issues.length > 0
    ? issues
    : [{ path: '', expected: 'a value that fits the schema', came: 'another', isLiteral: false, depth: 0 }]
}
