// Approvals in bounded memory. Expired, used and declined ones go first, then the oldest open question; an answer that a
// person has given and nobody has used is never dropped. Where only such are left, no further question opens.

import type { Answered, ApprovalAnswer, ApprovalRow, ApprovalState, Intended, IntentAsk } from '../observe/store.ts'
import { answered, chooseApproval } from './approval-choice.ts'

export class MemoryApprovals {
  readonly #rowsMax: number
  /** In the order of opening. */
  readonly #rows = new Map<string, ApprovalRow>()

  constructor(rowsMax: number) {
    this.#rowsMax = rowsMax
  }

  /** Redeems, joins or opens. `opened` is set where a new question stands. */
  ask(ask: IntentAsk, callId: string, now: number): { readonly intended: Intended; readonly opened?: ApprovalRow } {
    const choice = chooseApproval(ask, [...this.#rows.values()], now)
    if (choice.kind === 'unapproved') return { intended: choice }
    if (choice.kind === 'redeem') {
      const { approval } = choice
      this.#rows.set(approval.id, { ...approval, state: 'redeemed', redeemedBy: callId })
      return { intended: { kind: 'recorded', approvalId: approval.id } }
    }
    if (this.#rows.has(ask.open.id)) return { intended: { kind: 'failed', reason: 'an approval has this id already' } }
    if (!this.#makeRoom(now))
      return { intended: { kind: 'failed', reason: 'too many approvals are waiting to be used' } }
    this.#rows.set(ask.open.id, ask.open)
    return { intended: { kind: 'unapproved', state: 'open', approval: ask.open }, opened: ask.open }
  }

  answer(id: string, answer: ApprovalAnswer, now: number): Answered {
    const approval = this.#rows.get(id)
    if (approval === undefined) return { kind: 'missing' }
    const row = answered(approval, answer, now)
    if (row === undefined) return { kind: 'closed', approval }
    this.#rows.set(id, row)
    return { kind: 'answered', approval: row }
  }

  /** Newest first. */
  list(filter: { readonly id?: string; readonly state?: ApprovalState; readonly limit: number }): ApprovalRow[] {
    const { id, state, limit } = filter
    const found = [...this.#rows.values()].filter(
      (row) => (id === undefined || row.id === id) && (state === undefined || row.state === state),
    )
    return found.reverse().slice(0, limit)
  }

  #makeRoom(now: number): boolean {
    if (this.#rows.size < this.#rowsMax) return true
    const rows = [...this.#rows.values()]
    const spent = rows.find((row) => row.state === 'redeemed' || row.expiresAt <= now)
    const victim = spent ?? rows.find((row) => row.state === 'declined') ?? rows.find((row) => row.state === 'open')
    return victim !== undefined && this.#rows.delete(victim.id)
  }
}
