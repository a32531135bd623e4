// What a caller gets of a tool whatever the arguments are, for tables of callers and tools. Tells where arguments can make
// it something else.

import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import type { DeclaredEffect } from '../describe/effect.ts'
import type { Tool } from '../describe/tool.ts'
import { looksAtCall, type Rule } from './rule.ts'
import { strictest } from './strictest.ts'
import { type Steps, stepIncludesCall } from './task-steps.ts'
import { effectsUpTo, type ToolPlan } from './tool-plan.ts'

/** `depends`: arguments, or the effect that they make, can change it; `decision` then holds where they do not. */
export type Outlook = { readonly decision: Decision; readonly depends: boolean }

export function outlookOf(plan: ToolPlan, caller: Caller, tool: Tool, { steps }: { readonly steps: Steps }): Outlook {
  const { effect } = tool
  const possible = typeof effect === 'string' ? [effect] : effectsUpTo(effect.most)
  const answers = possible.map((of) =>
    stepIncludesCall(steps, caller, { tool }, of)
      ? steadyAnswer(plan, caller, of, typeof effect === 'string')
      : plan.texts.byStep(caller.step ?? ''),
  )
  const decision = answers.reduce(strictest)
  const varies = answers.some(({ kind }) => kind !== decision.kind)
  const stricter = plan.rules.some(
    (rule) => !plan.isSteady(rule) && mayTouch(rule, tool) && plan.mayHold(rule, caller) && canChange(rule, decision),
  )
  return { decision, depends: varies || stricter }
}

/** The strictest of the rules that look at no argument, or the default. `known`: the effect is the same for every call. */
function steadyAnswer(plan: ToolPlan, caller: Caller, effect: DeclaredEffect, known: boolean): Decision {
  const holding = plan.rules.filter(
    (rule) =>
      (rule.effects === undefined || rule.effects.includes(effect)) &&
      !looksAtCall(rule, known) &&
      plan.holdsFor(rule, caller),
  )
  for (const answer of ['deny', 'ask', 'allow'] as const) {
    const rule = holding.find((one) => one.answer === answer)
    if (rule !== undefined) return plan.byRule(rule, effect)
  }
  return plan.byDefault(effect)
}

/** A rule about resources never holds for a call of a tool that does not say what it touches. */
const mayTouch = ({ resources }: Rule, { touches }: Tool): boolean => resources === undefined || touches !== undefined

/** Whether a rule that looks at arguments would make another answer of one that stands without it. */
function canChange({ answer }: Rule, { kind, by }: Decision): boolean {
  if (by === 'default') return answer !== kind
  return answer === 'deny' ? kind !== 'deny' : answer === 'ask' && kind === 'allow'
}
