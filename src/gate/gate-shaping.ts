// The gate's own shaper: the budgets of its options, and what the loop guard remarks.

import type { Clock } from '../base/clock.ts'
import type { Redactor } from '../describe/redactor.ts'
import type { LoopGuard } from '../execute/loop-guard.ts'
import type { GateOptions } from '../gate-contract.ts'
import type { KeepWhole } from '../observe/keep-whole.ts'
import { Shaper } from '../observe/shape.ts'

/** Of model content of one result, where nothing else is said. */
export const RESULT_BYTES = 48 * 1024
/** Of model content of all results of a turn. */
const TURN_BYTES = 120 * 1024

export type ShapingParts = {
  readonly options: Pick<GateOptions, 'limits' | 'countTokens'>
  readonly clock: Clock
  readonly loops: LoopGuard
  readonly keepWhole: KeepWhole
  readonly redactor: Redactor
}

export function gateShaper({ options, clock, loops, keepWhole, redactor }: ShapingParts): Shaper {
  const { countTokens, limits = {} } = options
  return new Shaper({
    ...{ clock, keepWhole, countTokens, redactor },
    resultBytes: limits.resultBytes ?? RESULT_BYTES,
    turnBytes: limits.turnBytes ?? TURN_BYTES,
    remarkOn: (call, outcome) => loops.note(call, outcome),
  })
}
