// One rule: what it answers, and every condition that has to hold for that. All keys of a rule must hold.

import type { Caller } from '../describe/caller.ts'
import type { RuleReference } from '../describe/decision.ts'
import type { DeclaredEffect } from '../describe/effect.ts'
import type { Touches } from '../describe/resource.ts'
import { type Argued, type ArgumentCondition, argumentHolds } from './argument-condition.ts'
import { type CallerCondition, callerHolds } from './caller-condition.ts'
import type { NameCondition } from './name-condition.ts'
import type { Answer } from './policy-options.ts'
import { concerns, covers, type ResourcePattern, type Touched } from './resource-condition.ts'

/** A condition that is undefined narrows nothing. */
export type Rule = {
  readonly answer: Answer
  readonly tools: NameCondition | undefined
  readonly sources: NameCondition | undefined
  readonly effects: readonly DeclaredEffect[] | undefined
  readonly resources: readonly ResourcePattern[] | undefined
  readonly callers: readonly CallerCondition[]
  readonly where: readonly ArgumentCondition[]
  readonly reference: RuleReference
}

/** What the conditions of a rule are held against. */
export type Question = Argued & {
  readonly caller: Caller
  readonly effect: DeclaredEffect
  readonly touches: Touches
  /** The resources of `touches`, taken apart. */
  touched(): readonly Touched[]
}

/** Whether a rule speaks of a tool at all, whoever calls it with whatever. */
export const speaksOfTool = ({ tools, sources }: Rule, name: string, source: string): boolean =>
  (tools === undefined || tools.matches(name)) && (sources === undefined || sources.matches(source))

export const speaksOfCaller = ({ callers }: Rule, caller: Caller): boolean => {
  for (const condition of callers) if (!callerHolds(condition, caller)) return false
  return true
}

/** Whether a rule that speaks of the tool holds for this call. */
export function ruleHolds(rule: Rule, question: Question): boolean {
  if (rule.effects !== undefined && !rule.effects.includes(question.effect)) return false
  if (!speaksOfCaller(rule, question.caller)) return false
  if (rule.resources !== undefined && !resourcesHold(rule, rule.resources, question)) return false
  const side = rule.answer === 'allow' ? 'wide' : 'strict'
  for (const condition of rule.where) if (!argumentHolds(condition, side, question)) return false
  return true
}

/**
 * A tool that declares no touches is not spoken of by resources. One that failed to declare them is, by every deny and
 * ask: the stricter side counts. An allow has to cover each of the call's touches, and there must be one.
 */
function resourcesHold(rule: Rule, patterns: readonly ResourcePattern[], question: Question): boolean {
  const { touches, filtered } = question
  if (touches.kind === 'unknown' || patterns.length === 0) return false
  if (touches.kind === 'malformed') return rule.answer !== 'allow'
  const touched = question.touched()
  if (rule.answer !== 'allow') {
    for (const touch of touched) for (const pattern of patterns) if (concerns(pattern, touch, filtered)) return true
    return false
  }
  return touched.length > 0 && touched.every((touch) => patterns.some((pattern) => covers(pattern, touch)))
}
