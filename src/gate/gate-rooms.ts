// The rooms of the pipeline, each given what it needs of another. Nothing is decided here.

import { randomUUID } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import type { Rooms } from '../call-tool.ts'
import type { Call, CallRequest, CheckedInput } from '../describe/call.ts'
import { ARGUMENT_BYTES_MAX, type ArgumentReferences, checkInput } from '../describe/check-input.ts'
import type { Entry } from '../describe/entry.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { Redactor } from '../describe/redactor.ts'
import { refused } from '../describe/refused.ts'
import type { Found } from '../discover/catalogue.ts'
import type { Views } from '../discover/view.ts'
import { RateLimits } from '../execute/rate-limits.ts'
import { redactEnding } from '../execute/redact-ending.ts'
import type { GateOptions } from '../gate-contract.ts'
import type { Intent, Records } from '../observe/records.ts'
import { resultText } from '../observe/result-text.ts'
import type { Shaper } from '../observe/shape.ts'
import type { GateAuthority } from './gate-authority.ts'
import { DEADLINE_MS } from './gate-options-check.ts'

export type RoomsParts = {
  readonly limits: NonNullable<GateOptions['limits']>
  readonly clock: Clock
  readonly views: Pick<Views, 'find'>
  readonly authority: GateAuthority
  readonly references: ArgumentReferences | undefined
  readonly shaper: Pick<Shaper, 'shape'>
  readonly redactor: Redactor
  readonly records: Records
  readonly executor: Rooms['executor']
  readonly openCall: (request: CallRequest) => Call
  readonly isClosing: () => boolean
  /** Told once for each call, after its end record. */
  readonly closed: (outcome: Outcome) => void
  /** The text for the operator. */
  readonly reportCrash: (call: Call, bug: unknown) => string
}

export function wireRooms(parts: RoomsParts): Rooms {
  const { authority, clock, limits, records } = parts
  const { argumentBytes = ARGUMENT_BYTES_MAX, deadlineMs = DEADLINE_MS } = limits
  const rates = ratesOf(limits.perMinute, clock)
  return {
    openCall: rates === undefined ? parts.openCall : (request) => rates.opened(parts.openCall(request)),
    catalogue: {
      find: (call) => {
        call.trail.marks.discover = clock.monotonic()
        return find(parts, call)
      },
    },
    policy: {
      admit: (call, entry) => {
        call.trail.marks.admit = clock.monotonic()
        const admitted = authority.admit(call.caller, entry)
        // What is denied takes nothing of the rate: it costs nobody anything, and would hide the reason behind another one.
        return admitted.kind === 'deny' ? admitted : (rates?.take(call, entry) ?? admitted)
      },
      decide: (call, entry, input) => {
        call.trail.marks.decide = clock.monotonic()
        return authority.decide(call, entry, input)
      },
    },
    check: (call, entry) => {
      call.trail.marks.validate = clock.monotonic()
      const untilMs = call.openedMonotonicMs + Math.min(deadlineMs, entry.tool.deadlineMs ?? deadlineMs)
      return checkInput(call, entry, argumentBytes, clock, untilMs, parts.references)
    },
    records: {
      intend: (call, entry, input, decision) => {
        call.trail.marks.intend = clock.monotonic()
        if (parts.isClosing()) return CLOSING
        const intent = records.intend(call, entry, input, decision)
        if (!(intent instanceof Promise)) return intent
        return intent.then((known) =>
          known.kind === 'replay' ? replayed(parts, known, { call, entry, input }) : known,
        )
      },
      close: (call, outcome) => {
        call.trail.marks.closed = clock.monotonic()
        const closing = records.close(call, outcome)
        if (closing === undefined) return parts.closed(outcome)
        // The end of a call with a key is durable before anybody hears of it.
        return closing.then(() => parts.closed(outcome))
      },
    },
    executor: {
      run: (call, entry, input) => {
        call.trail.marks.execute = clock.monotonic()
        return parts.executor.run(call, entry, input)
      },
    },
    shape: (call, ending) => {
      call.trail.marks.shape = clock.monotonic()
      const text = resultText(ending)
      if (text !== undefined) call.trail.result = text
      // What a tool answered has lost its secrets where it was settled; a refusal before that may repeat what was sent.
      const isRefused = ending.kind === 'failure' && call.trail.marks.execute === undefined
      return parts.shaper.shape(call, isRefused ? redactEnding(call, ending, parts.redactor) : ending)
    },
    reportBug: (call, bug) =>
      refused('internal', `the gate failed; the operator finds the reason under ${call.id}`, {
        effect: call.trail.attempts > 0 ? 'unknown' : 'none',
        help: parts.reportCrash(call, bug),
      }),
  }
}

/** A call may have waited long for the one that has its key: who may not make it any more does not get its answer either. */
function replayed(
  { authority }: RoomsParts,
  replay: Intent,
  { call, entry, input }: { readonly call: Call; readonly entry: Entry; readonly input: CheckedInput },
): Intent {
  const denial = authority.deniesNow(call, entry, input)
  if (denial === undefined) return replay
  call.trail.decision = denial
  delete call.trail.replayOf
  return { kind: 'refused', code: 'permission_denied', message: denial.reason, options: {} }
}

function ratesOf(perMinute: RoomsParts['limits']['perMinute'], clock: Clock): RateLimits | undefined {
  if (perMinute === undefined) return undefined
  return new RateLimits(typeof perMinute === 'number' ? { caller: perMinute } : perMinute, clock)
}

/** All members from the start: the shape of what every call writes does not change on the way. */
const newMarks = (): Call['trail']['marks'] => ({
  discover: undefined,
  admit: undefined,
  validate: undefined,
  decide: undefined,
  intend: undefined,
  execute: undefined,
  shape: undefined,
  closed: undefined,
})

/** A call that nothing is known of yet but what was asked. */
export function newCall(request: CallRequest, clock: Clock): Call {
  const id = randomUUID()
  const trace = request.trace ?? request.parent?.trail.trace
  return {
    id: `call_${id}`,
    // What a tool calls belongs to the run of the call that it runs for.
    runId: request.parent?.runId ?? `run_${id}`,
    request,
    caller: request.caller,
    openedAtMs: clock.now(),
    openedMonotonicMs: clock.monotonic(),
    trail: trace === undefined ? { attempts: 0, marks: newMarks() } : { attempts: 0, marks: newMarks(), trace },
  }
}

function find({ isClosing, views }: RoomsParts, { caller, request }: Call): Found {
  if (isClosing()) return { kind: 'missing', code: 'unavailable', reason: 'the gate is closed' }
  const found = views.find(caller, request.name)
  if (found.kind === 'missing' || request.tool === undefined || found.entry.tool === request.tool) return found
  return {
    kind: 'missing',
    code: 'not_found',
    reason: 'another definition answers to this name; register this one, or call by name',
  }
}

/** Nothing starts once the gate is closing, and no approval is spent on it. */
const CLOSING: Intent = Object.freeze({
  kind: 'refused',
  code: 'cancelled',
  message: 'the gate is closing; nothing was done',
  options: {},
})
