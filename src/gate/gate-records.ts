// The records of a gate, and the question that a call leaves where it asks.

import { callDigest, openApproval, questionAbout } from '../authorize/approval.ts'
import { grantCovers } from '../authorize/grant.ts'
import type { Clock } from '../base/clock.ts'
import type { Call, CheckedInput } from '../describe/call.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import type { Workspace } from '../describe/workspace.ts'
import type { ApprovalsOptions } from '../gate-contract.ts'
import { Records, type RecordsParts } from '../observe/records.ts'
import type { Store } from '../observe/store.ts'
import type { GateApprovals } from './gate-approvals.ts'
import type { LivePolicy } from './live-policy.ts'

const APPROVAL_MS = 3_600_000

export type GateRecordsParts = Pick<
  RecordsParts,
  'deadlineMs' | 'settleLapsed' | 'twins' | 'redactor' | 'onFailure' | 'noteFailure'
> & {
  readonly store: Store
  readonly clock: Clock
  readonly workspace: Workspace
  readonly options: ApprovalsOptions
  readonly approvals: GateApprovals
  readonly policy: Pick<LivePolicy, 'askedBy'>
}

export function gateRecords(parts: GateRecordsParts): Records {
  const { store, clock, workspace, options, approvals, policy, deadlineMs, settleLapsed, twins } = parts
  const { redactor, onFailure, noteFailure } = parts
  const { roots } = workspace
  const workspaceId = [...roots].map(([name, path]) => `${name}=${path}`).join('\n')
  const partsOf = (call: Call, entry: Entry, input: CheckedInput, decision: Decision) => ({
    ...{ call, entry, input, decision, workspace: workspaceId },
    digest: callDigest({
      caller: call.caller,
      workspace: workspaceId,
      fingerprint: entry.fingerprint,
      argumentsText: input.text,
      ...(input.binds === undefined ? {} : { binds: input.binds }),
      policyVersion: decision.policyVersion,
    }),
    openedAt: clock.now(),
    expiresMs: options.expiresMs ?? APPROVAL_MS,
  })
  return new Records({
    ...{ store, clock, deadlineMs, settleLapsed, twins, redactor, onFailure, noteFailure },
    covers: (grant, call, entry, input, decision) =>
      grantCovers(grant, {
        ...{ caller: call.caller, workspace: workspaceId, entry, input, decision, roots },
        askedBy: policy.askedBy(call.caller, entry, input),
      }),
    questionAbout: (call, entry, input, decision) => questionAbout(partsOf(call, entry, input, decision)),
    openApproval: (call, entry, input, decision) =>
      approvals.withProof(
        openApproval({
          ...partsOf(call, entry, input, decision),
          redactor,
          askedBy: policy.askedBy(call.caller, entry, input),
          roots,
          ...(options.grantMs === undefined ? {} : { grantMs: options.grantMs }),
        }),
      ),
    approvalOpened: (approval) => approvals.opened(approval),
    approvalUsed: (id) => approvals.used(id),
  })
}
