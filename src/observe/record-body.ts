// What a record says, as JSON text. Arguments are written as they were decided on; long ones are cut and say so. This is
// written for every call, so the parts that calls have in common (caller, tool, decision) are turned into text once.

import { sha256 } from '../base/digest.ts'
import type { Call, Ending } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { BoundText } from '../describe/tool.ts'

/** Characters of arguments in a record. */
const ARGUMENT_CHARACTERS_MAX = 16_384

/** The record before an effect. */
export const intentBody = (call: Call): string => `{${known(call)}}`

/** The record after: how the call ended, and what the tool really did as far as anybody knows. */
export function endBody(call: Call, outcome: Outcome, contentBytes: number): string {
  const { attempts, blockedMs } = call.trail
  const { place, startedMs, truncated } = outcome.meta
  let body = `{${known(call)}`
  body += outcome.ok ? ',"ok":true' : `,"ok":false,"error":${errorText(outcome.error)}`
  body += `,"ms":${Math.round(outcome.elapsedMs * 1_000) / 1_000},"attempts":${attempts},"contentBytes":${contentBytes}`
  if (startedMs !== undefined) body += `,"startedMs":${Math.round(startedMs * 1_000) / 1_000}`
  if (place !== undefined) body += `,"place":"${place}"`
  body += runText(call.trail)
  if (truncated !== undefined) body += `,"truncated":${JSON.stringify(truncated)}`
  if (blockedMs !== undefined) body += `,"blockedMs":${blockedMs}`
  return `${body}}`
}

/** What is worth keeping of how the tool came to run; nothing for most calls. */
function runText(trail: Call['trail']): string {
  const { place, laneWaitMs, exclusive, limitsHit, limitsUnenforced, cachedFrom, replayOf } = trail
  let text = ''
  // Of a tool in the gate's own process there is nothing to explain.
  if (place !== undefined && place.place !== 'process') text += `,"placeWhy":${JSON.stringify(place.why)}`
  if (limitsHit !== undefined) text += `,"limitsHit":${JSON.stringify(limitsHit)}`
  if (limitsUnenforced !== undefined) text += `,"limitsUnenforced":${JSON.stringify(limitsUnenforced)}`
  if (laneWaitMs !== undefined) text += `,"laneWaitMs":${Math.round(laneWaitMs * 1_000) / 1_000}`
  if (exclusive !== undefined) text += `,"exclusive":${JSON.stringify(exclusive.slice(0, 1_024))}`
  if (cachedFrom !== undefined) text += `,"cachedFrom":${JSON.stringify(cachedFrom)}`
  if (replayOf !== undefined) text += `,"replayOf":${JSON.stringify(replayOf)}`
  return text
}

/** An answer that came after its call was over. */
export function lateBody(call: Call, ending: Ending, afterMs: number): string {
  const tool = JSON.stringify(call.request.name)
  const done = call.trail.input?.effect === 'read' ? 'none' : 'done'
  const result =
    ending.kind === 'value' ? `"ok":true,"effect":"${done}"` : `"ok":false,"error":${errorText(ending.error)}`
  return `{"tool":${tool},${result},"afterDeadlineMs":${Math.round(afterMs)}}`
}

/** Who asked what, through which door, and what the policy answered: members common to the records before and after. */
function known(call: Call): string {
  const { entry, input, decision, approvalId, grantId, remark } = call.trail
  const { request } = call
  let text = `"entrance":"${request.entrance}",${callerText(call.caller)}`
  if (request.id !== undefined) text += `,"id":${JSON.stringify(request.id)}`
  if (request.parent !== undefined) text += `,"parentCall":${JSON.stringify(request.parent.id)}`
  if (typeof request.idempotencyKey === 'string')
    text += `,"key":${JSON.stringify(request.idempotencyKey.slice(0, 256))}`
  text += entry === undefined ? `,"tool":${JSON.stringify(request.name.slice(0, 256))}` : `,${entryText(entry)}`
  if (input !== undefined) text += `,"effect":"${input.effect}",${argumentsText(input.text)}`
  if (input?.command !== undefined) text += `,"starts":${JSON.stringify(input.command)}`
  if (input?.binds !== undefined) text += `,"binds":${JSON.stringify(input.binds.map(boundMembers))}`
  if (decision !== undefined) text += `,"decision":${decisionText(decision)}`
  if (approvalId !== undefined) text += `,"approval":${JSON.stringify(approvalId)}`
  if (grantId !== undefined) text += `,"grant":${JSON.stringify(grantId)}`
  if (remark !== undefined) text += `,"remark":${JSON.stringify(remark)}`
  return text
}

/** Canonical arguments are JSON text already, and stand in the record as what they are. */
function argumentsText(text: string): string {
  if (text.length <= ARGUMENT_CHARACTERS_MAX) return `"args":${text}`
  const cut = { characters: text.length, kept: ARGUMENT_CHARACTERS_MAX, sha256: sha256(text) }
  return `"args":${JSON.stringify(text.slice(0, ARGUMENT_CHARACTERS_MAX))},"argsCut":${JSON.stringify(cut)}`
}

/** Remembers the text of a frozen object for as long as the object lives. */
function remembered<Key extends object>(write: (key: Key) => string): (key: Key) => string {
  const texts = new WeakMap<Key, string>()
  return (key) => {
    const text = texts.get(key)
    if (text !== undefined) return text
    const written = write(key)
    texts.set(key, written)
    return written
  }
}

const membersOf = (value: object): string => JSON.stringify(value).slice(1, -1)

const callerText = remembered((caller: Caller) => membersOf(callerMembers(caller)))

/** `parent`: whom the caller works for, and in turn whom that one works for. */
function callerMembers({ tenant, user, agent, roles, session, task, step, parent }: Caller): object {
  return {
    ...{ tenant, user, agent, ...(roles.length === 0 ? {} : { roles }), session, task: task?.name, step },
    parent: parent === undefined ? undefined : callerMembers(parent),
  }
}

const entryText = remembered(({ tool, source, fingerprint }: Entry) =>
  membersOf({ tool: tool.name, version: tool.version, source, fingerprint }),
)

/** The text itself may be long, and stands with the question; its digest tells whether it was this one. */
const boundMembers = ({ title, text }: BoundText): object => ({
  title: title.slice(0, 256),
  characters: text.length,
  sha256: sha256(text),
})

const decisionText = remembered(({ kind, by, rule, reason, place, policyVersion }: Decision) =>
  JSON.stringify({
    ...{ kind, by, rule: rule?.text, file: rule?.file, line: rule?.line },
    ...{ reason, place, policy: policyVersion.slice(0, 16) },
  }),
)

const errorText = ({ type, message, effect, help, details }: (Outcome & { ok: false })['error']): string =>
  JSON.stringify({
    ...{ type, effect, message: message.slice(0, 2_048), help: help?.slice(0, 4_096) },
    code: typeof details?.code === 'string' ? details.code : undefined,
    // Of a call that nobody approved: why not.
    reason: typeof details?.reason === 'string' ? details.reason : undefined,
  })
