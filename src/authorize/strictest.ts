// The stricter of two answers: a deny before an ask before an allow, and of two asks the one that reaches less far.

import { type Decision, REACHES } from '../describe/decision.ts'

const WEIGHT = { allow: 0, ask: 1, deny: 2 } as const

export function strictest(one: Decision, other: Decision): Decision {
  if (one.kind !== other.kind) return WEIGHT[one.kind] > WEIGHT[other.kind] ? one : other
  return one.kind === 'ask' && reachOf(other) < reachOf(one) ? other : one
}

const reachOf = ({ reach = 'once' }: Decision): number => REACHES.indexOf(reach)
