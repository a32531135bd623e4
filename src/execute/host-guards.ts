// Makes guards of what a host, or its configuration, asks for. The options have been checked.

import type { Clock } from '../base/clock.ts'
import { breakerGuard } from './breaker-guard.ts'
import { slotOf } from './check-guards.ts'
import type { Guard, ReportCrash, StillMay } from './guard.ts'
import type { PlacedGuard } from './guard-list.ts'
import type { GuardOptions } from './guard-options.ts'
import { readSubject } from './guard-subject.ts'
import { ownGuard } from './own-guard.ts'
import { retryGuard } from './retry-guard.ts'
import { attemptGuard, triesGuard } from './time-bound.ts'

export type HostGuardParts = {
  readonly clock: Clock
  readonly random: () => number
  readonly stillMay: StillMay
  readonly reportCrash: ReportCrash
}

export const hostGuards = (guards: readonly GuardOptions[], parts: HostGuardParts): readonly PlacedGuard[] =>
  guards.map((options) => ({ slot: slotOf(options), guard: guardOf(options, parts) }))

function guardOf(options: GuardOptions, parts: HostGuardParts): Guard {
  const subject = readSubject(options.for)
  if (subject.kind === 'bad') throw new Error(subject.reason)
  const { concerns } = subject
  switch (options.guard) {
    case 'breaker':
      return breakerGuard(parts.clock, options, concerns)
    case 'retry':
      return retryGuard(parts, options, concerns)
    case 'attempt':
      return attemptGuard(parts.clock, options.ms, concerns)
    case 'tries':
      return triesGuard(parts.clock, options.ms, concerns)
    case 'own':
      return ownGuard(options, concerns, parts.reportCrash)
  }
}
