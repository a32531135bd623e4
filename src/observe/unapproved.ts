// Why a call was not approved, for whoever has to act on it: each reason has a word of its own, and nothing is blamed on a
// person who has said nothing. Of another caller's approval nothing is told.

import type { Decision } from '../describe/decision.ts'
import type { ErrorType } from '../describe/error-types.ts'
import type { FailureOptions } from '../describe/refused.ts'
import { type ApprovalRow, type Intended, PROOF_FAILURES_MAX } from './store.ts'

/** `error.details.reason` of every `approval_*` error. */
export type UnapprovedReason =
  /** Nobody has answered yet. */
  | 'waiting'
  /** A person declined. */
  | 'person'
  /** Not answered, or not used, in time. */
  | 'expired'
  /** Good for one call, and used by one. */
  | 'used'
  /** Given for another call. */
  | 'mismatch'
  /** Nobody answered while the entrance held the call. */
  | 'held'
  /** Given under other rules, or for another definition of the tool. */
  | 'withdrawn'
  /** Closed after too many wrong codes. */
  | 'proof'

export type Unapproved = {
  readonly kind: 'refused'
  readonly code: ErrorType
  readonly message: string
  readonly options: FailureOptions
}

type Texts = { readonly code: ErrorType; readonly message: (by: string) => string }

/** Characters of a person's comment that a model is told. */
const COMMENT_MAX = 500

const TEXTS: Readonly<Record<UnapprovedReason, Texts>> = {
  waiting: {
    code: 'approval_required',
    message: (by) =>
      `a person has to approve exactly this call first${by}; once that is done, make the same call again`,
  },
  held: {
    code: 'approval_required',
    message: (by) =>
      `nobody has answered in the time for which the call could wait${by}; nobody declined it either: once it is approved, make the same call again`,
  },
  person: {
    code: 'approval_declined',
    message: (by) => `a person declined this call${by}; do something else, or ask them why`,
  },
  proof: {
    code: 'approval_declined',
    message: (by) =>
      `the question about this call was closed after too many wrong codes${by}; no person declined it: tell the operator`,
  },
  expired: {
    code: 'approval_expired',
    message: (by) => `the approval${by} was not answered or not used in time; make the call without it to ask again`,
  },
  used: {
    code: 'approval_expired',
    message: (by) =>
      `the approval${by} has been used already, and is good for one call only; make the call without it to ask again`,
  },
  withdrawn: {
    code: 'approval_expired',
    message: () =>
      'the rules or the definition of the tool have changed since the named approval was asked for; make the call without it to ask again',
  },
  mismatch: {
    code: 'approval_required',
    message: () => 'the named approval was given for another call; make the call without it to ask for this one',
  },
}

/** The end of a call that the store did not find approved. */
export function unapproved(
  { state, approval }: Extract<Intended, { kind: 'unapproved' }>,
  decision: Decision,
): Unapproved {
  return refusal(reasonOf(state, approval), approval, decision.rule?.text ?? decision.reason)
}

/** What an entrance says that has waited for an answer in vain. */
export const unansweredText = (approvalId: string): string => TEXTS.held.message(` (${approvalId})`)

function refusal(reason: UnapprovedReason, approval: ApprovalRow | undefined, help: string): Unapproved {
  const { code, message } = TEXTS[reason]
  const of =
    approval === undefined ? {} : { approvalId: approval.id, expiresAt: approval.expiresAt, shown: approval.shown }
  const by = approval === undefined ? '' : ` (${approval.id})${reason === 'person' ? saidBy(approval) : ''}`
  return { kind: 'refused', code, message: message(by), options: { details: { reason, ...of }, help } }
}

/** What the person said with a no is for the model: it is what they want instead. */
function saidBy({ comment }: ApprovalRow): string {
  const said = comment === undefined ? '' : [...comment.replaceAll(/\s+/g, ' ').trim()].slice(0, COMMENT_MAX).join('')
  return said === '' ? '' : ` and says: "${said}"`
}

function reasonOf(
  state: Extract<Intended, { kind: 'unapproved' }>['state'],
  approval: ApprovalRow | undefined,
): UnapprovedReason {
  if (state === 'open') return 'waiting'
  if (state !== 'declined') return state
  // Nobody stands for a no that too many wrong codes have made.
  const guessed = approval?.answeredBy === undefined && (approval?.proofFailures ?? 0) >= PROOF_FAILURES_MAX
  return guessed ? 'proof' : 'person'
}
