// The question to a person about one exact call, and the digest that binds an answer to it. An answer for one call is no
// answer for any other: not for another caller, task or workspace, another definition, other arguments or other rules.

import { randomBytes } from 'node:crypto'
import { sha256 } from '../base/digest.ts'
import type { Call, CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import { renderCall } from './render-call.ts'

/** How long a question and its answer hold where nothing else is said. */
const EXPIRES_MS = 3_600_000

export type BoundCall = {
  readonly caller: Caller
  /** Names the workspace: equal for calls that work in the same folders. */
  readonly workspace: string
  readonly fingerprint: string
  /** The canonical JSON text of the arguments. */
  readonly argumentsText: string
  readonly policyVersion: string
}

/**
 * SHA-256 (hex) over tenant, user, agent, workspace, task, fingerprint, canonical arguments and policy version: as a JSON
 * array, in which no two different calls have the same text.
 */
export function callDigest({ caller, workspace, fingerprint, argumentsText, policyVersion }: BoundCall): string {
  const { tenant, user, agent, task } = caller
  return sha256(
    JSON.stringify([
      'lockgate-call-1',
      tenant,
      user,
      agent,
      workspace,
      task?.name ?? null,
      fingerprint,
      argumentsText,
      policyVersion,
    ]),
  )
}

/** A question that nobody has answered yet. */
export type OpenedApproval = {
  readonly id: string
  readonly digest: string
  readonly state: 'open'
  readonly tenant: string
  readonly user: string
  readonly agent: string
  readonly session: string
  readonly tool: string
  readonly fingerprint: string
  readonly effect: string
  readonly policyVersion: string
  readonly reason: string
  readonly shown: string
  readonly openedAt: number
  readonly expiresAt: number
}

export type ApprovalParts = {
  readonly call: Pick<Call, 'caller'>
  readonly entry: Entry
  readonly input: CheckedInput
  readonly decision: Decision
  readonly digest: string
  /** Milliseconds since the Unix epoch. */
  readonly openedAt: number
  /** Milliseconds, at least 1. Default: one hour. */
  readonly expiresMs?: number
}

/** The row of a question. Throws RangeError for an `expiresMs` that is no whole number of milliseconds, at least 1. */
export function openApproval({
  call,
  entry,
  input,
  decision,
  digest,
  openedAt,
  expiresMs = EXPIRES_MS,
}: ApprovalParts): OpenedApproval {
  if (!Number.isSafeInteger(expiresMs) || expiresMs < 1)
    throw new RangeError('`expiresMs` must be a whole number of milliseconds, at least 1')
  const { tenant, user, agent, session } = call.caller
  return Object.freeze({
    id: `apr_${randomBytes(16).toString('hex')}`,
    digest,
    state: 'open',
    tenant,
    user,
    agent,
    session,
    tool: entry.tool.name,
    fingerprint: entry.fingerprint,
    effect: input.effect,
    policyVersion: decision.policyVersion,
    reason: decision.reason,
    shown: renderCall(entry, input),
    openedAt,
    expiresAt: openedAt + expiresMs,
  })
}
