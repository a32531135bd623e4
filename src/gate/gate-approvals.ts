// The questions of a gate and the answers of people to them: what `gate.approvals` and `gate.grants` are. An answer enters
// here and nowhere else, whichever channel it came through; the store checks it and writes it in one transaction. What a
// person was shown is never changed here, and a digest of a code never leaves.

import type { Clock } from '../base/clock.ts'
import { errorText } from '../base/error-text.ts'
import { makeProofCode, proofDigest } from '../base/proof-code.ts'
import { type ConfigProblem, GateConfigError } from '../describe/gate-config-error.ts'
import type { ApprovalsOptions, Gate, GateEvents, LogEntry, PersonsAnswer } from '../gate-contract.ts'
import type { Answered, ApprovalRow, ApprovalState, Store } from '../observe/store.ts'
import { AnswerWaits } from './answer-waits.ts'
import { checkName, readPersonsAnswer } from './persons-answer.ts'

const GRANT_MS = 12 * 3_600_000
const LIST_ROWS = 100
/** Open questions of other processes that are told as events. */
const FOLLOWED_ROWS = 1_000

export type GateApprovalsParts = {
  readonly store: Store
  readonly clock: Clock
  readonly options: ApprovalsOptions
  readonly emit: (event: 'approval-opened' | 'approval-changed', row: ApprovalRow) => void
  readonly log: (entry: LogEntry) => void
}

/** What does not hold in the options for approvals, beyond the types of single ones. */
function approvalsProblems({ proof, showCode }: ApprovalsOptions): readonly ConfigProblem[] {
  if (proof !== 'code' || showCode !== undefined) return []
  return [{ key: 'approvals.proof', message: '`code` needs `showCode`: nobody would ever see the code' }]
}

export class GateApprovals {
  readonly #parts: GateApprovalsParts
  readonly #waits: AnswerWaits
  /** Codes of questions that are not yet known to stand. */
  readonly #codes = new WeakMap<ApprovalRow, string>()
  readonly #asking = new Map<string, Asking>()
  /** What was last told of questions that may still change; kept while somebody follows. */
  readonly #told = new Map<string, ApprovalState>()
  #followers = 0
  #unwatch: (() => void) | undefined
  #looking: Promise<void> = Promise.resolve()

  /** @throws GateConfigError where a code is asked for that nobody could show. */
  constructor(parts: GateApprovalsParts) {
    const problems = approvalsProblems(parts.options)
    if (problems.length > 0) throw new GateConfigError(problems)
    this.#parts = parts
    this.#waits = new AnswerWaits(parts.store, parts.clock)
  }

  readonly approvals: Gate['approvals'] = {
    list: async ({ state, limit = LIST_ROWS } = {}) =>
      (await this.#parts.store.approvals({ limit, ...(state === undefined ? {} : { state }) })).map(handedOut),
    show: (id) => this.#show(id),
    decide: (id, answer) => this.#decide(id, answer),
    settled: async (id, wait) => {
      const row = await this.#waits.settled(id, wait)
      return row === undefined ? undefined : handedOut(row)
    },
    renewCode: (id) => this.#renewCode(id),
  }

  readonly grants: Gate['grants'] = {
    list: ({ live = false, limit = LIST_ROWS } = {}) =>
      this.#parts.store.grants({ limit, ...(live ? { live: { at: this.#now() } } : {}) }),
    revoke: (id, by) => {
      checkName(by)
      const at = this.#now()
      const body = JSON.stringify({ grant: id, state: 'revoked', by })
      return this.#parts.store.revokeGrant(id, by, at, { kind: 'grant', at, callId: null, body })
    },
  }

  /** The question with the digest of a new code, where the gate asks for codes. Nobody has seen the code yet. */
  withProof(row: ApprovalRow): ApprovalRow {
    if (this.#parts.options.proof !== 'code') return row
    const code = makeProofCode()
    const proven = Object.freeze({ ...row, proof: proofDigest(row.id, code) })
    this.#codes.set(proven, code)
    return proven
  }

  /** A question that `withProof` answered now stands in the store. */
  opened(row: ApprovalRow): void {
    const code = this.#codes.get(row)
    this.#codes.delete(row)
    if (code !== undefined) this.#showCode(code, row)
    this.#tell('approval-opened', row)
  }

  /** A call of this gate has used this approval up. */
  used(id: string): void {
    if (this.#followers > 0) this.#lookSoon([id])
  }

  /**
   * Hands the question to `onRequest` and its answer to `decide`. Undefined where there is no `onRequest` or no answer: it
   * said nothing, it threw, or everybody who waits has left. Calls that wait for one question ask once.
   */
  async askPerson(row: ApprovalRow, signal?: AbortSignal): Promise<Answered | undefined> {
    const { onRequest } = this.#parts.options
    if (onRequest === undefined || signal?.aborted === true) return undefined
    const asking = this.#asking.get(row.id) ?? this.#ask(row, onRequest)
    asking.waiting += 1
    const left = leaving(signal)
    try {
      return await Promise.race([asking.answered, left.promise])
    } finally {
      left.forget()
      asking.waiting -= 1
      // Once there is an answer nobody is told to leave.
      if (asking.waiting === 0 && this.#asking.get(row.id) === asking) {
        // Whoever comes later asks anew: an answer to those who have left would reach nobody.
        this.#asking.delete(row.id)
        asking.controller.abort()
      }
    }
  }

  /** Events of questions that other processes open and answer, until the answer is called. For whoever lists them. */
  follow(): () => void {
    this.#followers += 1
    if (this.#followers === 1) {
      this.#unwatch = this.#parts.store.watch(() => this.#lookSoon())
      this.#looking = this.#looking.then(() => this.#look(new Set(), true))
    }
    let follows = true
    return () => {
      if (!follows) return
      follows = false
      this.#followers -= 1
      if (this.#followers > 0) return
      this.#unwatch?.()
      this.#told.clear()
    }
  }

  /** Ends every wait. The store is the gate's to close. */
  close(): void {
    this.#waits.close()
    for (const { controller } of this.#asking.values()) controller.abort()
    this.#unwatch?.()
    this.#followers = 0
  }

  async #show(id: string): Promise<ApprovalRow | undefined> {
    const [row] = await this.#parts.store.approvals({ id, limit: 1 })
    return row === undefined ? undefined : handedOut(row)
  }

  /** Whether the question is answered now, because somebody was asked or because it was already. */
  async ask(id: string, signal: AbortSignal | undefined): Promise<boolean> {
    const [row] = await this.#parts.store.approvals({ id, limit: 1 })
    if (row === undefined) return false
    const answered = await this.askPerson(row, signal)
    if (answered === undefined || answered.kind === 'missing') return false
    // One that ran out of time is closed, whatever its row still says: the call hears that, and not that somebody is awaited.
    return answered.kind === 'closed' || answered.approval.state !== 'open'
  }

  async #decide(id: string, given: PersonsAnswer): Promise<Answered> {
    const { scope: reach = 'once', ...answer } = readPersonsAnswer(given)
    const { decision, by, clientAsserted } = answer
    const at = this.#now()
    const wider = decision === 'approve' && reach !== 'once'
    const body = JSON.stringify({
      ...{ approval: id, decision, by },
      ...(wider ? { reach } : {}),
      ...(clientAsserted === true ? { clientAsserted } : {}),
    })
    const grantUntil = at + (this.#parts.options.grantMs ?? GRANT_MS)
    const answered = await this.#parts.store.answer(
      id,
      { ...answer, at, ...(wider ? { reach, grantUntil } : {}) },
      { kind: 'approval', at, callId: null, body },
    )
    if (answered.kind === 'missing') return answered
    const isChanged =
      answered.kind === 'answered' || (answered.kind === 'refused' && answered.approval.state !== 'open')
    if (isChanged) {
      this.#tell('approval-changed', answered.approval)
      this.#waits.ring(id)
    }
    return { ...answered, approval: handedOut(answered.approval) }
  }

  async #renewCode(id: string): Promise<boolean> {
    const row = await this.#show(id)
    if (row?.proof === undefined || this.#parts.options.showCode === undefined) return false
    const code = makeProofCode()
    const at = this.#now()
    const body = JSON.stringify({ approval: id, code: 'renewed' })
    const record = { kind: 'approval', at, callId: null, body } as const
    const renewed = await this.#parts.store.renewProof(id, proofDigest(id, code), record)
    return renewed && this.#showCode(code, row)
  }

  #showCode(code: string, row: ApprovalRow): boolean {
    try {
      this.#parts.options.showCode?.(code, handedOut(row))
      return true
    } catch (error) {
      this.#fault(`the code of ${row.id} could not be shown`, error)
      return false
    }
  }

  #ask(row: ApprovalRow, onRequest: NonNullable<ApprovalsOptions['onRequest']>): Asking {
    const controller = new AbortController()
    const answered = this.#answerOf(row, onRequest, controller.signal).finally(() => {
      if (this.#asking.get(row.id) === asking) this.#asking.delete(row.id)
    })
    const asking: Asking = { controller, answered, waiting: 0 }
    this.#asking.set(row.id, asking)
    return asking
  }

  /** Whatever goes wrong on the way to an answer is no answer, and is told as such. */
  async #answerOf(
    row: ApprovalRow,
    onRequest: NonNullable<ApprovalsOptions['onRequest']>,
    signal: AbortSignal,
  ): Promise<Answered | undefined> {
    try {
      const answer = await onRequest(handedOut(row), { signal })
      return answer === undefined || signal.aborted ? undefined : await this.#decide(row.id, answer)
    } catch (error) {
      if (!signal.aborted) this.#fault(`nobody answered ${row.id}: \`onRequest\` failed`, error)
      return undefined
    }
  }

  #lookSoon(ids: readonly string[] = []): void {
    this.#looking = this.#looking.then(() => this.#look(new Set(ids), false))
  }

  /** Compares what stands in the store with what was told. `quietly`: only takes note. */
  async #look(ids: ReadonlySet<string>, quietly: boolean): Promise<void> {
    if (this.#followers === 0) return
    try {
      const open = await this.#parts.store.approvals({ state: 'open', limit: FOLLOWED_ROWS })
      const approved = await this.#parts.store.approvals({ state: 'approved', limit: FOLLOWED_ROWS })
      const seen = new Set([...open, ...approved].map(({ id }) => id))
      const gone = [...new Set([...this.#told.keys(), ...ids])].filter((id) => !seen.has(id))
      const ended = await Promise.all(gone.map((id) => this.#parts.store.approvals({ id, limit: 1 })))
      for (const row of [...ended.flat(), ...approved.toReversed(), ...open.toReversed()]) this.#note(row, quietly)
      for (const id of gone) this.#told.delete(id)
    } catch (error) {
      this.#fault('the questions of other processes could not be read', error)
    }
  }

  #note(row: ApprovalRow, quietly: boolean): void {
    const before = this.#told.get(row.id)
    if (before === row.state) return
    if (quietly) this.#told.set(row.id, row.state)
    else this.#tell(before === undefined && row.state === 'open' ? 'approval-opened' : 'approval-changed', row)
  }

  #tell(event: keyof GateEvents & ('approval-opened' | 'approval-changed'), row: ApprovalRow): void {
    if (this.#followers > 0) this.#told.set(row.id, row.state)
    this.#parts.emit(event, handedOut(row))
  }

  #fault(message: string, error: unknown): void {
    this.#parts.log({ level: 'warning', message, details: { error: errorText(error) } })
  }

  #now(): number {
    return Math.trunc(this.#parts.clock.now())
  }
}

type Asking = {
  readonly controller: AbortController
  readonly answered: Promise<Answered | undefined>
  waiting: number
}

/** A row as it leaves the gate: that a code is asked for, and nothing that a code could be guessed from. */
function handedOut(row: ApprovalRow): ApprovalRow {
  return row.proof === undefined ? row : { ...row, proof: 'code' }
}

/** Resolves with nothing once the caller has left. */
function leaving(signal: AbortSignal | undefined): { readonly promise: Promise<undefined>; forget(): void } {
  let leave = (): void => undefined
  const promise = new Promise<undefined>((resolve) => {
    leave = () => resolve(undefined)
    signal?.addEventListener('abort', leave)
    // Whoever was asked may have made the caller leave before anybody listened.
    if (signal?.aborted === true) leave()
  })
  return { promise, forget: () => signal?.removeEventListener('abort', leave) }
}
