// The check of a Standard Schema (zod, valibot, arktype). Such a schema may transform, so what it gives is taken as JSON
// again and must be stable: a second check of it may change nothing, or rules, approvals and records would name arguments
// that the tool does not get. A schema that breaks this rule is unavailable, and says why to its author.

import {
  canonicalJson,
  type JsonBounds,
  type JsonTaken,
  type JsonValue,
  jsonPath,
  refusalMessage,
  type TakeOptions,
  takeJson,
} from '../../base/json-value.ts'
import { brokenSchema, type CheckResult, invalid } from './check-result.ts'
import { type CheckIssue, ISSUES_MAX } from './check-run.ts'
import { describeValue, shorten } from './describe-value.ts'
import type { StandardIssue, StandardResult, StandardToolSchema } from './tool-schema.ts'

type Checked = CheckResult | Promise<CheckResult>

/** `whole` names the value in messages. A check is synchronous as long as the schema is. */
export function standardSchemaCheck(
  schema: StandardToolSchema,
  whole: string,
  bounds: JsonBounds,
  options: TakeOptions,
): (value: JsonValue, text?: string) => Checked {
  const standard = schema['~standard']
  const validate = (value: JsonValue, next: (result: StandardResult<unknown>) => Checked): Checked => {
    try {
      const result = standard.validate(value)
      return 'then' in result ? Promise.resolve(result).then(next).catch(broke) : next(result)
    } catch (error) {
      return broke(error)
    }
  }
  const again = (first: JsonTaken): Checked =>
    validate(first.value, (result) => {
      const second = result.issues === undefined ? takeJson(result.value, bounds, options) : undefined
      if (second?.kind === 'ok' && second.text === first.text) return first
      return brokenSchema(
        `${whole}: the schema changes what it has checked once more when it checks it again; make its transformations stable`,
      )
    })
  return (value, text) =>
    validate(value, (result) => {
      if (result.issues !== undefined) return invalidBy(result.issues, value, whole)
      const taken = takeJson(result.value, bounds, options)
      if (taken.kind === 'refused')
        return brokenSchema(`what the schema gives is no JSON: ${refusalMessage(taken, whole)}`)
      return taken.text === (text ?? canonicalJson(value)) ? taken : again(taken)
    })
}

// INVARIANT closed: a check that breaks refuses.
const broke = (error: unknown): CheckResult =>
  brokenSchema(`the schema threw: ${shorten(error instanceof Error ? error.message : String(error))}`)

const MESSAGE_MAX = 200

/** The library's own words say what was expected. */
function invalidBy(issues: readonly StandardIssue[], value: JsonValue, whole: string): CheckResult {
  const told = issues.slice(0, ISSUES_MAX).map((issue) => issueOf(issue, value))
  return invalid(told, whole, (expected) => expected)
}

function issueOf({ message, path = [] }: StandardIssue, value: JsonValue): CheckIssue {
  const keys = path.map((step) => (typeof step === 'object' ? step.key : step))
  const steps = keys.map((key) => (typeof key === 'symbol' ? String(key) : key))
  const words = `${String(message).slice(0, 1).toLowerCase()}${String(message).slice(1)}`
  const expected = words.length > MESSAGE_MAX ? `${words.slice(0, MESSAGE_MAX)}…` : words
  return { path: jsonPath(steps), expected, came: describeAt(value, steps) }
}

function describeAt(value: JsonValue, steps: readonly (string | number)[]): string {
  let here: unknown = value
  for (const step of steps) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return 'nothing'
    here = (here as Readonly<Record<string | number, unknown>>)[step]
  }
  return describeValue(here as JsonValue)
}
