// When two calls are the same call: asked by the same principal, for the same definition, with the same arguments.

import { sha256 } from '../base/digest.ts'
import type { Principal } from './caller.ts'

/** SHA-256 (hex). `text`: the canonical JSON text of the arguments. */
export const twinDigest = ({ tenant, user, agent }: Principal, fingerprint: string, text: string): string =>
  sha256(`${JSON.stringify([tenant, user, agent, fingerprint])}\n${text}`)
