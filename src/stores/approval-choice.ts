// What becomes of a call that asks: which approval it uses up, which grant stands in for one, which open question it joins,
// or why it may not run. Pure, so that every database answers alike. An approval for one exact call never serves another:
// digests decide, and an id of some other caller's approval is a mismatch that tells nothing about it.

import { withMembers } from '../base/with-members.ts'
import type { ApprovalRow, AskedAbout, GrantRow, Intended, IntentAsk, RecordDraft } from '../observe/store.ts'

export type ApprovalChoice =
  | { readonly kind: 'redeem'; readonly approvalId: string }
  | { readonly kind: 'grant'; readonly grant: GrantRow }
  | { readonly kind: 'open'; readonly open: ApprovalRow }
  | Extract<Intended, { kind: 'unapproved' | 'grants' }>

/** As much of a row as most choices need; the rest is read where a choice hands the row back. */
export type Candidate = Pick<ApprovalRow, 'id' | 'digest' | 'state' | 'expiresAt'>

/**
 * The approvals to choose from: the one that the ask names, if there is one; for an ask without a name those with its
 * digest. `whole`: the row of a candidate.
 */
export type HeldApprovals = {
  readonly candidates: readonly Candidate[]
  whole(id: string): ApprovalRow
}

/** What the store holds of grants: the one that the ask names, and those that may concern the call. */
export type HeldGrants = {
  readonly named: GrantRow | undefined
  /** Live ones of the principal for the tool, newest first. */
  live(): readonly GrantRow[]
}

/** Live grants of one principal for one tool that are looked at. */
export const GRANTS_MAX = 1_000

/** What an ask is about, whether or not it brings a question to open. */
export const aboutOf = (ask: IntentAsk): AskedAbout => ('open' in ask ? ask.open : ask.about)

/** Closed at its very last millisecond: a clock that reads `expiresAt` finds it expired. */
export const isLive = ({ expiresAt }: { readonly expiresAt: number }, now: number): boolean => expiresAt > now

export function chooseApproval(
  ask: IntentAsk,
  approvals: HeldApprovals,
  grants: HeldGrants,
  now: number,
): ApprovalChoice {
  const { approvalId } = ask
  const about = aboutOf(ask)
  if (approvalId === undefined) return chooseByDigest(ask, approvals, grants, now)
  const named = approvals.candidates.find(({ id }) => id === approvalId)
  if (named !== undefined && named.digest === about.digest) return chooseNamed(named, approvals, now)
  const isVoid = named !== undefined && isOutdated(approvals.whole(named.id), about)
  return { kind: 'unapproved', state: isVoid ? 'withdrawn' : 'mismatch' }
}

/** The caller's own question about this tool, under other rules or about another definition: it can serve nobody any more. */
const isOutdated = (named: ApprovalRow, about: AskedAbout): boolean =>
  samePrincipal(named, about) &&
  named.tool === about.tool &&
  (named.fingerprint !== about.fingerprint || named.policyVersion !== about.policyVersion)

function chooseNamed(named: Candidate, { whole }: HeldApprovals, now: number): ApprovalChoice {
  const { id, state } = named
  const unapproved = (why: 'used' | 'declined' | 'expired' | 'open'): ApprovalChoice => ({
    ...{ kind: 'unapproved', state: why, approval: whole(id) },
  })
  if (state === 'redeemed') return unapproved('used')
  if (state === 'declined') return unapproved('declined')
  if (!isLive(named, now)) return unapproved('expired')
  return state === 'approved' ? { kind: 'redeem', approvalId: id } : unapproved('open')
}

/** The answer to exactly this call comes first, a no as well: a grant speaks of many calls, and the person of this one. */
function chooseByDigest(
  ask: IntentAsk,
  { candidates, whole }: HeldApprovals,
  { named, live: liveGrants }: HeldGrants,
  now: number,
): ApprovalChoice {
  const about = aboutOf(ask)
  const live = candidates.filter((candidate) => candidate.digest === about.digest && isLive(candidate, now))
  const inState = (state: ApprovalRow['state']) => live.find((candidate) => candidate.state === state)
  const approved = inState('approved')
  if (approved !== undefined) return { kind: 'redeem', approvalId: approved.id }
  const declined = inState('declined')
  if (declined !== undefined) return { kind: 'unapproved', state: 'declined', approval: whole(declined.id) }
  if (named !== undefined && serves(named, about, now)) return { kind: 'grant', grant: named }
  const asked = inState('open')
  const join = (): ApprovalChoice | undefined =>
    asked === undefined ? undefined : { kind: 'unapproved', state: 'open', approval: whole(asked.id) }
  if ('open' in ask) return join() ?? { kind: 'open', open: ask.open }
  const grants = liveGrants()
  return (grants.length === 0 ? join() : undefined) ?? { kind: 'grants', grants }
}

/**
 * Whether a grant is still good for whoever asks. Which arguments it covers was looked at before; what it is bound to is
 * looked at again, in the transaction that uses it.
 */
const serves = (grant: GrantRow, about: AskedAbout, now: number): boolean =>
  grant.revokedAt === undefined &&
  isLive(grant, now) &&
  samePrincipal(grant, about) &&
  grant.workspace === about.workspace &&
  grant.task === about.task &&
  grant.tool === about.tool &&
  grant.fingerprint === about.fingerprint &&
  grant.effect === about.effect &&
  grant.policyVersion === about.policyVersion &&
  (grant.reach !== 'session' || grant.session === about.session)

type Named = { readonly tenant: string; readonly user: string; readonly agent: string }

const samePrincipal = (one: Named, other: Named): boolean =>
  one.tenant === other.tenant && one.user === other.user && one.agent === other.agent

/** The record that says a question was opened. What the person is shown stays in the approval alone. */
export function openedRecord(approval: ApprovalRow, at: number, callId: string): RecordDraft {
  const { id, digest, tool, effect, openedAt, expiresAt, tenant, user, agent, session } = approval
  const body = JSON.stringify({ state: 'open', approvalId: id, digest, tool, effect, openedAt, expiresAt })
  const personal = JSON.stringify({ tenant, user, agent, session })
  return { kind: 'approval', at, callId, body, personal, subject: { tenant, user } }
}

/** The record of an intent, naming what answered the question: only the transaction that uses it knows. */
export function intentRecord(
  record: RecordDraft,
  used: { readonly approvalId?: string; readonly grantId?: string },
): RecordDraft {
  const { approvalId, grantId } = used
  const named = [
    ...(approvalId === undefined ? [] : [['approval', approvalId]]),
    ...(grantId === undefined ? [] : [['grant', grantId]]),
  ]
  if (named.length === 0 || !record.body.endsWith('}')) return record
  const members = named.map(([name, id]) => `${JSON.stringify(name)}:${JSON.stringify(id)}`).join()
  return { ...record, body: withMembers(record.body, members) }
}
