// The calls of one session as the records tell of them: what was asked, and how each ended. Calls that other calls made stand
// after the one that made them. What is missing, or cannot be read any more, is left out; nothing is made up for it.

import { isJsonObject, type JsonObject } from '../base/json-value.ts'
import type { ReplayOptions, ReplayStep } from '../gate-contract.ts'
import { bodyOf } from '../observe/record-text.ts'
import type { RecordRow, Store } from '../observe/store.ts'
import { decisionOf } from './recorded-calls.ts'

/** Rows that are read at a time. */
const PAGE = 1_000
/** Records of one call: an intent, an end, and the few that may follow it. */
const OF_CALL_MAX = 16

/** `row`: the record after the call, or the one before it where there is no other. */
export type SessionCall = {
  readonly callId: string
  readonly row: RecordRow
  readonly recorded: ReplayStep['recorded']
  readonly at: number
}

export type SessionCalls = { readonly calls: readonly SessionCall[]; readonly more: boolean }

type Records = Pick<Store, 'records' | 'flush'>

type Found = { readonly first: number; readonly intent?: RecordRow; readonly end?: RecordRow }

/** The oldest calls first, at most so many. */
export async function sessionCalls(
  store: Records,
  session: string,
  { tenant, user }: ReplayOptions,
  callsMax: number,
): Promise<SessionCalls> {
  await store.flush()
  const who = { session, ...(tenant === undefined ? {} : { tenant }), ...(user === undefined ? {} : { user }) }
  const found = new Map<string, Found>()
  let more = false
  for (let after: number | undefined, isLast = false; !isLast && !more; ) {
    const page = await store.records({ ...who, limit: PAGE, ...(after === undefined ? {} : { afterPosition: after }) })
    for (const row of page) more = !note(found, row, callsMax) || more
    after = page.at(-1)?.position
    isLast = page.length < PAGE
  }
  const calls: SessionCall[] = []
  for (const [callId, { intent, end }] of nested(found)) {
    const row = end ?? intent
    if (row !== undefined) calls.push(await callOf(store, callId, row))
  }
  return { calls, more }
}

/** False for a call that is one too many. */
function note(found: Map<string, Found>, row: RecordRow, callsMax: number): boolean {
  const { callId, kind, position } = row
  if (callId === null || (kind !== 'intent' && kind !== 'end')) return true
  const known = found.get(callId)
  if (known === undefined && found.size >= callsMax) return false
  found.set(callId, { first: position, ...known, [kind]: row })
  return true
}

/** In the order in which the calls were first heard of, each followed by those that it made. */
function* nested(found: ReadonlyMap<string, Found>): Iterable<readonly [string, Found]> {
  const children = new Map<string | undefined, string[]>()
  for (const [callId, { intent, end }] of found) {
    const parent = parentOf(intent) ?? parentOf(end)
    // A call whose parent is not among these stands by itself.
    const under = parent !== undefined && found.has(parent) ? parent : undefined
    children.set(under, [...(children.get(under) ?? []), callId])
  }
  const waiting = [...(children.get(undefined) ?? [])].reverse()
  const told = new Set<string>()
  for (let callId = waiting.pop(); callId !== undefined; callId = waiting.pop()) {
    const one = found.get(callId)
    // Whatever rows claim of their parents, each call is told once.
    if (one === undefined || told.has(callId)) continue
    told.add(callId)
    yield [callId, one]
    waiting.push(...[...(children.get(callId) ?? [])].reverse())
  }
}

function parentOf(row: RecordRow | undefined): string | undefined {
  const parent = row === undefined ? undefined : bodyOf(row).parentCall
  return typeof parent === 'string' ? parent : undefined
}

async function callOf(store: Records, callId: string, row: RecordRow): Promise<SessionCall> {
  const body = bodyOf(row)
  const ms = numberOf(body, 'ms')
  if (row.kind === 'end') return { callId, row, at: Math.trunc(row.at - ms), recorded: endedAs(body, ms) }
  // The one who settles a call for a gate that is gone belongs to no session.
  const others = await store.records({ callId, limit: OF_CALL_MAX })
  const end = others.find(({ kind }) => kind === 'end')
  if (end !== undefined) {
    const ended = bodyOf(end)
    return { callId, row: end, at: row.at, recorded: endedAs(ended, numberOf(ended, 'ms')) }
  }
  return { callId, row, at: row.at, recorded: neverEnded(body, others) }
}

function neverEnded(body: JsonObject, others: readonly RecordRow[]): ReplayStep['recorded'] {
  const settled = others.find(({ kind }) => kind === 'reconciled')
  const effect = settled === undefined ? undefined : textOf(bodyOf(settled), 'effect')
  return {
    ...common(body),
    ok: false,
    error:
      effect === undefined
        ? { type: 'outcome_unknown', effect: 'unknown', message: 'no end of this call was recorded' }
        : {
            type: 'outcome_unknown',
            effect,
            message: 'its gate was gone before it ended; this was found out afterwards',
          },
    attempts: 1,
    elapsedMs: 0,
  }
}

function endedAs(body: JsonObject, elapsedMs: number): ReplayStep['recorded'] {
  const error = isJsonObject(body.error) ? body.error : undefined
  const result = isJsonObject(body.result) ? body.result : undefined
  const [digest, artifact] = [textOf(result, 'digest'), textOf(body, 'artifact')]
  return {
    ...common(body),
    ok: body.ok === true,
    ...(error === undefined
      ? {}
      : {
          error: {
            type: textOf(error, 'type') ?? '',
            effect: textOf(error, 'effect') ?? 'unknown',
            message: textOf(error, 'message') ?? '',
          },
        }),
    attempts: numberOf(body, 'attempts'),
    ...(result === undefined || digest === undefined ? {} : { result: { digest, bytes: numberOf(result, 'bytes') } }),
    ...(artifact === undefined ? {} : { artifact }),
    elapsedMs,
  }
}

function common(body: JsonObject): Pick<ReplayStep['recorded'], 'decision' | 'effect'> {
  const decision = decisionOf(body)
  const effect = textOf(body, 'effect')
  return {
    ...(decision === undefined
      ? {}
      : {
          decision: {
            kind: decision.kind,
            ...(decision.rule === undefined ? {} : { rule: decision.rule.text }),
            reason: decision.reason,
          },
        }),
    ...(effect === undefined ? {} : { effect }),
  }
}

function textOf(body: JsonObject | undefined, key: string): string | undefined {
  const value = body !== undefined && Object.hasOwn(body, key) ? body[key] : undefined
  return typeof value === 'string' ? value : undefined
}

function numberOf(body: JsonObject, key: string): number {
  const value = Object.hasOwn(body, key) ? body[key] : undefined
  return typeof value === 'number' ? value : 0
}
