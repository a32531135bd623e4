// What an operator should hear of a credential: a step or a task that the configuration does not know. Nobody is let in by
// it; an unknown step sees nothing, and an unknown task narrows nothing that a rule could see.

import type { PolicyOptions } from '../authorize/policy-options.ts'
import type { TokenRow } from './token-rows.ts'

export function tokenWarnings(
  { name, caller = {} }: Pick<TokenRow, 'name' | 'caller'>,
  policy: PolicyOptions,
): string[] {
  const { step, task } = caller
  const warnings: string[] = []
  if (step !== undefined && !Object.hasOwn(policy.steps ?? {}, step))
    warnings.push(`the token \`${name}\` names the step \`${step}\`, which \`steps\` does not have: it sees no tool`)
  const isNarrowed = task === undefined || task.allow !== undefined || speaksOfTasks(policy)
  if (!isNarrowed)
    warnings.push(
      `the token \`${name}\` names the task \`${task.name}\`, but it allows no list of tools and no rule is for a task`,
    )
  return warnings
}

/** A rule may speak of tasks by glob or in a condition; only where none does is one surely unknown. */
const speaksOfTasks = ({ rules = [] }: PolicyOptions): boolean =>
  rules.some((rule) => rule.for?.task !== undefined || rule.when?.includes('task') === true)
