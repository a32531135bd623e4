// What an outcome says of its call, besides what came of it.

import type { Growing } from '../base/growing.ts'
import type { Call } from '../describe/call.ts'
import { summaryOf } from '../describe/decision.ts'
import type { OutcomeMeta } from '../describe/outcome.ts'

export function metaOf(call: Call): Growing<OutcomeMeta> {
  const { trail } = call
  const { entry, decision, input, attempts, approvalId, grantId, remark } = trail
  const { id, name, parent, ticket } = call.request
  const meta: Growing<OutcomeMeta> = { callId: call.id, runId: call.runId, tool: name, attempts }
  if (id !== undefined) meta.id = id
  if (ticket !== undefined) meta.position = ticket.position
  if (parent !== undefined) meta.parent = parent.id
  if (entry !== undefined) {
    meta.version = entry.tool.version
    meta.source = entry.source
    meta.fingerprint = entry.fingerprint
    meta.place = trail.place?.place ?? entry.tool.place ?? 'process'
  }
  if (decision !== undefined) meta.decision = summaryOf(decision)
  if (approvalId !== undefined) meta.approval = approvalId
  if (grantId !== undefined) meta.grant = grantId
  if (remark !== undefined) meta.remark = remark
  if (input !== undefined) meta.effect = input.effect
  if (trail.startedAtMs !== undefined) {
    meta.openedAtMs = call.openedAtMs
    meta.startedMs = Math.max(0, trail.startedAtMs - call.openedAtMs)
    if (trail.endedAtMs !== undefined) meta.endedMs = Math.max(meta.startedMs, trail.endedAtMs - call.openedAtMs)
  }
  if (trail.cachedFrom !== undefined) meta.cached = trail.cachedFrom
  if (trail.replayOf !== undefined) meta.replayOf = trail.replayOf
  if (trail.limitsHit !== undefined) meta.limitsHit = trail.limitsHit
  if (trail.redacted !== undefined && trail.redacted.length > 0) meta.redacted = trail.redacted
  return meta
}
