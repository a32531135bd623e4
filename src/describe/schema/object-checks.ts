// The constraints on the members of an object. Only own members count: a property of the prototype, such as `toString`,
// is neither there when it is required nor judged when it is not.

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../base/json-value.ts'
import type { Check, CheckRun } from './check-run.ts'
import type { Compiler } from './compiler.ts'
import { listNames } from './describe-value.ts'
import { expectedText } from './expected-text.ts'
import type { LinearPattern } from './linear-pattern.ts'

export function objectChecks(schema: JsonObject, compiler: Compiler): readonly Check[] {
  const { required, propertyNames, dependentRequired, dependentSchemas, dependencies } = schema
  const checks: Check[] = []
  if (required !== undefined && isJsonArray(required) && required.length > 0)
    checks.push(requiredCheck(required.map(String), schema))
  checks.push(...memberChecks(schema, compiler))
  if (propertyNames !== undefined) checks.push(propertyNamesCheck(propertyNames, compiler.compile(propertyNames)))
  for (const dependents of [dependentRequired, dependentSchemas, dependencies]) {
    if (isJsonObject(dependents)) checks.push(dependentsCheck(dependents, compiler))
  }
  return checks
}

function requiredCheck(names: readonly string[], schema: JsonObject): Check {
  const known = isJsonObject(schema.properties) ? schema.properties : {}
  const expected = (name: string) => (): string =>
    `${expectedText(Object.hasOwn(known, name) ? (known[name] ?? true) : true)} (required)`
  return (value, run) => {
    if (!isJsonObject(value)) return true
    if (!run.pay(names.length)) return false
    let holds = true
    for (const name of names) {
      if (Object.hasOwn(value, name)) continue
      if (run.issues === undefined) return false
      holds = run.failMember(name, expected(name), 'nothing')
    }
    return holds
  }
}

type PatternCheck = { readonly pattern: LinearPattern; readonly check: Check }

/** What is known about the members of an object. `isClosed`: those that nothing names are refused by name. */
type Members = {
  readonly named: ReadonlyMap<string, Check>
  /** Those whose value is a literal: they tell the variants of a union apart, so they are judged before costly ones. */
  readonly literals: readonly (readonly [string, Check])[]
  readonly patterned: readonly PatternCheck[]
  readonly others: Check | undefined
  readonly isClosed: boolean
}

function memberChecks(schema: JsonObject, { compile, linted }: Compiler): readonly Check[] {
  const { properties, patternProperties, additionalProperties } = schema
  if (properties === undefined && patternProperties === undefined && additionalProperties === undefined) return []
  const patterned = entriesOf(patternProperties).flatMap(([source, below]) => {
    const pattern = linted.patterns.get(source)
    return pattern === undefined ? [] : [{ pattern, check: compile(below) }]
  })
  const named = entriesOf(properties).map(([name, below]) => [name, compile(below), isLiteral(below)] as const)
  const members: Members = {
    named: new Map(named.map(([name, check]) => [name, check])),
    literals: named.filter(([, , literal]) => literal).map(([name, check]) => [name, check]),
    patterned,
    others: additionalProperties === undefined ? undefined : compile(additionalProperties),
    isClosed: additionalProperties === false,
  }
  return [(value, run) => !isJsonObject(value) || judgeMembers(value, members, run)]
}

const entriesOf = (map: JsonValue | undefined): readonly (readonly [string, JsonValue])[] =>
  isJsonObject(map) ? Object.entries(map) : []

const isLiteral = (schema: JsonValue): boolean =>
  isJsonObject(schema) && (schema.const !== undefined || schema.enum !== undefined)

function judgeMembers(value: JsonObject, members: Members, run: CheckRun): boolean {
  let holds = true
  if (run.issues === undefined) {
    if (!run.pay(members.literals.length)) return false
    for (const [name, check] of members.literals) {
      if (Object.hasOwn(value, name) && !run.below(name, check, value[name] ?? null)) return false
    }
  }
  const names = run.namesOf(value)
  if (names === undefined) return false
  for (const name of names) {
    const member = value[name] ?? null
    const named = members.named.get(name)
    let isKnown = named !== undefined
    let fits = named === undefined || run.below(name, named, member)
    for (const { pattern, check } of members.patterned) {
      if (!run.matches(pattern, name)) continue
      isKnown = true
      fits = run.below(name, check, member) && fits
    }
    if (!isKnown && members.others !== undefined) {
      isKnown = true
      fits = members.isClosed
        ? run.failMember(name, () => allowedNames(members), 'an unknown property')
        : run.below(name, members.others, member)
    }
    if (isKnown) run.note(name)
    if (fits) continue
    holds = false
    if (run.issues === undefined) return false
  }
  return holds
}

function allowedNames({ named, patterned }: Members): string {
  if (named.size === 0 && patterned.length === 0) return 'no properties at all'
  const names = named.size === 0 ? '' : `one of the properties ${listNames([...named.keys()], 20)}`
  const patterns =
    patterned.length === 0
      ? ''
      : `a property that matches ${listNames(
          patterned.map(({ pattern }) => pattern.source),
          3,
        )}`
  return [names, patterns].filter((text) => text !== '').join(' or ')
}

function propertyNamesCheck(schema: JsonValue, check: Check): Check {
  return (value, run) => {
    if (!isJsonObject(value)) return true
    let holds = true
    const names = run.namesOf(value)
    if (names === undefined) return false
    for (const name of names) {
      if (run.apart(check, name)) continue
      holds = run.failMember(name, () => `a property whose name is ${expectedText(schema)}`, 'another name')
      if (run.issues === undefined) return false
    }
    return holds
  }
}

/** `dependentRequired`, `dependentSchemas`, and `dependencies`, which is either. */
function dependentsCheck(dependents: JsonObject, { compile }: Compiler): Check {
  const rules = Object.entries(dependents).map(([name, below]): readonly [string, Check] => [
    name,
    isJsonArray(below) ? dependentNamesCheck(name, below.map(String)) : compile(below),
  ])
  return (value, run) => {
    if (!isJsonObject(value)) return true
    if (!run.pay(rules.length)) return false
    let holds = true
    for (const [name, check] of rules) {
      if (!Object.hasOwn(value, name) || check(value, run)) continue
      holds = false
      if (run.issues === undefined) return false
    }
    return holds
  }
}

function dependentNamesCheck(because: string, names: readonly string[]): Check {
  return (value, run) => {
    if (!isJsonObject(value)) return true
    if (!run.pay(names.length)) return false
    let holds = true
    for (const name of names) {
      if (!Object.hasOwn(value, name))
        holds = run.failMember(name, () => `a value, because ${listNames([because])} is given`, 'nothing')
    }
    return holds
  }
}
