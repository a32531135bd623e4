// SHA-256, the one digest that Lockgate uses for fingerprints, approvals, files and record chains (FIPS 180-4).

import * as crypto from 'node:crypto'

// `crypto.hash` skips building a hash object; it exists from Node 20.12 on and is typed later than that.
const oneShot: ((algorithm: string, data: string | Uint8Array, encoding: 'hex') => string) | undefined =
  'hash' in crypto && typeof crypto.hash === 'function' ? crypto.hash : undefined

/** The SHA-256 of a text (as UTF-8) or of bytes, as 64 lower-case hexadecimal characters. */
export function sha256(data: string | Uint8Array): string {
  if (oneShot !== undefined) return oneShot('sha256', data, 'hex')
  return crypto.createHash('sha256').update(data).digest('hex')
}
