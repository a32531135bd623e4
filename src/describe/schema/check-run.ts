// The state of one check of one value: how many steps are left, what went wrong, and which properties and items some
// subschema has judged. Every subschema, and every part of a value that is gone through, spends a step, so no schema and no
// value can keep a check busy for long.

import { type JsonObject, type JsonValue, jsonPath } from '../../base/json-value.ts'
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
/** Steps for a name that has to be listed, and for one that goes into an account: an engine is slow at either. */
const STEPS_TO_LIST = 4
const STEPS_TO_NOTE = 2
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
  #listed: JsonObject | undefined
  #names: readonly string[] = []

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
    const mark = judged?.mark()
    this.issues = undefined
    const holds = check(value, this)
    this.issues = issues
    this.judged = judged
    if (!holds && mark !== undefined) judged?.rewind(mark)
    return holds
  }

  /** Pays for work of so many steps; false where that would cost too much. */
  pay(steps: number): boolean {
    this.stepsLeft -= steps
    if (this.stepsLeft < 0) this.isExhausted = true
    return !this.isExhausted
  }

  /** The names of an object's members, paid for; undefined where that would cost too much. Many schemas ask for the same. */
  namesOf(value: JsonObject): readonly string[] | undefined {
    if (this.isExhausted) return undefined
    if (this.#listed === value) return this.pay(this.#names.length) ? this.#names : undefined
    const names = Object.keys(value)
    this.#listed = value
    this.#names = names
    return this.pay(names.length * STEPS_TO_LIST) ? names : undefined
  }

  /** Notes that a property or an item is judged, where some schema will ask. */
  note(part: string | number): void {
    if (this.judged === undefined) return
    this.stepsLeft -= STEPS_TO_NOTE
    this.judged.add(part)
  }

  /** Passes on what a schema with an account of its own has judged. */
  noteAll(judged: Judged): void {
    if (this.judged === undefined) return
    this.stepsLeft -= judged.size * STEPS_TO_NOTE
    this.judged.addAll(judged)
  }

  matches(pattern: LinearPattern, text: string): boolean {
    return this.pay(pattern.stepsFor(text.length)) && pattern.test(text)
  }

  /** Pays for text that is gone through; false where that would cost too much. */
  payForText(text: string, stepsPerCharacter = STEPS_TO_READ): boolean {
    return this.pay(Math.trunc(text.length * stepsPerCharacter))
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

type JudgedMark = { readonly size: number; readonly allProperties: boolean; readonly itemsTo: number }

/**
 * What `unevaluatedProperties` and `unevaluatedItems` ask for: the parts of one value that a subschema has judged. All
 * subschemas write into one account, and what one of them wrote that did not fit is taken back; to copy accounts would
 * cost the size of the value at every subschema.
 */
export class Judged {
  allProperties = false
  /** Items from 0 up to this one. */
  itemsTo = 0
  /** Names of properties, or indexes of items: one value has only one of the two. */
  #parts: Set<string | number> | undefined
  /** The same in the order of their adding. */
  readonly #added: (string | number)[] = []

  get size(): number {
    return this.#added.length
  }

  has(part: string | number): boolean {
    return this.#parts?.has(part) ?? false
  }

  add(part: string | number): void {
    this.#parts ??= new Set()
    if (this.#parts.has(part)) return
    this.#parts.add(part)
    this.#added.push(part)
  }

  addAll(other: Judged): void {
    for (const part of other.#added) this.add(part)
    this.allProperties ||= other.allProperties
    this.itemsTo = Math.max(this.itemsTo, other.itemsTo)
  }

  mark(): JudgedMark {
    return { size: this.size, allProperties: this.allProperties, itemsTo: this.itemsTo }
  }

  rewind({ size, allProperties, itemsTo }: JudgedMark): void {
    for (const part of this.#added.splice(size)) this.#parts?.delete(part)
    this.allProperties = allProperties
    this.itemsTo = itemsTo
  }
}
