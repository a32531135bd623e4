// Keeps the two records of a call: the intent before, the end after. One transaction redeems the approval and makes the
// intent durable, or nothing happens at all.

import type { Clock } from '../base/clock.ts'
import type { Call, CheckedInput, Ending } from '../describe/call.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import type { ErrorType } from '../describe/error-types.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { FailureOptions } from '../describe/refused.ts'
import { partBytes } from './fit-content.ts'
import { endBody, intentBody, lateBody } from './record-body.ts'
import type { ApprovalRow, Intended, Store } from './store.ts'

export type Intent =
  | { readonly kind: 'clear' }
  | { readonly kind: 'refused'; readonly code: ErrorType; readonly message: string; readonly options: FailureOptions }

export type RecordsParts = {
  readonly store: Store
  readonly clock: Clock
  /** The question to a person about exactly this call. */
  readonly openApproval: (call: Call, entry: Entry, input: CheckedInput, decision: Decision) => ApprovalRow
  readonly approvalOpened: (approval: ApprovalRow) => void
}

const CLEAR: Intent = Object.freeze({ kind: 'clear' })
/** Nothing runs for a caller that has left, and its approval stays good. */
const LEFT: Intent = Object.freeze({
  kind: 'refused',
  code: 'cancelled',
  message: 'the call was cancelled; nothing was done',
  options: {},
})

export class Records {
  readonly #parts: RecordsParts

  constructor(parts: RecordsParts) {
    this.#parts = parts
  }

  // INVARIANT intent-first: whatever is more than an allowed read gets past here only with a durable intent row.
  intend(call: Call, entry: Entry, input: CheckedInput, decision: Decision): Intent | Promise<Intent> {
    const failure = this.#parts.store.failure()
    if (failure !== undefined) return auditUnavailable(failure)
    if (call.request.signal?.aborted === true) return LEFT
    if (input.effect === 'read' && decision.kind === 'allow') return CLEAR
    return this.#intend(call, entry, input, decision)
  }

  async #intend(call: Call, entry: Entry, input: CheckedInput, decision: Decision): Promise<Intent> {
    const { store, clock, openApproval, approvalOpened } = this.#parts
    const approval = decision.kind === 'ask' ? openApproval(call, entry, input, decision) : undefined
    const named = call.request.approval
    const intended = await store.intend({
      callId: call.id,
      tool: entry.tool.name,
      effect: input.effect,
      argumentsText: input.text,
      record: { kind: 'intent', at: Math.trunc(clock.now()), callId: call.id, body: intentBody(call) },
      ...(approval === undefined
        ? {}
        : { ask: { open: approval, ...(named === undefined ? {} : { approvalId: named }) } }),
    })
    if (intended.kind === 'recorded') {
      call.trail.intended = true
      if (intended.approvalId !== undefined) call.trail.approvalId = intended.approvalId
      return CLEAR
    }
    if (intended.kind === 'failed') return auditUnavailable(intended.reason)
    if (intended.approval !== undefined && intended.approval.id === approval?.id) approvalOpened(intended.approval)
    return unapproved(intended, decision)
  }

  /** Writes the end record of a call, exactly one. Never throws: a store that fails says so through `failure`. */
  close(call: Call, outcome: Outcome): void {
    const draft = {
      kind: 'end',
      at: Math.trunc(this.#parts.clock.now()),
      callId: call.id,
      body: this.#endBody(call, outcome),
    } as const
    this.#parts.store.append(draft, call.trail.intended === true ? call.id : undefined)
  }

  /** INVARIANT one-outcome: what cannot be written in full is written in short, and never left out. */
  #endBody(call: Call, outcome: Outcome): string {
    try {
      return endBody(
        call,
        outcome,
        outcome.content.reduce((sum, part) => sum + partBytes(part), 0),
      )
    } catch {
      return JSON.stringify({
        tool: call.request.name,
        ok: outcome.ok,
        attempts: call.trail.attempts,
        incomplete: true,
      })
    }
  }

  /** Notes what a tool answered after its call was over. */
  late(call: Call, ending: Ending, afterMs: number): void {
    this.#parts.store.append({
      kind: 'late',
      at: Math.trunc(this.#parts.clock.now()),
      callId: call.id,
      body: lateBody(call, ending, afterMs),
    })
  }
}

function auditUnavailable(reason: string): Intent {
  const message = 'the record of this call cannot be kept, so nothing was done; tell the operator'
  return { kind: 'refused', code: 'audit_unavailable', message, options: { fatal: true, help: reason } }
}

type Unapproved = Intended & { kind: 'unapproved' }

function unapproved({ state, approval }: Unapproved, decision: Decision): Intent {
  const details =
    approval === undefined ? {} : { approvalId: approval.id, expiresAt: approval.expiresAt, shown: approval.shown }
  const by = approval === undefined ? '' : ` (${approval.id})`
  const refuse = (code: ErrorType, message: string): Intent => ({
    kind: 'refused',
    code,
    message,
    options: { details, help: decision.rule?.text ?? decision.reason },
  })
  switch (state) {
    case 'open':
      return refuse(
        'approval_required',
        `a person has to approve exactly this call first${by}; once that is done, make the same call again`,
      )
    case 'declined':
      return refuse('approval_declined', `a person declined this call${by}; do something else, or ask them why`)
    case 'expired':
      return refuse('approval_expired', `the approval${by} was not used in time; make the call without it to ask again`)
    case 'used':
      return refuse(
        'approval_expired',
        `the approval${by} has been used already, and is good for one call only; make the call without it to ask again`,
      )
    case 'mismatch':
      return refuse(
        'approval_required',
        'the named approval was given for another call; make the call without it to ask for this one',
      )
  }
}
