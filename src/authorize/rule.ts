// One rule: what it answers, and every condition that has to hold for that. All keys of a rule must hold.

import type { Caller } from '../describe/caller.ts'
import type { RuleReference } from '../describe/decision.ts'
import type { DeclaredEffect } from '../describe/effect.ts'
import type { ConfigPlace } from '../describe/gate-config-error.ts'
import type { Place } from '../describe/place.ts'
import type { Touches } from '../describe/resource.ts'
import type { CommandFacts } from '../describe/tool.ts'
import { type Argued, type ArgumentCondition, argumentHolds, type Side } from './argument-condition.ts'
import { type CallerCondition, callerHolds } from './caller-condition.ts'
import type { CelCondition, CelQuestion } from './cel-condition.ts'
import type { NameCondition } from './name-condition.ts'
import type { GroupCondition } from './name-groups.ts'
import type { Answer } from './policy-options.ts'
import { concerns, covers, type ResourcePattern, type Touched } from './resource-condition.ts'

/** A condition that is undefined narrows nothing. */
export type RuleConditions = {
  readonly answer: Answer
  readonly tools: NameCondition | undefined
  readonly sources: NameCondition | undefined
  readonly groups: GroupCondition | undefined
  readonly effects: readonly DeclaredEffect[] | undefined
  readonly resources: readonly ResourcePattern[] | undefined
  /** The program that a call starts; of a call that starts none the rule does not speak. */
  readonly programs: NameCondition | undefined
  /** Whether that program, called like this, only reads. */
  readonly reads: boolean | undefined
  readonly callers: readonly CallerCondition[]
  readonly where: readonly ArgumentCondition[]
  readonly when: CelCondition | undefined
  /** Where calls that the rule holds for have to run. */
  readonly places: readonly Place[] | undefined
}

export type Rule = RuleConditions & {
  readonly reference: RuleReference
  /** Equal for rules that mean the same; also the order in which rules are asked. */
  readonly canonical: string
  /** For problems that show once the tools are known. */
  readonly place: ConfigPlace
  /** An allow or ask for another place than the one where the tool at hand runs: then it denies. */
  readonly displaced: boolean
}

type RuleParts = Pick<Rule, 'reference' | 'canonical' | 'place' | 'displaced'>

/**
 * Each field is written out: copies by `...` are objects of a shape of their own each, and looking at a thousand shapes
 * costs a hundred times as much as looking at one.
 */
export const ruleOf = (conditions: RuleConditions, { reference, canonical, place, displaced }: RuleParts): Rule =>
  Object.freeze({
    answer: conditions.answer,
    tools: conditions.tools,
    sources: conditions.sources,
    groups: conditions.groups,
    effects: conditions.effects,
    resources: conditions.resources,
    programs: conditions.programs,
    reads: conditions.reads,
    callers: conditions.callers,
    where: conditions.where,
    when: conditions.when,
    places: conditions.places,
    reference,
    canonical,
    place,
    displaced,
  })

/** What the conditions of a rule are held against. */
export type Question = Argued &
  CelQuestion & {
    readonly touches: Touches
    /** The program that the call starts, where it starts one. */
    readonly command: CommandFacts | undefined
    /** The tool asks for each file below a folder that it reads: where it may not, a rule hides and does not refuse. */
    readonly filtersReads: boolean
    /** The resources of `touches`, taken apart. */
    touched(): readonly Touched[]
  }

/** Whether a rule speaks of a tool at all, whoever calls it with whatever. */
export const speaksOfTool = ({ tools, sources, groups }: RuleConditions, name: string, source: string): boolean =>
  (tools === undefined || tools.matches(name)) &&
  (sources === undefined || sources.matches(source)) &&
  (groups === undefined || groups.tools.matches(name))

export const speaksOfCaller = ({ callers }: RuleConditions, caller: Caller): boolean => {
  for (const condition of callers) if (!callerHolds(condition, caller)) return false
  return true
}

/** What counts where something cannot be judged. */
export const sideOf = ({ answer }: RuleConditions): Side => (answer === 'allow' ? 'wide' : 'strict')

/** Whether a rule that speaks of the tool holds for this call. */
export function ruleHolds(rule: RuleConditions, question: Question): boolean {
  if (rule.effects !== undefined && !rule.effects.includes(question.effect)) return false
  if (speaksOfPrograms(rule) && !commandHolds(rule, question.command)) return false
  if (!speaksOfCaller(rule, question.caller)) return false
  if (rule.resources !== undefined && !resourcesHold(rule, rule.resources, question)) return false
  const side = sideOf(rule)
  for (const condition of rule.where) if (!argumentHolds(condition, side, question)) return false
  return rule.when === undefined || whenHolds(rule.when, side, question)
}

/** Whether a rule looks at the program that a call starts. */
export const speaksOfPrograms = ({ programs, reads }: RuleConditions): boolean =>
  programs !== undefined || reads !== undefined

/** INVARIANT closed: of a tool that failed to say which program it starts, every deny and ask holds, and no allow. */
export function commandHolds({ answer, programs, reads }: RuleConditions, command: CommandFacts | undefined): boolean {
  if (command === undefined) return false
  if (command.program === '') return answer !== 'allow'
  return (
    (programs === undefined || programs.matches(command.program)) && (reads === undefined || reads === command.reads)
  )
}

/** INVARIANT closed: an expression that cannot be evaluated counts as the stricter side, and so does an inspector that fails. */
export function whenHolds(when: CelCondition, side: Side, question: CelQuestion): boolean {
  const { kind } = when.ask(question)
  return kind === 'failed' ? side === 'strict' : kind === 'yes'
}

/**
 * A tool that declares no touches is not spoken of by resources. One that failed to declare them is, by every deny and
 * ask: the stricter side counts. An allow has to cover each of the call's touches, and there must be one.
 */
export function resourcesHold(
  rule: RuleConditions,
  patterns: readonly ResourcePattern[],
  question: Pick<Question, 'touches' | 'filtersReads' | 'touched'>,
): boolean {
  const { touches, filtersReads } = question
  if (touches.kind === 'unknown' || patterns.length === 0) return false
  if (touches.kind === 'malformed') return rule.answer !== 'allow'
  const touched = question.touched()
  if (rule.answer !== 'allow') {
    for (const touch of touched) for (const pattern of patterns) if (concerns(pattern, touch, filtersReads)) return true
    return false
  }
  return touched.length > 0 && touched.every((touch) => patterns.some((pattern) => covers(pattern, touch)))
}

/** Whether arguments, or what they make of effect, program and resources, decide if it holds for a tool. */
export function looksAtCall(rule: RuleConditions, effectIsKnown: boolean): boolean {
  const { where, resources, when } = rule
  if (where.length > 0 || resources !== undefined || speaksOfPrograms(rule)) return true
  return when !== undefined && (when.looksAtArguments || (when.reads.effect && !effectIsKnown))
}
