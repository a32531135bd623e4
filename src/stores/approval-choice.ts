// What becomes of a call that asks: which approval it uses up, which open question it joins, or why it may not run.
// Pure, so that every database answers alike. An approval for one exact call never serves another: digests decide, and an id
// of some other call's approval is a mismatch that tells nothing about it.

import type { ApprovalAnswer, ApprovalRow, Intended, IntentAsk } from '../observe/store.ts'

export type ApprovalChoice =
  | { readonly kind: 'redeem'; readonly approval: ApprovalRow }
  | { readonly kind: 'open' }
  | Extract<Intended, { kind: 'unapproved' }>

/** Closed at its very last millisecond: a clock that reads `expiresAt` finds it expired. */
const isLive = (approval: ApprovalRow, now: number): boolean => approval.expiresAt > now

/** `candidates`: the row named by the ask, if there is one; for an ask without a name the rows with its digest. */
export function chooseApproval(ask: IntentAsk, candidates: readonly ApprovalRow[], now: number): ApprovalChoice {
  const { approvalId, open } = ask
  if (approvalId === undefined) return chooseByDigest(open.digest, candidates, now)
  const named = candidates.find((approval) => approval.id === approvalId)
  if (named === undefined || named.digest !== open.digest) return { kind: 'unapproved', state: 'mismatch' }
  return chooseNamed(named, now)
}

function chooseNamed(approval: ApprovalRow, now: number): ApprovalChoice {
  if (approval.state === 'redeemed') return { kind: 'unapproved', state: 'used', approval }
  if (approval.state === 'declined') return { kind: 'unapproved', state: 'declined', approval }
  if (!isLive(approval, now)) return { kind: 'unapproved', state: 'expired', approval }
  return approval.state === 'approved' ? { kind: 'redeem', approval } : { kind: 'unapproved', state: 'open', approval }
}

function chooseByDigest(digest: string, candidates: readonly ApprovalRow[], now: number): ApprovalChoice {
  const live = candidates.filter((approval) => approval.digest === digest && isLive(approval, now))
  const inState = (state: ApprovalRow['state']) => live.find((approval) => approval.state === state)
  const approved = inState('approved')
  if (approved !== undefined) return { kind: 'redeem', approval: approved }
  const declined = inState('declined')
  if (declined !== undefined) return { kind: 'unapproved', state: 'declined', approval: declined }
  const asked = inState('open')
  return asked === undefined ? { kind: 'open' } : { kind: 'unapproved', state: 'open', approval: asked }
}

/** The row after an answer; undefined where it takes none any more. */
export function answered(approval: ApprovalRow, answer: ApprovalAnswer, now: number): ApprovalRow | undefined {
  if (approval.state !== 'open' || !isLive(approval, now)) return undefined
  return {
    ...approval,
    state: answer.decision === 'approve' ? 'approved' : 'declined',
    answeredAt: answer.at,
    answeredBy: answer.by,
    ...(answer.comment === undefined ? {} : { comment: answer.comment }),
  }
}

/** The body of the record that says a question was opened. What the person is shown stays in the approval alone. */
export const openedBody = ({ id, digest, tool, effect, openedAt, expiresAt }: ApprovalRow): string =>
  JSON.stringify({ state: 'open', approvalId: id, digest, tool, effect, openedAt, expiresAt })
