// May this call happen now? The kill switch, then the rules, then the loop guard; one place asks all three, for listing, for
// calling, and again for calls that run while something changes.

import type { Admission } from '../call-tool.ts'
import type { Call, CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import { type LoopGuard, loopReason } from '../execute/loop-guard.ts'
import { type GateStops, stoppedDecision } from './gate-stops.ts'
import type { LivePolicy } from './live-policy.ts'

export type GateAuthorityParts = {
  readonly policy: LivePolicy
  readonly stops: GateStops
  readonly loops: LoopGuard
}

export class GateAuthority {
  readonly #parts: GateAuthorityParts
  #version = 0

  constructor(parts: GateAuthorityParts) {
    this.#parts = parts
  }

  /** Another number after every change of what is stopped. */
  get version(): number {
    return this.#version
  }

  /** Something was stopped, or goes on. */
  changed(): void {
    this.#version += 1
  }

  /** The denial of what is stopped now. */
  stopped(caller: Caller, entry: Entry): Decision | undefined {
    const row = this.#parts.stops.find(caller, entry)
    return row === undefined ? undefined : stoppedDecision(row, this.#parts.policy.of(caller).version)
  }

  admit(caller: Caller, entry: Entry): Admission {
    const stopped = this.stopped(caller, entry)
    return stopped === undefined ? this.#parts.policy.admit(caller, entry) : { kind: 'deny', decision: stopped }
  }

  /** The denial of a caller that may not use a tool at all. */
  denies(caller: Caller, entry: Entry): Decision | undefined {
    const admission = this.admit(caller, entry)
    return admission.kind === 'deny' ? admission.decision : undefined
  }

  /** The rules' denial, where the profile has it look as if there were no such tool. What is stopped says so. */
  hides(caller: Caller, entry: Entry): Decision | undefined {
    const { policy } = this.#parts
    // Also of a conversation whose own rules do not hold any more, and which is judged by what stands in for them.
    if (!policy.current.denialsHidden) return undefined
    const admission = policy.admit(caller, entry)
    return admission.kind === 'deny' ? admission.decision : undefined
  }

  decide(call: Call, entry: Entry, input: CheckedInput): Decision {
    const stopped = this.stopped(call.caller, entry)
    if (stopped !== undefined) return stopped
    const decision = this.#parts.policy.decide(call.caller, entry, input)
    if (decision.kind === 'deny') return decision
    const times = this.#parts.loops.refuses(call, input)
    if (times === undefined) return decision
    return Object.freeze({
      kind: 'deny',
      by: 'loop',
      reason: loopReason(times),
      policyVersion: decision.policyVersion,
    })
  }

  /** What a call that was made before would be answered now. It is not made again, so it goes in no circle. */
  decideAgain(caller: Caller, entry: Entry, input: CheckedInput): Decision {
    return this.stopped(caller, entry) ?? this.#parts.policy.decide(caller, entry, input)
  }

  /** The denial of a call that was allowed, where rules or stops have changed since and it would not be any more. */
  deniesNow(call: Call, entry: Entry, input: CheckedInput): Decision | undefined {
    const stopped = this.stopped(call.caller, entry)
    if (stopped !== undefined) return stopped
    const { policy } = this.#parts
    if (call.trail.decision?.policyVersion === policy.of(call.caller).version) return undefined
    const admission = policy.admit(call.caller, entry)
    if (admission.kind === 'deny') return admission.decision
    const decision = policy.decide(call.caller, entry, input)
    return decision.kind === 'deny' ? decision : undefined
  }
}
