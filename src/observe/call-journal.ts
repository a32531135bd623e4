// Idempotency keys of calls. A key is claimed together with the intent; the answer of a call that is done is given again and
// nothing is run; an end that nobody knows lets nothing run until the tool or an operator says what happened. A call whose
// key is running waits for that one, as long as its own time lasts. It refuses nothing that has no key.

import type { Clock } from '../base/clock.ts'
import { sha256 } from '../base/digest.ts'
import { within } from '../base/within.ts'
import type { Call, CheckedInput, Ending, JournalKey } from '../describe/call.ts'
import { principalOf } from '../describe/caller.ts'
import type { Entry } from '../describe/entry.ts'
import type { ErrorType } from '../describe/error-types.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { FailureOptions } from '../describe/refused.ts'
import { answerText, endingOf, isEnding, keptEnding } from './kept-ending.ts'
import type { Intended, JournalEnd, RecordDraft, Store } from './store.ts'
import { TwinWaits } from './twin-waits.ts'

export type JournalParts = {
  readonly store: Store
  readonly clock: Clock
  /** Milliseconds from the opening of a call; a tool's own deadline can only be shorter. */
  readonly deadlineMs: number
  /** Whether the tool of a call that is over has not yet stopped. */
  readonly stillRuns: (twin: string, callId: string) => boolean
  /** Settles what processes that are gone have left open. */
  readonly settleLapsed: () => Promise<unknown>
}

/** What the key says instead of letting the call run. */
export type KeyAnswer =
  | { readonly kind: 'replay'; readonly ending: Ending }
  | {
      readonly kind: 'refused'
      readonly code: ErrorType
      readonly message: string
      readonly options: FailureOptions
    }

type Other = Exclude<Intended, { kind: 'replay' | 'key' }>
type Held = Extract<Intended, { kind: 'replay' | 'key' }>

const KEY_CHARACTERS_MAX = 256
/** Milliseconds that a tool's `happened` may take while a call waits for it. */
const HAPPENED_MS = 1_000
const REMEMBERED_MAX = 10_000

export class CallJournal {
  readonly #parts: JournalParts
  readonly #waits: TwinWaits
  /** Calls of this process, and of such as are gone, that ended with nobody knowing how: their tools can be asked again. */
  readonly #unknown = new Map<string, string | undefined>()
  readonly #over = new WeakSet<Call>()
  /** What a tool said after nobody waited for it any more, while its call was not yet over. */
  readonly #late = new WeakMap<Call, JournalEnd>()

  constructor(parts: JournalParts) {
    this.#parts = parts
    this.#waits = new TwinWaits(parts.store, parts.clock, parts.settleLapsed)
  }

  /** Undefined for a call without a key, or one that only reads; `malformed` for what is no key. */
  keyOf({ request, caller }: Call, entry: Entry, input: CheckedInput): JournalKey | 'malformed' | undefined {
    const key: unknown = request.idempotencyKey
    if (key === undefined || input.effect === 'read') return undefined
    // A half of a surrogate pair is no character, and a file would not give it back as it was.
    if (typeof key !== 'string' || key === '' || key.length > KEY_CHARACTERS_MAX || !key.isWellFormed()) {
      return 'malformed'
    }
    const digest = sha256(`${entry.fingerprint}\n${input.text}`)
    return { ...principalOf(caller), tool: entry.tool.name, key, digest }
  }

  /** Tries `intend` until the key is this call's, or says what comes instead. */
  async claim(
    call: Call,
    entry: Entry,
    input: CheckedInput,
    key: JournalKey,
    intend: () => Promise<Intended>,
  ): Promise<Other | KeyAnswer> {
    const { clock, deadlineMs } = this.#parts
    const untilMs = call.openedMonotonicMs + Math.min(deadlineMs, entry.tool.deadlineMs ?? deadlineMs)
    for (;;) {
      const intended = await intend()
      if (intended.kind === 'recorded') this.#claimed(call, key)
      if (intended.kind !== 'replay' && intended.kind !== 'key') return intended
      const leftMs = untilMs - clock.monotonic()
      const answer = await this.#answerOf(call, entry, input, key, intended, leftMs)
      if (answer !== undefined) return answer
      if (intended.kind !== 'key' || intended.state !== 'running') continue
      const waited = await this.#waits.wait(call, intended.callId, untilMs - clock.monotonic())
      if (waited !== 'news') return stillRunning(intended.callId, waited)
    }
  }

  #claimed(call: Call, key: JournalKey): void {
    call.trail.journal = key
    this.#waits.began(call)
  }

  /** Undefined where the key may be asked for again, at once or after a wait. */
  async #answerOf(
    call: Call,
    entry: Entry,
    input: CheckedInput,
    key: JournalKey,
    held: Held,
    leftMs: number,
  ): Promise<KeyAnswer | undefined> {
    const { callId } = held
    if (held.kind === 'replay') {
      const answer = replayed(callId, held.answer)
      if (answer.kind === 'replay') call.trail.replayOf = callId
      return answer
    }
    if (held.state === 'running') return undefined
    if (held.state === 'conflict') return conflict(callId)
    const happened = await this.#askAgain(callId, entry, input, leftMs)
    if (happened === undefined) return unknownEnd(callId)
    const end: JournalEnd = { key, callId, ...(happened ? { kind: 'done', answer: null } : { kind: 'free' }) }
    try {
      await this.#parts.store.settle(this.#reconciled(callId, entry, happened), end)
    } catch {
      return unknownEnd(callId)
    }
    this.#unknown.delete(callId)
    return undefined
  }

  /** Only of a call that has certainly stopped: what still runs may act after the answer. */
  async #askAgain(
    callId: string,
    { tool }: Entry,
    { args }: CheckedInput,
    leftMs: number,
  ): Promise<boolean | undefined> {
    if (tool.happened === undefined || !this.#unknown.has(callId)) return undefined
    const twin = this.#unknown.get(callId)
    if (twin !== undefined && this.#parts.stillRuns(twin, callId)) return undefined
    try {
      const waited = await within(
        Promise.resolve(tool.happened(args)),
        Math.min(leftMs, HAPPENED_MS),
        this.#parts.clock,
      )
      return waited.kind === 'value' && typeof waited.value === 'boolean' ? waited.value : undefined
    } catch {
      return undefined
    }
  }

  #reconciled(callId: string, { tool }: Entry, happened: boolean): RecordDraft {
    const effect = happened ? 'done' : 'none'
    const body = JSON.stringify({
      tool: tool.name,
      effect,
      reason: 'the tool says so, asked before the call is repeated',
    })
    return { kind: 'reconciled', at: Math.trunc(this.#parts.clock.now()), callId, body }
  }

  /** Writes the end of a call that has claimed its key; resolves when that is durable. Never rejects. */
  async end(call: Call, key: JournalKey, outcome: Outcome, draft: RecordDraft): Promise<void> {
    const said = journalEnd(call, key, outcome)
    const end = said.kind === 'unknown' ? (this.#late.get(call) ?? said) : said
    this.#over.add(call)
    if (end.kind === 'unknown') this.endedUnknown(call.id, call.trail.twin)
    try {
      await this.#parts.store.settle(draft, end)
    } catch {
      // The row stays in line, and the store says that it cannot write.
    }
    this.#waits.ended(call.id)
  }

  /** What a tool said after nobody waited for it any more. True: it is written, with what it changes. */
  late(call: Call, key: JournalKey, ending: Ending, draft: RecordDraft): boolean {
    const end = lateEnd(call, key, ending)
    // One of several tries that did nothing says nothing of the others.
    if (end.kind === 'unknown' || (end.kind === 'free' && call.trail.attempts > 1)) return false
    if (!this.#over.has(call)) {
      this.#late.set(call, end)
      return false
    }
    this.#unknown.delete(call.id)
    this.#parts.store.settle(draft, end).catch(() => undefined)
    return true
  }

  /** `twin`: by which `stillRuns` knows it; undefined where its process is gone. */
  endedUnknown(callId: string, twin: string | undefined): void {
    const [oldest] = this.#unknown.keys()
    if (this.#unknown.size >= REMEMBERED_MAX && oldest !== undefined) this.#unknown.delete(oldest)
    this.#unknown.set(callId, twin)
  }

  /** Nobody waits any more. */
  stop(): void {
    this.#waits.stop()
  }
}

function journalEnd({ id: callId }: Call, key: JournalKey, outcome: Outcome): JournalEnd {
  const effect = outcome.ok ? 'done' : outcome.error.effect
  if (effect === 'none') return { key, callId, kind: 'free' }
  if (effect === 'unknown') return { key, callId, kind: 'unknown' }
  return { key, callId, kind: 'done', answer: answerText(keptEnding(outcome)) }
}

function lateEnd({ id: callId }: Call, key: JournalKey, ending: Ending): JournalEnd {
  const effect = ending.kind === 'value' ? 'done' : ending.error.effect
  if (effect === 'none') return { key, callId, kind: 'free' }
  if (effect === 'unknown') return { key, callId, kind: 'unknown' }
  return { key, callId, kind: 'done', answer: answerText(ending) }
}

const failed = (code: ErrorType, message: string, options: FailureOptions): KeyAnswer => ({
  kind: 'refused',
  ...{ code, message, options },
})

function replayed(callId: string, answer: string | null): KeyAnswer {
  const ending = answer === null ? undefined : endingOf(answer)
  if (isEnding(ending)) return { kind: 'replay', ending }
  const message = `the call was made before under this key (${callId}) and took effect, but its answer was not kept; do not make it again`
  return failed('outcome_unknown', message, { effect: 'done', details: { callId, state: 'done' } })
}

function conflict(callId: string): KeyAnswer {
  const message =
    'this idempotency key was used before for other arguments; nothing was done: take a new key, or make the same call'
  return failed('key_conflict', message, { details: { callId } })
}

function unknownEnd(callId: string): KeyAnswer {
  const message = `the call was made before under this key (${callId}), and nobody knows whether it took effect; it is not made again: look whether it did, or ask the operator to settle it`
  const help = `\`lockgate journal settle ${callId} --as none|done\``
  return failed('outcome_unknown', message, { effect: 'unknown', help, details: { callId, state: 'unknown' } })
}

/** INVARIANT honest-effect: this call did nothing, but what it asks for may be happening. */
function stillRunning(callId: string, why: 'late' | 'left' | 'stopped'): KeyAnswer {
  const what = `the same call (${callId}) is still running under this key`
  const options: FailureOptions = { effect: 'unknown', details: { callId, state: 'running' } }
  if (why !== 'late') return failed('cancelled', `the call was cancelled while ${what}`, options)
  const message = `the deadline passed while ${what}; make it again under the same key to get its answer`
  return failed('timeout', message, { ...options, retry: { advice: 'safe' } })
}
