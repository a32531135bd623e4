// Recorded calls as the policy desk looks at them: who asked for what, and what was answered. Bodies are JSON that another
// version may have written; what cannot be read again says why, and nothing is made up for it.

import { type CallerRead, readCaller } from '../authorize/caller-identity.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json-value.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision, RuleReference } from '../describe/decision.ts'
import { isDeclaredEffect } from '../describe/effect.ts'
import type { RecordedRange } from '../gate-contract.ts'
import { bodyOf, isShut } from '../observe/record-text.ts'
import type { RecordKind, RecordRow, Store } from '../observe/store.ts'

/** Rows of one page: the most that a store gives at once. */
const PAGE = 10_000
const CALLS_MAX = 100_000
/** Rows of several processes stand in the order in which they were written, not quite in that of their times. */
const SLACK_MS = 600_000
/** Characters of the policy version that a record keeps. */
export const VERSION_KEPT = 16

export type RecordedCall = {
  readonly callId: string
  readonly at: number
  readonly tool: string
  /** `unread`: the call was answered before anybody looked at its arguments. */
  readonly args:
    | { readonly kind: 'whole'; readonly args: JsonObject }
    | { readonly kind: 'cut' }
    | { readonly kind: 'unread' }
  readonly caller: CallerRead
  readonly decision: Decision
  /** The approval that the call used. */
  readonly approval?: string
}

type Records = Pick<Store, 'records' | 'chains' | 'flush'>

/** The newest calls that came as far as a decision, oldest first. */
export async function recordedCalls(store: Records, range: RecordedRange): Promise<readonly RecordedCall[]> {
  const { callsMax = CALLS_MAX } = range
  const calls = new Map<string, RecordedCall>()
  // A call that never ended has only the record before it. Of both, the one after tells more.
  for (const kind of ['intent', 'end'] as const)
    for (const row of await rowsOf(store, kind, range)) {
      const call = recordedCall(row)
      if (call === undefined) continue
      calls.delete(call.callId)
      calls.set(call.callId, call)
    }
  const sorted = [...calls.values()].sort((one, other) => one.at - other.at)
  return sorted.slice(Math.max(0, sorted.length - Math.max(0, Math.min(callsMax, CALLS_MAX))))
}

/** The oldest first, of each process. */
export async function rowsOf(
  store: Records,
  kind: RecordKind,
  { since = 0 }: RecordedRange,
): Promise<readonly RecordRow[]> {
  await store.flush()
  const newest = await store.records({ kind, newestFirst: true, limit: PAGE })
  const oldest = newest.at(-1)
  const isAll = oldest === undefined || newest.length < PAGE || oldest.at < since - SLACK_MS
  const rows = isAll ? newest.toReversed() : await rowsOfChains(store, kind)
  return rows.filter(({ at }) => at >= since)
}

async function rowsOfChains(store: Records, kind: RecordKind): Promise<readonly RecordRow[]> {
  const rows: RecordRow[] = []
  for (const chain of await store.chains()) {
    for (let afterSeq = 0, more = true; more; ) {
      const page = await store.records({ chain, kind, afterSeq, limit: PAGE })
      rows.push(...page)
      afterSeq = page.at(-1)?.seq ?? afterSeq
      more = page.length === PAGE
    }
  }
  return rows
}

/** Undefined for a row that is about no call, or whose call came to no decision. */
function recordedCall(row: RecordRow): RecordedCall | undefined {
  const { callId, at } = row
  const body = bodyOf(row)
  const decision = decisionOf(body)
  if (callId === null || decision === undefined || typeof body.tool !== 'string') return undefined
  const { tool, approval } = body
  return {
    ...{ callId, at, tool, decision, args: isShut(row) ? SHUT : argumentsOf(body), caller: recordedCaller(row) },
    ...(typeof approval === 'string' ? { approval } : {}),
  }
}

/** Who made the call of a record. What was sealed and cannot be opened any more leaves nobody, and never a default. */
export const recordedCaller = (row: RecordRow): CallerRead => (isShut(row) ? ERASED : callerOf(bodyOf(row)))

const ERASED: CallerRead = { kind: 'bad', reason: 'what is known of the person was erased, or cannot be opened here' }
const SHUT: RecordedCall['args'] = { kind: 'unread' }

/** The arguments as they were decided on, where the record has them whole. */
export function argumentsOf({ args, argsCut }: JsonObject): RecordedCall['args'] {
  if (argsCut !== undefined) return { kind: 'cut' }
  return isJsonObject(args) ? { kind: 'whole', args } : { kind: 'unread' }
}

/** A task is recorded by its name: what it allowed then is not, so that it narrows nothing here. */
function callerOf(body: JsonObject): CallerRead {
  const { parent } = body
  const ancestor = parent === undefined ? undefined : isJsonObject(parent) ? callerOf(parent) : UNREADABLE
  if (ancestor?.kind === 'bad') return ancestor
  const own = readCaller(pick(body, ['tenant', 'user', 'agent', 'roles', 'session', 'step', 'layers'], taskOf(body)))
  if (own.kind === 'bad' || ancestor === undefined) return own
  return { kind: 'ok', caller: Object.freeze({ ...own.caller, parent: ancestor.caller }) }
}

const UNREADABLE: CallerRead = { kind: 'bad', reason: 'whoever the caller worked for was not recorded' }

const taskOf = ({ task }: JsonObject): Partial<Caller> =>
  typeof task === 'string' ? { task: Object.freeze({ name: task }) } : {}

const pick = (body: JsonObject, names: readonly string[], more: object): object => ({
  ...Object.fromEntries(names.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]]))),
  ...more,
})

const KINDS = ['allow', 'ask', 'deny'] as const
const SPEAKERS = ['rule', 'default', 'task', 'step', 'tool', 'stop', 'loop', 'closed'] as const

const oneOf = <Word extends string>(words: readonly Word[], value: JsonValue | undefined): Word | undefined =>
  words.find((word) => word === value)

/** What the policy answered; undefined where the record does not tell. */
export function decisionOf({ decision, effect }: JsonObject): Decision | undefined {
  if (!isJsonObject(decision) || (effect !== undefined && !isDeclaredEffect(effect))) return undefined
  const { reason, policy } = decision
  const kind = oneOf(KINDS, decision.kind)
  const by = oneOf(SPEAKERS, decision.by)
  if (kind === undefined || by === undefined || typeof policy !== 'string') return undefined
  const rule = ruleOf(decision)
  return {
    ...{ kind, by, reason: typeof reason === 'string' ? reason : '', policyVersion: policy },
    ...(rule === undefined ? {} : { rule }),
  }
}

function ruleOf({ rule: text, file, line }: JsonObject): RuleReference | undefined {
  if (typeof text !== 'string') return undefined
  return {
    text,
    ...(typeof file === 'string' ? { file } : {}),
    ...(typeof line === 'number' ? { line } : {}),
  }
}
