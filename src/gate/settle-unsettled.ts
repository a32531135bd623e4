// What gates that are gone began and never ended: at the start of a gate, and while a call waits for one of theirs. Each gets
// its end: what the tool says happened, or an honest `unknown`; and the key that it had claimed is settled with it. Nothing
// is run again.

import type { Clock } from '../base/clock.ts'
import type { JsonObject } from '../base/json-value.ts'
import { within } from '../base/within.ts'
import type { EffectState } from '../describe/outcome.ts'
import type { Tool } from '../describe/tool.ts'
import type { UnsettledCall } from '../gate-contract.ts'
import type { JournalEnd, JournalKey, OpenIntent, RecordDraft, Store } from '../observe/store.ts'

/** Milliseconds that a tool's `happened` may take. */
const HAPPENED_MS = 5_000

export type SettleParts = {
  readonly store: Store
  readonly clock: Clock
  readonly toolOf: (name: string) => Tool | undefined
  /** Told of each call of which nobody knows what it did. */
  readonly endedUnknown: (callId: string, twin: string | undefined) => void
}

export async function settleUnsettled(parts: SettleParts): Promise<readonly UnsettledCall[]> {
  const { store, clock, toolOf, endedUnknown } = parts
  const lapsed = await store.lapsedIntents()
  if (lapsed.length === 0) return []
  // Side by side: one tool that does not answer makes the start wait once, not once for each of its calls.
  const effects = await Promise.all(lapsed.map((intent) => effectNow(intent, toolOf(intent.tool), clock)))
  const settled = lapsed.map((intent, index) => ({ intent, effect: effects[index] ?? ('unknown' as const) }))
  for (const { intent, effect } of settled) {
    write(store, clock, intent, effect)
    if (effect === 'unknown') endedUnknown(intent.callId, intent.twin)
  }
  await store.flush()
  return settled.map(({ intent: { callId, tool, at }, effect }) => ({ callId, tool, at, effect }))
}

function write(store: Store, clock: Clock, intent: OpenIntent, effect: EffectState): void {
  const { callId, tool, at, chain, journal } = intent
  const reason = 'the gate that began this call is gone'
  const body = JSON.stringify({ tool, effect, intendedAt: at, of: chain, reason })
  const draft = { kind: 'reconciled', at: Math.trunc(clock.now()), callId, body, ...whose(journal) } as const
  if (journal === undefined) store.append(draft, callId)
  // What it answered is lost with its gate. The flush that follows tells of what cannot be written.
  else store.settle(draft, journalEnd({ key: journal, callId }, effect)).catch(() => undefined)
}

function whose(key: JournalKey | undefined): Pick<RecordDraft, 'personal' | 'subject'> {
  if (key === undefined) return {}
  const { tenant, user, agent } = key
  return { personal: JSON.stringify({ tenant, user, agent, key: key.key }), subject: { tenant, user } }
}

function journalEnd(of: Pick<JournalEnd, 'key' | 'callId'>, effect: EffectState): JournalEnd {
  if (effect === 'none') return { ...of, kind: 'free' }
  return effect === 'done' ? { ...of, kind: 'done', answer: null } : { ...of, kind: 'unknown' }
}

async function effectNow(intent: OpenIntent, tool: Tool | undefined, clock: Clock): Promise<EffectState> {
  if (intent.effect === 'read') return 'none'
  if (tool?.happened === undefined) return 'unknown'
  try {
    const args = JSON.parse(intent.argumentsText) as JsonObject
    const waited = await within(Promise.resolve(tool.happened(args)), HAPPENED_MS, clock)
    // Authors without types answer anything: only yes and no are an answer.
    if (waited.kind === 'late' || typeof waited.value !== 'boolean') return 'unknown'
    return waited.value ? 'done' : 'none'
  } catch {
    return 'unknown'
  }
}
