// At the start: calls that a gate before this one began and never ended. Each gets its end: what the tool says happened,
// or an honest `unknown`. Nothing is run again.

import type { Clock } from '../base/clock.ts'
import type { JsonObject } from '../base/json-value.ts'
import { within } from '../base/within.ts'
import type { EffectState } from '../describe/outcome.ts'
import type { Tool } from '../describe/tool.ts'
import type { UnsettledCall } from '../gate-contract.ts'
import type { OpenIntent, Store } from '../observe/store.ts'

/** Milliseconds that a tool's `happened` may take. */
const HAPPENED_MS = 5_000

export async function settleUnsettled(
  store: Store,
  clock: Clock,
  toolOf: (name: string) => Tool | undefined,
): Promise<readonly UnsettledCall[]> {
  const settled: UnsettledCall[] = []
  const lapsed = await store.lapsedIntents()
  // Side by side: one tool that does not answer makes the start wait once, not once for each of its calls.
  const effects = await Promise.all(lapsed.map((intent) => effectNow(intent, toolOf(intent.tool), clock)))
  for (const [index, { callId, tool, at, chain }] of lapsed.entries()) {
    const effect = effects[index] ?? 'unknown'
    const body = JSON.stringify({
      tool,
      effect,
      intendedAt: at,
      of: chain,
      reason: 'the gate that began this call is gone',
    })
    store.append({ kind: 'reconciled', at: clock.now(), callId, body }, callId)
    settled.push({ callId, tool, at, effect })
  }
  await store.flush()
  return settled
}

async function effectNow(intent: OpenIntent, tool: Tool | undefined, clock: Clock): Promise<EffectState> {
  if (intent.effect === 'read') return 'none'
  if (tool?.happened === undefined) return 'unknown'
  try {
    const args = JSON.parse(intent.argumentsText) as JsonObject
    const waited = await within(Promise.resolve(tool.happened(args)), HAPPENED_MS, clock)
    if (waited.kind === 'late' || waited.value === undefined) return 'unknown'
    return waited.value ? 'done' : 'none'
  } catch {
    return 'unknown'
  }
}
