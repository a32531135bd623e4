// ONE call, top to bottom: describe, discover, authorize, execute, observe. The only file that reaches the executor.
// It refuses to grow: new behaviour is a guard, a rule, a source or a shaper.

import type { Call, CallRequest, CheckedInput, Ending } from './describe/call.ts'
import type { InputResult } from './describe/check-input.ts'
import type { Decision } from './describe/decision.ts'
import type { Entry } from './describe/entry.ts'
import type { ErrorType } from './describe/error-types.ts'
import type { Outcome } from './describe/outcome.ts'
import { type FailureOptions, refused } from './describe/refused.ts'
import type { Found } from './discover/catalogue.ts'
import type { Intent } from './observe/records.ts'

type Maybe<Value> = Value | Promise<Value>

export type Admission =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'deny'; readonly decision: Decision }
  /** Too many calls in too short a time; `reason` says whose. */
  | { readonly kind: 'limited'; readonly reason: string; readonly afterMs: number }

/** What the stages ask of the rooms. `gate.ts` fills it. */
export interface Rooms {
  openCall(request: CallRequest): Call
  readonly catalogue: { find(call: Call): Found }
  readonly policy: {
    admit(call: Call, entry: Entry): Admission
    decide(call: Call, entry: Entry, input: CheckedInput): Decision
  }
  check(call: Call, entry: Entry): Maybe<InputResult>
  readonly records: {
    intend(call: Call, entry: Entry, input: CheckedInput, decision: Decision): Maybe<Intent>
    close(call: Call, outcome: Outcome): Maybe<void>
  }
  readonly executor: { run(call: Call, entry: Entry, input: CheckedInput): Promise<Ending> }
  /** A promise where what was cut is kept first. Never throws, never rejects. */
  shape(call: Call, ending: Ending): Maybe<Outcome>
  reportBug(call: Call, bug: unknown): Ending
}

/** Runs one call and answers with its one outcome. Never throws, never rejects. */
export async function callTool(rooms: Rooms, request: CallRequest): Promise<Outcome> {
  const call = rooms.openCall(request)
  const ending = await walk(rooms, call).catch((bug: unknown) => rooms.reportBug(call, bug))
  // INVARIANT one-outcome: every way through `walk` comes out here, is shaped once and recorded once.
  const outcome = await rooms.shape(call, ending)
  await rooms.records.close(call, outcome)
  return outcome
}

async function walk(rooms: Rooms, call: Call): Promise<Ending> {
  const { trail } = call

  // ① DISCOVER: is there such a tool? Exactly this name, no guessing.
  const found = rooms.catalogue.find(call)
  if (found.kind === 'missing') return refused(found.code, found.reason, helpOf(found.help))
  const { entry } = found
  trail.entry = entry

  // ② AUTHORIZE, the cheap half: may this caller use this tool at all? Before anything of the arguments is read.
  const admitted = rooms.policy.admit(call, entry)
  if (admitted.kind === 'deny') return denied(call, admitted.decision)
  if (admitted.kind === 'limited') return limited(admitted)

  // ③ VALIDATE: shape, then meaning, to canonical arguments. Below this line nothing of them changes.
  const input = await rooms.check(call, entry)
  if (input.kind === 'invalid') return refused(input.code, input.message, helpOf(input.help))
  trail.input = input

  // ② AUTHORIZE, the exact half: this caller, this definition, these arguments, these resources. Asking ends the call.
  const decision = rooms.policy.decide(call, entry, input)
  if (decision.kind === 'deny') return denied(call, decision)
  trail.decision = decision

  // ⑥ AUDIT, first half: one transaction redeems the approval, claims the key and records the intent, or nothing happens.
  const intent = await rooms.records.intend(call, entry, input, decision)
  if (intent.kind === 'replay') return intent.ending
  if (intent.kind === 'refused') return refused(intent.code, intent.message, intent.options)

  // ④ EXECUTE: one printable list of guards; the answer is settled before anything outside holds it.
  // INVARIANT one-gate: this is the one line of the product that runs a tool.
  return rooms.executor.run(call, entry, input)
}

function denied(call: Call, decision: Decision): Ending {
  call.trail.decision = decision
  const type: ErrorType = 'permission_denied'
  return refused(type, decision.reason, helpOf(ruleText(decision)))
}

function limited({ reason, afterMs }: Admission & { kind: 'limited' }): Ending {
  return refused('rate_limited', reason, { retry: { advice: 'later', afterMs } })
}

const helpOf = (help: string | undefined): FailureOptions => (help === undefined ? {} : { help })

function ruleText({ rule }: Decision): string | undefined {
  if (rule === undefined) return undefined
  return rule.file === undefined ? rule.text : `${rule.text} (${rule.file}:${rule.line ?? 0})`
}
