// Makes one call and, where the operator has said yes beforehand, answers the question that it raises and makes the equal
// call again. The answer goes the way of every answer, and the second call through every stage: nothing is skipped.

import type { Outcome } from '../describe/outcome.ts'
import type { Gate, NamedCall, Session } from '../gate-contract.ts'
import type { Terminal } from './terminal.ts'

export type CallParts = {
  readonly gate: Gate
  readonly session: Session
  readonly terminal: Terminal
  readonly yes: boolean
}

/** Who answers with `--yes`, in the records. */
const OPERATOR = 'operator (terminal)'

/** `make` hands one call in: as a single call, or as a turn of one. */
export async function makeCall(
  parts: CallParts,
  call: NamedCall,
  make: (call: NamedCall) => Promise<Outcome>,
): Promise<Outcome> {
  const outcome = await make(call)
  const asked = outcome.ok ? undefined : askedApproval(outcome)
  if (asked === undefined) return outcome
  if (!parts.yes) {
    parts.terminal.note(
      ['yellow', 'asks: '],
      `approve it with \`lockgate approvals approve ${asked.id}\`, then make the same call again; or use --yes`,
    )
    return outcome
  }
  for (const text of asked.shown.split('\n')) parts.terminal.note(['yellow', 'approved: '], text)
  const answered = await parts.gate.approvals.decide(asked.id, { decision: 'approve', by: OPERATOR })
  // Somebody else was faster: what they answered holds, and the call says so.
  if (answered.kind !== 'answered') parts.terminal.note(`the approval ${asked.id} was answered by somebody else`)
  return make({ ...call, approval: asked.id })
}

/** The question that a refused call left behind. */
export function askedApproval(
  outcome: Outcome & { readonly ok: false },
): { readonly id: string; readonly shown: string } | undefined {
  const { type, details } = outcome.error
  const id = details?.approvalId
  const shown = details?.shown
  if (type !== 'approval_required' || typeof id !== 'string') return undefined
  return { id, shown: typeof shown === 'string' ? shown : '' }
}
