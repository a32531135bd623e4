// What a client carries from one request to the next without being able to read, change or make it. A state is good for the
// caller, the call and the question that it was made for, and until the question expires; whatever else comes is refused.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { sha256 } from '../base/digest.ts'
import { canonicalJson, type JsonValue } from '../base/json-value.ts'

const CIPHER = 'aes-256-gcm'
const VERSION = 'v1.'
export const SEAL_KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Characters of a state; ours have a few hundred. */
const STATE_CHARACTERS_MAX = 4_096
const PURPOSE = Buffer.from('lockgate asked-call 1')

/** What a state says. `principal` and `call` are digests. */
export type SealedState = {
  readonly principal: string
  readonly call: string
  readonly runId: string
  readonly approvalId: string
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number
}

export type Unsealed =
  | { readonly kind: 'ok'; readonly state: SealedState }
  /** `foreign`: none of ours, or changed since. `other`: made for another caller or another call. */
  | { readonly kind: 'refused'; readonly why: 'foreign' | 'other' | 'expired' }

export class SealedStates {
  readonly #key: Uint8Array
  readonly #clock: Clock

  /** `key`: 32 bytes; without one, states are good for as long as this process lives. */
  constructor(clock: Clock, key: Uint8Array = randomBytes(SEAL_KEY_BYTES)) {
    if (key.length !== SEAL_KEY_BYTES) throw new RangeError(`a key has ${SEAL_KEY_BYTES} bytes`)
    this.#key = key
    this.#clock = clock
  }

  seal(state: SealedState): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(PURPOSE)
    const { principal, call, runId, approvalId, expiresAt } = state
    const text = JSON.stringify([principal, call, runId, approvalId, expiresAt])
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return VERSION + sealed.toString('base64url')
  }

  // INVARIANT state-bound: a state opens only for the very caller and call that it was made for.
  open(text: unknown, { principal, call }: Pick<SealedState, 'principal' | 'call'>): Unsealed {
    const state = this.#unseal(text)
    if (state === undefined) return { kind: 'refused', why: 'foreign' }
    if (state.principal !== principal || state.call !== call) return { kind: 'refused', why: 'other' }
    return state.expiresAt > this.#clock.now() ? { kind: 'ok', state } : { kind: 'refused', why: 'expired' }
  }

  #unseal(text: unknown): SealedState | undefined {
    if (typeof text !== 'string' || text.length > STATE_CHARACTERS_MAX || !text.startsWith(VERSION)) return undefined
    const encoded = text.slice(VERSION.length)
    const sealed = Buffer.from(encoded, 'base64url')
    // One text for each state: what decodes alike but is written otherwise was not written here.
    if (sealed.toString('base64url') !== encoded || sealed.length <= NONCE_BYTES + TAG_BYTES) return undefined
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      }).setAAD(PURPOSE)
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
      const opened = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
      return readState(JSON.parse(opened.toString('utf8')))
    } catch {
      return undefined
    }
  }
}

function readState(value: unknown): SealedState | undefined {
  if (!Array.isArray(value) || value.length !== 5) return undefined
  const [principal, call, runId, approvalId, expiresAt]: readonly unknown[] = value
  const areTexts =
    typeof principal === 'string' &&
    typeof call === 'string' &&
    typeof runId === 'string' &&
    typeof approvalId === 'string'
  return areTexts && typeof expiresAt === 'number' ? { principal, call, runId, approvalId, expiresAt } : undefined
}

/** SHA-256 (hex) over who asks: the credential, the caller that it speaks for, and the conversation. */
export const principalDigest = (
  credentialId: string,
  caller: PrincipalParts,
  conversation: string | undefined,
): string =>
  sha256(
    JSON.stringify([
      'lockgate-principal-1',
      credentialId,
      caller.tenant,
      caller.user,
      caller.agent,
      caller.task?.name ?? null,
      caller.step ?? null,
      conversation ?? null,
    ]),
  )

type PrincipalParts = {
  readonly tenant: string
  readonly user: string
  readonly agent: string
  readonly task?: { readonly name: string }
  readonly step?: string
}

/** SHA-256 (hex) over the name and the arguments of a call as a client sent them, whatever the order of its keys. */
export const requestDigest = (name: string, given: JsonValue): string =>
  sha256(canonicalJson(['lockgate-request-1', name, given]))
