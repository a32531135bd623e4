// What a record says, as JSON text. Arguments are written as they were decided on; long ones are cut and say so.

import { sha256 } from '../base/digest.ts'
import type { Call, Ending } from '../describe/call.ts'
import type { Outcome } from '../describe/outcome.ts'

/** Characters of arguments in a record. */
const ARGUMENT_CHARACTERS_MAX = 16_384

/** Who asked what, through which door, and what the policy answered: common to the records before and after. */
function known(call: Call): Record<string, unknown> {
  const { entry, input, decision, approvalId } = call.trail
  const { tenant, user, agent, roles, session, task } = call.caller
  return {
    run: call.runId,
    entrance: call.request.entrance,
    tenant,
    user,
    agent,
    ...(roles.length === 0 ? {} : { roles }),
    session,
    ...(task === undefined ? {} : { task: task.name }),
    ...(call.request.id === undefined ? {} : { id: call.request.id }),
    tool: call.request.name,
    ...(entry === undefined
      ? {}
      : { version: entry.tool.version, source: entry.source, fingerprint: entry.fingerprint }),
    ...(input === undefined ? {} : { effect: input.effect, ...argumentsOf(input.text) }),
    ...(decision === undefined ? {} : { decision: decisionOf(decision) }),
    ...(approvalId === undefined ? {} : { approval: approvalId }),
  }
}

function argumentsOf(text: string): Record<string, unknown> {
  if (text.length <= ARGUMENT_CHARACTERS_MAX) return { args: text }
  return { args: text.slice(0, ARGUMENT_CHARACTERS_MAX), argsCut: { characters: text.length, sha256: sha256(text) } }
}

function decisionOf({
  kind,
  by,
  rule,
  reason,
  policyVersion,
}: NonNullable<Call['trail']['decision']>): Record<string, unknown> {
  return {
    kind,
    by,
    ...(rule === undefined ? {} : { rule: rule.text, file: rule.file, line: rule.line }),
    reason,
    policy: policyVersion.slice(0, 16),
  }
}

/** The record before an effect. */
export const intentBody = (call: Call): string => JSON.stringify(known(call))

/** The record after: how the call ended, and what the tool really did as far as anybody knows. */
export function endBody(call: Call, outcome: Outcome, contentBytes: number): string {
  const { attempts, blockedMs } = call.trail
  return JSON.stringify({
    ...known(call),
    ...(outcome.ok ? { ok: true } : { ok: false, error: errorOf(outcome.error) }),
    ms: Math.round(outcome.elapsedMs * 1_000) / 1_000,
    attempts,
    contentBytes,
    ...(outcome.meta.place === undefined ? {} : { place: outcome.meta.place }),
    ...(outcome.meta.truncated === undefined ? {} : { truncated: outcome.meta.truncated }),
    ...(blockedMs === undefined ? {} : { blockedMs }),
  })
}

const errorOf = ({
  type,
  message,
  effect,
  help,
  details,
}: (Outcome & { ok: false })['error']): Record<string, unknown> => ({
  type,
  message: message.slice(0, 2_048),
  effect,
  ...(help === undefined ? {} : { help: help.slice(0, 4_096) }),
  ...(typeof details?.code === 'string' ? { code: details.code } : {}),
})

/** An answer that came after its call was over. */
export function lateBody(call: Call, ending: Ending, afterMs: number): string {
  const result =
    ending.kind === 'value'
      ? { ok: true, effect: call.trail.input?.effect === 'read' ? 'none' : 'done' }
      : { ok: false, error: errorOf(ending.error) }
  return JSON.stringify({ run: call.runId, tool: call.request.name, ...result, afterDeadlineMs: Math.round(afterMs) })
}
