// Keeps the two records of a call: the intent before, the end after. One transaction redeems the approval and makes the
// intent durable, or nothing happens at all.

import type { Clock } from '../base/clock.ts'
import type { Call, CheckedInput, Ending } from '../describe/call.ts'
import { principalOf } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import type { ErrorType } from '../describe/error-types.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { FailureOptions } from '../describe/refused.ts'
import { partBytes } from './fit-content.ts'
import { endBody, intentBody, lateBody } from './record-body.ts'
import type { ApprovalRow, AskedAbout, GrantRow, Intended, IntentDraft, Store } from './store.ts'
import { unapproved } from './unapproved.ts'

export type Intent =
  | { readonly kind: 'clear' }
  | { readonly kind: 'refused'; readonly code: ErrorType; readonly message: string; readonly options: FailureOptions }

export type RecordsParts = {
  readonly store: Store
  readonly clock: Clock
  /** As much of the question about exactly this call as an answer to it is found by. */
  readonly questionAbout: (call: Call, entry: Entry, input: CheckedInput, decision: Decision) => AskedAbout
  /** The question to a person about exactly this call. */
  readonly openApproval: (call: Call, entry: Entry, input: CheckedInput, decision: Decision) => ApprovalRow
  /** A question now stands: the one that `openApproval` answered. */
  readonly approvalOpened: (approval: ApprovalRow) => void
  readonly approvalUsed: (id: string) => void
  /** Whether a grant covers a call that asks. */
  readonly covers: (grant: GrantRow, call: Call, entry: Entry, input: CheckedInput, decision: Decision) => boolean
}

/** Live grants of one principal for one tool that are looked at. */
const GRANTS_MAX = 1_000
const SERVED_MAX = 1_000

const CLEAR: Intent = Object.freeze({ kind: 'clear' })
/** Nothing runs for a caller that has left, and its approval stays good. */
const LEFT: Intent = Object.freeze({
  kind: 'refused',
  code: 'cancelled',
  message: 'the call was cancelled; nothing was done',
  options: {},
})

export class Records {
  readonly #parts: RecordsParts
  /** By principal and tool: the grant that was good for a call of it last. */
  readonly #served = new Map<string, GrantRow>()

  constructor(parts: RecordsParts) {
    this.#parts = parts
  }

  // INVARIANT intent-first: whatever is more than an allowed read gets past here only with a durable intent row.
  intend(call: Call, entry: Entry, input: CheckedInput, decision: Decision): Intent | Promise<Intent> {
    const failure = this.#parts.store.failure()
    if (failure !== undefined) return auditUnavailable(failure)
    if (call.request.signal?.aborted === true) return LEFT
    if (input.effect === 'read' && decision.kind === 'allow') return CLEAR
    return this.#intend(call, entry, input, decision)
  }

  async #intend(call: Call, entry: Entry, input: CheckedInput, decision: Decision): Promise<Intent> {
    const { clock, store, approvalUsed } = this.#parts
    const draft: IntentDraft = {
      callId: call.id,
      tool: entry.tool.name,
      effect: input.effect,
      argumentsText: input.text,
      record: { kind: 'intent', at: Math.trunc(clock.now()), callId: call.id, body: intentBody(call) },
    }
    const intended =
      decision.kind === 'ask' ? await this.#asked(draft, call, entry, input, decision) : await store.intend(draft)
    if (intended.kind === 'recorded') {
      const { approvalId, grantId } = intended
      call.trail.intended = true
      if (approvalId !== undefined) {
        call.trail.approvalId = approvalId
        approvalUsed(approvalId)
      }
      if (grantId !== undefined) call.trail.grantId = grantId
      return CLEAR
    }
    if (intended.kind === 'failed') return auditUnavailable(intended.reason)
    if (intended.kind === 'grants') return auditUnavailable('the store looked for grants that nobody asked for')
    return unapproved(intended, decision)
  }

  /**
   * The answer is looked for first, and the question made only where there is none. A grant that has served the tool before is
   * tried at once, which spares a look; the store says whether it still holds.
   */
  async #asked(
    draft: IntentDraft,
    call: Call,
    entry: Entry,
    input: CheckedInput,
    decision: Decision,
  ): Promise<Intended> {
    const { store, openApproval, approvalOpened, questionAbout } = this.#parts
    const about = questionAbout(call, entry, input, decision)
    const { approval: approvalId } = call.request
    // An approval that is named is used, and no other answer in its place.
    if (approvalId !== undefined) return store.intend({ ...draft, ask: { about, approvalId } })
    // An answer that reaches once leaves no grant.
    const mayReach = decision.reach !== undefined && decision.reach !== 'once'
    const covers = (grant: GrantRow): boolean => mayReach && this.#parts.covers(grant, call, entry, input, decision)
    const known = this.#served.get(servedKey(about))
    const served = known !== undefined && covers(known) ? { grantId: known.id } : {}
    const found = await store.intend({ ...draft, ask: { about, ...served } })
    if (found.kind !== 'grants') return found
    const grant = found.grants.find(covers)
    if (grant !== undefined) this.#remember(grant)
    const open = openApproval(call, entry, input, decision)
    const intended = await store.intend({
      ...draft,
      ask: grant === undefined ? { open } : { open, grantId: grant.id },
    })
    // The row that was made here, and not a copy of it: whoever made it may know more of it.
    if (intended.kind === 'unapproved' && intended.approval?.id === open.id) approvalOpened(open)
    return intended
  }

  #remember(grant: GrantRow): void {
    if (this.#served.size >= SERVED_MAX) this.#served.clear()
    this.#served.set(servedKey(grant), grant)
  }

  /** The grant that would answer a call that asks: the newest that covers it. */
  async grantFor(call: Call, entry: Entry, input: CheckedInput, decision: Decision): Promise<string | undefined> {
    const { store, clock, covers } = this.#parts
    if (decision.kind !== 'ask') return undefined
    const filter = { tool: entry.tool.name, principal: principalOf(call.caller), limit: GRANTS_MAX }
    const live = { at: Math.trunc(clock.now()) }
    // INVARIANT closed: what cannot be read is no grant.
    const grants = await store.grants({ ...filter, live }).catch((): readonly GrantRow[] => [])
    return grants.find((grant) => covers(grant, call, entry, input, decision))?.id
  }

  /** Writes the end record of a call, exactly one. Never throws: a store that fails says so through `failure`. */
  close(call: Call, outcome: Outcome): void {
    const draft = {
      kind: 'end',
      at: Math.trunc(this.#parts.clock.now()),
      callId: call.id,
      body: this.#endBody(call, outcome),
    } as const
    this.#parts.store.append(draft, call.trail.intended === true ? call.id : undefined)
  }

  /** INVARIANT one-outcome: what cannot be written in full is written in short, and never left out. */
  #endBody(call: Call, outcome: Outcome): string {
    try {
      return endBody(
        call,
        outcome,
        outcome.content.reduce((sum, part) => sum + partBytes(part), 0),
      )
    } catch {
      return JSON.stringify({
        tool: call.request.name,
        ok: outcome.ok,
        attempts: call.trail.attempts,
        incomplete: true,
      })
    }
  }

  /** Notes what a tool answered after its call was over. */
  late(call: Call, ending: Ending, afterMs: number): void {
    this.#parts.store.append({
      kind: 'late',
      at: Math.trunc(this.#parts.clock.now()),
      callId: call.id,
      body: lateBody(call, ending, afterMs),
    })
  }
}

const servedKey = ({ tenant, user, agent, tool }: AskedAbout | GrantRow): string =>
  JSON.stringify([tenant, user, agent, tool])

function auditUnavailable(reason: string): Intent {
  const message = 'the record of this call cannot be kept, so nothing was done; tell the operator'
  return { kind: 'refused', code: 'audit_unavailable', message, options: { fatal: true, help: reason } }
}
