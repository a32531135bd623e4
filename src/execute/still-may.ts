// Asked again after a call had to wait, in its lane or before a retry: is it still allowed, and is its tool still the one
// that it was allowed for? What is decided anew ends the call; nothing is run under an answer of yesterday.

import type { Call, CheckedInput } from '../describe/call.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import { refused } from '../describe/refused.ts'
import type { StillMay } from './guard.ts'

export type StillMayParts = {
  /** The denial of a call that was allowed and is not any more. */
  readonly denies: (call: Call, entry: Entry, input: CheckedInput) => Decision | undefined
  /** Whether the name still leads to this very entry. */
  readonly isCurrent: (call: Call, entry: Entry) => boolean
}

export function stillMay({ denies, isCurrent }: StillMayParts): StillMay {
  return ({ call, entry, input }) => {
    const denial = denies(call, entry, input)
    if (denial !== undefined) {
      call.trail.decision = denial
      return refused('permission_denied', denial.reason)
    }
    if (isCurrent(call, entry)) return undefined
    const message = 'the tool was replaced while the call waited; nothing was done, so make the call again'
    return refused('unavailable', message, { retry: { advice: 'safe' } })
  }
}
