// The stricter of two answers: a deny before an ask before an allow, and of two asks the one that reaches less far. Where both
// say where the call has to run, it runs where both let it, or nowhere.

import { type Decision, REACHES } from '../describe/decision.ts'
import { bothPlaces } from './rule-places.ts'

const WEIGHT = { allow: 0, ask: 1, deny: 2 } as const

export function strictest(one: Decision, other: Decision): Decision {
  const decision = stricter(one, other)
  if (decision.kind === 'deny') return decision
  const place = bothPlaces(one.place, other.place)
  if (place === undefined || place === decision.place) return decision
  return Object.freeze({ ...decision, place: Object.freeze([...place]) })
}

function stricter(one: Decision, other: Decision): Decision {
  if (one.kind !== other.kind) return WEIGHT[one.kind] > WEIGHT[other.kind] ? one : other
  return one.kind === 'ask' && reachOf(other) < reachOf(one) ? other : one
}

const reachOf = ({ reach = 'once' }: Decision): number => REACHES.indexOf(reach)
