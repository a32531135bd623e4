// Why one call gets its answer. The call goes as far as a decision, through the rooms of every call, and no further.

import type { Call, CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import { effectMost } from '../describe/effect.ts'
import type { Entry } from '../describe/entry.ts'
import type { Found } from '../discover/catalogue.ts'
import type { ExplainedCall, NamedCall } from '../gate-contract.ts'
import type { DeskParts } from './desk-parts.ts'

export const callOf = (parts: DeskParts, caller: Caller, name: string, given: unknown): Call =>
  parts.preview({ caller, entrance: 'library', name, arguments: given })

export async function explainCall(
  parts: DeskParts,
  caller: Caller,
  { name, arguments: given }: Pick<NamedCall, 'name' | 'arguments'>,
): Promise<ExplainedCall> {
  const { rooms } = parts
  const call = callOf(parts, caller, name, given)
  const found = lookUp(parts, call)
  if (found.kind === 'missing') return { kind: 'refused', type: found.code, message: found.help ?? found.reason }
  const { entry } = found
  const admitted = rooms.policy.admit(call, entry)
  if (admitted.kind === 'limited') return { kind: 'refused', type: 'rate_limited', message: admitted.reason }
  const checked = await rooms.check(call, entry)
  if (admitted.kind === 'admitted') {
    if (checked.kind === 'invalid') return { kind: 'refused', type: checked.code, message: checked.message }
    return explained(parts, call, entry, checked, rooms.policy.decide(call, entry, checked))
  }
  // The answer stands before anything of the arguments is read. Where they hold they are looked at all the same, so that
  // whoever writes rules sees what else speaks of the call.
  if (checked.kind === 'ok') return explained(parts, call, entry, checked, admitted.decision)
  const { findings } = parts.policyOf(caller).explainAdmission(caller, entry)
  const effect = effectMost(entry.tool.effect)
  return { kind: 'decided', decision: admitted.decision, findings, arguments: {}, resources: [], effect }
}

/**
 * The tool of a call as the operator sees it: one that the rules hide from the caller is there, for it is the rules that
 * have to be explained; one that the caller's layers or an activation leave out is not.
 */
export function lookUp({ catalogue, policyOf, rooms, why }: DeskParts, call: Call): Found {
  const found = rooms.catalogue.find(call)
  const { caller, request } = call
  if (found.kind === 'found' || !policyOf(caller).denialsHidden) return found
  const known = catalogue.find(request.name)
  if (known.kind === 'missing') return found
  const admitted = rooms.policy.admit(call, known.entry)
  // The view's reason is the rules' own only where nothing else hides the tool.
  const isByRules = admitted.kind === 'deny' && why(caller, known).why.startsWith(admitted.decision.reason)
  return isByRules ? known : found
}

/** The error type that a decision ends a call with; undefined where it does not end it. */
export function typeOf({ rooms }: DeskParts, call: Call, { kind }: Decision): string | undefined {
  if (kind === 'allow') return undefined
  if (kind === 'ask') return 'approval_required'
  const found = rooms.catalogue.find(call)
  return found.kind === 'missing' ? found.code : 'permission_denied'
}

function explained(
  parts: DeskParts,
  { caller }: Call,
  entry: Entry,
  input: CheckedInput,
  decision: Decision,
): ExplainedCall {
  const { findings } = parts.policyOf(caller).explain(caller, entry, input)
  const { args, command, effect, touches } = input
  const resources = touches.kind === 'known' ? touches.resources.map(({ text }) => text) : []
  const started = command === undefined ? {} : { command }
  return { kind: 'decided', decision, findings, arguments: args, resources, effect, ...started }
}
