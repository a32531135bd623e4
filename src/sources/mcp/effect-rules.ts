// What an upstream tool may do. The operator's word comes first; what the server says about itself counts only where the
// operator trusts it, and is then read on its strict side. Silence is `undeclared`, never `read`.

import { compileNameGlob } from '../../base/glob.ts'
import { DECLARED_EFFECTS, type DeclaredEffect, isDeclaredEffect } from '../../describe/effect.ts'

export type EffectRules = {
  /** What a tool may do, by its own name and the annotations that came with it. */
  effectOf(name: string, annotations: unknown): DeclaredEffect
  /** Keys that fit none of these names. */
  unused(names: readonly string[]): readonly string[]
}

/** Why `effects` does not hold; empty where it does. */
export function effectProblems(effects: unknown): readonly string[] {
  if (effects === undefined) return []
  if (typeof effects !== 'object' || effects === null || Array.isArray(effects))
    return ['expected effects by tool name or glob']
  return Object.entries(effects).flatMap(([pattern, effect]) => {
    const glob = compileNameGlob(pattern)
    const bad = glob.kind === 'bad' ? [`\`${pattern}\` is no glob: ${glob.reason}`] : []
    return isDeclaredEffect(effect) ? bad : [...bad, `\`${pattern}\`: expected one of ${DECLARED_EFFECTS.join(', ')}`]
  })
}

export function effectRules(
  effects: Readonly<Record<string, DeclaredEffect>> = {},
  trustAnnotations: boolean,
): EffectRules {
  const exact = new Map(Object.entries(effects))
  const globs = [...exact].flatMap(([pattern, effect]) => {
    const glob = compileNameGlob(pattern)
    return glob.kind === 'ok' ? [{ pattern, effect, matches: (name: string) => glob.matches(name) }] : []
  })
  return {
    effectOf: (name, annotations) =>
      exact.get(name) ??
      strictest(globs.filter(({ matches }) => matches(name)).map(({ effect }) => effect)) ??
      (trustAnnotations ? claimed(annotations) : 'undeclared'),
    unused: (names) =>
      globs
        .filter(({ pattern, matches }) => !names.includes(pattern) && !names.some(matches))
        .map(({ pattern }) => pattern),
  }
}

const strictest = (effects: readonly DeclaredEffect[]): DeclaredEffect | undefined =>
  DECLARED_EFFECTS.filter((effect) => effects.includes(effect)).at(-1)

/** MCP's hints on their strict side: what is not said to be harmless is taken for harmful. */
function claimed(annotations: unknown): DeclaredEffect {
  if (typeof annotations !== 'object' || annotations === null) return 'undeclared'
  const hint = (key: string): unknown =>
    Object.hasOwn(annotations, key) ? annotations[key as keyof typeof annotations] : undefined
  const [readOnly, destructive, openWorld] = [hint('readOnlyHint'), hint('destructiveHint'), hint('openWorldHint')]
  if (readOnly === true) return destructive === true ? 'destructive' : 'read'
  if (readOnly === undefined && destructive === undefined) return 'undeclared'
  if (destructive !== false) return 'destructive'
  return openWorld === false ? 'write' : 'external'
}
