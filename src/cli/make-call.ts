// Makes one call and, where it asks, has the operator answer: beforehand with `--yes`, or at the terminal when the question
// is there. The answer goes the way of every answer, and the second call through every stage: nothing is skipped. Where no
// person sits at a terminal nothing is asked.

import type { Outcome } from '../describe/outcome.ts'
import type { Gate, NamedCall, PersonsAnswer, Session } from '../gate-contract.ts'
import type { Answered } from '../observe/store.ts'
import { AT_TERMINAL, askAtTerminal, hasPerson } from './approval-prompt.ts'
import type { CliIo } from './cli-io.ts'
import { refusedText } from './refused-answer.ts'
import type { Terminal } from './terminal.ts'

export type CallParts = {
  readonly gate: Gate
  readonly session: Session
  readonly terminal: Terminal
  readonly io: CliIo
  readonly yes: boolean
}

/** `make` hands one call in: as a single call, or as a turn of one. */
export async function makeCall(
  parts: CallParts,
  call: NamedCall,
  make: (call: NamedCall) => Promise<Outcome>,
): Promise<Outcome> {
  const outcome = await make(call)
  const asked = outcome.ok ? undefined : askedApproval(outcome)
  if (asked === undefined) return outcome
  return (await hasAnswer(parts, asked)) ? make({ ...call, approval: asked.id }) : outcome
}

/** Whether the question is answered now: by `--yes`, at this terminal, or elsewhere. */
export async function hasAnswer(parts: CallParts, asked: Asked): Promise<boolean> {
  const answered = parts.yes ? await sayYes(parts, asked) : await ask(parts, asked.id)
  if (answered === 'somebody') return true
  parts.terminal.note(
    ['yellow', 'asks: '],
    `approve it with ${parts.terminal.command(`approvals approve ${asked.id}`)}, then make the same call again; or use --yes`,
  )
  return false
}

/** Whether somebody has answered, here or elsewhere. */
type Heard = 'somebody' | 'nobody'

async function sayYes({ gate, terminal }: CallParts, { id, shown }: Asked): Promise<Heard> {
  for (const text of shown.split('\n')) terminal.note(['yellow', 'approved: '], text)
  return heard(terminal, await gate.approvals.decide(id, { decision: 'approve', by: AT_TERMINAL }))
}

/** Until there is a decision, or the question is closed, or nobody answers. */
async function ask({ gate, terminal, io }: CallParts, id: string): Promise<Heard> {
  if (!hasPerson(io)) return 'nobody'
  for (;;) {
    const row = await gate.approvals.show(id)
    if (row === undefined) return 'nobody'
    if (row.state !== 'open') return 'somebody'
    const answer: PersonsAnswer | undefined = await askAtTerminal(row, io, io.signal)
    if (answer === undefined) return 'nobody'
    const answered = await gate.approvals.decide(id, answer)
    if (answered.kind !== 'refused' || answered.approval.state !== 'open') return heard(terminal, answered)
    terminal.note(['red', 'not accepted: '], refusedText(answered))
  }
}

function heard(terminal: Terminal, answered: Answered): Heard {
  if (answered.kind === 'answered') return 'somebody'
  if (answered.kind === 'missing') return 'nobody'
  if (answered.kind === 'refused') {
    terminal.note(['red', 'not accepted: '], refusedText(answered))
    return answered.approval.state === 'open' ? 'nobody' : 'somebody'
  }
  // Somebody else was faster: what they answered holds, and the call says so.
  terminal.note(`the question ${answered.approval.id} was answered elsewhere, or is over`)
  return 'somebody'
}

export type Asked = { readonly id: string; readonly shown: string }

/** The question that a refused call left behind. */
export function askedApproval(outcome: Outcome & { readonly ok: false }): Asked | undefined {
  const { type, details } = outcome.error
  const id = details?.approvalId
  const shown = details?.shown
  if (type !== 'approval_required' || typeof id !== 'string') return undefined
  return { id, shown: typeof shown === 'string' ? shown : '' }
}
