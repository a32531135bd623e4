// An approval as the admin API shows it. The digest of a code stays inside: a short code could be found from it.

import type { ApprovalRow } from '../observe/store.ts'

/** As kept, or `expired`: nobody answered in time, or the answer was not used in time. */
export type ShownState = ApprovalRow['state'] | 'expired'

export type ApprovalView = Omit<ApprovalRow, 'proof' | 'proofFailures' | 'state'> & {
  readonly state: ShownState
  /** True where an answer has to bring the code that the gate's own terminal shows. */
  readonly needsCode: boolean
}

export function shownState({ state, expiresAt }: Pick<ApprovalRow, 'state' | 'expiresAt'>, now: number): ShownState {
  return (state === 'open' || state === 'approved') && expiresAt <= now ? 'expired' : state
}

export function approvalView({ proof, proofFailures: _, ...row }: ApprovalRow, now: number): ApprovalView {
  return { ...row, state: shownState(row, now), needsCode: proof !== undefined }
}
