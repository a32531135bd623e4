// The phases of a task: `steps: { change: { effects: [read, write], groups: [repo] } }`. What a step leaves to a caller is
// what it names. One that is not known, or that names nothing, leaves nothing.

import type { Caller } from '../describe/caller.ts'
import { DECLARED_EFFECTS, type DeclaredEffect, EFFECTS, isDeclaredEffect } from '../describe/effect.ts'
import type { Tool } from '../describe/tool.ts'
import { type GroupCondition, type Groups, readGroupNames } from './name-groups.ts'
import type { OptionReader } from './option-reader.ts'

/** Undefined where the step does not name any. */
export type StepCondition = {
  readonly effects: readonly DeclaredEffect[] | undefined
  readonly groups: GroupCondition | undefined
}
export type Steps = ReadonlyMap<string, StepCondition>

const STEP_KEYS = ['effects', 'groups']
const NAME_MAX = 256

export function readSteps(value: unknown, key: string, groups: Groups, reader: OptionReader): Steps {
  const steps = new Map<string, StepCondition>()
  if (value === undefined) return steps
  for (const [name, given] of reader.fields(value, key) ?? []) {
    const at = `${key}.${name}`
    if (name.trim() === '' || name.length > NAME_MAX)
      reader.problem(at, `a step has a name of 1 to ${NAME_MAX} characters`)
    const fields = reader.fields(given, at, STEP_KEYS)
    if (fields === undefined) continue
    const effects = fields.has('effects') ? readEffects(fields.get('effects'), `${at}.effects`, reader) : undefined
    const named = fields.has('groups')
      ? readGroupNames(fields.get('groups'), `${at}.groups`, groups, reader)
      : undefined
    steps.set(name, { effects, groups: named })
  }
  return steps
}

export function readEffects(value: unknown, key: string, reader: OptionReader): readonly DeclaredEffect[] | undefined {
  const texts = reader.texts(value, key)
  const unknown = texts?.find((text) => !isDeclaredEffect(text))
  if (unknown !== undefined)
    return reader.problem(key, `\`${unknown}\` is no effect; known: ${DECLARED_EFFECTS.join(', ')}`)
  return texts?.filter(isDeclaredEffect)
}

type Part = { readonly tool: Pick<Tool, 'name' | 'effect'> }

/** Whether the caller's step leaves a tool to it, for a call of some effect that the tool may have. */
export function stepIncludes(steps: Steps, { step }: Caller, { tool }: Part): boolean {
  if (step === undefined) return true
  const { effect } = tool
  return leaves(steps.get(step), tool.name, (named) =>
    typeof effect === 'string'
      ? named.includes(effect)
      : EFFECTS.slice(0, EFFECTS.indexOf(effect.most) + 1).some((possible) => named.includes(possible)),
  )
}

/** The same for a call, whose own effect is known. */
export function stepIncludesCall(steps: Steps, { step }: Caller, { tool }: Part, effect: DeclaredEffect): boolean {
  if (step === undefined) return true
  return leaves(steps.get(step), tool.name, (named) => named.includes(effect))
}

function leaves(
  step: StepCondition | undefined,
  name: string,
  has: (effects: readonly DeclaredEffect[]) => boolean,
): boolean {
  // INVARIANT closed: a step that nobody defined, or that names nothing, leaves nothing.
  if (step === undefined || (step.effects === undefined && step.groups === undefined)) return false
  return (step.effects === undefined || has(step.effects)) && (step.groups?.tools.matches(name) ?? true)
}

/** Equal for steps that mean the same. */
export const canonicalSteps = (steps: Steps): unknown =>
  [...steps]
    .map(([name, { effects, groups }]) => [
      name,
      effects?.toSorted() ?? null,
      groups?.tools.globs.map(({ pattern }) => pattern).toSorted() ?? null,
    ])
    .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1))
