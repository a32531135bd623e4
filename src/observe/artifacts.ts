// Keeps the whole of what is cut, for the caller whose result it is and nobody else. It keeps nothing that its caller could
// not read again, nothing larger than is allowed, and waits for a bounded time.

import type { Clock } from '../base/clock.ts'
import { sha256 } from '../base/digest.ts'
import { canonicalJson } from '../base/json-value.ts'
import { within } from '../base/within.ts'
import type { Call, Trail } from '../describe/call.ts'
import { principalOf } from '../describe/caller.ts'
import type { KeepWhole, KeptWhole, Whole } from './keep-whole.ts'
import type { Artifact, ArtifactRow, ArtifactStore } from './store.ts'

/** How long a call waits for the whole of its result to be on disk. */
const KEEP_MS = 2_000

export type ArtifactLimits = {
  readonly keepMs: number
  readonly bytesMax: number
  readonly principalBytesMax: number
  readonly eachBytesMax: number
}

export type ArtifactsParts = {
  readonly store: ArtifactStore
  readonly clock: Clock
  readonly limits: ArtifactLimits
  /** Why this caller could not read what was kept for it, in words for the model; undefined where it can. */
  readonly unreadable: (call: Call) => string | undefined
}

export function keepWholes(parts: ArtifactsParts): KeepWhole {
  return async (call, whole) => {
    try {
      return await keep(parts, call, whole)
    } catch {
      return CANNOT
    }
  }
}

const CANNOT: KeptWhole = Object.freeze({ kind: 'refused', why: 'it could not be kept' })

async function keep(parts: ArtifactsParts, call: Call, whole: Whole): Promise<KeptWhole> {
  const { store, clock, limits } = parts
  const why = parts.unreadable(call)
  if (why !== undefined) return { kind: 'refused', why }
  // Before anything is copied: no text takes fewer bytes than it has UTF-16 units.
  if (whole.content.length > limits.eachBytesMax) return tooLarge(limits)
  const artifact = artifactOf(call, whole, { at: Math.trunc(clock.now()), keepMs: limits.keepMs })
  if (artifact === undefined) return CANNOT
  if (artifact.row.bytes > limits.eachBytesMax) return tooLarge(limits)
  const waited = await within(store.keep(artifact, limits), KEEP_MS, clock)
  if (waited.kind === 'late') return CANNOT
  return waited.value.kind === 'kept' ? { kind: 'kept', id: artifact.row.id } : waited.value
}

const tooLarge = ({ eachBytesMax }: ArtifactLimits): KeptWhole => ({
  kind: 'refused',
  why: `it is larger than the ${eachBytesMax} bytes that are kept of one result`,
})

/** Undefined for a call that came to no result of its own. */
function artifactOf(
  call: Call,
  { mediaType, content: given }: Whole,
  { at, keepMs }: { readonly at: number; readonly keepMs: number },
): Artifact | undefined {
  const { entry, input, decision } = call.trail
  if (entry === undefined || input === undefined || decision === undefined) return undefined
  const content = typeof given === 'string' ? Buffer.from(given) : given
  const digest = sha256(content)
  const principal = principalOf(call.caller)
  const row: ArtifactRow = {
    id: artifactId(digest, principal, mediaType),
    digest,
    principal,
    call: {
      id: call.id,
      session: call.caller.session,
      tool: entry.tool.name,
      fingerprint: entry.fingerprint,
      argumentsText: input.text,
      policyVersion: decision.policyVersion,
      approved: isApproved(call.trail),
    },
    mediaType,
    bytes: content.byteLength,
    at,
    expiresAt: at + keepMs,
  }
  return { row, content }
}

/** The same content of the same principal has one id; what others keep has another, and tells nothing of it. */
function artifactId(digest: string, { tenant, user, agent }: ArtifactRow['principal'], mediaType: string): string {
  return `art_${sha256(canonicalJson([digest, tenant, user, agent, mediaType])).slice(0, 32)}`
}

/** A recorded answer that is given again was approved when the call was first made, with these very arguments. */
const isApproved = ({ approvalId, grantId, replayOf }: Trail): boolean =>
  approvalId !== undefined || grantId !== undefined || replayOf !== undefined
