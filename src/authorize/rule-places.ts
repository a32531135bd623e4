// Where tools run, as rules look at it: which places are left where a tool and several rules have a say. It chooses none of
// them; where a call then runs is for whoever executes it to decide.

import type { Place } from '../describe/place.ts'
import type { Tool } from '../describe/tool.ts'

/** The places where a tool can run: a child also in a sandbox, as far as its contract lets it. */
export function placesOf({
  place = 'process',
  sandbox = 'preferred',
}: Pick<Tool, 'place' | 'sandbox'>): readonly Place[] {
  if (place !== 'child') return [place]
  return sandbox === 'required' ? ['sandbox'] : sandbox === 'off' ? ['child'] : ['child', 'sandbox']
}

/** Where calls that a rule holds for may run. A sandbox is a child that can do less, so it is good for both. */
export const demandOf = (places: readonly Place[]): readonly Place[] =>
  places.includes('child') && !places.includes('sandbox') ? [...places, 'sandbox'] : places

/** Whether all of `possible` are among `places`, so that these leave nothing out. */
export const isAll = (places: readonly Place[], possible: readonly Place[]): boolean =>
  possible.every((place) => places.includes(place))

/** What two demands leave. Nothing runs where that is no place at all. */
export function bothPlaces(
  one: readonly Place[] | undefined,
  other: readonly Place[] | undefined,
): readonly Place[] | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one.filter((place) => other.includes(place))
}
