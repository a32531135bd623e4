// Turns a judged schema into a check: one function per subschema, made once, run as often as needed. Nothing is
// generated as text, so making a check costs no more than reading the schema, however hostile it is. A check changes
// nothing in the value: no defaults, no coercion.

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../base/json-value.ts'
import { arrayChecks } from './array-checks.ts'
import { bestBranch } from './best-branch.ts'
import { type Check, type CheckRun, Judged } from './check-run.ts'
import type { Compiler } from './compiler.ts'
import { expectedText } from './expected-text.ts'
import type { LintedSchema } from './lint-schema.ts'
import { objectChecks } from './object-checks.ts'
import { scalarCheck } from './scalar-checks.ts'
import { unjudgedChecks } from './unjudged-checks.ts'

/** Makes the check of a whole schema. */
export function compileSchema(linted: LintedSchema): Check {
  const compiled = new Map<JsonObject, Check>()
  const compile = (schema: JsonValue): Check => {
    if (!isJsonObject(schema)) return schema === false ? refuseAll : acceptAll
    const known = compiled.get(schema)
    if (known !== undefined) return known
    const check = compileObject(schema, { linted, compile })
    compiled.set(schema, check)
    return check
  }
  return compile(linted.root)
}

/** They pay as well: a list may ask them about each of its items. */
const acceptAll: Check = (_value, run) => run.pay(1)
const refuseAll: Check = (value, run) => run.pay(1) && run.fail(() => 'nothing here', value)
/** Of a schema without constraints, which has paid already. */
const nothingAsked: Check = () => true

function compileObject(schema: JsonObject, compiler: Compiler): Check {
  const parts = [
    ...scalarCheck(schema, compiler.linted),
    ...objectChecks(schema, compiler),
    ...arrayChecks(schema, compiler),
    ...referenceChecks(schema, compiler),
    ...compositionChecks(schema, compiler),
  ]
  const asked = unjudgedChecks(schema, compiler)
  const all = asked.length === 0 ? inTurn(parts) : tracking([...parts, ...asked])
  return (value, run) => {
    if (!run.enter()) return false
    const holds = all(value, run)
    run.leave()
    return holds
  }
}

/** One fault decides, unless all are wanted. */
function inTurn(checks: readonly Check[]): Check {
  const [first, second] = checks
  if (first === undefined) return nothingAsked
  if (second === undefined) return first
  return (value, run) => {
    let holds = true
    for (const check of checks) {
      if (check(value, run)) continue
      holds = false
      if (run.issues === undefined) return false
    }
    return holds
  }
}

/** A schema that asks what the others have judged keeps its own account, and passes it on where it fits. */
function tracking(checks: readonly Check[]): Check {
  const all = inTurn(checks)
  return (value, run) => {
    const outer = run.judged
    const own = new Judged()
    run.judged = own
    const holds = all(value, run)
    run.judged = outer
    if (holds) run.noteAll(own)
    return holds
  }
}

/** Targets are compiled when they are first met: a chain of references must not become a chain of calls here. */
function referenceChecks(schema: JsonObject, { linted, compile }: Compiler): readonly Check[] {
  return (linted.targets.get(schema) ?? []).map((target): Check => {
    let check: Check | undefined
    return (value, run) => {
      check ??= compile(target)
      return check(value, run)
    }
  })
}

function compositionChecks(schema: JsonObject, { compile }: Compiler): readonly Check[] {
  const checks: Check[] = []
  const { allOf, anyOf, oneOf, not } = schema
  if (isJsonArrayHere(allOf)) checks.push(inTurn(allOf.map(compile)))
  if (isJsonArrayHere(anyOf)) checks.push(anyOfCheck(anyOf, anyOf.map(compile)))
  if (isJsonArrayHere(oneOf)) checks.push(oneOfCheck(oneOf, oneOf.map(compile)))
  if (not !== undefined) checks.push(notCheck(not, compile(not)))
  if (schema.if !== undefined) checks.push(ifCheck(schema, compile))
  return checks
}

const isJsonArrayHere = (value: JsonValue | undefined): value is readonly JsonValue[] =>
  value !== undefined && isJsonArray(value)

function anyOfCheck(schemas: readonly JsonValue[], branches: readonly Check[]): Check {
  return (value, run) => {
    let holds = false
    for (const branch of branches) {
      if (run.isExhausted) break
      if (!run.apart(branch, value)) continue
      holds = true
      if (run.judged === undefined) break
    }
    return holds || failBranches(schemas, branches, value, run)
  }
}

function oneOfCheck(schemas: readonly JsonValue[], branches: readonly Check[]): Check {
  return (value, run) => {
    let fits = 0
    for (const branch of branches) {
      if (run.apart(branch, value)) fits++
      if (fits > 1 || run.isExhausted) break
    }
    if (fits === 1) return true
    if (fits === 0) return failBranches(schemas, branches, value, run)
    return run.fail(() => `a value that fits exactly one of ${branches.length} forms, not several`, value)
  }
}

/** Where no branch fits, the issues of the one that was probably meant say more than "none". */
function failBranches(
  schemas: readonly JsonValue[],
  branches: readonly Check[],
  value: JsonValue,
  run: CheckRun,
): false {
  const { issues } = run
  if (issues === undefined || run.isExhausted) return false
  const found = branches.map((branch) => {
    run.issues = []
    branch(value, run)
    return run.issues
  })
  run.issues = issues
  for (const issue of bestBranch(found, run.steps.length)) issues.push(issue)
  if (found.every((branch) => branch.length === 0)) run.fail(() => schemas.map(expectedText).join(' or '), value)
  return false
}

function notCheck(schema: JsonValue, check: Check): Check {
  return (value, run) => {
    const { judged } = run
    run.judged = undefined
    const fits = run.apart(check, value)
    run.judged = judged
    if (run.isExhausted) return false
    return !fits || run.fail(() => (schema === true ? 'nothing here' : `anything but ${expectedText(schema)}`), value)
  }
}

function ifCheck(schema: JsonObject, compile: (schema: JsonValue) => Check): Check {
  const condition = compile(schema.if ?? true)
  const then = compile(schema.then ?? true)
  const otherwise = compile(schema.else ?? true)
  return (value, run) => {
    const holds = run.apart(condition, value)
    return run.isExhausted ? false : (holds ? then : otherwise)(value, run)
  }
}
