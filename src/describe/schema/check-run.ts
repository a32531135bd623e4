// The state of one check of one value: how many steps are left, what went wrong, and which properties and items some
// subschema has judged. Every subschema spends a step, so no schema and no value can keep a check busy for long.

import { type JsonValue, jsonPath } from '../../base/json-value.ts'
import { describeValue } from './describe-value.ts'
import type { LinearPattern } from './linear-pattern.ts'

/** One thing that does not fit. `path` is empty for the value itself. */
export type CheckIssue = { readonly path: string; readonly expected: string; readonly came: string }

/** `isLiteral`: the value should have been one of a few literal ones, which is how the variants of a schema tell themselves apart. */
export type FoundIssue = CheckIssue & { readonly isLiteral: boolean; readonly depth: number }

/** Judges a value. False means "does not fit", or that the run is exhausted. */
export type Check = (value: JsonValue, run: CheckRun) => boolean

/** Subschemas inside subschemas while a value is judged: a bound on the stack. */
const DEPTH_MAX = 1_500
/** More than are told, so that the number of the others can be. */
export const ISSUES_MAX = 25
/** Steps for a character that is merely read. */
const STEPS_TO_READ = 1 / 8

export class CheckRun {
  stepsLeft: number
  /** Where a check stopped because it had cost too much: nothing is known then, so the value is refused. */
  isExhausted = false
  /** Undefined while only the verdict counts: then the first fault ends the check. */
  issues: FoundIssue[] | undefined
  /** Properties and items of the value in hand that were judged; undefined where no schema will ask. */
  judged: Judged | undefined
  readonly steps: (string | number)[] = []
  #depth = 0

  constructor(stepsMax: number, issues?: FoundIssue[]) {
    this.stepsLeft = stepsMax
    this.issues = issues
  }

  /** Opens a subschema; false where the check has cost too much. Each true is followed by `leave`. */
  enter(): boolean {
    if (this.stepsLeft <= 0 || this.#depth >= DEPTH_MAX) {
      this.isExhausted = true
      return false
    }
    if (this.issues !== undefined && this.issues.length >= ISSUES_MAX) return false
    this.stepsLeft--
    this.#depth++
    return true
  }

  leave(): void {
    this.#depth--
  }

  /** Judges a member or an item. */
  below(step: string | number, check: Check, value: JsonValue): boolean {
    if (this.issues === undefined && this.judged === undefined) return check(value, this)
    const judged = this.judged
    this.judged = undefined
    this.steps.push(step)
    const holds = check(value, this)
    this.steps.pop()
    this.judged = judged
    return holds
  }

  /** Judges the same value apart: no issues are kept, and what was judged counts only where it fits. */
  apart(check: Check, value: JsonValue): boolean {
    const { issues, judged } = this
    const own = judged === undefined ? undefined : new Judged()
    this.issues = undefined
    this.judged = own
    const holds = check(value, this)
    this.issues = issues
    this.judged = judged
    if (holds && own !== undefined) judged?.add(own)
    return holds
  }

  matches(pattern: LinearPattern, text: string): boolean {
    this.stepsLeft -= pattern.stepsFor(text.length)
    if (this.stepsLeft >= 0) return pattern.test(text)
    this.isExhausted = true
    return false
  }

  /** Pays for text that is gone through; false where that would cost too much. */
  payForText(text: string, stepsPerCharacter = STEPS_TO_READ): boolean {
    this.stepsLeft -= Math.trunc(text.length * stepsPerCharacter)
    if (this.stepsLeft < 0) this.isExhausted = true
    return !this.isExhausted
  }

  /** Says that the value does not fit. `expected` is only worked out where issues are collected. */
  fail(expected: () => string, value: JsonValue, isLiteral = false): false {
    if (this.issues !== undefined) this.report(this.steps, expected(), describeValue(value), isLiteral)
    return false
  }

  /** Says that the member of a name does not fit, or is missing. */
  failMember(name: string, expected: () => string, came: string): false {
    if (this.issues !== undefined) this.report([...this.steps, name], expected(), came, false)
    return false
  }

  report(steps: readonly (string | number)[], expected: string, came: string, isLiteral: boolean): void {
    if (this.issues === undefined || this.issues.length >= ISSUES_MAX) return
    this.issues.push({ path: jsonPath(steps), expected, came, isLiteral, depth: steps.length })
  }
}

/** What `unevaluatedProperties` and `unevaluatedItems` ask for: the parts of one value that a subschema has judged. */
export class Judged {
  readonly properties = new Set<string>()
  readonly items = new Set<number>()
  allProperties = false
  /** Items from 0 up to this one. */
  itemsTo = 0

  add(other: Judged): void {
    for (const name of other.properties) this.properties.add(name)
    for (const index of other.items) this.items.add(index)
    this.allProperties ||= other.allProperties
    this.itemsTo = Math.max(this.itemsTo, other.itemsTo)
  }
}
