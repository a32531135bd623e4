// Keeps the two records of a call: the intent before, the end after. One transaction claims the idempotency key, redeems the
// approval and makes the intent durable, or nothing happens at all.

import type { Clock } from '../base/clock.ts'
import type { Call, CheckedInput, Ending, JournalKey } from '../describe/call.ts'
import { principalOf } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import type { ErrorType } from '../describe/error-types.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { Redactor } from '../describe/redactor.ts'
import type { FailureOptions } from '../describe/refused.ts'
import { twinDigest } from '../describe/twin-digest.ts'
import { CallJournal, type KeyAnswer } from './call-journal.ts'
import { partBytes } from './fit-content.ts'
import { endText, intentText, lateText, type RecordText, shortText } from './record-body.ts'
import type { ApprovalRow, AskedAbout, GrantRow, Intended, IntentDraft, Store } from './store.ts'
import { unapproved } from './unapproved.ts'

export type Intent =
  | { readonly kind: 'clear' }
  /** The recorded answer of the call that first used the key. */
  | { readonly kind: 'replay'; readonly ending: Ending }
  | { readonly kind: 'refused'; readonly code: ErrorType; readonly message: string; readonly options: FailureOptions }

export type RecordsParts = {
  readonly store: Store
  readonly clock: Clock
  /** Takes secrets out of arguments and errors. */
  readonly redactor: Redactor
  /** What becomes of calls while records cannot be kept: all are refused, or those that only read go on. */
  readonly onFailure: 'refuse' | 'reads'
  /** Told at each call whether records can be kept: undefined where they can. */
  readonly noteFailure: (reason: string | undefined) => void
  /** As much of the question about exactly this call as an answer to it is found by. */
  readonly questionAbout: (call: Call, entry: Entry, input: CheckedInput, decision: Decision) => AskedAbout
  /** The question to a person about exactly this call. */
  readonly openApproval: (call: Call, entry: Entry, input: CheckedInput, decision: Decision) => ApprovalRow
  /** A question now stands: the one that `openApproval` answered. */
  readonly approvalOpened: (approval: ApprovalRow) => void
  readonly approvalUsed: (id: string) => void
  /** Milliseconds from the opening of a call; a tool's own deadline can only be shorter. */
  readonly deadlineMs: number
  /** Settles what processes that are gone have left open. */
  readonly settleLapsed: () => Promise<unknown>
  /** What is kept in memory of calls that act each time they are made. */
  readonly twins: {
    endedUnknown(twin: string, callId: string): void
    known(twin: string, callId: string): void
    isRunning(twin: string, callId: string): boolean
  }
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

const NO_KEY: Intent = Object.freeze({
  kind: 'refused',
  code: 'invalid_args',
  message: 'an idempotency key is a text of 1 to 256 characters; nothing was done',
  options: {},
})

export class Records {
  readonly #parts: RecordsParts
  readonly #journal: CallJournal
  /** By principal and tool: the grant that was good for a call of it last. */
  readonly #served = new Map<string, GrantRow>()

  constructor(parts: RecordsParts) {
    this.#parts = parts
    const { twins } = parts
    this.#journal = new CallJournal({ ...parts, stillRuns: (twin, callId) => twins.isRunning(twin, callId) })
  }

  /** Nobody waits for the call that has a key any more. */
  stop(): void {
    this.#journal.stop()
  }

  /** A call whose gate is gone, and of which nobody knows what it did. */
  endedUnknown(callId: string, twin: string | undefined): void {
    this.#journal.endedUnknown(callId, undefined)
    if (twin !== undefined) this.#parts.twins.endedUnknown(twin, callId)
  }

  // INVARIANT intent-first: whatever is more than an allowed read gets past here only with a durable intent row.
  intend(call: Call, entry: Entry, input: CheckedInput, decision: Decision): Intent | Promise<Intent> {
    const failure = this.#parts.store.failure()
    this.#parts.noteFailure(failure)
    const onlyReads = input.effect === 'read' && decision.kind === 'allow'
    if (failure !== undefined && !(onlyReads && this.#parts.onFailure === 'reads')) return auditUnavailable(failure)
    if (call.request.signal?.aborted === true) return LEFT
    if (onlyReads) return CLEAR
    return this.#intend(call, entry, input, decision)
  }

  async #intend(call: Call, entry: Entry, input: CheckedInput, decision: Decision): Promise<Intent> {
    const key = this.#journal.keyOf(call, entry, input)
    if (key === 'malformed') return NO_KEY
    const twin = actsAgain(entry, input) ? twinDigest(call.caller, entry.fingerprint, input.text) : undefined
    const intend = (): Promise<Intended> => {
      const draft = this.#draft(call, entry, input, twin, key)
      return decision.kind === 'ask'
        ? this.#asked(draft, call, entry, input, decision)
        : this.#parts.store.intend(draft)
    }
    const intended = key === undefined ? await intend() : await this.#journal.claim(call, entry, input, key, intend)
    return this.#concluded(call, decision, twin, intended)
  }

  #draft(
    call: Call,
    entry: Entry,
    input: CheckedInput,
    twin: string | undefined,
    journal: JournalKey | undefined,
  ): IntentDraft {
    return {
      callId: call.id,
      tool: entry.tool.name,
      effect: input.effect,
      argumentsText: input.text,
      record: { kind: 'intent', at: this.#now(), callId: call.id, ...intentText(call, this.#parts.redactor) },
      ...(twin === undefined ? {} : { twin }),
      ...(journal === undefined ? {} : { journal }),
    }
  }

  #concluded(call: Call, decision: Decision, twin: string | undefined, intended: Intended | KeyAnswer): Intent {
    if (intended.kind === 'recorded') {
      const { approvalId, grantId } = intended
      const { approvalUsed } = this.#parts
      call.trail.intended = true
      if (twin !== undefined) call.trail.twin = twin
      if (approvalId !== undefined) {
        call.trail.approvalId = approvalId
        approvalUsed(approvalId)
      }
      if (grantId !== undefined) call.trail.grantId = grantId
      return CLEAR
    }
    if (intended.kind === 'failed') return auditUnavailable(intended.reason)
    if (intended.kind === 'unapproved') return unapproved(intended, decision)
    if (intended.kind === 'refused' || (intended.kind === 'replay' && 'ending' in intended)) return intended
    return auditUnavailable('the store answered something that nobody asked for')
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

  /**
   * Writes the end record of a call, exactly one. Never throws: a store that fails says so through `failure`. With a key it
   * answers a promise, which resolves when the end is durable.
   */
  close(call: Call, outcome: Outcome): void | Promise<void> {
    const { journal, twin, intended } = call.trail
    if (twin !== undefined) this.#noteTwin(twin, call.id, outcome)
    const draft = { kind: 'end', at: this.#now(), callId: call.id, ...this.#endText(call, outcome) } as const
    if (journal !== undefined) return this.#journal.end(call, journal, outcome, draft)
    this.#parts.store.append(draft, intended === true ? call.id : undefined)
  }

  #noteTwin(twin: string, callId: string, outcome: Outcome): void {
    const { twins } = this.#parts
    if (!outcome.ok && outcome.error.effect === 'unknown') twins.endedUnknown(twin, callId)
    else twins.known(twin, callId)
  }

  /** INVARIANT one-outcome: what cannot be written in full is written in short, and never left out. */
  #endText(call: Call, outcome: Outcome): RecordText {
    try {
      const contentBytes = outcome.content.reduce((sum, part) => sum + partBytes(part), 0)
      return endText(call, outcome, contentBytes, this.#parts.redactor)
    } catch {
      return shortText(call, outcome)
    }
  }

  #now(): number {
    return Math.trunc(this.#parts.clock.now())
  }

  /** Notes what a tool answered after its call was over. */
  late(call: Call, ending: Ending, afterMs: number, tells = true): void {
    const { journal, twin } = call.trail
    const text = lateText(call, ending, afterMs, this.#parts.redactor)
    const draft = { kind: 'late', at: this.#now(), callId: call.id, ...text } as const
    // Its caller was told that nobody knows: only where it did nothing may an equal call be made now.
    const nothing = tells && call.trail.attempts === 1 && ending.kind === 'failure' && ending.error.effect === 'none'
    if (nothing && twin !== undefined) this.#parts.twins.known(twin, call.id)
    if (journal === undefined || !tells || !this.#journal.late(call, journal, ending, draft))
      this.#parts.store.append(draft)
  }
}

/** Whether making the same call again would act again. */
const actsAgain = ({ tool }: Entry, { effect, command }: CheckedInput): boolean =>
  effect !== 'read' && tool.repeat !== 'safe' && command?.reads !== true

const servedKey = ({ tenant, user, agent, tool }: AskedAbout | GrantRow): string =>
  JSON.stringify([tenant, user, agent, tool])

function auditUnavailable(reason: string): Intent {
  const message = 'the record of this call cannot be kept, so nothing was done; tell the operator'
  return { kind: 'refused', code: 'audit_unavailable', message, options: { fatal: true, help: reason } }
}
