// The question to a person about one exact call, and the digest that binds an answer to it. An answer for one call is no
// answer for any other: not for another caller, task, step or workspace, not for whoever works for the caller, not for
// another definition, other arguments or other rules.

import { randomBytes } from 'node:crypto'
import { sha256 } from '../base/digest.ts'
import type { Call, CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import { NO_REDACTION, type Redactor } from '../describe/redactor.ts'
import type { BoundText } from '../describe/tool.ts'
import { type Offer, offersFor } from './grant-offers.ts'
import { renderCall } from './render-call.ts'

/** How long a question and its answer hold where nothing else is said. */
const EXPIRES_MS = 3_600_000
/** How long a wider answer holds where nothing else is said. */
const GRANT_MS = 12 * 3_600_000

export type BoundCall = {
  readonly caller: Caller
  /** Names the workspace: equal for calls that work in the same folders. */
  readonly workspace: string
  readonly fingerprint: string
  /** The canonical JSON text of the arguments. */
  readonly argumentsText: string
  /** Texts outside of the arguments that decide what the call does. */
  readonly binds?: readonly BoundText[]
  readonly policyVersion: string
}

/**
 * SHA-256 (hex) over tenant, user, agent, task and step of the caller and of everybody whom it works for, workspace,
 * fingerprint, canonical arguments, the texts that these bind and policy version: as a JSON array, in which no two different
 * calls have the same text.
 */
export function callDigest({
  caller,
  workspace,
  fingerprint,
  argumentsText,
  binds = [],
  policyVersion,
}: BoundCall): string {
  const bound = binds.map(({ title, text }) => [title, text])
  return sha256(
    JSON.stringify(['lockgate-call-3', lineOf(caller), workspace, fingerprint, argumentsText, bound, policyVersion]),
  )
}

/** The caller, then whom it works for, up to the one who works for nobody. */
function lineOf(caller: Caller): readonly (readonly (string | null)[])[] {
  const line: (readonly (string | null)[])[] = []
  for (let next: Caller | undefined = caller; next !== undefined; next = next.parent) {
    const { tenant, user, agent, task, step } = next
    line.push([tenant, user, agent, task?.name ?? null, step ?? null])
  }
  return line
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
  readonly workspace: string
  readonly task?: string
  readonly askedBy: readonly string[]
  readonly offers: readonly Offer[]
  readonly openedAt: number
  readonly expiresAt: number
}

export type ApprovalParts = {
  readonly call: Pick<Call, 'caller'>
  readonly entry: Entry
  readonly input: CheckedInput
  readonly decision: Decision
  /** Everything that asks about the call: rules and defaults. */
  readonly askedBy: readonly string[]
  /** Names the workspace, as in the digest. */
  readonly workspace: string
  /** Workspace roots by name, from which patterns count. */
  readonly roots: ReadonlyMap<string, string>
  readonly digest: string
  /** Milliseconds since the Unix epoch. */
  readonly openedAt: number
  /** Milliseconds, at least 1. Default: one hour. */
  readonly expiresMs?: number
  /** Takes secrets out of what a person is shown. */
  readonly redactor?: Redactor
  /** Milliseconds for which a wider answer would hold. Default: twelve hours. */
  readonly grantMs?: number
}

/**
 * As much of a question as an answer is found by: nobody is asked with it, and no line of it is for a person. Most calls that
 * ask have their answer already, and rendering a question takes longer than finding one.
 */
export function questionAbout({ call, entry, input, decision, workspace, digest }: BoundParts): About {
  const { tenant, user, agent, session, task } = call.caller
  return {
    ...{ digest, tenant, user, agent, session, workspace },
    ...(task === undefined ? {} : { task: task.name }),
    ...{ tool: entry.tool.name, fingerprint: entry.fingerprint, effect: input.effect },
    policyVersion: decision.policyVersion,
  }
}

type BoundParts = Pick<ApprovalParts, 'call' | 'entry' | 'input' | 'decision' | 'workspace' | 'digest'>
type About = Omit<OpenedApproval, 'id' | 'state' | 'reason' | 'shown' | 'askedBy' | 'offers' | 'openedAt' | 'expiresAt'>

/** The row of a question. Throws RangeError for an `expiresMs` that is no whole number of milliseconds, at least 1. */
export function openApproval({
  call,
  entry,
  input,
  decision,
  askedBy,
  workspace,
  roots,
  digest,
  openedAt,
  expiresMs = EXPIRES_MS,
  grantMs = GRANT_MS,
  redactor = NO_REDACTION,
}: ApprovalParts): OpenedApproval {
  if (!Number.isSafeInteger(expiresMs) || expiresMs < 1)
    throw new RangeError('`expiresMs` must be a whole number of milliseconds, at least 1')
  return Object.freeze({
    ...questionAbout({ call, entry, input, decision, workspace, digest }),
    id: `apr_${randomBytes(16).toString('hex')}`,
    state: 'open',
    reason: redactor.text(decision.reason).value,
    shown: renderCall(entry, input, { redactor, restsOn: looksAtName(decision, askedBy) }),
    askedBy,
    offers: Object.freeze(
      offersFor({ caller: call.caller, workspace, entry, input, decision, askedBy, roots }, grantMs),
    ),
    openedAt,
    expiresAt: openedAt + expiresMs,
  })
}

/** Whether what asks names an argument: a rule that looks at it, by its text. */
function looksAtName({ rule, reason }: Decision, askedBy: readonly string[]): (name: string) => boolean {
  const texts = [rule?.text ?? '', reason, ...askedBy].flatMap((text) => text.split(/[^A-Za-z0-9_-]+/))
  return (name) => texts.includes(name)
}
