// What an answer makes of a question, and which grant it leaves. Pure, so that every database answers alike. It refuses
// what was not offered, a yes that only the asking client vouches for where too much hangs on it, and a yes without its code.

import { isProof } from '../base/proof-code.ts'
import {
  type Answered,
  type ApprovalAnswer,
  type ApprovalOffer,
  type ApprovalRow,
  type GrantRow,
  PROOF_FAILURES_MAX,
  type RecordDraft,
} from '../observe/store.ts'
import { isLive } from './approval-choice.ts'

type Answer = Exclude<Answered, { kind: 'missing' }>

/** What nobody can take back, or nobody vouches for, is answered call by call. */
const ONCE_ONLY: ReadonlySet<string> = new Set(['destructive', 'undeclared'])

/** The rows of the answer are what they are afterwards. Throws RangeError for a wider answer without an end. */
export function answered(approval: ApprovalRow, answer: ApprovalAnswer, now: number): Answer {
  if (approval.state !== 'open' || !isLive(approval, now)) return { kind: 'closed', approval }
  if (answer.decision === 'decline') return { kind: 'answered', approval: settle(approval, answer, 'declined') }
  const reach = answer.reach ?? 'once'
  const offer = approval.offers.find((offered) => offered.reach === reach)
  if (offer === undefined || (reach !== 'once' && ONCE_ONLY.has(approval.effect)))
    return { kind: 'refused', why: 'reach-not-offered', approval }
  if (answer.clientAsserted === true && approval.effect === 'destructive')
    return { kind: 'refused', why: 'client-asserted', approval }
  if (approval.proof !== undefined) {
    if (answer.code === undefined) return { kind: 'refused', why: 'code-missing', approval }
    if (!isProof(approval.id, answer.code, approval.proof))
      return { kind: 'refused', why: 'code-wrong', approval: withFailure(approval, answer.at) }
  }
  const row = { ...settle(approval, answer, 'approved'), reach }
  return reach === 'once'
    ? { kind: 'answered', approval: row }
    : { kind: 'answered', approval: row, grant: grantOf(row, answer, { ...offer, reach }) }
}

const settle = (approval: ApprovalRow, answer: ApprovalAnswer, state: 'approved' | 'declined'): ApprovalRow => ({
  ...approval,
  state,
  answeredAt: answer.at,
  answeredBy: answer.by,
  ...(answer.comment === undefined ? {} : { comment: answer.comment }),
  ...(answer.clientAsserted === true ? { clientAsserted: true } : {}),
})

/** After so many wrong codes somebody is guessing: the question is closed, and nobody has said no. */
function withFailure(approval: ApprovalRow, at: number): ApprovalRow {
  const proofFailures = (approval.proofFailures ?? 0) + 1
  if (proofFailures < PROOF_FAILURES_MAX) return { ...approval, proofFailures }
  return { ...approval, proofFailures, state: 'declined', answeredAt: at }
}

function grantOf(
  approval: ApprovalRow,
  { by, at, grantUntil }: ApprovalAnswer,
  { reach, shown, where, onlyNamed }: ApprovalOffer & { readonly reach: 'session' | 'pattern' },
): GrantRow {
  if (grantUntil === undefined || !Number.isSafeInteger(grantUntil) || grantUntil <= at)
    throw new RangeError('an answer that reaches further needs `grantUntil`, after `at`')
  const { id, tenant, user, agent, session, workspace, task, tool, fingerprint, effect, policyVersion, askedBy } =
    approval
  return {
    // One approval leaves one grant at most.
    id: `grt_${id.replace(/^apr_/, '')}`,
    approvalId: id,
    reach,
    ...{ tenant, user, agent },
    ...(reach === 'session' ? { session } : {}),
    workspace,
    ...(task === undefined ? {} : { task }),
    ...{ tool, fingerprint, effect },
    ...(where === undefined ? {} : { where }),
    ...(onlyNamed === true ? { onlyNamed } : {}),
    ...{ policyVersion, askedBy, shown },
    grantedBy: by,
    grantedAt: at,
    expiresAt: grantUntil,
  }
}

/** The record of a grant. What it covers may be as personal as arguments are. */
export function grantedRecord(grant: GrantRow, at: number): RecordDraft {
  const { id, approvalId, reach, session, tool, effect, where, onlyNamed, grantedBy, expiresAt } = grant
  const { tenant, user, agent } = grant
  const body = JSON.stringify({
    ...{ grant: id, state: 'granted', approval: approvalId, reach, tool, effect },
    ...{ onlyNamed, by: grantedBy, expiresAt },
  })
  const personal = JSON.stringify({ tenant, user, agent, session, where })
  return { kind: 'grant', at, callId: null, body, personal, subject: { tenant, user } }
}

/** The record of a wrong code. */
export function wrongCodeRecord(approval: ApprovalRow, { at, by }: ApprovalAnswer): RecordDraft {
  const { id, state, proofFailures } = approval
  const body = JSON.stringify({ approval: id, refused: 'code-wrong', failures: proofFailures, state, by })
  return aboutApproval({ kind: 'approval', at, callId: null, body }, approval)
}

/** The record of something about a question, with whose question it is and what was said to it. */
export function aboutApproval(record: RecordDraft, approval: ApprovalRow): RecordDraft {
  const { tenant, user, agent, session, comment } = approval
  const personal = JSON.stringify({ tenant, user, agent, session, comment })
  return { ...record, personal, subject: { tenant, user } }
}
