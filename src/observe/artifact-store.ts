// What was cut out of a result is kept here whole, so that its caller, and nobody else, can read on. Contents are named by
// their digest: the same content of the same principal is kept once. Bounded in time and in bytes; the oldest go first.

import type { Principal } from '../describe/caller.ts'

/** What is known of a kept content besides its bytes. */
export type ArtifactRow = {
  /** `art_` and 32 hexadecimal digits, made of the digest and of whose it is. */
  readonly id: string
  /** SHA-256 (hex) of the content. */
  readonly digest: string
  readonly principal: Principal
  /** The call whose result it is: it is decided again for whoever reads. */
  readonly call: {
    readonly id: string
    readonly session: string
    readonly tool: string
    readonly fingerprint: string
    /** Canonical arguments. Kept sealed like the content. */
    readonly argumentsText: string
    readonly policyVersion: string
    /** A person's answer, or a grant of one, let it happen. */
    readonly approved: boolean
  }
  /** `application/json`, `text/plain`, or what the content says of itself. */
  readonly mediaType: string
  readonly bytes: number
  readonly at: number
  readonly expiresAt: number
}

export type Artifact = { readonly row: ArtifactRow; readonly content: Uint8Array }

export type ArtifactKept =
  | { readonly kind: 'kept' }
  /** Nothing was kept: it is larger than what may be kept at all, or the store cannot write. */
  | { readonly kind: 'refused'; readonly why: string }

export type ArtifactBounds = {
  /** Bytes of all contents, and of those of one principal. The oldest go first. */
  readonly bytesMax: number
  readonly principalBytesMax: number
}

export interface ArtifactStore {
  /** Resolves when it is durable. The same content again renews how long it is kept. Never rejects. */
  keep(artifact: Artifact, bounds: ArtifactBounds): Promise<ArtifactKept>
  /** Undefined for one that is not kept, has expired at `now`, or belongs to another principal. */
  find(id: string, principal: Principal, now: number): Promise<Artifact | undefined>
  /** Newest first. */
  list(filter: { readonly principal?: Principal; readonly limit: number }): Promise<readonly ArtifactRow[]>
}
