// What a call may do to the world, in order of weight. The class comes from the tool, never from what a model says.

import { errorText } from '../base/error-text.ts'

export const EFFECTS = ['read', 'write', 'execute', 'external', 'destructive'] as const

/** `read` < `write` < `execute` < `external` < `destructive`. */
export type Effect = (typeof EFFECTS)[number]

/** `undeclared`: nobody vouches for what the tool does; it is treated as heavier than everything that is declared. */
export type DeclaredEffect = Effect | 'undeclared'

export const DECLARED_EFFECTS: readonly DeclaredEffect[] = [...EFFECTS, 'undeclared']

/** An effect that depends on the arguments: `of` may name anything up to `most`. */
export type VariableEffect<Args> = { readonly most: Effect; readonly of: (args: Args) => Effect }

export const isDeclaredEffect = (value: unknown): value is DeclaredEffect =>
  DECLARED_EFFECTS.some((effect) => effect === value)

/** The effect of one call, and why it could not be asked, where it could not. */
export type EffectAnswer = { readonly effect: DeclaredEffect; readonly failed?: string }

/** A tool that throws, or names none, counts as its `most`; one that names more, as what it names. */
export function effectOf<Args>(declared: DeclaredEffect | VariableEffect<Args>, args: Args): EffectAnswer {
  if (typeof declared === 'string') return { effect: declared }
  try {
    const effect = declared.of(args)
    return isDeclaredEffect(effect) ? { effect } : { effect: declared.most, failed: '`effect.of` named no effect' }
  } catch (error) {
    return { effect: declared.most, failed: errorText(error) }
  }
}

/** The heaviest effect that a tool may have. */
export const effectMost = <Args>(declared: DeclaredEffect | VariableEffect<Args>): DeclaredEffect =>
  typeof declared === 'string' ? declared : declared.most
