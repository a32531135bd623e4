// Approvals in bounded memory. Used and expired ones go first, then the oldest open question, and a person's no only after
// all of them, since to forget it is to ask again. A yes that nobody has used is never dropped: where only such are left, no
// further question opens. An ask costs the same however many are kept.

import type {
  Answered,
  ApprovalAnswer,
  ApprovalRow,
  ApprovalState,
  Intended,
  IntentAsk,
  RecordSubject,
} from '../observe/store.ts'
import { answered } from './approval-answer.ts'
import { aboutOf, chooseApproval, type HeldApprovals, type HeldGrants, isLive } from './approval-choice.ts'

type Asked = { readonly intended: Intended; readonly opened?: ApprovalRow }

export class MemoryApprovals {
  readonly #rowsMax: number
  readonly #rows = new Map<string, ApprovalRow>()
  /** Ids of the rows that an ask may find without a name, by their digest, in the order of opening. */
  readonly #byDigest = new Map<string, Set<string>>()
  /** Ids of those that may go, each in its order. */
  readonly #redeemed = new Set<string>()
  readonly #open = new Set<string>()
  readonly #declined = new Set<string>()
  /** Before this time no row is known to expire. */
  #expiresFrom = Number.POSITIVE_INFINITY

  constructor(rowsMax: number) {
    this.#rowsMax = rowsMax
  }

  /** Redeems, joins or opens. `opened` is set where a new question stands. */
  ask(ask: IntentAsk, grants: HeldGrants, callId: string, now: number): Asked {
    const choice = chooseApproval(ask, this.#heldFor(ask), grants, now)
    if (choice.kind === 'unapproved' || choice.kind === 'grants') return { intended: choice }
    if (choice.kind === 'grant') return { intended: { kind: 'recorded', grantId: choice.grant.id } }
    if (choice.kind === 'redeem') {
      const { approvalId } = choice
      this.#put({ ...this.#whole(approvalId), state: 'redeemed', redeemedBy: callId })
      return { intended: { kind: 'recorded', approvalId } }
    }
    const { open } = choice
    if (this.#rows.has(open.id)) return { intended: { kind: 'failed', reason: 'an approval has this id already' } }
    if (!this.#makeRoom(now))
      return { intended: { kind: 'failed', reason: 'too many approvals are waiting to be used' } }
    this.#put(open)
    return { intended: { kind: 'unapproved', state: 'open', approval: open }, opened: open }
  }

  answer(id: string, answer: ApprovalAnswer, now: number): Answered {
    const approval = this.#rows.get(id)
    if (approval === undefined) return { kind: 'missing' }
    const done = answered(approval, answer, now)
    if (done.approval !== approval) this.#put(done.approval)
    return done
  }

  renewProof(id: string, proof: string, now: number): boolean {
    const row = this.#rows.get(id)
    if (row?.proof === undefined || row.state !== 'open' || !isLive(row, now)) return false
    this.#put({ ...row, proof })
    return true
  }

  /** What a person took back: a yes that nobody has used is over now. */
  end(id: string, now: number): void {
    const row = this.#rows.get(id)
    if (row?.state === 'approved' && isLive(row, now)) this.#put({ ...row, expiresAt: now })
  }

  /** Newest first. */
  list(filter: { readonly id?: string; readonly state?: ApprovalState; readonly limit: number }): ApprovalRow[] {
    const { id, state, limit } = filter
    const found = [...this.#rows.values()].filter(
      (row) => (id === undefined || row.id === id) && (state === undefined || row.state === state),
    )
    return found.reverse().slice(0, limit)
  }

  /** All questions of a person; answers how many. */
  erase({ tenant, user }: RecordSubject): number {
    const theirs = [...this.#rows.values()].filter((row) => row.tenant === tenant && row.user === user)
    for (const { id } of theirs) this.#drop(id)
    return theirs.length
  }

  #heldFor(ask: IntentAsk): HeldApprovals {
    const { approvalId } = ask
    const ids = approvalId === undefined ? (this.#byDigest.get(aboutOf(ask).digest) ?? []) : [approvalId]
    return { candidates: [...ids].flatMap((id) => this.#rows.get(id) ?? []), whole: (id) => this.#whole(id) }
  }

  #whole(id: string): ApprovalRow {
    const row = this.#rows.get(id)
    if (row === undefined) throw new Error('an approval that was chosen is not there')
    return row
  }

  #put(row: ApprovalRow): void {
    const { id, digest, state, expiresAt } = row
    this.#rows.set(id, row)
    this.#expiresFrom = Math.min(this.#expiresFrom, expiresAt)
    if (state === 'open') this.#open.add(id)
    else this.#open.delete(id)
    if (state === 'declined') this.#declined.add(id)
    if (state === 'redeemed') {
      this.#redeemed.add(id)
      this.#forgetDigest(row)
      return
    }
    const equal = this.#byDigest.get(digest) ?? new Set()
    this.#byDigest.set(digest, equal.add(id))
  }

  #makeRoom(now: number): boolean {
    if (this.#rows.size < this.#rowsMax) return true
    if (this.#redeemed.size === 0) this.#dropExpired(now)
    if (this.#rows.size < this.#rowsMax) return true
    const [victim] = [this.#redeemed, this.#open, this.#declined].find(({ size }) => size > 0) ?? []
    if (victim === undefined) return false
    this.#drop(victim)
    return true
  }

  /** Mostly the first opened is the first that expires; only where it is not are all of them looked at. */
  #dropExpired(now: number): void {
    const before = this.#rows.size
    for (const { id, expiresAt } of this.#rows.values()) {
      if (expiresAt > now) break
      this.#drop(id)
    }
    if (this.#rows.size < before || this.#expiresFrom > now) return
    this.#expiresFrom = Number.POSITIVE_INFINITY
    for (const row of [...this.#rows.values()]) {
      if (row.expiresAt <= now) this.#drop(row.id)
      else this.#expiresFrom = Math.min(this.#expiresFrom, row.expiresAt)
    }
  }

  #drop(id: string): void {
    const row = this.#rows.get(id)
    if (row === undefined) return
    this.#rows.delete(id)
    this.#redeemed.delete(id)
    this.#open.delete(id)
    this.#declined.delete(id)
    this.#forgetDigest(row)
  }

  #forgetDigest({ id, digest }: ApprovalRow): void {
    const equal = this.#byDigest.get(digest)
    equal?.delete(id)
    if (equal?.size === 0) this.#byDigest.delete(digest)
  }
}
