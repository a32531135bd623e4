// What each rule that speaks of a tool found in one call, in words for an operator. It asks the same conditions as the
// decision does, one by one, and answers nothing itself.

import type { JsonObject, JsonValue } from '../base/json-value.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import { argumentHolds } from './argument-condition.ts'
import type { CallQuestion } from './call-question.ts'
import { callerHolds } from './caller-condition.ts'
import type { RuleFinding } from './explain.ts'
import { concerns, covers } from './resource-condition.ts'
import {
  commandHolds,
  type Question,
  type Rule,
  resourcesHold,
  ruleHolds,
  sideOf,
  speaksOfCaller,
  speaksOfPrograms,
} from './rule.ts'
import { conditionText } from './rule-text.ts'
import type { ToolPlan } from './tool-plan.ts'
import { visibleLine } from './visible-text.ts'

const VALUE_MAX = 80
const ORDER = ['deny', 'ask', 'allow'] as const

/** Every rule that speaks of the tool, the strictest first, and then as they were `given`. */
export function findingsOf(
  plan: ToolPlan,
  given: readonly Rule[],
  question: CallQuestion,
  decision: Decision,
): readonly RuleFinding[] {
  const reads = question.reads()
  return inOrder(plan.rules, given).map((rule) => {
    const read = ruleHolds(rule, question) ? undefined : reads.find((one) => ruleHolds(rule, one))
    const asked: Question = read ?? question
    const failed = failedCondition(rule, asked)
    const concerning = failed === undefined ? (read?.resourceTexts()?.[0] ?? concerned(rule, asked)) : undefined
    const unsure = failed === undefined ? unsureOf(rule, asked) : undefined
    return finding(rule, decision, { failed, concerning, unsure })
  })
}

/** Every rule that depends on no argument, and whether it holds for the caller. */
export function gateFindings(
  plan: ToolPlan,
  given: readonly Rule[],
  caller: Caller,
  decision: Decision | undefined,
): readonly RuleFinding[] {
  return inOrder(plan.rules, given)
    .filter((rule) => plan.isSteady(rule))
    .map((rule) => {
      const failed = plan.holdsFor(rule, caller)
        ? undefined
        : speaksOfCaller(rule, caller)
          ? `when ${quoted(rule.when?.text ?? '')} is not true`
          : callerFailed(rule, caller)
      return finding(rule, decision, { failed, concerning: undefined, unsure: undefined })
    })
}

function inOrder(rules: readonly Rule[], given: readonly Rule[]): readonly Rule[] {
  const places = new Map(given.map(({ reference }, place) => [reference, place]))
  const placeOf = ({ reference }: Rule) => places.get(reference) ?? 0
  const sorted = rules.toSorted((one, other) => placeOf(one) - placeOf(other))
  return ORDER.flatMap((answer) => sorted.filter((rule) => rule.answer === answer))
}

type Found = Readonly<Record<'failed' | 'concerning' | 'unsure', string | undefined>>

function finding(rule: Rule, decision: Decision | undefined, { failed, concerning, unsure }: Found): RuleFinding {
  return {
    rule: rule.reference,
    answer: rule.answer,
    holds: failed === undefined,
    decides: failed === undefined && decision?.by === 'rule' && decision.rule === rule.reference,
    ...(failed === undefined ? {} : { failed }),
    ...(unsure === undefined ? {} : { unsure }),
    ...(concerning === undefined ? {} : { concerning }),
  }
}

/** The first condition that does not hold, in the order in which they are asked. */
function failedCondition(rule: Rule, question: Question): string | undefined {
  const { effects, resources, where, when } = rule
  if (effects !== undefined && !effects.includes(question.effect)) return `the effect of the call is ${question.effect}`
  if (speaksOfPrograms(rule) && !commandHolds(rule, question.command)) return commandFailed(rule, question)
  if (!speaksOfCaller(rule, question.caller)) return callerFailed(rule, question.caller)
  if (resources !== undefined && !resourcesHold(rule, resources, question)) return resourcesFailed(rule, question)
  const side = sideOf(rule)
  const condition = where.find((one) => !argumentHolds(one, side, question))
  if (condition !== undefined) return `where ${conditionText(condition)}: ${valueText(question.args, condition.way)}`
  if (when === undefined) return undefined
  const answer = when.ask(question)
  if (answer.kind === 'no') return `when ${quoted(when.text)} is false`
  return answer.kind === 'failed' && side === 'wide'
    ? `when ${quoted(when.text)} could not be evaluated (${answer.reason})`
    : undefined
}

function commandFailed({ programs }: Rule, { command }: Question): string {
  if (command === undefined) return 'the call starts no program'
  if (command.program === '') return 'the tool failed to say which program it starts'
  if (programs?.matches(command.program) === false) return `the program is ${quoted(command.program)}`
  return command.reads
    ? 'the program only reads, called like this'
    : 'the program may do more than read, called like this'
}

/** Why a rule that holds holds although something could not be judged. */
function unsureOf(rule: Rule, question: Question): string | undefined {
  const { when } = rule
  if (speaksOfPrograms(rule) && question.command?.program === '')
    return 'the tool failed to say which program it starts'
  if (question.touches.kind === 'malformed') return `the tool failed to say what it touches: ${question.touches.reason}`
  const answer = when?.ask(question)
  return answer?.kind === 'failed'
    ? `when ${quoted(when?.text ?? '')} could not be evaluated (${answer.reason})`
    : undefined
}

function callerFailed({ callers }: Rule, caller: Caller): string {
  const condition = callers.find((one) => !callerHolds(one, caller))
  const patterns = condition?.names.globs.map(({ pattern }) => pattern).join('|') ?? ''
  return `for ${condition?.key ?? 'caller'}=${visibleLine(patterns)}: the caller is another one`
}

function resourcesFailed({ answer, resources }: Rule, question: Question): string {
  const { touches } = question
  if (touches.kind === 'unknown') return 'the tool does not say what it touches'
  if (touches.kind === 'malformed') return 'the tool failed to say what it touches'
  if (answer !== 'allow') return 'it touches nothing that the rule speaks of'
  const open = question.touched().find((touch) => resources?.some((pattern) => covers(pattern, touch)) !== true)
  return open === undefined
    ? 'it touches nothing'
    : `it also touches ${quoted(`${open.verb} ${open.kind}:${open.given}`)}`
}

function concerned({ resources, answer }: Rule, question: Question): string | undefined {
  if (resources === undefined || question.touches.kind !== 'known') return undefined
  const { filtersReads } = question
  const found = question
    .touched()
    .find((touch) =>
      resources.some((one) => (answer === 'allow' ? covers(one, touch) : concerns(one, touch, filtersReads))),
    )
  return found === undefined ? undefined : `${found.verb} ${found.kind}:${found.given}`
}

function valueText(args: JsonObject, way: readonly string[]): string {
  const whole = way.join('.')
  let value: JsonValue | undefined = Object.hasOwn(args, whole) ? args[whole] : args
  if (!Object.hasOwn(args, whole))
    for (const step of way) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
  return value === undefined ? 'there is no such argument' : `it is ${quoted(JSON.stringify(value))}`
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function quoted(text: string): string {
  const line = visibleLine(text)
  return `\`${line.length <= VALUE_MAX ? line : `${line.slice(0, VALUE_MAX)}…`}\``
}
