// From an ending to the one outcome: what the model reads, what a person sees, what programs get, and what is known of the call.
// Three shapes of one value: the value itself is complete, model content and display have bounds of their own. What is cut is
// kept whole first, where it can be, so that what is said of it is true.

import type { Clock } from '../base/clock.ts'
import { sha256 } from '../base/digest.ts'
import type { Growing } from '../base/growing.ts'
import { cutToBytes, utf8Bytes } from '../base/text-cut.ts'
import type { Call, Ending } from '../describe/call.ts'
import { type ContentPart, type Display, textPart } from '../describe/content.ts'
import type { Outcome, OutcomeError, OutcomeMeta, Truncation } from '../describe/outcome.ts'
import type { Redactor } from '../describe/redactor.ts'
import { redactEnding } from '../execute/redact-ending.ts'
import { fitBody, textBytes } from './fit-content.ts'
import type { KeepWhole, KeptWhole } from './keep-whole.ts'
import { noticeBytes, noticeText, truncationOf } from './notice.ts'
import { metaOf } from './outcome-meta.ts'
import { type CountTokens, tokensOf } from './shapes/count-tokens.ts'
import { fitDisplay } from './shapes/fit-display.ts'
import { shownOf } from './shapes/present.ts'
import type { Body, Cut, Shown } from './shapes/shaped.ts'
import { shareFairly } from './shapes/share-fairly.ts'
import {
  STRUCTURE_BYTES,
  STRUCTURED_BYTES_MAX,
  saysTooLarge,
  structureNotice,
  type TooLarge,
  tooLargeStructure,
} from './shapes/structure.ts'

type Maybe<Value> = Value | Promise<Value>

export type ShaperParts = {
  readonly clock: Pick<Clock, 'monotonic'>
  /** Bytes of model content of one result. */
  readonly resultBytes: number
  /** Bytes of model content of all results of a turn. */
  readonly turnBytes: number
  /** Bytes of a structured value that goes to a client beside the content. Default: 1 MiB. */
  readonly structuredBytes?: number
  /** For what a tool's own `present` makes of a value; absent: it stays as it is. */
  readonly redactor?: Redactor
  readonly keepWhole?: KeepWhole
  readonly countTokens?: CountTokens | undefined
  /** What the gate remarks on an outcome, for the model. */
  readonly remarkOn?: (call: Call, outcome: Outcome) => string | undefined
}

/** One result on its way: what of it is made once, however often it is fitted. */
type Work = {
  readonly call: Call | undefined
  readonly body: Body
  readonly bare: (content: readonly ContentPart[], meta: OutcomeMeta) => Outcome
  readonly meta: () => Growing<OutcomeMeta>
  readonly tooLarge: TooLarge | undefined
  kept?: KeptWhole | undefined
  keptValue?: KeptWhole | undefined
  digest?: string
}

type Budget = { readonly bytesMax: number; readonly layer: Truncation['layer'] }

export class Shaper {
  readonly #parts: ShaperParts
  /** Results of calls of a turn can still be fitted anew, from what they were. */
  readonly #works = new WeakMap<Outcome, Work>()

  constructor(parts: ShaperParts) {
    this.#parts = parts
  }

  /** Never throws or rejects: content that cannot be read is left out and said; value, error and effect stay what they are. */
  shape(call: Call, ending: Ending): Maybe<Outcome> {
    try {
      const outcome = this.#shape(call, ending)
      return outcome instanceof Promise ? outcome.catch(() => this.#shape(call, withoutContent(ending))) : outcome
    } catch {
      return this.#shape(call, withoutContent(ending))
    }
  }

  /** The outcomes of one turn within its budget: small ones stay as they are, the large ones share equally what is left. */
  fitTurn(outcomes: readonly Outcome[]): Maybe<readonly Outcome[]> {
    const wanted = outcomes.map(({ content }) => textBytes(content))
    const { turnBytes } = this.#parts
    if (wanted.reduce((sum, bytes) => sum + bytes, 0) <= turnBytes) return outcomes
    const shares = shareFairly(wanted, turnBytes)
    return Promise.all(
      outcomes.map((outcome, index) => {
        const bytesMax = shares[index] ?? 0
        return (wanted[index] ?? 0) <= bytesMax ? outcome : this.#fitAnew(outcome, bytesMax)
      }),
    )
  }

  #shape(call: Call, ending: Ending): Maybe<Outcome> {
    const { resultBytes } = this.#parts
    const bytesMax = Math.min(resultBytes, call.trail.entry?.tool.limits?.resultBytes ?? resultBytes)
    const budget: Budget = { bytesMax, layer: 'result budget' }
    const work = this.#workOf(call, ending, bytesMax)
    const outcome = this.#fit(work, budget)
    return outcome instanceof Promise
      ? outcome.then((one) => this.#remarked(work, budget, one))
      : this.#remarked(work, budget, outcome)
  }

  #workOf(call: Call, ending: Ending, bytesMax: number): Work {
    const { entry, result } = call.trail
    const known = typeof result === 'string' ? result : undefined
    const { body, display } = shownOf(ending, { entry, text: known, clean: (shown) => this.#cleaned(call, shown) })
    const seen = display === undefined ? undefined : { display: fitDisplay(display) }
    const elapsedMs = this.#parts.clock.monotonic() - call.openedMonotonicMs
    return {
      call,
      body,
      bare: bareOutcome(ending, { elapsedMs, bytesMax, seen }),
      meta: () => metaOf(call),
      tooLarge: tooLargeStructure(
        call,
        ending,
        Math.max(bytesMax, this.#parts.structuredBytes ?? STRUCTURED_BYTES_MAX),
      ),
    }
  }

  /** What a tool's own `present` makes of a clean value may hold what nobody has looked at yet: decoded text, words of its own. */
  #cleaned(call: Call, shown: Shown): Shown {
    const { redactor } = this.#parts
    if (redactor === undefined || shown.body.kind !== 'parts') return shown
    const { parts } = shown.body
    const { display } = shown
    const clean = redactEnding(
      call,
      { kind: 'value', value: null, content: parts, ...(display === undefined ? {} : { display }) },
      redactor,
    )
    return {
      body: { ...shown.body, parts: clean.content ?? parts },
      ...(clean.display === undefined ? {} : { display: clean.display }),
    }
  }

  /** INVARIANT one-outcome: a remark that cannot be made leaves the outcome as it is. */
  #remarked(work: Work, budget: Budget, outcome: Outcome): Maybe<Outcome> {
    const { call } = work
    const remark = call === undefined ? undefined : this.#remarkOn(call, outcome)
    if (call === undefined || remark === undefined) return this.#remembered(work, outcome)
    call.trail.remark = remark
    const anew = this.#fit(work, budget)
    return anew instanceof Promise ? anew.then((one) => this.#remembered(work, one)) : this.#remembered(work, anew)
  }

  #remarkOn(call: Call, outcome: Outcome): string | undefined {
    try {
      return this.#parts.remarkOn?.(call, outcome)
    } catch {
      return undefined
    }
  }

  #remembered(work: Work, outcome: Outcome): Outcome {
    if (work.call?.request.inTurn === true) this.#works.set(outcome, work)
    return outcome
  }

  #fitAnew(outcome: Outcome, bytesMax: number): Maybe<Outcome> {
    const known = this.#works.get(outcome)
    const { content, meta } = outcome
    const work: Work = {
      ...(known ?? { call: undefined, body: { kind: 'parts', parts: content, keeps: 'start' }, tooLarge: undefined }),
      bare: (fitted, said) => ({ ...outcome, content: fitted, meta: said }),
      meta: () => ({ ...meta }),
    }
    return this.#fit(work, { bytesMax, layer: 'turn budget' })
  }

  #fit(work: Work, { bytesMax, layer }: Budget): Maybe<Outcome> {
    // INVARIANT said-remark: what the gate itself remarks is taken off the budget first, and not cut with the rest.
    const remarks = remarkParts(work.call, bytesMax)
    const structureBytes = work.tooLarge === undefined ? 0 : Math.min(STRUCTURE_BYTES, Math.floor(bytesMax / 4))
    const left = Math.max(0, bytesMax - textBytes(remarks) - structureBytes)
    const { content, cut } = fitBody(work.body, { bytesMax: left, noticeBytes: noticeBytes(left), layer })
    if (cut === undefined && work.tooLarge === undefined) return this.#outcomeOf(work, [...content, ...remarks])
    const finish = (): Outcome => {
      const truncated = cut === undefined ? undefined : truncationOf(cut, work.kept, digestOf(work, cut))
      const said = cut === undefined || truncated === undefined ? '' : noticeText(truncated, cut, left)
      const structure =
        work.tooLarge === undefined || content.some(saysTooLarge)
          ? ''
          : structureNotice(work.tooLarge, work.keptValue, structureBytes)
      const notices = [said, structure].filter((one) => one !== '').map(textPart)
      return this.#outcomeOf(work, [...content, ...notices, ...remarks], truncated)
    }
    const keeping = this.#keep(work, cut)
    return keeping === undefined ? finish() : keeping.then(finish)
  }

  /** Asks for what is shown in part, and for a structured value that is left out, to be kept; each once. */
  #keep(work: Work, cut: Cut | undefined): Promise<void> | undefined {
    const { keepWhole } = this.#parts
    const { call, tooLarge } = work
    if (keepWhole === undefined || call === undefined) return undefined
    const whole = cut !== undefined && work.kept === undefined ? cut.whole : undefined
    const value = tooLarge !== undefined && work.keptValue === undefined ? tooLarge.whole() : undefined
    if (whole === undefined && value === undefined) return undefined
    return (async () => {
      if (whole !== undefined) work.kept = await keepWhole(call, whole)
      if (value !== undefined)
        work.keptValue = value.content === whole?.content ? work.kept : await keepWhole(call, value)
      const kept = [work.kept, work.keptValue].find((one) => one?.kind === 'kept')
      if (kept?.kind === 'kept') call.trail.artifactId = kept.id
    })()
  }

  #outcomeOf(work: Work, content: readonly ContentPart[], truncated?: Truncation): Outcome {
    const meta = work.meta()
    if (truncated !== undefined) meta.truncated = truncated
    const artifact = work.call?.trail.artifactId
    if (artifact !== undefined) meta.artifact = artifact
    if (work.tooLarge !== undefined) meta.valueTooLarge = true
    meta.tokens = tokensOf(content, this.#parts.countTokens)
    return work.bare(content, meta)
  }
}

function digestOf(work: Work, cut: Cut): string {
  work.digest ??= sha256(cut.whole.content)
  return work.digest
}

const withoutContent = (ending: Ending): Ending =>
  ending.kind === 'failure'
    ? { kind: 'failure', error: ending.error }
    : { kind: 'value', value: ending.value, content: [textPart('done; the content of the result cannot be shown')] }

function bareOutcome(
  ending: Ending,
  {
    elapsedMs,
    bytesMax,
    seen,
  }: {
    readonly elapsedMs: number
    readonly bytesMax: number
    readonly seen: { readonly display: Display } | undefined
  },
): Work['bare'] {
  if (ending.kind === 'value') {
    const { value } = ending
    return (content, meta) => ({ ok: true, value, content, elapsedMs, meta, ...seen })
  }
  const error = boundedError(ending.error, bytesMax)
  return (content, meta) => ({ ok: false, error, content, elapsedMs, meta, ...seen })
}

/** The message stands beside the content, and counts no less. */
function boundedError(error: OutcomeError, bytesMax: number): OutcomeError {
  const { message } = error
  if (message.length * 3 <= bytesMax || utf8Bytes(message) <= bytesMax) return error
  return { ...error, message: `${cutToBytes(message, bytesMax - 64)} [cut from ${utf8Bytes(message)} bytes]` }
}

function remarkParts(call: Call | undefined, bytesMax: number): readonly ContentPart[] {
  const remark = call?.trail.remark
  if (remark === undefined) return []
  const text = cutToBytes(remark, bytesMax)
  return text === '' ? [] : [textPart(text)]
}
